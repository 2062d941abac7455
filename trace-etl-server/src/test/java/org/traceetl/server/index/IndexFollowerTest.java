package org.traceetl.server.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.IndexConfig;
import org.traceetl.server.index.WriteResult.Refusal;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.TraceDocument.Reason;

final class IndexFollowerTest {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Instant NOW = Instant.ofEpochMilli(1_795_219_200_000L);

  private final ScriptedIndex index = new ScriptedIndex();
  private IndexFollower follower = follower(1_000, 10 << 20, 100);

  private IndexFollower follower(int queueDocuments, long queueBytes, int batchDocuments) {
    IndexConfig defaults = IndexConfig.defaults();
    return new IndexFollower(
        index,
        new IndexConfig(
            IndexConfig.Type.LUCENE,
            queueDocuments,
            queueBytes,
            batchDocuments,
            defaults.elasticsearch(),
            defaults.lucene()),
        () -> NOW);
  }

  private static List<TraceDocument> documents(int from, int to) {
    return LongStream.range(from, to).mapToObj(i -> Traces.document(i, i)).toList();
  }

  @AfterEach
  void close() {
    index.release();
    follower.close();
  }

  @Test
  void theDocumentsOfAWindowAreWrittenInOrderAndInBatches() throws Exception {
    follower.window(window(documents(0, 250)));
    follower.released(new QueueId("a", 0));
    follower.start();
    assertThat(follower.drain(LONG)).isTrue();
    assertThat(index.kept()).isEqualTo(documents(0, 250));
    assertThat(index.batches()).containsExactly(100, 100, 50);
    assertThat(follower.telemetry()).isEqualTo(new IndexTelemetry(250, Map.of(), 0, 0, 0, 0));
  }

  @Test
  void aFullQueueDropsWhatComesAndCountsIt() throws Exception {
    index.hold();
    follower.start();
    follower.offer(documents(0, 600));
    follower.offer(documents(600, 1_300));
    assertThat(follower.telemetry().dropped()).isEqualTo(Map.of("queue_full", 300L));
    assertThat(follower.telemetry().queuedDocuments()).isEqualTo(1_000);

    index.release();
    assertThat(follower.drain(LONG)).isTrue();
    assertThat(index.kept()).isEqualTo(documents(0, 1_000));
    follower.offer(documents(1_300, 1_310));
    assertThat(follower.drain(LONG)).isTrue();
    assertThat(follower.telemetry().written()).isEqualTo(1_010);
  }

  @Test
  void theQueueIsBoundedInBytesToo() {
    follower = follower(1_000, 1 << 20, 100);
    TraceDocument big = Traces.document(1, 1, "x".repeat(100_000), "y", Reason.SLOW, Map.of());
    follower.offer(List.of(big, big, big, big, big, big, big, big));
    IndexTelemetry telemetry = follower.telemetry();
    assertThat(telemetry.queuedDocuments()).isEqualTo(5);
    assertThat(telemetry.queuedBytes()).isBetween(1_000_000L, 1L << 20);
    assertThat(telemetry.dropped()).isEqualTo(Map.of("queue_full", 3L));
  }

  @Test
  void aWriteThatFailsIsRepeatedUntilItSucceeds() throws Exception {
    ScriptedIndex.Answer away =
        documents -> {
          throw new IOException("away");
        };
    index.answer(away, away, away);
    follower.offer(documents(0, 10));
    follower.start();
    assertThat(follower.drain(LONG)).isTrue();
    assertThat(index.kept()).isEqualTo(documents(0, 10));
    assertThat(follower.telemetry())
        .isEqualTo(new IndexTelemetry(10, Map.of(), 30, 0, 0, NOW.toEpochMilli()));
  }

  @Test
  void onlyWhatWasPutOffIsWrittenAgain() throws Exception {
    index.answer(
        d -> new WriteResult(7, List.of(), d.subList(7, 10)),
        d -> new WriteResult(2, List.of(), d.subList(2, 3)));
    follower.offer(documents(0, 10));
    follower.start();
    assertThat(follower.drain(LONG)).isTrue();
    assertThat(index.batches()).containsExactly(10, 3, 1);
    assertThat(follower.telemetry().written()).isEqualTo(10);
    assertThat(follower.telemetry().retried()).isEqualTo(4);
  }

  @Test
  void whatIsRefusedIsDroppedAloneAndCountedByReason() throws Exception {
    index.answer(d ->
        new WriteResult(
            7,
            List.of(
                new Refusal(d.get(0), "mapping", "x"),
                new Refusal(d.get(1), "mapping", "x"),
                new Refusal(d.get(2), "too_large", "x")),
            List.of()));
    follower.offer(documents(0, 10));
    follower.start();
    assertThat(follower.drain(LONG)).isTrue();
    assertThat(follower.telemetry().dropped()).isEqualTo(Map.of("mapping", 2L, "too_large", 1L));
    assertThat(follower.telemetry().written()).isEqualTo(7);
  }

  @Test
  void aFaultLosesItsBatchAndNotTheThread() throws Exception {
    index.answer(d -> {
      throw new IllegalStateException("a fault");
    });
    follower.offer(documents(0, 200));
    follower.start();
    assertThat(follower.drain(LONG)).isTrue();
    assertThat(follower.telemetry().dropped()).isEqualTo(Map.of("internal", 100L));
    assertThat(index.kept()).isEqualTo(documents(100, 200));
  }

  @Test
  void noIndexCountsWhatItDoesNotKeep() throws Exception {
    follower =
        new IndexFollower(
            TraceIndex.open(IndexConfig.defaults()), IndexConfig.defaults(), () -> NOW);
    follower.offer(documents(0, 5));
    follower.start();
    assertThat(follower.drain(LONG)).isTrue();
    assertThat(follower.telemetry().dropped()).isEqualTo(Map.of("disabled", 5L));
  }

  @Test
  void drainGivesUpAtItsDeadline() throws Exception {
    index.hold();
    follower.start();
    follower.offer(documents(0, 1));
    assertThat(follower.drain(Duration.ofMillis(1))).isFalse();
  }

  @Test
  void whatIsLeftAtTheEndIsCounted() {
    ScriptedIndex.Answer[] away = new ScriptedIndex.Answer[1_000];
    java.util.Arrays.fill(
        away,
        (ScriptedIndex.Answer)
            documents -> {
              throw new IOException("away");
            });
    index.answer(away);
    follower.offer(documents(0, 250));
    follower.start();
    await().until(() -> follower.telemetry().lastErrorMillis() > 0);
    follower.close();
    follower.close();
    follower.offer(documents(0, 5));
    assertThat(follower.telemetry().dropped()).isEqualTo(Map.of("shutdown", 255L));
    assertThat(follower.telemetry().queuedDocuments()).isZero();
    assertThat(follower.telemetry().queuedBytes()).isZero();
  }

  @Test
  void closingWhatNeverStartedIsQuiet() {
    follower.close();
    assertThat(follower.telemetry().dropped()).isEmpty();
  }

  @Test
  void pausesGrowToABoundAndVary() {
    Random random = new Random(1);
    for (int failures = 1; failures < 100; failures++) {
      long full = Math.min(5_000, 100L << Math.min(failures, 10));
      for (int i = 0; i < 100; i++) {
        assertThat(IndexFollower.pauseMillis(failures, random)).isBetween(full / 2, full);
      }
    }
  }

  private static SealedWindow window(List<TraceDocument> documents) {
    return new SealedWindow(
        new QueueId("a", 0),
        0,
        1,
        0,
        1,
        List.of(),
        new int[0],
        0,
        2,
        new int[0],
        new long[0],
        new long[0],
        new int[0],
        new int[0],
        documents,
        List.of(),
        0,
        new long[0],
        AcceptedBatches.NONE);
  }
}
