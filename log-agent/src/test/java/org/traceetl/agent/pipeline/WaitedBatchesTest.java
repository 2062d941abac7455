package org.traceetl.agent.pipeline;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.agent.flow.TestAttributes.add;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.config.EdgesConfig;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.config.RoutingRules.Rule;
import org.traceetl.agent.config.RoutingRules.Spread;
import org.traceetl.agent.edge.Edges;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.EdgeRoute;
import org.traceetl.agent.route.Router;
import org.traceetl.agent.route.TestTopology;
import org.traceetl.agent.spool.Frame;
import org.traceetl.agent.spool.TestFrames;
import org.traceetl.agent.state.AgentIdentity;

/** Tests the dates of batches whose spans waited for the agent, as in a ring. */
final class WaitedBatchesTest {
  private static final long UNIX_MILLIS = 1_795_255_028_312L;
  private static final long SPOOL_MILLIS = 5_000_000_000L;
  private static final long MOST_WAIT_MILLIS = TimeUnit.HOURS.toMillis(12);

  private static final SpanDecoder OF_A_RING =
      new SpanDecoder() {
        @Override
        public void decode(byte[] payload, int length, SpanSink sink) {}

        @Override
        public boolean mayHaveWaited() {
          return true;
        }
      };

  private final PipelineMetrics metrics = new PipelineMetrics();
  private final Frame frame =
      new Frame(new AgentIdentity(1, 2, 3), () -> SPOOL_MILLIS, MOST_WAIT_MILLIS);
  private final Batcher batcher =
      new Batcher(
          PipelineConfig.defaults(), frame, Long.MAX_VALUE, metrics, () -> 0, () -> UNIX_MILLIS);

  WaitedBatchesTest() {
    batcher.route(new Router(RoutingRules.defaults()), TestTopology.topology(1));
  }

  private void begin(SpanDecoder decoder) {
    batcher.payload(
        new PendingPayload("test", new byte[0], 0, decoder, BatcherAllocationTest.IGNORED, 0));
    Attributes resource = new Attributes();
    add(resource, "service.name", "shop");
    batcher.resource(resource);
  }

  /** Adds a span of 30 ms that ended this long ago. */
  private void endedBefore(long millis) {
    end(TimeUnit.MILLISECONDS.toNanos(UNIX_MILLIS - millis - 30), 30_000_000);
  }

  private void end(long startUnixNanos, long durationNanos) {
    end("GET /", startUnixNanos, durationNanos);
  }

  private void end(String operation, long startUnixNanos, long durationNanos) {
    SpanView span = new SpanView();
    span.traceIdHigh = 1;
    span.traceIdLow = 2;
    span.spanId = 3;
    span.kind = 2;
    span.startUnixNanos = startUnixNanos;
    span.durationNanos = durationNanos;
    span.name = operation.getBytes(UTF_8);
    span.nameLength = span.name.length;
    assertThat(batcher.span(span)).isTrue();
  }

  private List<Long> waitedMillis() {
    batcher.closeForCommit();
    return TestFrames.createdMillis(frame).stream().map(date -> SPOOL_MILLIS - date).toList();
  }

  @Test
  void aBatchIsDatedAtTheEndOfItsLastSpan() {
    begin(OF_A_RING);
    endedBefore(62_000);
    endedBefore(60_000);
    endedBefore(61_000);

    assertThat(waitedMillis()).containsExactly(60_000L);
  }

  @Test
  void spansThatAnAgentReceivedAreDatedThen() {
    begin(BatcherAllocationTest.NOT_DECODED);
    endedBefore(60_000);

    assertThat(waitedMillis()).containsExactly(0L);
  }

  @Test
  void aBatchWithASpanThatDidNotWaitIsDatedNow() {
    begin(OF_A_RING);
    endedBefore(60_000);
    begin(BatcherAllocationTest.NOT_DECODED);
    endedBefore(60_000);

    assertThat(waitedMillis()).containsExactly(0L);
  }

  @Test
  void aBacklogOfTenMinutesIsSpreadOverTheseMinutes() {
    for (int second = 0; second < 600; second++) {
      if (second % 100 == 0) {
        begin(OF_A_RING);
      }
      endedBefore(1_000L * (600 - second));
    }

    List<Long> waited = waitedMillis();
    assertThat(TestFrames.spans(frame)).containsOnly(6);
    assertThat(waited)
        .isEqualTo(IntStream.range(0, 100).mapToObj(i -> 595_000L - 6_000 * i).toList());
    assertThat(metrics.batchesClosed.labels("time").get()).isEqualTo(99);
  }

  /** A busy queue closes its batches by their spans. */
  @Test
  void theBacklogOfAQuietQueueIsSpreadBesideABusyOne() {
    Rule twoQueues = new Rule(2, Spread.SERIES, false);
    batcher.route(
        new Router(new RoutingRules(twoQueues, Map.of(), Set.of())), TestTopology.topology(2));
    begin(OF_A_RING);
    for (int second = 0; second < 60; second++) {
      long startNanos = TimeUnit.MILLISECONDS.toNanos(UNIX_MILLIS - 1_000L * (60 - second));
      for (int i = 0; i < PipelineConfig.defaults().batchSpans(); i++) {
        end("GET /busy", startNanos, 1);
      }
      for (int i = 0; i < 8; i++) {
        end("GET /quiet/" + i, startNanos, 1);
      }
    }

    batcher.closeForCommit();
    assertThat(TestFrames.spans(frame).stream().filter(spans -> spans < 8 * 7))
        .hasSizeGreaterThanOrEqualTo(9);
  }

  @Test
  void wrongTimesMakeFewBatchesAndLeaveTimeForPublishing() {
    begin(OF_A_RING);
    for (int i = 0; i < 10_000; i++) {
      end(1 + 6_000_000_000L * i, 1);
    }
    end(Long.MAX_VALUE, Long.MAX_VALUE);

    List<Long> waited = waitedMillis();
    assertThat(waited).hasSizeLessThanOrEqualTo(Batcher.MOST_SEPARATED + 20);
    assertThat(waited.getFirst()).isEqualTo(MOST_WAIT_MILLIS);
    assertThat(waited.getLast()).isZero();
    assertThat(TestFrames.spans(frame).stream().mapToInt(spans -> spans).sum()).isEqualTo(10_001);
  }

  @Test
  void halfEdgesAreDatedAsTheirSpans() {
    sendHalfEdges();
    begin(OF_A_RING);
    endedBefore(62_000);
    endedBefore(60_000);
    assertThat(waitedMillis()).containsExactly(60_000L, 60_000L);
    assertThat(waitedMillisOfHalfEdges()).containsExactly(60_000L);
  }

  @Test
  void halfEdgesThatAnAgentReceivedAreDatedThen() {
    sendHalfEdges();
    begin(BatcherAllocationTest.NOT_DECODED);
    endedBefore(60_000);

    assertThat(waitedMillis()).containsExactly(0L, 0L);
  }

  @Test
  void theHalfEdgesOfABacklogAreSpreadAsItsSpans() {
    sendHalfEdges();
    for (int second = 0; second < 600; second++) {
      if (second % 100 == 0) {
        begin(OF_A_RING);
      }
      endedBefore(1_000L * (600 - second));
    }

    waitedMillis();
    assertThat(waitedMillisOfHalfEdges())
        .isEqualTo(IntStream.range(0, 100).mapToObj(i -> 595_000L - 6_000 * i).toList());
    assertThat(frame.halfEdges()).isEqualTo(600);
  }

  @Test
  void wrongTimesMakeFewBatchesOfHalfEdges() {
    sendHalfEdges();
    begin(OF_A_RING);
    for (int i = 0; i < 10_000; i++) {
      end(1 + 6_000_000_000L * i, 1);
    }

    waitedMillis();
    assertThat(waitedMillisOfHalfEdges()).hasSizeLessThanOrEqualTo(Batcher.MOST_SEPARATED + 20);
    assertThat(frame.halfEdges()).isEqualTo(10_000);
  }

  private void sendHalfEdges() {
    batcher.edges(new Edges(EdgesConfig.defaults(), new EdgeRoute(TestTopology.edgeQueues(1))));
  }

  private List<Long> waitedMillisOfHalfEdges() {
    List<Long> dates = TestFrames.createdMillis(frame);
    List<BrokerQueue> queues = TestFrames.queues(frame);
    return IntStream.range(0, dates.size())
        .filter(i -> queues.get(i).topic() == BrokerQueue.Topic.EDGES)
        .mapToObj(i -> SPOOL_MILLIS - dates.get(i))
        .toList();
  }

  @Test
  void timesThatGoBackSeparateNothing() {
    begin(OF_A_RING);
    for (int i = 0; i < 100; i++) {
      endedBefore(i % 2 == 0 ? 0 : 3_600_000);
    }

    assertThat(waitedMillis()).hasSize(1);
  }
}
