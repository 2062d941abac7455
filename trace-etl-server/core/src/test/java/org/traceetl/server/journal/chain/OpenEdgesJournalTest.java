package org.traceetl.server.journal.chain;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.server.edge.OpenEdges;
import org.traceetl.server.edge.RandomHalves;
import org.traceetl.server.journal.Journal.Taken;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.MemoryLogs;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.QueueJournal.Outcome;
import org.traceetl.server.journal.RecordRejection;
import org.traceetl.server.journal.Windows;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.WindowPanes;

/** Tests which half-edges the owners of a queue continue, and that all of them agree. */
class OpenEdgesJournalTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 0);
  private static final String GROUP = "servers";
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
      new LogJournals(logs, "trace-edges", GROUP, this::newImage, TIMING, counters);
  private final RandomHalves halves = new RandomHalves(3, 1_000);
  private long to;

  private QueueImage newImage() {
    return Windows.newImage()
        .keepEdges(() -> new OpenEdges(100, 1_000_000, 40, List.of("http.route"), 1));
  }

  /** Appends a window with random half-edges; returns all that are open then. */
  private EdgeChange append(Taken owner) throws Exception {
    halves.offerSome(owner.image().edges());
    append(owner, owner.image().edges().endWindow());
    return owner.image().edges().all();
  }

  private void append(Taken owner, EdgeChange change) throws Exception {
    assertThat(
            owner
                .journal()
                .append(
                    Windows.with(
                        Windows.window(QUEUE, to, ++to),
                        "panes",
                        new WindowPanes(15_000, 0, 0, List.of()),
                        "edges",
                        change)))
        .isEqualTo(Outcome.KEPT);
  }

  private static void assertSame(Taken owner, EdgeChange open) {
    assertThat(owner.image().edges().all()).usingRecursiveComparison().isEqualTo(open);
  }

  private void appendContradiction(Taken owner) throws Exception {
    EdgeChange change = owner.image().edges().endWindow();
    append(owner, Windows.with(change, "left", new int[] {1_000}));
  }

  private long contradictions() {
    return counters.rejections(RecordRejection.INCONSISTENT);
  }

  @Test
  void ownersContinueWithTheHalfEdgesOfTheOwnerBefore() throws Exception {
    Taken first = journals.take(QUEUE);
    EdgeChange open = append(first);
    Taken second = journals.take(QUEUE);
    assertSame(second, open);
    open = append(second);
    second.journal().snapshot();
    log.deleteBefore(log.mark(GROUP));
    Taken third = journals.take(QUEUE);

    assertSame(third, open);
    open = append(third);
    third.journal().snapshot();
    assertSame(journals.take(QUEUE), open);
    assertThat(open.opened()).hasSizeGreaterThan(5);
    assertThat(contradictions()).isZero();
  }

  @Test
  void afterAContradictionTheNextOwnerBeginsWithoutHalfEdges() throws Exception {
    Taken first = journals.take(QUEUE);
    append(first);
    appendContradiction(first);
    append(first);

    Taken second = journals.take(QUEUE);
    assertThat(contradictions()).isEqualTo(1);
    assertThat(second.image().to()).isEqualTo(to);
    assertThat(second.image().edges().open()).isZero();
    assertThat(second.image().knowsEdges()).isTrue();

    EdgeChange open = append(second);
    assertThat(open.opened()).isNotEmpty();
    assertSame(journals.take(QUEUE), open);
    assertThat(contradictions()).isEqualTo(2); // read again
  }

  @Test
  void aSnapshotAfterAContradictionHasNoHalfEdgesUntilTheNextClaim() throws Exception {
    Taken first = journals.take(QUEUE);
    append(first);
    appendContradiction(first);
    assertThat(first.journal().snapshot()).isEqualTo(Outcome.KEPT);
    log.deleteBefore(log.mark(GROUP));
    append(first);

    Taken second = journals.take(QUEUE);
    assertThat(second.image().edges().open()).isZero();
    assertThat(contradictions()).isZero(); // the snapshot says that they are unknown
    EdgeChange open = append(second);
    assertThat(second.journal().snapshot()).isEqualTo(Outcome.KEPT);
    assertSame(journals.take(QUEUE), open);
  }

  @Test
  void anOwnerWithoutTheEarlierRecordsBeginsWithoutHalfEdges() throws Exception {
    Taken first = journals.take(QUEUE);
    append(first);
    append(first);
    long lost = log.end();
    append(first);
    append(first);
    log.deleteBefore(lost);

    Taken second = journals.take(QUEUE);
    assertThat(counters.lostHistories()).isEqualTo(1);
    assertThat(second.image().edges().open()).isZero();
    EdgeChange open = append(second);
    assertThat(second.journal().snapshot()).isEqualTo(Outcome.KEPT);
    assertSame(journals.take(QUEUE), open);
    assertThat(contradictions()).isZero();
  }

  /** A reader that knows all records agrees with a claimant that lacks some. */
  @Test
  void aClaimantWithoutTheEarlierRecordsHasNoHalfEdgesForAllReaders() throws Exception {
    Taken first = journals.take(QUEUE);
    append(first);
    log.deleteBefore(1);
    Taken second = journals.take(QUEUE);
    EdgeChange open = append(second);
    log.deleteBefore(0);

    QueueImage read = journals.queueLog(QUEUE).recoverOnce().state().image();

    assertThat(read.edges().all()).usingRecursiveComparison().isEqualTo(open);
    assertThat(contradictions()).isZero();
  }

  @Test
  void sinksKeepNoHalfEdges() throws Exception {
    Taken owner = journals.take(QUEUE);
    append(owner);
    owner.journal().snapshot();
    log.deleteBefore(log.mark(GROUP));

    List<QueueImage> images = new ArrayList<>();
    journals.tail(QUEUE, 0, images::add).poll();
    journals
        .replay(QUEUE, "push")
        .poll()
        .forEach(event -> {
          if (event instanceof SnapshotTail.State(QueueImage image)) {
            images.add(image);
          }
        });

    assertThat(images)
        .hasSize(2)
        .allSatisfy(image -> {
          assertThat(image.to()).isEqualTo(1);
          assertThat(image.edges()).isNull();
        });
  }
}
