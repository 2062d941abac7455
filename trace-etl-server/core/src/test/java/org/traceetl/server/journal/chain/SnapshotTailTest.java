package org.traceetl.server.journal.chain;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.MemoryLogs;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.QueueJournal;
import org.traceetl.server.journal.Windows;
import org.traceetl.server.window.QueueId;

/** Tests where tails with a state begin, and what they return after the log lost messages. */
class SnapshotTailTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 0);
  private static final String GROUP = "push";
  private static final JournalTiming TIMING =
      new JournalTiming(
          new Clocks(System::nanoTime, Clocks.SYSTEM.wall(), nanos -> {}),
          new Random(1),
          Duration.ofSeconds(30),
          Duration.ofMinutes(10));

  private final MemoryLogs logs = new MemoryLogs();
  private final MemoryLogs.MemoryLog log = logs.open(QUEUE);
  private final JournalCounters counters = new JournalCounters();
  private final LogJournals journals =
      new LogJournals(logs, "trace-spans", "servers", Windows::newImage, TIMING, counters);
  private QueueJournal owner;
  private long to;

  @BeforeEach
  void own() throws Exception {
    owner = journals.take(QUEUE).journal();
  }

  private void append(int windows) throws Exception {
    for (int i = 0; i < windows; i++) {
      owner.append(Windows.window(QUEUE, to, ++to, 1, 1, 0));
    }
  }

  private SnapshotTail tail() throws Exception {
    return journals.replay(QUEUE, GROUP);
  }

  /** Reads to the end, and describes each event in a word. */
  private static String read(SnapshotTail tail) throws Exception {
    List<String> events = new ArrayList<>();
    do {
      tail.poll().forEach(event -> events.add(word(event)));
    } while (tail.lag() > 0);
    return String.join(" ", events);
  }

  private static String word(SnapshotTail.Event event) {
    return switch (event) {
      case SnapshotTail.State(QueueImage image) -> {
        assertThat(image.openPanes()).isNotNull();
        yield "state:" + (image.slots() == 0 ? 0 : image.count(0, 0));
      }
      case SnapshotTail.Window window -> {
        // Each window is one offset long.
        assertThat(window.number()).isEqualTo(window.window().to());
        yield (window.known() ? "known:" : "new:") + window.window().to();
      }
      case SnapshotTail.Snapshot snapshot -> snapshot.known() ? "known-snapshot" : "snapshot";
    };
  }

  @Test
  void aFirstTailBeginsAtTheEnd() throws Exception {
    append(2);
    SnapshotTail tail = tail();

    assertThat(read(tail)).isEqualTo("state:0 known:1 known:2");
    append(1);
    assertThat(read(tail)).isEqualTo("new:3");
    assertThat(read(tail)).isEmpty();
  }

  @Test
  void aFirstTailReadsFromTheNewestSnapshot() throws Exception {
    append(2);
    owner.snapshot();
    append(1);

    assertThat(read(tail())).isEqualTo("state:2 known-snapshot known:3");
  }

  /** Else a crash before the first mark would skip windows. */
  @Test
  void aFirstTailMarksItsBegin() throws Exception {
    append(2);
    read(tail());
    append(1);

    assertThat(read(tail())).isEqualTo("state:0 known:1 known:2 new:3");
  }

  @Test
  void aTailOfAnEmptyLogReturnsAllWindows() throws Exception {
    log.deleteFrom(0);
    SnapshotTail tail = tail();
    assertThat(tail.poll()).hasSize(1);
    own();
    append(2);

    assertThat(read(tail)).isEqualTo("new:1 new:2");
  }

  @Test
  void aTailContinuesBehindTheProcessedRecord() throws Exception {
    SnapshotTail first = tail();
    read(first);
    append(1);
    read(first);
    first.mark(first.restart());
    append(2);

    assertThat(read(tail())).isEqualTo("state:0 known:1 new:2 new:3");
  }

  @Test
  void onceASnapshotIsProcessedATailBeginsThere() throws Exception {
    SnapshotTail first = tail();
    read(first);
    append(2);
    owner.snapshot();
    assertThat(read(first)).isEqualTo("new:1 new:2 snapshot");
    long snapshot = first.restart();
    append(2);
    read(first);

    first.mark(snapshot - 1);
    assertThat(read(tail())).isEqualTo("state:0 known:1 known:2 snapshot new:3 new:4");
    first.mark(snapshot);
    assertThat(read(tail())).isEqualTo("state:2 known-snapshot new:3 new:4");
    first.mark(first.restart());
    assertThat(read(tail())).isEqualTo("state:2 known-snapshot known:3 known:4");
    assertThat(counters.lostHistories()).isZero();
  }

  @Test
  void aTailWhoseRecordsAreDeletedContinuesAtTheNextSnapshot() throws Exception {
    SnapshotTail first = tail();
    read(first);
    append(3);
    log.deleteBefore(log.end() - 1);
    SnapshotTail second = tail();

    assertThat(read(second)).isEmpty();
    assertThat(counters.lostHistories()).isEqualTo(1);
    // Its owner has all records in memory, so it may write what the log has lost.
    journals.take(QUEUE).journal().snapshot();
    assertThat(read(second)).startsWith("state:").endsWith("snapshot");
  }

  @Test
  void aTailReadsAgainWhatTookThePlaceOfLostMessages() throws Exception {
    SnapshotTail tail = tail();
    read(tail);
    append(1);
    read(tail);
    tail.mark(tail.restart());
    long end = log.end();
    log.store(new byte[] {1});
    log.store(new byte[] {2});
    read(tail);
    log.deleteFrom(end);
    append(3);

    assertThat(read(tail)).isEqualTo("state:0 known:1 new:2 new:3 new:4");
  }

  @Test
  void aMarkBehindTheEndOfTheLogCountsAsItsEnd() throws Exception {
    SnapshotTail tail = tail();
    read(tail);
    append(1);
    log.mark(GROUP, log.end() + 100);
    SnapshotTail other = tail();

    assertThat(read(other)).isEqualTo("state:0 known:1");
    append(1);
    assertThat(read(other)).isEqualTo("new:2");
    assertThat(log.mark(GROUP + SnapshotTail.SNAPSHOT_SUFFIX)).isEqualTo(JournalLog.NONE);
  }
}
