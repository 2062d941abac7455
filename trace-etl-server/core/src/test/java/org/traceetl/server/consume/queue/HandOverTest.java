package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.BatchAges;
import org.traceetl.server.config.DeduplicationConfig;
import org.traceetl.server.config.EventsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.dedup.BatchHistory;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.format.MalformedRecordException;
import org.traceetl.server.journal.format.RecordWriter;
import org.traceetl.server.journal.format.SnapshotFormat;
import org.traceetl.server.journal.format.WindowFormat;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.WindowCompleteness;

/** Tests that a new owner continues as the previous one would have. */
class HandOverTest {
  private static final QueueId QUEUE = new QueueId("b", 0);
  private static final long HOUR_MILLIS = Duration.ofHours(1).toMillis();
  private static final long HALF_IDLE_MILLIS = Duration.ofMinutes(8).toMillis();

  private int maxSeries = 20;
  private int maxPerApplication = 8;
  private int maxValueBytes = 1_024;
  private long nowMillis = 1_700_000_000_000L;
  private long offset;

  private Aggregation newAggregation() {
    return Aggregation.builder(() -> 1)
        .series(
            new EventsConfig(true, null)
                .addTo(
                    new SeriesConfig(
                        List.of(new SeriesConfig.Dimension("route", null, null)),
                        null,
                        maxSeries,
                        maxPerApplication,
                        null,
                        null,
                        null,
                        maxValueBytes,
                        null),
                    StandardProfile.OTEL))
        .histogram(new HistogramConfig(List.of(10.0, 100.0)))
        .build();
  }

  private static QueueAggregator owner(Aggregation aggregation, QueueImage image) {
    QueueAggregator owner =
        aggregation.newAggregator(
            QUEUE, aggregation.newDecoder(), new SpanPipelineMetrics(), image);
    owner.beginAt(0);
    return owner;
  }

  @Property(tries = 100)
  void windowsAreThoseOfAnOwnerThatWentOn(@ForAll long seed) throws MalformedRecordException {
    Random random = new Random(seed);
    Aggregation aggregation = newAggregation();
    QueueAggregator steady = owner(aggregation, aggregation.newImage());
    aggregation = newAggregation();
    QueueAggregator changing = owner(aggregation, aggregation.newImage());
    QueueImage image = aggregation.newImage();
    for (int i = 0; i < 25; i++) {
      for (int batches = random.nextInt(6); batches > 0; batches--) {
        byte[] message = message(random);
        steady.accept(message, nowMillis);
        changing.accept(message, nowMillis);
        nowMillis += random.nextInt(5_000);
        offset++;
      }
      offset = random.nextInt(20) == 0 ? random.nextInt(10) : offset;
      nowMillis += random.nextInt(3) == 0 ? random.nextLong(HALF_IDLE_MILLIS) : 5_000;
      SealedWindow window = seal(steady);
      SealedWindow same = seal(changing);
      if (window == null || same == null) {
        assertThat(same).isEqualTo(window);
      } else {
        window = read(window);
        assertThat(read(same))
            .usingRecursiveComparison()
            // A new owner's first window begins with its first message.
            .ignoringFields("openedMillis")
            .isEqualTo(window);
        image.apply(window);
      }
      assertThat(changing.seriesCount()).isEqualTo(steady.seriesCount());
      assertThat(changing.agentCount()).isEqualTo(steady.agentCount());
      if (random.nextInt(3) == 0) {
        changing.release();
        assertThat(aggregation.budget.left()).isEqualTo(maxSeries);
        aggregation = newAggregation();
        QueueImage copy = copy(image, aggregation);
        copy.ownedUntil(nowMillis);
        changing = owner(aggregation, copy);
      }
    }
  }

  @Test
  void aNewOwnerContinuesWithTheLastTimeUntilWhichSpansAreComplete() throws Exception {
    Aggregation aggregation = newAggregation();
    aggregation.panes(true);
    QueueAggregator owner = owner(aggregation, aggregation.newImage());
    QueueImage image = aggregation.newImage();
    // Agent 3 was here more than a minute ago, all others speak until the end.
    for (long[] batch : new long[][] {{3, 0}, {1, 0}, {2, 0}, {1, 1}, {2, 1}, {1, 2}, {2, 2}}) {
      nowMillis += 12_000;
      accept(owner, batch[0], batch[1], "0;1000");
      image.apply(read(seal(owner)));
    }
    WindowCompleteness last = image.completeness();
    assertThat(last.untilMillis()).isEqualTo(nowMillis - 16_000);
    assertThat(last.streamMillis()).isEqualTo(nowMillis);
    assertThat(last.agents()).isEqualTo(2);

    Aggregation next = newAggregation();
    next.panes(true);
    owner = owner(next, image);
    nowMillis += 12_000;
    accept(owner, 1, 3, "0;1000");
    WindowCompleteness first = read(seal(owner)).completeness();
    assertThat(first.untilMillis()).isEqualTo(last.untilMillis());
    assertThat(first.streamMillis()).isEqualTo(last.streamMillis());
    assertThat(first.agents()).isEqualTo(2);

    nowMillis += 3_000;
    accept(owner, 2, 3, "0;1000");
    assertThat(read(seal(owner)).completeness().untilMillis()).isEqualTo(nowMillis - 7_000);
  }

  @Test
  void aNewOwnerClosesThePanesThatWereOpen() throws Exception {
    Aggregation aggregation = newAggregation();
    aggregation.panes(true);
    QueueAggregator owner = owner(aggregation, aggregation.newImage());
    QueueImage image = aggregation.newImage();
    for (int i = 0; i < 3; i++) {
      nowMillis += 15_000;
      accept(owner, 1, i, "0;");
      image.apply(read(seal(owner)));
    }
    long paneMillis = nowMillis / 15_000 * 15_000;
    assertThat(image.countedMillis()).isEqualTo(paneMillis + 15_000);
    assertThat(image.closedMillis()).isBetween(paneMillis - 15_000, paneMillis);

    Aggregation next = newAggregation();
    next.panes(true);
    owner = owner(next, image);
    List<SealedWindow> windows = new ArrayList<>();
    for (FilledWindow filled = owner.swap(offset, nowMillis, 15_000); filled != null; ) {
      windows.add(filled.seal());
      filled.giveBack();
      nowMillis += 15_000;
      filled = owner.swap(offset, nowMillis, 15_000);
    }
    assertThat(windows.getFirst().closedMillis())
        .as("the journal contains it")
        .isEqualTo(SealedWindow.UNKNOWN_CLOSED);
    assertThat(windows.get(1).closedMillis()).isEqualTo(image.closedMillis());
    assertThat(windows.getLast().closedMillis()).isGreaterThanOrEqualTo(image.countedMillis());
    assertThat(windows.getLast().completeness().agents()).isZero();
    assertThat(windows).hasSizeBetween(6, 7);
  }

  /** Stores and reads a batch now. */
  private void accept(QueueAggregator owner, long agent, long sequence, String property) {
    BatchAges ages = new BatchAges();
    ages.read(property);
    byte[] batch = new BatchMessage("shop").span("a", 1).message(agent, 1, sequence);
    owner.accept(batch, nowMillis, nowMillis, ages);
    offset++;
  }

  private static byte[] message(Random random) {
    BatchMessage batch = new BatchMessage("app-" + random.nextInt(4));
    for (int spans = random.nextInt(1, 6); spans > 0; spans--) {
      batch.span(
          "op-" + random.nextInt(6),
          random.nextBoolean() ? BatchMessage.SERVER : BatchMessage.CLIENT,
          random.nextInt(10) == 0 ? BatchMessage.ERROR : BatchMessage.UNSET,
          random.nextLong(2_000_000_000L),
          random.nextBoolean() ? 0 : random.nextLong(1L << 56) / 2);
      if (random.nextInt(4) > 0) {
        batch.attribute("route", "/r/" + random.nextInt(2));
      }
      for (int events = random.nextInt(8); events > 5; events--) {
        batch.event("e" + random.nextInt(2), "exception.type", "T" + random.nextInt(3));
      }
    }
    return batch.message(random.nextInt(1, 3), random.nextInt(1, 3), random.nextInt(60));
  }

  private SealedWindow seal(QueueAggregator owner) {
    return SealedWindows.seal(owner, offset, nowMillis);
  }

  /** Returns a window as the journal has it. */
  static SealedWindow read(SealedWindow window) throws MalformedRecordException {
    RecordWriter writer = new RecordWriter();
    WindowFormat.encode(window, writer);
    return WindowFormat.decode(writer.buffer(), 0, writer.size(), QUEUE);
  }

  private static QueueImage copy(QueueImage image, Aggregation aggregation)
      throws MalformedRecordException {
    QueueImage copy = aggregation.newImage();
    copy(image, copy);
    return copy;
  }

  /** Copies an image through a snapshot's bytes. */
  static void copy(QueueImage image, QueueImage to) throws MalformedRecordException {
    RecordWriter writer = new RecordWriter();
    SnapshotFormat.encode(image, writer);
    SnapshotFormat.decode(writer.buffer(), 0, writer.size(), to);
  }

  /** Returns the image after a window with these spans, by an owner with this test's limits. */
  private QueueImage imageOf(BatchMessage... batches) throws MalformedRecordException {
    Aggregation aggregation = newAggregation();
    QueueAggregator owner = owner(aggregation, aggregation.newImage());
    for (BatchMessage batch : batches) {
      owner.accept(batch.message(offset++), nowMillis);
    }
    QueueImage image = aggregation.newImage();
    image.apply(read(seal(owner)));
    return image;
  }

  @Test
  void aWindowBeginsWhereTheJournalEnds() throws MalformedRecordException {
    offset = 41;
    QueueImage image = imageOf(new BatchMessage("shop").span("a", 1));
    Aggregation aggregation = newAggregation();
    QueueAggregator owner =
        aggregation.newAggregator(
            QUEUE, aggregation.newDecoder(), new SpanPipelineMetrics(), image);
    owner.beginAt(100);
    offset = 100;

    SealedWindow skipped = seal(owner);
    assertThat(skipped.from()).isEqualTo(42);
    assertThat(skipped.to()).isEqualTo(100);
    assertThat(skipped.rows()).isZero();
    assertThat(seal(owner)).isNull();
  }

  @Test
  void seriesAboveTheLimitGoOnAndNewOnesFindNoRoom() throws MalformedRecordException {
    QueueImage image = imageOf(new BatchMessage("shop").span("a", 1).span("b", 1).span("c", 1));
    maxSeries = 1;
    Aggregation aggregation = newAggregation();
    QueueAggregator owner = owner(aggregation, image);

    assertThat(aggregation.budget.left()).isEqualTo(-2);
    owner.accept(new BatchMessage("shop").span("c", 1).span("d", 1).message(offset++), nowMillis);
    SealedWindow window = seal(owner);
    assertThat(window.books().getFirst().recorded()).isEqualTo(1);
    assertThat(window.books().getFirst().overflowed()).isEqualTo(1);
    owner.release();
    assertThat(aggregation.budget.left()).isEqualTo(1);
  }

  @Test
  void seriesWhoseNamesWouldBeCutNowEndWhenIdle() throws MalformedRecordException {
    QueueImage image = imageOf(new BatchMessage("shop").span("longer a", 1).span("longer b", 1));
    maxValueBytes = 6;
    Aggregation aggregation = newAggregation();
    QueueAggregator owner = owner(aggregation, image);
    owner.accept(new BatchMessage("shop").span("longer c", 1).message(offset++), nowMillis);

    SealedWindow window = seal(owner);
    assertThat(window.created().getFirst().values()).contains("longer");
    assertThat(window.created().getFirst().series()).isEqualTo(2);
    nowMillis += 2 * HALF_IDLE_MILLIS;
    assertThat(seal(owner).evicted()).containsExactly(0, 1, 2);
    assertThat(owner.symbolCount()).isEqualTo(1);
  }

  @Test
  void theTimeInWhichNobodyOwnedAQueueMakesNoSeriesIdle() throws MalformedRecordException {
    QueueImage image = imageOf(new BatchMessage("shop").span("a", 1).span("b", 1));
    nowMillis += 10 * HALF_IDLE_MILLIS;
    QueueAggregator owner = owner(newAggregation(), image);
    owner.accept(new BatchMessage("shop").span("a", 1).message(offset++), nowMillis);

    assertThat(seal(owner).evicted()).isEmpty();
    nowMillis += 2 * HALF_IDLE_MILLIS;
    assertThat(seal(owner).evicted()).containsExactly(0, 1);
  }

  /**
   * The silence of agents spans a hand-over; the time without windows counts as at most an hour.
   */
  @Test
  void agentsThatWereSilentBeforeTheHandOverAreForgotten() throws MalformedRecordException {
    Aggregation aggregation = newAggregation();
    QueueImage image = imageOf(new BatchMessage("shop").span("a", 1));
    QueueAggregator owner = owner(aggregation, aggregation.newImage());
    long hours = BatchHistory.SILENCE_MILLIS / HOUR_MILLIS;
    for (long hour = 0; hour < hours; hour++) {
      nowMillis += HOUR_MILLIS;
      owner.accept(new BatchMessage("shop").span("a", 1).message(7, 1, hour), nowMillis);
      image.apply(read(seal(owner)));
    }
    aggregation = newAggregation();
    QueueAggregator next = owner(aggregation, copy(image, aggregation));
    assertThat(next.agentCount()).isEqualTo(2);
    nowMillis += 1;
    seal(next);

    assertThat(next.agentCount()).isEqualTo(1);
  }

  @Test
  void aStepOfTheWallClockForgetsNoAgent() throws MalformedRecordException {
    Aggregation aggregation = newAggregation();
    QueueAggregator owner = owner(aggregation, aggregation.newImage());
    QueueImage image = aggregation.newImage();
    byte[] message = new BatchMessage("shop").span("a", 1).message(0);
    owner.accept(message, nowMillis);
    nowMillis += Duration.ofHours(26).toMillis() + 1;
    image.apply(read(seal(owner)));
    owner.accept(new BatchMessage("shop").span("a", 1).message(7, 1, 0), nowMillis);
    image.apply(read(seal(owner)));
    nowMillis -= Duration.ofHours(52).toMillis();
    owner.accept(message, nowMillis);

    assertThat(seal(owner).books().getFirst().duplicate()).isEqualTo(1);
    QueueAggregator next = owner(newAggregation(), copy(image, newAggregation()));
    next.accept(message, nowMillis);
    assertThat(seal(next).books().getFirst().duplicate()).isEqualTo(1);
  }

  @Test
  void agentsThatHadToMakeRoomAreReportedWithTheWindow() {
    List<Long> evicted = new ArrayList<>();
    SpanPipelineMetrics listener =
        new SpanPipelineMetrics() {
          @Override
          public void agentsEvicted(QueueId queue, long agents) {
            assertThat(queue).isEqualTo(QUEUE);
            evicted.add(agents);
          }
        };
    Aggregation aggregation =
        Aggregation.builder(() -> 1)
            .unit(MetricsConfig.Unit.MILLISECONDS)
            .deduplication(new DeduplicationConfig(1L << 20))
            .build();
    QueueAggregator owner =
        aggregation.newAggregator(
            QUEUE, aggregation.newDecoder(), listener, aggregation.newImage());
    owner.beginAt(0);
    for (int agent = 1; agent <= 10_000; agent++) {
      owner.accept(new BatchMessage("shop").span("a", 1).message(agent, 1, 0), nowMillis);
      offset++;
    }
    seal(owner);
    seal(owner);

    assertThat(evicted).containsExactly(10_000L - owner.agentCount());
    assertThat(owner.agentCount()).isEqualTo(8_738);
  }
}
