package org.traceetl.server.features.push;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.server.features.push.RecordedSamples.Sample;
import org.traceetl.server.journal.Journal;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.MemoryLogs;
import org.traceetl.server.journal.PaneModel;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.QueueJournal;
import org.traceetl.server.journal.RandomWindows;
import org.traceetl.server.journal.Windows;
import org.traceetl.server.journal.chain.LogJournals;
import org.traceetl.server.journal.chain.SnapshotTail;
import org.traceetl.server.window.OpenPanes;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.RowlessWindow;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.WindowPanes;

/** Followers stepped by hand over real journals on logs in memory. */
final class PushFollowerTest {
  private static final QueueId QUEUE = RandomWindows.QUEUE;
  private static final String GROUP = "servers-push-mimir";
  private static final long PANE = 15_000;

  /** Servers one after the other that own a queue, and an endpoint. */
  private static final class Fleet {
    final MemoryLogs logs = new MemoryLogs();
    final ScriptedReceiver.Store store = new ScriptedReceiver.Store();
    final List<SealedWindow> windows = new ArrayList<>();
    private final int stride;
    private final long schema;
    private final boolean isDelta;
    private long nowNanos = Long.MAX_VALUE - 1;
    ScriptedReceiver receiver;
    PushFollower follower;
    QueueJournal owner;

    Fleet(int stride, long schema, boolean isDelta) throws Exception {
      this.stride = stride;
      this.schema = schema;
      this.isDelta = isDelta;
      takeOver();
      step();
    }

    QueueImage newImage() {
      return new QueueImage(schema, stride, 1 << 20).keepPanes(wereRead -> true);
    }

    /** Another server takes the queue; the one before has crashed. */
    void takeOver() throws Exception {
      Clocks clocks = new Clocks(() -> nowNanos, () -> Instant.ofEpochMilli(0));
      LogJournals journals =
          new LogJournals(
              logs,
              "trace-spans",
              "servers",
              this::newImage,
              new JournalTiming(
                  clocks, new Random(1), Duration.ofSeconds(30), Duration.ofMinutes(10)),
              new JournalCounters());
      receiver = new ScriptedReceiver(store, isDelta, this::mark);
      follower =
          new PushFollower(
              List.of(receiver),
              (queue, endpoint) -> journals.replay(queue, "servers-push-" + endpoint),
              clocks);
      Journal.Taken taken = journals.take(QUEUE);
      owner = taken.journal();
      follower.restored(QUEUE, taken.image(), 0);
    }

    void append(SealedWindow window) throws Exception {
      windows.add(window);
      assertThat(owner.append(window)).isEqualTo(QueueJournal.Outcome.KEPT);
      follower.window(window);
    }

    void step() throws Exception {
      nowNanos += Math.max(1, follower.step());
    }

    /** Answers everything. */
    void settle() throws Exception {
      for (int quiet = 0; quiet < 5; quiet++) {
        step();
        while (receiver.answer()) {
          quiet = 0;
          step();
        }
      }
    }

    /** Returns what the journal's windows make. */
    List<Sample> expected() {
      PaneSeries series = new PaneSeries(newImage(), isDelta);
      RecordedSamples samples = new RecordedSamples();
      for (SealedWindow window : windows) {
        series.begin(window);
        series.emit(samples, () -> true);
      }
      return samples.samples;
    }

    long mark() {
      return logs.open(QUEUE).mark(GROUP);
    }
  }

  @Property(tries = 100)
  void eachSampleIsStoredOnceWhateverCrashes(@ForAll long seed, @ForAll boolean isDelta)
      throws Exception {
    Random random = new Random(seed);
    RandomWindows windows = new RandomWindows(seed);
    Fleet fleet = new Fleet(windows.stride(), RandomWindows.SCHEMA, isDelta);
    for (int i = 0; i < 80; i++) {
      switch (random.nextInt(12)) {
        case 0, 1 -> fleet.append(PaneModel.withShortDurations(windows.next()));
        case 2, 3, 4, 5 -> fleet.step();
        case 6, 7, 8 -> fleet.receiver.answer();
        case 9 -> fleet.receiver.loseAnswer();
        case 10 -> fleet.owner.snapshot();
        default -> fleet.takeOver();
      }
    }
    fleet.settle();

    assertThat(fleet.store.samples).isEqualTo(fleet.expected());
    assertThat(fleet.follower.lag().get("mimir")).isEqualTo(Map.of(QUEUE, 0L));
  }

  private static SealedWindow window(long from, long closedMillis, long spans) {
    SealedWindow window =
        spans == 0
            ? new RowlessWindow(QUEUE, from, from, 0, 0).seal()
            : Windows.window(QUEUE, from, from + 1, spans);
    return Windows.with(
        window,
        "panes",
        new WindowPanes(PANE, closedMillis, 0, List.of()),
        "closedMillis",
        closedMillis);
  }

  private static Fleet fleet() throws Exception {
    return new Fleet(1, Windows.SCHEMA, false);
  }

  @Test
  void whileTheEndpointIsAwayTheJournalIsTheQueue() throws Exception {
    Fleet fleet = fleet();
    for (int i = 0; i < 200; i++) {
      fleet.append(window(i, i * PANE, 1));
      fleet.step();
    }

    assertThat(fleet.receiver.requests()).isLessThanOrEqualTo(2);
    assertThat(fleet.follower.lag().get("mimir").get(QUEUE)).isGreaterThan(100);
    assertThat(fleet.store.samples).isEmpty();

    fleet.settle();
    assertThat(fleet.store.samples).hasSize(199).isEqualTo(fleet.expected());
    assertThat(fleet.store.repeated).isZero();
    assertThat(fleet.mark()).isEqualTo(fleet.logs.open(QUEUE).end() - 1);
  }

  @Test
  void rowsOfOpenPanesAndMergedPanesAreCounted() throws Exception {
    Fleet fleet = fleet();
    for (int pane = 0; pane < OpenPanes.MAX_PANES; pane++) {
      fleet.append(paneWindow(pane));
    }
    fleet.settle();
    assertThat(fleet.follower.openRows()).isEqualTo(Map.of("mimir", Map.of(QUEUE, 64L)));
    assertThat(fleet.follower.mergedPanes()).isEqualTo(Map.of("mimir", 0.0));

    fleet.append(paneWindow(OpenPanes.MAX_PANES));
    fleet.append(paneWindow(OpenPanes.MAX_PANES + 1));
    fleet.settle();
    assertThat(fleet.follower.openRows()).isEqualTo(Map.of("mimir", Map.of(QUEUE, 64L)));
    assertThat(fleet.follower.mergedPanes()).isEqualTo(Map.of("mimir", 2.0));

    // The next owner has sent what was answered.
    fleet.takeOver();
    fleet.settle();
    assertThat(fleet.follower.openRows()).isEqualTo(Map.of("mimir", Map.of(QUEUE, 64L)));
    assertThat(fleet.follower.mergedPanes()).isEqualTo(Map.of("mimir", 0.0));
  }

  /** Returns a window with a span in a pane, after which no pane is closed. */
  private static SealedWindow paneWindow(int pane) {
    return Windows.with(
        Windows.window(QUEUE, pane, pane + 1, 1),
        "panes",
        new WindowPanes(PANE, pane * PANE, 0, List.of()),
        "closedMillis",
        0L);
  }

  @Test
  void onlyUnansweredRequestsAreRepeated() throws Exception {
    Fleet fleet = fleet();
    for (int i = 0; i < 10; i++) {
      fleet.append(window(i, i * PANE, 1));
    }
    fleet.settle();
    fleet.append(window(10, 10 * PANE, 1));
    fleet.step();
    fleet.receiver.loseAnswer();

    fleet.takeOver();
    fleet.settle();

    assertThat(fleet.store.repeated).isEqualTo(1);
    assertThat(fleet.store.samples).isEqualTo(fleet.expected());
  }

  @Test
  void aDeltaThatWasAnsweredWithoutAMarkIsRepeated() throws Exception {
    Fleet fleet = new Fleet(1, Windows.SCHEMA, true);
    for (int i = 0; i < 10; i++) {
      fleet.append(window(i, i * PANE, 1));
    }
    fleet.settle();
    fleet.append(window(10, 10 * PANE, 1));
    fleet.append(window(11, 11 * PANE, 1));
    fleet.step();
    assertThat(fleet.receiver.requests()).isEqualTo(1);
    assertThat(fleet.receiver.answer()).isTrue();

    fleet.takeOver();
    fleet.settle();

    assertThat(fleet.store.repeated).isEqualTo(1);
    assertThat(fleet.store.samples).hasSize(11).isEqualTo(fleet.expected());
    assertThat(fleet.store.samples).extracting(Sample::spans).containsOnly(1L);
  }

  /** An answer that the server has marked is not repeated. */
  @Test
  void aDeltaWithAMarkIsNotRepeated() throws Exception {
    Fleet fleet = new Fleet(1, Windows.SCHEMA, true);
    for (int i = 0; i < 3; i++) {
      fleet.append(window(i, i * PANE, 1));
    }
    while (fleet.store.samples.size() < 2) {
      fleet.step();
      fleet.receiver.answer();
    }
    fleet.append(window(3, 3 * PANE, 1));
    fleet.step();
    assertThat(fleet.receiver.requests()).isEqualTo(1);

    fleet.takeOver();
    fleet.settle();

    assertThat(fleet.store.repeated).isZero();
    assertThat(fleet.store.samples).hasSize(3).isEqualTo(fleet.expected());
  }

  @Test
  void aReleasedQueueIsNoLongerSent() throws Exception {
    Fleet fleet = fleet();
    fleet.append(window(0, 0, 1));
    fleet.append(window(1, PANE, 1));
    fleet.step();
    assertThat(fleet.receiver.requests()).isEqualTo(1);

    fleet.follower.released(QUEUE);

    assertThat(fleet.receiver.answer()).isFalse();
    fleet.step();
    assertThat(fleet.follower.lag().get("mimir")).isEmpty();
  }

  @Test
  void whatIsAnsweredAtTheReleaseIsMarked() throws Exception {
    Fleet fleet = fleet();
    fleet.append(window(0, 0, 1));
    fleet.append(window(1, PANE, 1));
    fleet.step();
    fleet.receiver.answer();
    fleet.follower.released(QUEUE);

    fleet.step();

    assertThat(fleet.mark()).isEqualTo(fleet.logs.open(QUEUE).end() - 1);
  }

  /** The log may show a window that a change of the broker's master loses again. */
  @Test
  void aWindowIsNotSentBeforeItIsKept() throws Exception {
    Fleet fleet = fleet();
    fleet.append(window(0, 0, 1));
    SealedWindow unconfirmed = window(1, PANE, 1);
    fleet.owner.append(unconfirmed);
    fleet.step();
    assertThat(fleet.receiver.requests()).isZero();

    fleet.follower.window(unconfirmed);
    fleet.step();
    assertThat(fleet.receiver.requests()).isEqualTo(1);
  }

  @Test
  void aFirstStartSendsNothingOlder() throws Exception {
    Fleet fleet = fleet();
    fleet.append(window(0, 0, 1));
    fleet.append(window(1, PANE, 1));
    fleet.settle();
    int before = fleet.store.samples.size();
    fleet.logs.open(QUEUE).unmark(GROUP);
    fleet.logs.open(QUEUE).unmark(GROUP + SnapshotTail.SNAPSHOT_SUFFIX);

    fleet.takeOver();
    fleet.settle();
    assertThat(fleet.store.samples).hasSize(before);
    assertThat(fleet.mark()).isNotEqualTo(JournalLog.NONE);
    fleet.append(window(2, 2 * PANE, 1));
    fleet.settle();
    assertThat(fleet.store.samples).isEqualTo(fleet.expected());
  }
}
