package org.traceetl.server.features.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.server.features.index.WriteResult.Refusal;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.MemoryLogs;
import org.traceetl.server.journal.SilentLogs;
import org.traceetl.server.journal.chain.LogJournals;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.TraceDocument;

/** Followers stepped by hand over real journals on logs in memory. */
final class IndexFollowerTest {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final long START_MILLIS = 1_795_219_200_000L;
  private static final QueueId A = new QueueId("a", 0);
  private static final QueueId B = new QueueId("b", 7);
  private static final String GROUP = "servers-index";
  private static final int BATCH = 100;
  private static final ScriptedIndex.Answer AWAY =
      documents -> {
        throw new IOException("away");
      };

  private final MemoryLogs logs = new MemoryLogs();
  private final LogJournals journals = journals();
  private final Map<QueueId, DocumentSource> sources = new HashMap<>();
  private final ScriptedIndex index = new ScriptedIndex();
  private final IndexFollower follower = follower(journals);
  private long nowNanos = Long.MAX_VALUE - 1;
  private long nowMillis = START_MILLIS;

  private LogJournals journals() {
    return DocumentSource.journals(logs, this::now);
  }

  private Instant now() {
    return Instant.ofEpochMilli(nowMillis);
  }

  private IndexFollower follower(LogJournals journals) {
    return follower(queue -> journals.tail(queue, GROUP));
  }

  private IndexFollower follower(IndexFollower.Tails tails) {
    IndexConfig defaults = IndexConfig.defaults();
    return new IndexFollower(
        index,
        new IndexConfig(
            IndexConfig.Type.LUCENE, BATCH, defaults.elasticsearch(), defaults.lucene()),
        tails,
        new Clocks(() -> nowNanos, this::now),
        new SplittableRandom(1));
  }

  /** A window of its queue's owner. */
  private void append(QueueId queue, List<TraceDocument> documents) throws Exception {
    if (!sources.containsKey(queue)) {
      sources.put(queue, new DocumentSource(queue, journals));
    }
    sources.get(queue).append(nowMillis, documents);
  }

  private static List<TraceDocument> documents(int from, int to) {
    return LongStream.range(from, to).mapToObj(i -> Traces.document(i, i)).toList();
  }

  private static List<Long> numbers(int from, int to) {
    return LongStream.range(from, to).boxed().toList();
  }

  /** The documents in the index, by their numbers. */
  private List<Long> kept() {
    return index.kept().stream().map(TraceDocument::startUnixNanos).toList();
  }

  private static void own(IndexFollower follower, QueueId queue) {
    follower.restored(queue, null, 0);
  }

  /** Steps until there is nothing to do. */
  private void settle(IndexFollower follower) throws Exception {
    for (int step = 0; step < 10_000; step++) {
      long idleNanos = follower.step();
      nowNanos += idleNanos;
      if (idleNanos >= 1_000_000_000 && follower.telemetry().waitingDocuments() == 0) {
        // Marks are set now and then.
        follower.step();
        return;
      }
    }
    throw new AssertionError("does not come to rest");
  }

  private long mark(QueueId queue) {
    return logs.open(queue).mark(GROUP);
  }

  @Test
  void documentsAreWrittenInBatchesAcrossWindowsAndQueues() throws Exception {
    for (int window = 0; window < 25; window++) {
      append(A, documents(window * 10, window * 10 + 5));
      append(B, documents(window * 10 + 5, window * 10 + 10));
    }
    own(follower, A);
    own(follower, B);
    settle(follower);

    assertThat(kept()).containsExactlyInAnyOrderElementsOf(numbers(0, 250));
    assertThat(index.batches()).containsExactly(100, 100, 50);
    assertThat(follower.telemetry())
        .isEqualTo(
            new IndexTelemetry(
                250, Map.of(), 0, 0, 0, Map.of(A, IndexLag.NONE, B, IndexLag.NONE), 0));
  }

  @Test
  void queueOfAnotherServerIsNotIndexed() throws Exception {
    append(A, documents(0, 10));
    append(B, documents(10, 20));
    own(follower, B);
    settle(follower);

    assertThat(kept()).isEqualTo(numbers(10, 20));
    assertThat(mark(A)).isEqualTo(JournalLog.NONE);
  }

  @Test
  void newOwnerContinuesAtTheMark() throws Exception {
    append(A, documents(0, 10));
    append(A, documents(10, 20));
    own(follower, A);
    settle(follower);
    append(A, documents(20, 30));

    IndexFollower next = follower(journals());
    own(next, A);
    settle(next);

    assertThat(kept()).isEqualTo(numbers(0, 30));
    assertThat(mark(A)).isEqualTo(logs.open(A).end() - 1);
  }

  @Test
  void documentsAfterTheMarkAreWrittenAgain() throws Exception {
    append(A, documents(0, 10));
    own(follower, A);
    settle(follower);
    long mark = mark(A);
    append(A, documents(10, 20));
    settle(follower);
    logs.open(A).mark(GROUP, mark);

    IndexFollower next = follower(journals());
    own(next, A);
    settle(next);

    assertThat(index.kept()).hasSize(30);
    assertThat(new HashSet<>(kept())).isEqualTo(new HashSet<>(numbers(0, 20)));
    assertThat(mark(A)).isEqualTo(logs.open(A).end() - 1);
  }

  @Test
  void markFollowsTheWrite() throws Exception {
    index.answer(AWAY, AWAY, d -> new WriteResult(7, List.of(), d.subList(7, 10)), AWAY);
    append(A, documents(0, 10));
    own(follower, A);
    for (int write = 0; write < 4; write++) {
      assertThat(mark(A)).isEqualTo(JournalLog.NONE);
      nowNanos += follower.step();
    }
    assertThat(mark(A)).isEqualTo(JournalLog.NONE);
    settle(follower);

    assertThat(index.batches()).containsExactly(10, 10, 10, 3, 3);
    assertThat(mark(A)).isEqualTo(logs.open(A).end() - 1);
    assertThat(follower.telemetry().written()).isEqualTo(10);
    assertThat(follower.telemetry().retried()).isEqualTo(26);
    assertThat(follower.telemetry().lastErrorMillis()).isEqualTo(nowMillis);
  }

  @Test
  void longOutageOfTheStoreLosesNoDocumentsAndNoMemory() throws Exception {
    index.fail(true);
    own(follower, A);
    own(follower, B);
    for (int window = 0; window < 1_000; window++) {
      nowMillis += 15_000;
      nowNanos += 15_000_000_000L;
      append(window % 3 == 0 ? B : A, documents(window * 20, window * 20 + 20));
      follower.step();
      // Two batches, and what one read of a log may have beyond them.
      assertThat(follower.telemetry().waitingDocuments()).isLessThan(2 * BATCH + 32 * 20);
    }
    assertThat(index.kept()).isEmpty();
    assertThat(lag(A).records()).isBetween(660L, 670L);
    assertThat(nowMillis - lag(A).oldestMillis()).isBetween(14_900_000L, 15_000_000L);

    index.fail(false);
    int writes = index.batches().size();
    settle(follower);

    assertThat(kept()).containsExactlyInAnyOrderElementsOf(numbers(0, 20_000));
    assertThat(index.batches().size() - writes).isLessThan(20_000 / BATCH + 10);
    assertThat(follower.telemetry().dropped()).isEmpty();
    assertThat(lag(A)).isEqualTo(IndexLag.NONE);
    assertThat(lag(B)).isEqualTo(IndexLag.NONE);
  }

  private IndexLag lag(QueueId queue) {
    return follower.telemetry().lag().get(queue);
  }

  @Test
  void waitingDocumentsAreLimitedInBytes() throws Exception {
    index.fail(true);
    TraceDocument large =
        Traces.document(1, 1, "x".repeat(100_000), "y", TraceDocument.Reason.SLOW, Map.of());
    for (int window = 0; window < 200; window++) {
      append(A, List.of(large));
    }
    own(follower, A);
    for (int step = 0; step < 100; step++) {
      nowNanos += follower.step();
    }

    assertThat(follower.telemetry().waitingBytes())
        .isBetween(DocumentWriter.MAX_WAITING_BYTES, DocumentWriter.MAX_WAITING_BYTES + (7 << 20));
    index.fail(false);
    settle(follower);
    assertThat(index.kept()).hasSize(200);
  }

  @Test
  void queueGoesFromOneServerToAnother() throws Exception {
    IndexFollower next = follower(journals());
    own(follower, A);
    for (int window = 0; window < 100; window++) {
      append(A, documents(window * 50, window * 50 + 50));
      if (window % 10 == 5) {
        IndexFollower from = window % 20 == 5 ? follower : next;
        from.released(A);
        own(from == next ? follower : next, A);
      }
      if (window % 3 == 0) {
        index.answer(AWAY);
      }
      follower.step();
      next.step();
      nowNanos += 100_000_000;
    }
    settle(follower);
    settle(next);

    assertThat(new HashSet<>(kept())).isEqualTo(new HashSet<>(numbers(0, 5_000)));
  }

  @Test
  void previousOwnerFinishesItsBatchAndForgetsTheQueue() throws Exception {
    append(A, documents(0, 10));
    own(follower, A);
    index.answer(AWAY);
    follower.step();
    follower.released(A);
    append(A, documents(10, 20));
    settle(follower);

    assertThat(kept()).isEqualTo(numbers(0, 20));
    assertThat(follower.telemetry().lag()).isEmpty();
    append(A, documents(20, 30));
    settle(follower);
    assertThat(kept()).isEqualTo(numbers(0, 20));
  }

  @Test
  void previousOwnerGivesUpDuringAnOutage() throws Exception {
    index.fail(true);
    append(A, documents(0, 10));
    own(follower, A);
    follower.step();
    follower.released(A);
    for (int step = 0; step < 20; step++) {
      follower.step();
      nowNanos += 1_000_000_000;
    }

    assertThat(follower.telemetry().lag()).isEmpty();
    assertThat(follower.telemetry().waitingDocuments()).isZero();
    assertThat(mark(A)).isEqualTo(JournalLog.NONE);
  }

  @Test
  void documentsOfAFencedOwnerNeverReachTheIndex() throws Exception {
    append(A, documents(0, 10));
    DocumentSource fenced = sources.remove(A);
    append(A, documents(10, 20));
    fenced.append(nowMillis, documents(100, 110));
    append(A, documents(20, 30));
    own(follower, A);
    settle(follower);

    assertThat(kept()).isEqualTo(numbers(0, 30));
  }

  @Test
  void markMovesOnWithoutDocuments() throws Exception {
    for (int window = 0; window < 100; window++) {
      append(A, List.of());
    }
    own(follower, A);
    settle(follower);

    assertThat(mark(A)).isEqualTo(logs.open(A).end() - 1);
    assertThat(index.batches()).isEmpty();
  }

  @Test
  void markDoesNotGoBackToTheLastDocumentsWhileOthersWait() throws Exception {
    append(A, documents(0, 10));
    own(follower, A);
    settle(follower);
    for (int window = 0; window < 100; window++) {
      append(A, List.of());
    }
    settle(follower);
    long mark = mark(A);
    assertThat(mark).isEqualTo(logs.open(A).end() - 1);
    index.fail(true);
    append(A, documents(10, 20));
    for (int step = 0; step < 10; step++) {
      nowNanos += 1_000_000_000;
      follower.step();
    }

    assertThat(follower.telemetry().waitingDocuments()).isEqualTo(10);
    assertThat(mark(A)).isEqualTo(mark);
  }

  @Test
  void refusedDocumentIsDroppedAloneAndCountedByReason() throws Exception {
    index.answer(d ->
        new WriteResult(
            7,
            List.of(
                new Refusal(d.get(0), "mapping", "x"),
                new Refusal(d.get(1), "mapping", "x"),
                new Refusal(d.get(2), "too_large", "x")),
            List.of()));
    append(A, documents(0, 10));
    own(follower, A);
    settle(follower);

    assertThat(follower.telemetry().dropped()).isEqualTo(Map.of("mapping", 2L, "too_large", 1L));
    assertThat(follower.telemetry().written()).isEqualTo(7);
    assertThat(mark(A)).isEqualTo(logs.open(A).end() - 1);
  }

  @Test
  void faultLosesOnlyTheDocumentThatCausesIt() throws Exception {
    TraceDocument poison = documents(33, 34).getFirst();
    index.refuseWith(poison, new IllegalStateException("a fault"));
    append(A, documents(0, 150));
    own(follower, A);
    settle(follower);

    List<Long> others = new ArrayList<>(numbers(0, 150));
    others.remove(33L);
    assertThat(kept()).isEqualTo(others);
    assertThat(follower.telemetry().dropped()).isEqualTo(Map.of("internal", 1L));
    assertThat(mark(A)).isEqualTo(logs.open(A).end() - 1);
  }

  @Test
  void unreadableJournalDoesNotDelayOtherQueues() throws Exception {
    IndexFollower one =
        follower(queue -> {
          if (queue.equals(A) && nowMillis == START_MILLIS) {
            throw new IOException("no such broker");
          }
          return journals.tail(queue, GROUP);
        });
    append(A, documents(0, 10));
    append(B, documents(10, 20));
    own(one, A);
    own(one, B);
    one.step();
    assertThat(kept()).isEqualTo(numbers(10, 20));
    assertThat(one.telemetry().lag().get(A).oldestMillis()).isEqualTo(START_MILLIS);

    nowMillis += 3_000;
    nowNanos += 3_000_000_000L;
    settle(one);
    assertThat(kept()).containsExactlyInAnyOrderElementsOf(numbers(0, 20));
  }

  @Test
  void silentBrokerDoesNotDelayDocumentsOfOthers() throws Exception {
    append(A, documents(0, 10));
    SilentLogs silent = new SilentLogs(logs, A.broker());
    LogJournals throughSilence = DocumentSource.journals(silent, this::now);
    try (IndexFollower running =
        new IndexFollower(
            index,
            IndexConfig.defaults(),
            queue -> throughSilence.tail(queue, GROUP),
            new Clocks(System::nanoTime, this::now),
            new SplittableRandom(1))) {
      running.start();
      own(running, A);
      silent.awaitReader();
      append(B, documents(10, 20));
      own(running, B);
      await().atMost(PATIENCE).untilAsserted(() -> assertThat(kept()).isEqualTo(numbers(10, 20)));
      await().atMost(PATIENCE).until(() -> mark(B) != JournalLog.NONE);
      silent.answer();
      await().atMost(PATIENCE).untilAsserted(() -> assertThat(kept()).hasSize(20));
    } finally {
      silent.answer();
    }
  }

  @Test
  void drainWritesAllDocumentsOfTheJournal() throws Exception {
    append(A, documents(0, 1_000));
    own(follower, A);
    index.answer(AWAY);
    index.hold();
    follower.start();
    assertThat(follower.drain(Duration.ofMillis(1))).isFalse();
    index.release();
    // The write that fails may begin at any time: its pause has to pass whenever that was.
    await()
        .atMost(LONG)
        .until(() -> {
          nowNanos += 10_000_000_000L;
          return follower.drain(Duration.ofMillis(100));
        });
    assertThat(index.kept()).isEqualTo(documents(0, 1_000));
    follower.close();
    follower.close();
    assertThat(mark(A)).isEqualTo(logs.open(A).end() - 1);
  }

  @Test
  void deadThreadIsNotAlive() {
    IndexFollower dying =
        follower(queue -> {
          throw new AssertionError("made by the test: no thread survives it");
        });
    assertThat(dying.alive()).isTrue();
    own(dying, A);
    dying.start();

    await().dontCatchUncaughtExceptions().until(() -> !dying.alive());
    dying.close();
  }

  @Test
  void closeWithoutStartDoesNothing() {
    follower.close();
    assertThat(follower.telemetry().dropped()).isEmpty();
  }

  @Test
  void pausesGrowToABoundAndVary() {
    Random random = new Random(1);
    for (int failures = 1; failures < 100; failures++) {
      long full = Math.min(5_000, 100L << Math.min(failures, 10));
      for (int i = 0; i < 100; i++) {
        assertThat(DocumentWriter.pauseMillis(failures, random)).isBetween(full / 2, full);
      }
    }
  }
}
