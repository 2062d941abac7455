package org.traceetl.server.journal.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.assertj.core.api.recursive.comparison.RecursiveComparisonConfiguration;
import org.junit.jupiter.api.Test;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.RandomWindows;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.WindowPanes;

class WindowFormatTest {
  /** Compares arrays by their contents. */
  private static final RecursiveComparisonConfiguration BY_CONTENT =
      RecursiveComparisonConfiguration.builder().build();

  @Property(tries = 300)
  void aWindowIsReadAsItWasWritten(@ForAll long seed) throws MalformedRecordException {
    RandomWindows windows = new RandomWindows(seed);
    RecordWriter writer = new RecordWriter();
    for (int i = 0; i < 5; i++) {
      SealedWindow window = windows.next();
      writer.clear();
      WindowFormat.encode(window, writer);

      assertThat(WindowFormat.decode(writer.buffer(), 0, writer.size(), RandomWindows.QUEUE))
          .usingRecursiveComparison(BY_CONTENT)
          .isEqualTo(sorted(window));
    }
  }

  /** Returns the window with its rows in the order of their series. */
  private static SealedWindow sorted(SealedWindow window) {
    int[] order =
        IntStream.range(0, window.rows())
            .boxed()
            .sorted((a, b) -> Integer.compare(window.series()[a], window.series()[b]))
            .mapToInt(row -> row)
            .toArray();
    return new SealedWindow(
        window.queue(),
        window.from(),
        window.to(),
        window.openedMillis(),
        window.sealedMillis(),
        window.created(),
        window.evicted(),
        window.rows(),
        window.stride(),
        Arrays.stream(order).map(row -> window.series()[row]).toArray(),
        Arrays.stream(order)
            .boxed()
            .flatMapToLong(row ->
                Arrays.stream(window.counts(), row * window.stride(), (row + 1) * window.stride()))
            .toArray(),
        Arrays.stream(order).mapToLong(row -> window.durationNanos()[row]).toArray(),
        Arrays.stream(order).map(row -> window.exemplars()[row]).toArray(),
        Arrays.stream(order).map(row -> window.exemplarBuckets()[row]).toArray(),
        window.documents(),
        window.books(),
        window.schema(),
        Arrays.stream(order).mapToLong(row -> window.carries()[row]).toArray(),
        window.batches(),
        sorted(window.natives(), order),
        sorted(window.panes(), window.stride(), order),
        window.completeness(),
        window.closedMillis(),
        window.hasSizes(),
        EdgeChange.NONE);
  }

  private static WindowPanes sorted(WindowPanes panes, int stride, int[] order) {
    int[] positions = new int[order.length];
    for (int position = 0; position < order.length; position++) {
      positions[order[position]] = position;
    }
    return new WindowPanes(
        panes.lengthMillis(),
        panes.mainMillis(),
        panes.mergedSpans(),
        panes.others().stream().map(pane -> sorted(pane, stride, positions)).toList());
  }

  private static WindowPanes.Pane sorted(WindowPanes.Pane pane, int stride, int[] positions) {
    int[] order =
        IntStream.range(0, pane.rows().length)
            .boxed()
            .sorted(Comparator.comparing(row -> positions[pane.rows()[row]]))
            .mapToInt(row -> row)
            .toArray();
    return new WindowPanes.Pane(
        pane.startMillis(),
        Arrays.stream(order).map(row -> positions[pane.rows()[row]]).toArray(),
        Arrays.stream(order)
            .boxed()
            .flatMapToLong(row -> Arrays.stream(pane.counts(), row * stride, (row + 1) * stride))
            .toArray(),
        Arrays.stream(order).mapToLong(row -> pane.durationNanos()[row]).toArray(),
        sorted(pane.natives(), order));
  }

  private static NativeCounts sorted(NativeCounts natives, int[] order) {
    if (natives.isEmpty()) {
      return natives;
    }
    NativeCounts.Builder sorted = new NativeCounts.Builder(order.length);
    for (int row : order) {
      for (int i = natives.begin(row); i < natives.end(row); i++) {
        sorted.add(natives.buckets()[i], natives.counts()[i]);
      }
      sorted.endRow();
    }
    return sorted.build();
  }

  @Test
  void aRecordCutShortIsRefused() {
    Set<Byte> versions = new HashSet<>();
    for (long seed = 0; seed < 20; seed++) {
      byte[] record = record(seed);
      versions.add(record[0]);
      for (int length = 0; length < record.length; length++) {
        byte[] torn = Arrays.copyOf(record, length);
        assertThatExceptionOfType(MalformedRecordException.class)
            .isThrownBy(() -> WindowFormat.decode(torn, 0, torn.length, RandomWindows.QUEUE));
      }
    }
    assertThat(versions).contains((byte) 1, (byte) 2, (byte) 3, (byte) 4);
  }

  @Test
  void bytesAfterTheEndAreRefused() {
    byte[] record = record(1);
    byte[] longer = Arrays.copyOf(record, record.length + 1);

    assertThatExceptionOfType(MalformedRecordException.class)
        .isThrownBy(() -> WindowFormat.decode(longer, 0, longer.length, RandomWindows.QUEUE))
        .withMessageContaining("goes on after its end");
  }

  @Test
  void aLaterVersionIsToldFromDamage() {
    byte[] record = record(1);
    record[0] = 6;

    assertThatExceptionOfType(UnknownVersionException.class)
        .isThrownBy(() -> WindowFormat.decode(record, 0, record.length, RandomWindows.QUEUE))
        .withMessageContaining("version 6");

    record[0] = 0;
    assertThatExceptionOfType(MalformedRecordException.class)
        .isThrownBy(() -> WindowFormat.decode(record, 0, record.length, RandomWindows.QUEUE))
        .withMessageContaining("version 0")
        .isNotInstanceOf(UnknownVersionException.class);
  }

  @Property(tries = 2_000)
  void damagedBytesAreReadOrRefused(@ForAll long seed) {
    Random random = new Random(seed);
    byte[] record = record(random.nextInt(50));
    for (int i = random.nextInt(1, 5); i > 0; i--) {
      record[random.nextInt(record.length)] = (byte) random.nextInt();
    }
    readOrRefuse(record);
  }

  @Property(tries = 2_000)
  void anyBytesAreReadOrRefused(@ForAll byte[] bytes) {
    readOrRefuse(bytes);
  }

  private static void readOrRefuse(byte[] bytes) {
    try {
      SealedWindow window = WindowFormat.decode(bytes, 0, bytes.length, RandomWindows.QUEUE);
      assertThat(window.counts()).hasSize(window.rows() * window.stride());
      assertThat(window.documents()).extracting(TraceDocument::statusMessage).doesNotContainNull();
      QueueImage image = new QueueImage(window.schema(), window.stride(), 1 << 20);
      image.apply(window);
      assertThat(image.to()).isEqualTo(window.to());
      String violated = WindowInvariants.violated(window);
      WindowPanes.Pane main = window.panes().main(window);
      if (violated == null) {
        assertThat(Arrays.stream(main.counts())).allMatch(spans -> spans >= 0);
      }
    } catch (UnknownVersionException e) {
      assertThat(Byte.toUnsignedInt(bytes[0])).isGreaterThan(WindowFormat.VARIANCES_VERSION);
    } catch (MalformedRecordException e) {
      assertThat(e).hasMessageStartingWith("record ");
    }
  }

  private static byte[] record(long seed) {
    RecordWriter writer = new RecordWriter();
    WindowFormat.encode(new RandomWindows(seed).next(), writer);
    return writer.toByteArray();
  }
}
