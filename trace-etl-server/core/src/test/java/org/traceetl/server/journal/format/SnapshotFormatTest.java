package org.traceetl.server.journal.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.RandomWindows;
import org.traceetl.server.journal.Windows;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.ReceivedSpans;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.WindowPanes;

class SnapshotFormatTest {
  private static final long AGENT_BYTES = 1 << 20;

  private static QueueImage image(RandomWindows windows, int count) {
    QueueImage image = empty(windows);
    for (int i = 0; i < count; i++) {
      image.apply(windows.next());
    }
    return image;
  }

  private static QueueImage empty(RandomWindows windows) {
    return new QueueImage(RandomWindows.SCHEMA, windows.stride(), AGENT_BYTES);
  }

  private static byte[] encoded(QueueImage image) {
    RecordWriter writer = new RecordWriter();
    SnapshotFormat.encode(image, writer);
    return writer.toByteArray();
  }

  @Property(tries = 200)
  void anImageIsReadAsItWasWritten(@ForAll long seed) throws MalformedRecordException {
    RandomWindows windows = new RandomWindows(seed);
    QueueImage image = image(windows, 10);
    byte[] record = encoded(image);

    QueueImage read = empty(windows);
    SnapshotFormat.decode(record, 0, record.length, read);

    assertSameImage(read, image);
    assertThat(encoded(read)).isEqualTo(record);

    for (int i = 0; i < 5; i++) {
      var window = windows.next();
      image.apply(window);
      read.apply(window);
      assertSameImage(read, image);
      assertThat(encoded(read)).isEqualTo(encoded(image));
    }
  }

  private static void assertSameImage(QueueImage read, QueueImage image) {
    assertThat(read.to()).isEqualTo(image.to());
    assertThat(read.history().agents()).isEqualTo(image.history().agents());
    for (int series = 0; series < Math.max(read.slots(), image.slots()); series++) {
      if (series >= image.slots() || image.definition(series) == null) {
        assertThat(series >= read.slots() || read.definition(series) == null).isTrue();
        continue;
      }
      assertThat(read.definition(series)).isEqualTo(image.definition(series));
      for (int bucket = 0; bucket < image.stride(); bucket++) {
        assertThat(read.count(series, bucket)).isEqualTo(image.count(series, bucket));
      }
      assertThat(read.sumMillis(series)).isEqualTo(image.sumMillis(series));
      assertThat(read.sumNanos(series)).isEqualTo(image.sumNanos(series));
      assertThat(read.touchedMillis(series)).isEqualTo(image.touchedMillis(series));
      assertThat(read.carry(series)).isEqualTo(image.carry(series));
      assertThat(natives(read, series)).isEqualTo(natives(image, series));
    }
  }

  private static Map<Integer, Long> natives(QueueImage image, int series) {
    NativeTotals copy = new NativeTotals();
    image.copyNative(series, copy, 0);
    Map<Integer, Long> natives = new TreeMap<>();
    for (int i = 0; i < copy.size(0); i++) {
      natives.put(copy.bucket(0, i), copy.count(0, i));
    }
    return natives;
  }

  @Property(tries = 50)
  void spansReceivedByApplicationAreReadAsTheyWereWritten(@ForAll long seed)
      throws MalformedRecordException {
    RandomWindows windows = new RandomWindows(seed);
    QueueImage image = empty(windows).keepReceived();
    for (int i = 0; i < 10; i++) {
      image.apply(windows.next());
    }
    byte[] record = encoded(image);
    assertThat(record[0]).isEqualTo((byte) SnapshotFormat.RECEIVED_VERSION);

    QueueImage read = empty(windows).keepReceived();
    SnapshotFormat.decode(record, 0, record.length, read);
    assertSameImage(read, image);
    assertThat(received(read)).isEqualTo(received(image));
    assertThat(encoded(read)).isEqualTo(record);

    QueueImage without = empty(windows);
    SnapshotFormat.decode(record, 0, record.length, without);
    assertSameImage(without, image);
    assertThat(without.received()).isNull();
  }

  private static QueueImage withPanes(RandomWindows windows) {
    return empty(windows).keepPanes(wereRead -> true);
  }

  @Property(tries = 200)
  void openPanesAreReadAsTheyWereWritten(@ForAll long seed) throws MalformedRecordException {
    RandomWindows windows = new RandomWindows(seed);
    QueueImage image = withPanes(windows);
    for (int i = 0; i < 10; i++) {
      image.apply(windows.next());
    }
    byte[] record = encoded(image);
    assertThat(record[0]).isEqualTo((byte) SnapshotFormat.OPEN_PANES_VERSION);
    QueueImage read = withPanes(windows);
    SnapshotFormat.decode(record, 0, record.length, read);
    assertSamePanes(read, image);

    for (int i = 0; i < 5; i++) {
      SealedWindow window = windows.next();
      image.apply(window);
      read.apply(window);
      assertSamePanes(read, image);
    }

    QueueImage without = empty(windows);
    SnapshotFormat.decode(record, 0, record.length, without);
    assertThat(without.openPanes()).isNull();
    assertThat(encoded(without)[0]).isLessThan((byte) SnapshotFormat.OPEN_PANES_VERSION);
  }

  @Test
  void aSumThatSaturatedIsRead() throws MalformedRecordException {
    QueueImage image = Windows.newImage();
    image.apply(Windows.window(RandomWindows.QUEUE, 0, 1, Long.MAX_VALUE - 1));
    image.apply(Windows.window(RandomWindows.QUEUE, 1, 2, 5));
    byte[] bytes = encoded(image);
    QueueImage read = Windows.newImage();
    SnapshotFormat.decode(bytes, 0, bytes.length, read);

    assertThat(read.count(0, 0)).isEqualTo(Long.MAX_VALUE);
  }

  private static void assertSamePanes(QueueImage read, QueueImage image) {
    assertSameImage(read, image);
    assertThat(read.closedMillis()).isEqualTo(image.closedMillis());
    assertThat(read.completeness()).isEqualTo(image.completeness());
    assertThat(read.hasPanes()).isEqualTo(image.hasPanes());
    assertThat(read.openPanes().closedMillis()).isEqualTo(image.openPanes().closedMillis());
    assertThat(read.openPanes().panes()).hasSameSizeAs(image.openPanes().panes());
    for (int series = 0; series < image.slots(); series++) {
      if (image.definition(series) != null) {
        assertThat(read.startMillis(series)).isEqualTo(image.startMillis(series));
      }
    }
    // The bytes have all other numbers of panes.
    assertThat(encoded(read)).isEqualTo(encoded(image));
  }

  @Test
  void openPanesAreWrittenAsLongAsAllServersReadThem() throws MalformedRecordException {
    RandomWindows windows = new RandomWindows(1);
    // Until it is known, as the journal's last snapshot, or its last window.
    QueueImage image = empty(windows).keepPanes(wereRead -> wereRead);
    image.apply(Windows.with(windows.next(), "panes", WindowPanes.NONE));
    assertThat(encoded(image)[0]).isLessThan((byte) SnapshotFormat.OPEN_PANES_VERSION);

    image = empty(windows).keepPanes(wereRead -> wereRead);
    image.apply(Windows.with(windows.next(), "panes", new WindowPanes(15_000, 0, 0, List.of())));
    assertThat(encoded(image)[0]).isEqualTo((byte) SnapshotFormat.OPEN_PANES_VERSION);

    byte[] record = encoded(withPanes(windows));
    image = empty(windows).keepPanes(wereRead -> wereRead);
    SnapshotFormat.decode(record, 0, record.length, image);
    assertThat(encoded(image)).isEqualTo(record);
  }

  @Test
  void anotherSchemaKeepsTheTimesOfPanes() throws MalformedRecordException {
    SealedWindow window =
        Windows.with(
            Windows.window(RandomWindows.QUEUE, 0, 1, 1),
            "panes",
            new WindowPanes(15_000, 0, 0, List.of()),
            "closedMillis",
            -30_000L);
    QueueImage image = Windows.newImage().keepPanes(wereRead -> true);
    image.apply(window);
    byte[] record = encoded(image);
    QueueImage read = new QueueImage(Windows.SCHEMA + 1, 1, AGENT_BYTES).keepPanes();
    SnapshotFormat.decode(record, 0, record.length, read);

    assertThat(read.closedMillis()).isEqualTo(-30_000);
    assertThat(read.hasPanes()).isTrue();
    assertThat(read.openPanes().panes()).isEmpty();
  }

  @Test
  void aSnapshotWithoutSpansReceivedIsReadByWhoKeepsThem() throws MalformedRecordException {
    RandomWindows windows = new RandomWindows(1);
    QueueImage image = image(windows, 3);
    byte[] record = encoded(image);
    assertThat(record[0]).isLessThan((byte) SnapshotFormat.RECEIVED_VERSION);

    QueueImage read = empty(windows).keepReceived();
    SnapshotFormat.decode(record, 0, record.length, read);

    assertSameImage(read, image);
    assertThat(received(read)).isEmpty();
  }

  private static List<ReceivedSpans.Received> received(QueueImage image) {
    List<ReceivedSpans.Received> received = new ArrayList<>();
    image.received().forEach(received::add);
    return received;
  }

  @Property(tries = 20)
  void ofSeriesOfAnotherSchemaOnlyTheDefinitionsAreRead(@ForAll long seed)
      throws MalformedRecordException {
    RandomWindows windows = new RandomWindows(seed);
    QueueImage image = image(windows, 10);
    byte[] record = encoded(image);

    QueueImage read = new QueueImage(RandomWindows.SCHEMA + 1, windows.stride(), AGENT_BYTES);
    SnapshotFormat.decode(record, 0, record.length, read);

    assertThat(read.to()).isEqualTo(image.to());
    assertThat(read.history().agents()).isEqualTo(image.history().agents());
    assertThat(read.slots()).isZero();
    assertThat(read.definitions()).hasSameElementsAs(image.definitions()).isNotEmpty();

    read.apply(windows.next());
    assertThat(read.definitions()).as("of the next owner").isEmpty();
  }

  @Test
  void aSnapshotCutShortIsRefused() {
    RandomWindows windows = new RandomWindows(1);
    byte[] record = encoded(image(windows, 3));
    for (int length = 0; length < record.length; length++) {
      byte[] torn = Arrays.copyOf(record, length);
      assertThatExceptionOfType(MalformedRecordException.class)
          .isThrownBy(() -> SnapshotFormat.decode(torn, 0, torn.length, empty(windows)));
    }
  }

  private static byte[] recordWithPanes(RandomWindows windows, int count) {
    QueueImage image = withPanes(windows);
    for (int i = 0; i < count; i++) {
      image.apply(windows.next());
    }
    return encoded(image);
  }

  @Test
  void aSnapshotWithOpenPanesCutShortIsRefused() {
    RandomWindows windows = new RandomWindows(2);
    byte[] record = recordWithPanes(windows, 5);
    for (int length = 0; length < record.length; length++) {
      byte[] torn = Arrays.copyOf(record, length);
      assertThatExceptionOfType(MalformedRecordException.class)
          .isThrownBy(() -> SnapshotFormat.decode(torn, 0, torn.length, withPanes(windows)));
    }
  }

  @Property(tries = 1_000)
  void damagedOpenPanesAreReadOrRefused(@ForAll long seed) {
    Random random = new Random(seed);
    RandomWindows windows = new RandomWindows(random.nextInt(20));
    byte[] record = recordWithPanes(windows, 5);
    for (int i = random.nextInt(1, 5); i > 0; i--) {
      record[random.nextInt(1, record.length)] = (byte) random.nextInt();
    }
    readOrRefuse(record, withPanes(windows));
    readOrRefuse(record, empty(windows));
  }

  @Property(tries = 1_000)
  void damagedBytesAreReadOrRefused(@ForAll long seed) {
    Random random = new Random(seed);
    RandomWindows windows = new RandomWindows(random.nextInt(20));
    byte[] record = encoded(image(windows, 3));
    for (int i = random.nextInt(1, 5); i > 0; i--) {
      record[random.nextInt(record.length)] = (byte) random.nextInt();
    }
    readOrRefuse(record, empty(windows));
  }

  @Property(tries = 1_000)
  void anyBytesAreReadOrRefused(@ForAll byte[] bytes) {
    readOrRefuse(bytes, new QueueImage(0, 17, AGENT_BYTES));
  }

  private static void readOrRefuse(byte[] bytes, QueueImage image) {
    try {
      SnapshotFormat.decode(bytes, 0, bytes.length, image);
      encoded(image);
    } catch (UnknownVersionException e) {
      assertThat(Byte.toUnsignedInt(bytes[0])).isGreaterThan(SnapshotFormat.VARIANCES_VERSION);
    } catch (MalformedRecordException e) {
      assertThat(e).hasMessageStartingWith("record ");
    }
  }
}
