package org.traceetl.server.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.IndexConfig;
import org.traceetl.server.testing.ElasticsearchServer;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.TraceDocument.Reason;

/** The follower and a real Elasticsearch that dies. */
@Tag("elasticsearch")
final class ElasticsearchFailureTest {
  private static final long START = TraceIndexContract.START;
  private static final int BATCH = 200;

  private ElasticsearchServer server;
  private TraceIndex index;
  private IndexFollower follower;

  @BeforeEach
  void start() throws Exception {
    server = ElasticsearchServer.start();
    IndexConfig config = IndexConfig.of(ElasticsearchIndexTest.config(server.url(), "failure"));
    index = TraceIndex.open(config);
    follower =
        new IndexFollower(
            index,
            new IndexConfig(
                config.type(),
                config.queueDocuments(),
                config.queueBytes(),
                BATCH,
                config.elasticsearch(),
                config.lucene()),
            InstantSource.system());
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
    follower.start();
    follower.offer(documents(0, 1_000));
    await().until(() -> follower.telemetry().retried() > 0);
    assertThat(index.healthy()).isFalse();
    server.startAgain();
    assertThat(follower.drain(Duration.ofMinutes(1))).isTrue();
    assertThat(index.healthy()).isTrue();

    // Killed amid the writes, with one document among the others that it will not take.
    follower.offer(documents(1_000, 10_000));
    follower.offer(
        List.of(Traces.document(-1, START, "shop", "x", Reason.SLOW, Map.of("a\0b", "refused"))));
    follower.offer(documents(10_000, 20_000));
    await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(1))
        .until(() -> follower.telemetry().written() > 3_000);
    server.kill();
    assertThat(follower.telemetry().queuedDocuments()).isPositive();
    server.startAgain();
    assertThat(follower.drain(Duration.ofMinutes(2))).isTrue();

    await()
        .atMost(Duration.ofMinutes(1))
        .ignoreExceptions()
        .untilAsserted(() ->
            assertThat(Traces.all(index, TraceQuery.MAX_LIMIT))
                .isEqualTo(documents(0, 20_000).reversed()));
    IndexTelemetry telemetry = follower.telemetry();
    assertThat(telemetry.written()).isEqualTo(20_000);
    assertThat(telemetry.dropped()).isEqualTo(Map.of("mapping", 1L));
  }

  private static List<TraceDocument> documents(int from, int to) {
    return LongStream.range(from, to).mapToObj(i -> Traces.document(i, START + i)).toList();
  }
}
