package org.traceetl.server.features.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.server.journal.MemoryLogs;
import org.traceetl.server.journal.chain.LogJournals;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.TraceDocument.Reason;
import org.traceetl.testkit.Elasticsearch;

/** The follower and a real Elasticsearch that dies. */
@Tag("elasticsearch")
final class ElasticsearchFailureTest {
  private static final long START = TraceIndexContract.START;
  private static final Duration LONG = Duration.ofMinutes(2);
  private static final QueueId QUEUE = new QueueId("broker-a", 0);
  private static final int BATCH = 200;
  private static final int WINDOW = 500;

  private final LogJournals journals =
      DocumentSource.journals(new MemoryLogs(), InstantSource.system());
  private DocumentSource source;
  private Elasticsearch server;
  private TraceIndex index;
  private IndexFollower follower;

  @BeforeEach
  void start() throws Exception {
    source = new DocumentSource(QUEUE, journals);
    server = Elasticsearch.start();
    IndexConfig config = IndexConfig.of(ElasticsearchIndexTest.config(server.url(), "failure"));
    index = TraceIndex.open(config, Clocks.SYSTEM);
    follower =
        new IndexFollower(
            index,
            new IndexConfig(config.type(), BATCH, config.elasticsearch(), config.lucene()),
            queue -> journals.tail(queue, "servers-index"),
            Clocks.SYSTEM,
            new SplittableRandom(1));
  }

  @AfterEach
  void stop() {
    follower.close();
    index.close();
    server.close();
  }

  @Test
  void aKilledServerLosesNothingAndRepeatsNothing() throws Exception {
    // Down at the start.
    server.kill();
    append(0, 1_000);
    follower.restored(QUEUE, null, 0);
    follower.start();
    await().until(() -> follower.telemetry().retried() > 0);
    assertThat(index.healthy()).isFalse();
    server.startAgain();
    assertThat(follower.drain(LONG)).isTrue();
    assertThat(index.healthy()).isTrue();

    // Killed amid the writes, with one document among the others that it will not take.
    append(1_000, 10_000);
    source.append(
        System.currentTimeMillis(),
        List.of(Traces.document(-1, START, "shop", "x", Reason.SLOW, Map.of("a\0b", "refused"))));
    append(10_000, 20_000);
    await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(1))
        .until(() -> follower.telemetry().written() > 3_000);
    server.kill();
    assertThat(follower.telemetry().lag().get(QUEUE).records()).isPositive();
    append(20_000, 25_000);
    server.startAgain();
    assertThat(follower.drain(LONG)).isTrue();

    await()
        .atMost(Duration.ofMinutes(1))
        .ignoreExceptions()
        .untilAsserted(() ->
            assertThat(Traces.all(index, TraceQuery.MAX_LIMIT))
                .isEqualTo(documents(0, 25_000).reversed()));
    IndexTelemetry telemetry = follower.telemetry();
    assertThat(telemetry.written()).isEqualTo(25_000);
    assertThat(telemetry.dropped()).isEqualTo(Map.of("mapping", 1L));
  }

  private void append(int from, int to) throws Exception {
    for (int first = from; first < to; first += WINDOW) {
      source.append(System.currentTimeMillis(), documents(first, first + WINDOW));
    }
  }

  private static List<TraceDocument> documents(int from, int to) {
    return LongStream.range(from, to).mapToObj(i -> Traces.document(i, START + i)).toList();
  }
}
