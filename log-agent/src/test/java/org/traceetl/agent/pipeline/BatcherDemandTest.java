package org.traceetl.agent.pipeline;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.traceetl.agent.flow.TestAttributes.add;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.config.DetailConfig;
import org.traceetl.agent.config.FiltersFile;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.detail.Detail;
import org.traceetl.agent.filter.Filters;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.route.Router;
import org.traceetl.agent.route.TestTopology;
import org.traceetl.agent.spool.Frame;
import org.traceetl.agent.spool.TestFrames;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.common.ConfigException;
import org.traceetl.proto.Demand;
import org.traceetl.proto.Demand.Part;
import org.traceetl.proto.Demand.SlowRule;
import org.traceetl.proto.Limits;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchReader;

/** Tests which spans are sent whole, and what the groups of the others have. */
final class BatcherDemandTest {
  private static final long VERSION = 5;
  private static final long SLOW_NANOS = 1_000_000;
  private static final long SLOW_CLIENT_NANOS = 500;
  private static final int CLIENT = 3;
  private static final DetailConfig BY_DEMAND =
      new DetailConfig(
          DetailConfig.Detail.DEMAND,
          List.of(new DetailConfig.Rule("backfill", DetailConfig.Detail.FULL)));

  private final PipelineMetrics metrics = new PipelineMetrics();
  private final PendingPayload payload =
      new PendingPayload(
          "test",
          new byte[0],
          0,
          BatcherAllocationTest.NOT_DECODED,
          BatcherAllocationTest.IGNORED,
          0);
  private long nowNanos = 7;
  private Frame frame;
  private Batcher batcher;
  private int spans;

  @BeforeEach
  void open() {
    open(1, Long.MAX_VALUE);
    batcher.detail(new Detail(BY_DEMAND, demand("http.route")));
  }

  private void open(int queues, long mostFrameBytes) {
    frame = new Frame(new AgentIdentity(1, 2, 3), () -> 0);
    batcher =
        new Batcher(
            PipelineConfig.defaults(), frame, mostFrameBytes, metrics, () -> nowNanos, () -> 0);
    batcher.route(new Router(RoutingRules.defaults()), TestTopology.topology(queues));
    batcher.payload(payload);
  }

  private static Demand demand(String... keys) {
    return demand(0, keys);
  }

  private static Demand demand(int formats, String... keys) {
    Part part =
        new Part(
            1,
            VERSION,
            false,
            15_000,
            List.of(keys),
            List.of(new SlowRule("shop", 1 << CLIENT, SLOW_CLIENT_NANOS)),
            SLOW_NANOS,
            List.of("whole-*"),
            formats);
    return new Demand(9, 1, Map.of("a", part));
  }

  @Test
  void ordinarySpansAreGroupedWithTheDemandedAttributes() {
    sendExemplarOf("shop");
    resource("shop");
    send(span("GET /", 10, "http.route", "/", "user.id", "7"));
    send(span("GET /", 20, "user.id", "8", "http.route", "/"));
    send(span("GET /", 30));

    // The last has no route, so it is of another series.
    List<SentSpan> sent = sent();
    assertThat(sent)
        .extracting(SentSpan::whole, SentSpan::durationNanos, SentSpan::attributes)
        .containsExactly(
            tuple(true, 30L, Map.of()),
            tuple(false, 10L, Map.of("http.route", "/")),
            tuple(false, 20L, Map.of("http.route", "/")));
    assertThat(payload.grouped()).isEqualTo(2);
    assertThat(payload.measured()).isZero();
  }

  /** Sends an exemplar of {@code GET /}, in a frame of its own. */
  private void sendExemplarOf(String application) {
    resource(application);
    send(span("GET /", 1, "http.route", "/", "user.id", "0"));
    assertThat(sent()).singleElement().extracting(SentSpan::whole).isEqualTo(true);
  }

  @Test
  void slowSpansAreWholeByApplicationAndKind() {
    sendExemplarOf("shop");
    sendExemplarOf("cart");
    resource("shop");
    send(span("GET /", SLOW_NANOS - 1, "http.route", "/", "user.id", "7"));
    send(span("GET /", SLOW_NANOS, "http.route", "/", "user.id", "7"));
    SpanView client = span("GET /", SLOW_CLIENT_NANOS, "http.route", "/", "user.id", "7");
    client.kind = CLIENT;
    send(client);
    client.durationNanos--;
    send(client);
    send(client);

    assertThat(sent())
        .extracting(SentSpan::whole, SentSpan::kind, SentSpan::durationNanos)
        .containsExactly(
            tuple(true, 2, SLOW_NANOS),
            tuple(true, CLIENT, SLOW_CLIENT_NANOS),
            // The exemplar of these.
            tuple(true, CLIENT, SLOW_CLIENT_NANOS - 1),
            tuple(false, 2, SLOW_NANOS - 1),
            tuple(false, CLIENT, SLOW_CLIENT_NANOS - 1));

    resource("cart");
    client.durationNanos = SLOW_CLIENT_NANOS;
    send(client);
    send(client);
    assertThat(sent()).extracting(SentSpan::whole).containsExactly(true, false);
  }

  @Test
  void failedSpansAreWholeWithTheirMessage() {
    sendExemplarOf("shop");
    resource("shop");
    SpanView failed = span("GET /", 10, "http.route", "/", "user.id", "7");
    failed.status = 2;
    failed.statusMessage = "no stock".getBytes(UTF_8);
    failed.statusMessageLength = failed.statusMessage.length;
    send(failed);
    send(failed);

    assertThat(sent())
        .hasSize(2)
        .allSatisfy(span -> {
          assertThat(span.whole()).isTrue();
          assertThat(span.statusMessage()).isEqualTo("no stock");
          assertThat(span.attributes()).isEqualTo(Map.of("http.route", "/", "user.id", "7"));
        });
    assertThat(payload.grouped()).isZero();
  }

  @Test
  void eachSeriesHasOneExemplarPerInterval() {
    resource("shop");
    List<String> names = List.of("GET /", "GET /cart");
    for (int second = 0; second < 45; second++) {
      for (String name : names) {
        for (String route : List.of("/", "/other")) {
          send(span(name, 10 + second, "http.route", route, "user.id", "" + second));
          send(span(name, 10 + second, "http.route", route));
        }
      }
      batcher.closeForCommit();
      nowNanos += TimeUnit.SECONDS.toNanos(1);
      batcher.payload(payload);
      resource("shop");
    }

    List<SentSpan> sent = sent();
    assertThat(sent).hasSize(45 * 8);
    assertThat(sent)
        .filteredOn(SentSpan::whole)
        .hasSize(3 * 4)
        .extracting(SentSpan::durationNanos)
        .containsOnly(10L, 25L, 40L);
    assertThat(payload.grouped()).isEqualTo(45 * 8 - 12);
  }

  @Test
  void namesWithIdentifiersAreOneSeries() {
    resource("shop");
    for (int i = 0; i < 100; i++) {
      send(span("GET /users/" + i, 10));
    }
    assertThat(sent()).filteredOn(SentSpan::whole).hasSize(1);
  }

  @Test
  void queuesAndResourcesOfAnApplicationShareExemplars() {
    open(8, Long.MAX_VALUE);
    batcher.detail(new Detail(BY_DEMAND, demand("http.route")));
    for (int pod = 0; pod < 5; pod++) {
      resource("shop", "pod", "" + pod);
      send(span("GET /", 10));
    }
    resource("cart");
    send(span("GET /", 10));
    assertThat(sent())
        .filteredOn(SentSpan::whole)
        .extracting(SentSpan::application)
        .containsExactlyInAnyOrder("shop", "cart");
  }

  @Test
  void groupsKeepThresholdEventsAndStatus() {
    resource("shop");
    for (int i = 0; i < 3; i++) {
      SpanView span = span("GET /", 10 + i, "http.route", "/", "user.id", "7");
      span.status = 1;
      span.samplingThreshold = 1L << 55;
      byte[] event = "exception".getBytes(UTF_8);
      span.events.add(event, 0, event.length);
      span.events.addAttribute(event, 0, 2, event, 2, 3);
      send(span);
    }

    List<SentSpan> sent = sent();
    assertThat(sent).extracting(SentSpan::whole).containsExactly(true, false, false);
    assertThat(sent)
        .extracting(SentSpan::status, SentSpan::samplingThreshold, SentSpan::events)
        .containsOnly(tuple(1, 1L << 55, List.of("exception 1")));
    assertThat(metrics.eventsAccepted.get()).isEqualTo(3);
  }

  @Test
  void batchNamesItsDemandIfItHasGroups() {
    batcher.detail(new Detail(BY_DEMAND, demand("peer.service", "http.route")));
    resource("shop");
    send(span("GET /", 10));
    SpanBatchReader reader = onlyBatch();
    assertThat(reader.demand()).isZero();
    assertThat(reader.groupKeyCount()).isZero();

    send(span("GET /", 10));
    reader = onlyBatch();
    assertThat(reader.demand()).isEqualTo(VERSION);
    List<String> keys = new ArrayList<>();
    for (int i = 0; i < reader.groupKeyCount(); i++) {
      keys.add(SentSpan.text(reader, reader.groupKey(i)));
    }
    assertThat(keys).containsExactly("http.route", "peer.service");
  }

  @Test
  void demandMayNeedNoAttributes() {
    batcher.detail(new Detail(BY_DEMAND, demand()));
    resource("shop");
    send(span("GET /", 10, "http.route", "/"));
    send(span("GET /", 11, "http.route", "/"));
    SpanBatchReader reader = onlyBatch();

    assertThat(reader.demand()).isEqualTo(VERSION);
    assertThat(reader.groupKeyCount()).isZero();
  }

  @Test
  void applicationsInFullDetailAreWhole() {
    for (String application : List.of("backfill", "whole-shop")) {
      resource(application);
      for (int i = 0; i < 3; i++) {
        send(span("GET /", 10, "user.id", "7"));
      }
      SpanBatchReader reader = onlyBatch();
      assertThat(reader.demand()).isZero();
      assertThat(SentSpan.read(reader.buffer())).extracting(SentSpan::whole).containsOnly(true);
    }
  }

  @Test
  void operatorsRuleAppliesBeforeTheDemand() throws ConfigException {
    filters("drop: [{name: 'SET *', dimensions: [db.system]}, {name: 'PING', keep: nothing}]");
    sendExemplarOf("shop");
    resource("shop");
    send(span("SET a", 10, "db.system", "redis", "http.route", "/"));
    send(span("GET /", 10, "db.system", "redis", "http.route", "/"));
    send(span("PING", 10));

    assertThat(sent())
        .extracting(SentSpan::whole, SentSpan::name, SentSpan::attributes)
        .containsExactlyInAnyOrder(
            tuple(false, "SET a", Map.of("db.system", "redis")),
            tuple(false, "GET /", Map.of("http.route", "/")));
    assertThat(payload.measured()).isEqualTo(1);
    assertThat(payload.grouped()).isEqualTo(1);
    assertThat(payload.filtered()).isEqualTo(1);
  }

  @Test
  void batchWithOnlyTheOperatorsGroupsIsAsWithoutDemand() throws ConfigException {
    filters("drop: [{name: 'SET *'}]");
    resource("shop");
    send(span("SET a", 10));
    byte[] byDemand = onlyBody();
    open(1, Long.MAX_VALUE);
    filters("drop: [{name: 'SET *'}]");
    resource("shop");
    send(span("SET a", 10));

    assertThat(byDemand).isEqualTo(onlyBody());
  }

  @Test
  void attributesAreFilteredRedactedAndCutBeforeTheyAreSelected() throws ConfigException {
    filters(
        """
        attributes: [{span: [http.*, user.*]}]
        limits: {max-attributes: 2, max-value-bytes: 8, max-name-bytes: 5}
        redact: [{pattern: 'token=[a-z]+', replace: x}]
        """);
    batcher.detail(new Detail(BY_DEMAND, demand("http.route", "http.url", "peer.service")));
    resource("shop");
    for (int i = 0; i < 2; i++) {
      send(
          span(
              "GET /cart",
              10,
              "peer.service",
              "stock",
              "user.id",
              "7",
              "http.url",
              "token=abc/0123456789",
              "http.route",
              "/"));
    }

    assertThat(sent())
        .extracting(SentSpan::whole, SentSpan::name, SentSpan::attributes)
        .containsExactly(
            tuple(true, "GET /", Map.of("user.id", "7", "http.url", "x/012345")),
            tuple(false, "GET /", Map.of("http.url", "x/012345")));
  }

  @Test
  void samplingAppliesBeforeTheDemandAndSetsTheThreshold() throws ConfigException {
    filters("sample: [{ratio: 0.5}]");
    sendExemplarOfSample();
    for (int i = 0; i < 1_000; i++) {
      SpanView span = span("GET /", 10);
      span.traceIdLow = i * 0x9E37_79B9_7F4A_7C15L;
      send(span);
    }

    List<SentSpan> sent = sent();
    assertThat(sent.size()).isBetween(400, 600);
    assertThat(sent.size() + payload.filtered()).isEqualTo(1_000);
    assertThat(sent)
        .extracting(SentSpan::whole, SentSpan::samplingThreshold)
        .containsOnly(tuple(false, 1L << 55));
  }

  private void sendExemplarOfSample() {
    resource("shop");
    SpanView span = span("GET /", 10);
    span.traceIdLow = -1;
    send(span);
    assertThat(sent()).singleElement().extracting(SentSpan::whole).isEqualTo(true);
  }

  @Test
  void sizesAreLimitedAsIfTheSpanWereWhole() {
    sendExemplarOf("shop");
    resource("shop");
    send(span("GET /", 10, "user.id", "x".repeat(Batcher.MAX_SPAN_TEXT_BYTES)));
    assertThat(payload.rejected()).isEqualTo(1);
    assertThat(payload.reason()).isEqualTo("span_too_large");

    open(1, 1_000);
    batcher.detail(new Detail(BY_DEMAND, demand("http.route")));
    resource("shop");
    send(span("GET /", 10));
    batcher.closeForCommit();
    send(span("GET /", 10, "user.id", "x".repeat(1_000)));
    assertThat(payload.rejected()).isEqualTo(2);
    assertThat(payload.reason()).isEqualTo("payload_too_large, span_too_large");
  }

  @Test
  void groupLacksAttributesThatAWholeSpanLacks() {
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < Limits.MAX_ATTRIBUTES; i++) {
      texts.addAll(List.of("k" + i, "v"));
    }
    texts.addAll(List.of("http.route", "/"));
    resource("shop");
    for (int i = 0; i < 2; i++) {
      send(span("GET /", 10, texts.toArray(String[]::new)));
    }

    List<SentSpan> sent = sent();
    assertThat(sent).extracting(SentSpan::whole).containsExactly(true, false);
    assertThat(sent).noneMatch(span -> span.attributes().containsKey("http.route"));
  }

  @Test
  void newDemandClosesOpenBatches() {
    resource("shop");
    for (int i = 0; i < 2; i++) {
      send(span("GET /", 10, "http.route", "/", "peer.service", "stock"));
    }
    batcher.detail(new Detail(BY_DEMAND, demand("peer.service")));
    assertThat(frame.size()).isEqualTo(1);
    assertThat(metrics.batchesClosed.labels("demand").get()).isEqualTo(1);

    resource("shop");
    for (int i = 0; i < 2; i++) {
      send(span("GET /", 10, "http.route", "/", "peer.service", "stock"));
    }
    assertThat(sent())
        .filteredOn(span -> !span.whole())
        .extracting(SentSpan::attributes)
        .containsExactly(Map.of("http.route", "/"), Map.of("peer.service", "stock"));

    batcher.detail(new Detail(BY_DEMAND, Demand.NONE));
    resource("shop");
    send(span("GET /", 10));
    send(span("GET /", 10));
    assertThat(sent()).extracting(SentSpan::whole).containsExactly(true, true);
  }

  @Test
  void sizesAreSentIfServersNeedThem() {
    batcher.detail(new Detail(BY_DEMAND, demand(Demand.SIZES, "http.route")));
    resource("shop");
    send(sized(100, span("GET /", 10, "http.route", "/", "user.id", "7")));
    send(sized(1_000, span("GET /", SLOW_NANOS, "http.route", "/", "user.id", "7")));
    send(sized(20, span("GET /", 20, "http.route", "/", "user.id", "8")));
    send(sized(3, span("GET /", 30, "user.id", "9", "http.route", "/")));
    send(sized(0, span("GET /", 40, "http.route", "/")));
    byte[] body = onlyBody();

    assertThat(SentSpan.read(body))
        .extracting(SentSpan::durationNanos)
        .containsExactly(10L, SLOW_NANOS, 20L, 30L, 40L);
    assertThat(SentSpan.sizes(body)).containsExactly(100L, 1_000L, 23L);
  }

  private static SpanView sized(long bytes, SpanView span) {
    span.sizeBytes = bytes;
    return span;
  }

  /** Spans that were read in part join groups that they are compared with. */
  @Test
  void knownGroupsAddTheSizes() {
    batcher.detail(new Detail(BY_DEMAND, demand(Demand.SIZES, "http.route")));
    resource("shop");
    send(sized(7, span("GET /", 10, "http.route", "/")));
    for (int i = 0; i < 100; i++) {
      SpanView span = sized(1 + i % 2, span("GET /", 10 + i, "http.route", "/"));
      span.traceIdLow = i;
      span.attributesNotWanted = 3;
      assertThat(batcher.span(span)).isTrue();
    }

    assertThat(SentSpan.sizes(onlyBody())).containsExactly(7L, 150L);
  }

  @Test
  void filteredSpansKeepTheirSizes() throws ConfigException {
    filters(
        """
        drop:
          - {name: 'SET *', dimensions: [db.system]}
          - {name: 'PING', keep: nothing}
        limits: {max-name-bytes: 5}
        redact: [{pattern: 'token=[a-z]+', replace: x}]
        """);
    batcher.detail(new Detail(BY_DEMAND, demand(Demand.SIZES, "http.route")));
    resource("shop");
    send(sized(100, span("GET /cart", 10, "http.url", "token=abc")));
    send(sized(20, span("GET /cart", 10, "http.url", "token=abc")));
    send(sized(3, span("SET a", 10, "db.system", "redis")));
    send(sized(4, span("SET a", 11, "db.system", "redis", "key", "k")));
    send(sized(5, span("PING", 10)));

    assertThat(SentSpan.sizes(onlyBody())).containsExactly(100L, 20L, 7L);
  }

  @Test
  void sizesAreOfSampledSpansAsReceived() throws ConfigException {
    filters("sample: [{ratio: 0.5}]");
    batcher.detail(new Detail(BY_DEMAND, demand(Demand.SIZES, "http.route")));
    resource("shop");
    send(ofTrace(-1, sized(100, span("GET /", 10))));
    send(ofTrace(-1, sized(20, span("GET /", 10))));
    send(ofTrace(0, sized(3, span("GET /", 10))));
    byte[] body = onlyBody();

    assertThat(SentSpan.read(body)).extracting(SentSpan::samplingThreshold).containsOnly(1L << 55);
    assertThat(SentSpan.sizes(body)).containsExactly(100L, 20L);
  }

  @Test
  void sizesOfSpansSentWholeAreSentToo() {
    DetailConfig full = new DetailConfig(DetailConfig.Detail.FULL, List.of());
    batcher.detail(new Detail(full, demand(Demand.SIZES, "http.route")));
    for (String application : List.of("shop", "whole-shop")) {
      resource(application);
      send(sized(100, span("GET /", 10)));
      send(sized(20, span("GET /", 10)));
      assertThat(SentSpan.sizes(onlyBody())).containsExactly(100L, 20L);
    }
  }

  @Test
  void changedNeedOfSizesAppliesFromTheNextBatchOn() {
    DetailConfig full = new DetailConfig(DetailConfig.Detail.FULL, List.of());
    List<Integer> needs = List.of(Demand.BUNDLES, Demand.SIZES | Demand.PANES, 0);
    for (int formats : needs) {
      batcher.detail(new Detail(full, demand(formats)));
      resource("shop");
      send(sized(100, span("GET /", 10)));
      send(sized(20, span("GET /", 10)));
    }
    batcher.detail(new Detail(full, Demand.NONE));
    resource("shop");
    send(sized(100, span("GET /", 10)));
    batcher.closeForCommit();

    assertThat(TestFrames.bodies(frame))
        .extracting(SentSpan::sizes)
        .containsExactly(List.of(), List.of(100L, 20L), List.of(), List.of());
  }

  @Test
  void batchesWithoutSizesHaveTheBytesOfBefore() {
    byte[][] bodies = new byte[2][];
    for (int size = 0; size < 2; size++) {
      open(1, Long.MAX_VALUE);
      spans = 0;
      batcher.detail(new Detail(BY_DEMAND, demand("http.route")));
      resource("shop");
      for (int i = 0; i < 3; i++) {
        send(sized(size * 100, span("GET /", 10, "http.route", "/", "user.id", "7")));
      }
      bodies[size] = onlyBody();
    }
    assertThat(bodies[1]).isEqualTo(bodies[0]);
  }

  @Test
  void groupedSpansOfSampledTracesAreAlsoSentWhole() {
    sample(0.25);
    resource("shop");
    send(ofTrace(-1, span("GET /", 10, "user.id", "exemplar")));
    send(ofTrace(0, span("GET /", 20, "user.id", "7")));
    send(ofTrace(3L << 54, span("GET /", 30, "user.id", "8")));
    send(ofTrace((3L << 54) - 1, span("GET /", 40, "user.id", "9")));
    SpanView rated = ofTrace(0, span("GET /", 50, "user.id", "10"));
    rated.randomness = 0;
    send(rated);
    rated.randomness = (1L << 56) - 1;
    send(rated);
    send(ofTrace(0, span("GET /", SLOW_NANOS)));
    send(ofTrace(-1, span("GET /", SLOW_NANOS + 1)));
    byte[] body = onlyBody();

    assertThat(SentSpan.read(body))
        .extracting(SentSpan::whole, SentSpan::durationNanos)
        .containsExactly(
            tuple(true, 10L),
            tuple(true, SLOW_NANOS),
            tuple(true, SLOW_NANOS + 1),
            tuple(false, 20L),
            tuple(false, 30L),
            tuple(false, 40L),
            tuple(false, 50L),
            tuple(false, 50L));
    assertThat(SentSpan.samples(body))
        .extracting(SentSpan::durationNanos, SentSpan::samplingThreshold, SentSpan::attributes)
        .containsExactly(
            tuple(30L, 3L << 54, Map.of("user.id", "8")),
            tuple(50L, 3L << 54, Map.of("user.id", "10")));
    assertThat(SentSpan.sampled(body)).containsExactly(0, 2);
    assertThat(payload.accepted()).isEqualTo(8);
    assertThat(payload.grouped()).isEqualTo(5);
    assertThat(metrics.samplesSent.get()).isEqualTo(2);
  }

  private void sample(double ratio) {
    batcher.detail(
        new Detail(
            new DetailConfig(DetailConfig.Detail.DEMAND, List.of(), ratio), demand("http.route")));
  }

  private static SpanView ofTrace(long traceIdLow, SpanView span) {
    span.traceIdLow = traceIdLow;
    return span;
  }

  @Test
  void thresholdOfASampleIsTheGreaterOfSpanAndSample() throws ConfigException {
    filters("sample: [{ratio: 0.125, always: {slower-than: 100us}}]");
    sample(0.25);
    resource("shop");
    for (int i = 0; i < 2; i++) {
      send(ofTrace(-1, span("GET /", 10)));
      send(ofTrace(-1, span("GET /slow", 100_000)));
      SpanView before = ofTrace(-1, span("GET /before", 100_000));
      before.samplingThreshold = 15L << 52;
      send(before);
    }
    byte[] body = onlyBody();

    assertThat(SentSpan.read(body))
        .filteredOn(span -> !span.whole())
        .extracting(SentSpan::name, SentSpan::samplingThreshold)
        .containsExactly(
            tuple("GET /", 7L << 53), tuple("GET /slow", 0L), tuple("GET /before", 15L << 52));
    assertThat(SentSpan.samples(body))
        .extracting(SentSpan::name, SentSpan::samplingThreshold)
        .containsExactly(
            tuple("GET /", 7L << 53),
            tuple("GET /slow", 3L << 54),
            tuple("GET /before", 15L << 52));
  }

  @Test
  void ratioOfZeroSendsNoSample() {
    byte[] without = bodyOfFew(0);
    assertThat(SentSpan.samples(without)).isEmpty();
    assertThat(SentSpan.sampled(without)).isEmpty();
    byte[] with = bodyOfFew(1);
    assertThat(SentSpan.samples(with)).hasSize(2);
    assertThat(SentSpan.sampled(with)).containsExactly(0);
    assertThat(Arrays.copyOf(with, without.length - 1))
        .isEqualTo(Arrays.copyOf(without, without.length - 1));
  }

  private byte[] bodyOfFew(double ratio) {
    open(1, Long.MAX_VALUE);
    spans = 0;
    sample(ratio);
    resource("shop");
    for (int i = 0; i < 3; i++) {
      send(ofTrace(-1, span("GET /", 10, "http.route", "/", "user.id", "7")));
    }
    return onlyBody();
  }

  @Test
  void sampleWithoutRoomInItsBatchIsLeftOut() {
    sample(1);
    resource("shop");
    String half = "x".repeat(PipelineConfig.defaults().batchBytes() / 2);
    for (int i = 0; i < 4; i++) {
      send(span("GET /", 10, "user.id", i < 2 ? "7" : half));
    }
    byte[] body = onlyBody();

    assertThat(SentSpan.read(body)).hasSize(4);
    assertThat(SentSpan.samples(body)).hasSize(1);
    assertThat(metrics.samplesSent.get()).isEqualTo(1);
    assertThat(metrics.samplesLeftOut.get()).isEqualTo(2);
    assertThat(payload.accepted()).isEqualTo(4);
  }

  @Test
  void samplesDoNotUseTheRoomOfSpans() {
    int[] accepted = new int[2];
    for (int ratio = 0; ratio < 2; ratio++) {
      open(1, 20_000);
      sample(ratio);
      resource("shop");
      int before = payload.accepted();
      for (int i = 0; i < 2_000; i++) {
        send(span("GET /", 10, "user.id", "7"));
        if (i % 10 == 0) {
          batcher.closeForCommit();
        }
      }
      accepted[ratio] = payload.accepted() - before;
    }
    assertThat(accepted[0]).isBetween(1_000, 1_999);
    assertThat(accepted[1]).isEqualTo(accepted[0]);
    assertThat(metrics.samplesSent.get()).isPositive();
    assertThat(metrics.samplesLeftOut.get()).isPositive();
    assertThat(frame.sampleBytes()).isBetween(1L, 20_000L / 8);
  }

  private void filters(String yaml) throws ConfigException {
    batcher.filter(new Filters(FiltersFile.parse(yaml.getBytes(UTF_8))));
  }

  private void resource(String application, String... more) {
    Attributes attributes = new Attributes();
    add(attributes, "service.name", application);
    for (int i = 0; i < more.length; i += 2) {
      add(attributes, more[i], more[i + 1]);
    }
    batcher.resource(attributes);
  }

  private SpanView span(String name, long durationNanos, String... attributes) {
    SpanView span = new SpanView();
    span.traceIdHigh = 1;
    span.traceIdLow = 2;
    span.spanId = ++spans;
    span.kind = 2;
    span.startUnixNanos = 1_795_255_028_312_000_000L;
    span.durationNanos = durationNanos;
    span.name = name.getBytes(UTF_8);
    span.nameLength = span.name.length;
    for (int i = 0; i < attributes.length; i += 2) {
      add(span.attributes, attributes[i], attributes[i + 1]);
    }
    return span;
  }

  private void send(SpanView span) {
    batcher.span(span);
  }

  /** Closes the open batches and returns the spans of all in the frame. */
  private List<SentSpan> sent() {
    List<SentSpan> sent = new ArrayList<>();
    batcher.closeForCommit();
    TestFrames.bodies(frame).forEach(body -> sent.addAll(SentSpan.read(body)));
    frame.clear();
    return sent;
  }

  private byte[] onlyBody() {
    batcher.closeForCommit();
    List<byte[]> bodies = TestFrames.bodies(frame);
    frame.clear();
    assertThat(bodies).hasSize(1);
    return bodies.getFirst();
  }

  private SpanBatchReader onlyBatch() {
    byte[] body = onlyBody();
    SpanBatchReader reader = new SpanBatchReader();
    assertThat(reader.wrap(body, 0, body.length)).isEqualTo(Rejection.NONE);
    return reader;
  }
}
