package org.traceetl.agent.pipeline;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.config.DetailConfig;
import org.traceetl.agent.config.EdgesConfig;
import org.traceetl.agent.config.FiltersFile;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.detail.Detail;
import org.traceetl.agent.edge.EdgeAttributes;
import org.traceetl.agent.edge.Edges;
import org.traceetl.agent.filter.Filters;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.route.EdgeRoute;
import org.traceetl.agent.route.Router;
import org.traceetl.agent.route.TestTopology;
import org.traceetl.agent.spool.Frame;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.common.ConfigException;
import org.traceetl.proto.Demand;
import org.traceetl.proto.Demand.Part;
import org.traceetl.proto.HotspotDecisions;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.NameRule;
import org.traceetl.proto.NameRules;

/** Tests that spans allocate nothing, and batches little more than their message. */
final class BatcherAllocationTest {
  private static final int SPANS = 200_000;
  private static final int SPANS_PER_PAYLOAD = 200;
  private static final int SPANS_PER_COMMIT = 20_000;
  private static final int MOST_BYTES_PER_BATCH_BESIDES = 4_096;
  // For the counts.
  private static final int MOST_BYTES_PER_FILTERED_PAYLOAD = 1_024;

  private final AgentIdentity identity = new AgentIdentity(1, 2, 3);
  private final PipelineMetrics metrics = new PipelineMetrics();
  private long nowNanos;
  private final Frame frame = new Frame(identity, () -> 0);
  private final Batcher batcher =
      new Batcher(
          PipelineConfig.defaults(),
          frame,
          Long.MAX_VALUE,
          metrics,
          () -> nowNanos += 10_000,
          () -> 0);
  private final Attributes resource = new Attributes();
  private final SpanView span = new SpanView();
  private byte[][] names = new byte[50][];
  private final byte[] key = "http.response.status_code".getBytes(UTF_8);
  private final byte[] value = "200".getBytes(UTF_8);
  private final byte[] peerKey = "server.address".getBytes(UTF_8);
  private byte[][] peers = new byte[0][];
  private long batches;
  private long bytes;
  private long measured;
  private long grouped;
  private int formats;
  private long halfEdges;
  // Whether spans have further attributes, which are skipped if nothing needs them.
  private boolean inPart;
  private long samplingThreshold;

  @Test
  void spansAreBatchedWithoutAllocation() {
    nameOperations();
    spansMakeNoGarbage(LearntNames.NONE, 0);
  }

  private void nameOperations() {
    for (int i = 0; i < names.length; i++) {
      names[i] = ("GET /" + i).getBytes(UTF_8);
    }
  }

  /** The names exceed the cache, so most of them are joined again. */
  @Test
  void namesAreJoinedWithoutAllocation() {
    names = new byte[4_000][];
    for (int i = 0; i < names.length; i++) {
      names[i] = ("/users/" + word(i) + "/cart").getBytes(UTF_8);
    }
    NameRules rules = new NameRules(List.of(new NameRule("/users/", 1, 501, 1)));
    spansMakeNoGarbage(new LearntNames(1, 1, Map.of("checkout", rules)), 0);
  }

  private static String word(int number) {
    return ""
        + (char) ('a' + number % 20)
        + (char) ('a' + number / 20 % 20)
        + (char) ('a' + number / 400);
  }

  @Test
  void spansAreFilteredWithoutAllocation() throws ConfigException {
    spansAreFiltered();
  }

  @Test
  void halfEdgesOfFilteredSpansAreBatchedWithoutAllocation() throws ConfigException {
    sendHalfEdges("http.response.status_code", "service.name", "absent");
    spansAreFiltered();

    assertThat(halfEdges).isPositive();
  }

  private void spansAreFiltered() throws ConfigException {
    String yaml =
        """
        drop:
          - {application: checkout, kind: server, name: "*/1*", attributes: {http.*: x}}
          - {application: c*, name: "GET /2*", attributes: {http.response.status_code: 2*}}
          - {application: checkout, name: "GET /3*", keep: nothing}
        sample: [{application: "*", ratio: 0.5, always: {slower-than: 100us}}]
        attributes: [{span: ["http.*"]}]
        limits: {max-attributes: 1, max-value-bytes: 2, max-name-bytes: 5}
        redact: [{pattern: 'token=[a-z]+'}]
        """;
    nameOperations();
    batcher.filter(new Filters(FiltersFile.parse(yaml.getBytes(UTF_8))));
    spansMakeNoGarbage(LearntNames.NONE, MOST_BYTES_PER_FILTERED_PAYLOAD);

    assertThat(metrics.spansFiltered.labels("test", "dropped").get()).isPositive();
    assertThat(metrics.spansFiltered.labels("test", "sampled_out").get()).isPositive();
    assertThat(metrics.spanChanges.labels("test", "name_cut").get()).isPositive();
    assertThat(measured).isPositive();
  }

  /** Each span of a new series, slow and failed ones, exemplars and groups. */
  @Test
  void spansAreGroupedByDemandWithoutAllocation() {
    spansAreGroupedWithoutAllocation();
  }

  @Test
  void spansReadInPartAreGroupedByDemandWithoutAllocation() {
    inPart = true;
    spansAreGroupedWithoutAllocation();
  }

  @Test
  void sampledSpansAreGroupedByDemandWithoutAllocation() {
    samplingThreshold = 1L << 55;
    spansAreGroupedWithoutAllocation();
  }

  @Test
  void spansAreGroupedWithSizesWithoutAllocation() {
    formats = Demand.SIZES;
    spansAreGroupedWithoutAllocation();
  }

  @Test
  void spansReadInPartAreGroupedWithSizesWithoutAllocation() {
    formats = Demand.SIZES;
    inPart = true;
    spansAreGroupedWithoutAllocation();
  }

  @Test
  void spansAreBatchedWithSizesWithoutAllocation() {
    nameOperations();
    batcher.detail(
        new Detail(
            new DetailConfig(DetailConfig.Detail.FULL, List.of()),
            new Demand(
                9,
                1,
                Map.of(
                    "a",
                    new Part(1, 5, false, 1, List.of(), List.of(), 0, List.of(), Demand.SIZES)))));
    spansMakeNoGarbage(LearntNames.NONE, 0);
  }

  /** Kinds, failures and peers alternate, so each half has another head than the last. */
  @Test
  void halfEdgesAreBatchedWithoutAllocation() {
    nameOperations();
    sendHalfEdges();
    spansMakeNoGarbage(LearntNames.NONE, 0);

    commit();
    assertThat(halfEdges).isEqualTo(2L * SPANS / 5 * 4);
  }

  @Test
  void halfEdgesWithDimensionsAreBatchedWithoutAllocation() {
    nameOperations();
    sendHalfEdges("http.response.status_code", "service.name", "absent");
    spansMakeNoGarbage(LearntNames.NONE, 0);

    commit();
    assertThat(halfEdges).isEqualTo(2L * SPANS / 5 * 4);
  }

  @Test
  void halfEdgesOfGroupedSpansAreBatchedWithoutAllocation() {
    inPart = true;
    sendHalfEdges("http.response.status_code", "service.name", "absent");
    spansAreGroupedWithoutAllocation();

    commit();
    assertThat(halfEdges).isEqualTo(2L * SPANS / 5 * 4);
  }

  private void sendHalfEdges(String... dimensions) {
    peers = new byte[20][];
    for (int i = 0; i < peers.length; i++) {
      peers[i] = ("host-" + i + ".example").getBytes(UTF_8);
    }
    batcher.edges(
        new Edges(
            EdgesConfig.defaults(),
            new EdgeRoute(TestTopology.edgeQueues(8)),
            new EdgeAttributes(List.of(dimensions))));
  }

  private void spansAreGroupedWithoutAllocation() {
    nameOperations();
    batcher.detail(
        new Detail(
            new DetailConfig(DetailConfig.Detail.DEMAND, List.of()),
            new Demand(
                9,
                1,
                Map.of(
                    "a",
                    new Part(
                        1,
                        5,
                        false,
                        1,
                        List.of("http.route", "http.response.status_code"),
                        List.of(),
                        SPANS - SPANS / 10,
                        List.of(),
                        formats)))));
    spansMakeNoGarbage(LearntNames.NONE, 0);

    assertThat(grouped).isBetween(SPANS * 2 / 10 * 8L, SPANS * 2 / 10 * 9L);
    assertThat(metrics.samplesSent.get()).isBetween(grouped / 128 * 0.9, grouped / 128 * 1.1);
    assertThat(metrics.samplesLeftOut.get()).isZero();
  }

  private void spansMakeNoGarbage(LearntNames learnt, int mostBytesPerPayload) {
    batcher.route(
        new Router(RoutingRules.defaults(), HotspotDecisions.NONE, learnt),
        TestTopology.topology(8));
    byte[] service = "service.name".getBytes(UTF_8);
    byte[] checkout = "checkout".getBytes(UTF_8);
    resource.add(service, 0, service.length, checkout, 0, checkout.length);
    run();
    batches = 0;
    bytes = 0;

    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    run();
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;

    assertThat(batches).isPositive();
    assertThat(allocated - bytes)
        .isLessThan(
            (batches + 1) * MOST_BYTES_PER_BATCH_BESIDES
                + SPANS / SPANS_PER_PAYLOAD * mostBytesPerPayload)
        .isLessThan(SPANS * 10L);
  }

  private void run() {
    PendingPayload payload = null;
    for (int i = 0; i < SPANS; i++) {
      if (i % SPANS_PER_PAYLOAD == 0) {
        batcher.endPayload();
        if (payload != null) {
          measured += payload.measured();
          grouped += payload.grouped();
        }
        payload = new PendingPayload("test", new byte[0], 0, NOT_DECODED, IGNORED, 0);
        batcher.payload(payload);
        batcher.resource(resource);
      }
      span.traceIdLow = i * 0x9E37_79B9_7F4A_7C15L;
      span.spanId = i + 1L;
      span.kind = peers.length == 0 ? 2 : 1 + i % 5;
      span.parentSpanId = i % 3;
      span.startUnixNanos = 1_795_255_028_312_000_000L + i;
      span.durationNanos = i;
      span.sizeBytes = 300 + i % 100;
      span.samplingThreshold = samplingThreshold;
      span.name = names[i % names.length];
      span.nameLength = span.name.length;
      span.attributes.clear();
      span.attributes.add(key, 0, key.length, value, 0, value.length);
      if (peers.length > 0) {
        byte[] peer = peers[i % peers.length];
        span.attributes.add(peerKey, 0, peerKey.length, peer, 0, peer.length);
      }
      span.events.clear();
      if (i % 4 == 0) {
        span.events.add(key, 0, 4);
        span.events.addAttribute(key, 5, 8, value, 0, value.length);
      }
      span.attributesNotWanted = inPart ? 1 : 0;
      if (!batcher.span(span)) {
        span.attributesNotWanted = 0;
        batcher.span(span);
      }
      if (i % SPANS_PER_COMMIT == 0) {
        commit();
      }
    }
  }

  private void commit() {
    batcher.closeForCommit();
    batches += frame.size();
    bytes += frame.bodyBytes();
    halfEdges += frame.halfEdges();
    frame.clear();
  }

  static final SpanDecoder NOT_DECODED = (payload, length, sink) -> {};

  static final Completion IGNORED =
      new Completion() {
        @Override
        public void confirmed(int accepted, int rejected, String reason) {}

        @Override
        public void malformed(String reason) {}

        @Override
        public void failed(String reason) {}
      };
}
