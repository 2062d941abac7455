package org.traceetl.agent.pipeline;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.traceetl.agent.flow.TestAttributes.add;
import static org.traceetl.agent.route.TestTopology.edgeQueues;
import static org.traceetl.agent.route.TestTopology.topology;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.agent.config.DetailConfig;
import org.traceetl.agent.config.EdgesConfig;
import org.traceetl.agent.config.FiltersFile;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.config.RoutingRules.Rule;
import org.traceetl.agent.config.RoutingRules.Spread;
import org.traceetl.agent.detail.Detail;
import org.traceetl.agent.edge.DimensionValues;
import org.traceetl.agent.edge.EdgeAttributes;
import org.traceetl.agent.edge.Edges;
import org.traceetl.agent.filter.Filters;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.KeySet;
import org.traceetl.agent.flow.SpanLinks;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.EdgeRoute;
import org.traceetl.agent.route.Router;
import org.traceetl.agent.spool.Frame;
import org.traceetl.agent.spool.TestFrames;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.common.ConfigException;
import org.traceetl.proto.Demand;
import org.traceetl.proto.Demand.Part;
import org.traceetl.proto.EdgeBatchReader;
import org.traceetl.proto.EdgeKey;
import org.traceetl.proto.EdgeQueues;
import org.traceetl.proto.Rejection;

/** Tests which spans leave a half-edge, what it has, and in which batch it is. */
final class HalfEdgeBatchesTest {
  private static final int UNKNOWN_YET = 0;
  private static final int INTERNAL = 1;
  private static final int SERVER = 2;
  private static final int CLIENT = 3;
  private static final int PRODUCER = 4;
  private static final int CONSUMER = 5;
  private static final int QUEUES = 7;

  private final PipelineMetrics metrics = new PipelineMetrics();
  private final EdgeRoute route = new EdgeRoute(edgeQueues(QUEUES));
  private Frame frame;
  private Batcher batcher;
  private long spanId;

  @BeforeEach
  void open() {
    open(new AgentIdentity(1, 2, 3), PipelineConfig.defaults());
  }

  private void open(AgentIdentity identity, PipelineConfig config) {
    frame = new Frame(identity, () -> 0);
    batcher = new Batcher(config, frame, Long.MAX_VALUE, metrics, () -> 7, () -> 0);
    batcher.route(new Router(RoutingRules.defaults()), topology(2));
    batcher.edges(new Edges(EdgesConfig.defaults(), route));
    payload();
  }

  private PendingPayload payload() {
    PendingPayload payload =
        new PendingPayload(
            "test",
            new byte[0],
            0,
            BatcherAllocationTest.NOT_DECODED,
            BatcherAllocationTest.IGNORED,
            0);
    batcher.payload(payload);
    return payload;
  }

  @Test
  void eachHalfIsInOneBatchOfTheQueueOfItsKey() {
    Random random = new Random(24);
    Map<BrokerQueue, List<SentHalf>> expected = new HashMap<>();
    for (int payload = 0; payload < 5; payload++) {
      payload();
      for (int resource = 0; resource < 40; resource++) {
        String application = "application-" + random.nextInt(6);
        resource(application);
        for (int i = 0; i < 50; i++) {
          SpanView span = random(random);
          send(span);
          expect(application, span, expected);
        }
      }
    }
    batcher.closeForCommit();

    Map<BrokerQueue, List<SentHalf>> sent = byQueue(frame);
    assertThat(sent).hasSize(QUEUES).containsOnlyKeys(expected.keySet());
    sent.forEach((queue, halves) ->
        assertThat(halves).containsExactlyInAnyOrderElementsOf(expected.get(queue)));
  }

  private SpanView random(Random random) {
    SpanView span = span(random.nextInt(6));
    span.traceIdHigh = random.nextLong();
    span.traceIdLow = random.nextLong();
    span.parentSpanId = random.nextInt(4) == 0 ? 0 : random.nextLong() | 1;
    span.durationNanos = random.nextInt(1_000);
    span.status = random.nextInt(3);
    if (random.nextInt(3) == 0) {
      add(span.attributes, "db.system", "postgresql");
    }
    for (int links = random.nextInt(4); span.kind == CONSUMER && links > 0; links--) {
      span.links.add(random.nextLong(), random.nextLong(), random.nextLong() | 1);
    }
    return span;
  }

  private void expect(
      String application, SpanView span, Map<BrokerQueue, List<SentHalf>> expected) {
    if (span.kind < SERVER) {
      return;
    }
    boolean client = span.kind == CLIENT || span.kind == PRODUCER;
    String peer = client && span.attributes.size() > 0 ? "postgresql" : null;
    boolean database = span.kind == CLIENT && peer != null;
    boolean waiting = client ? !database : span.parentSpanId != 0;
    long id = waiting && !client ? span.parentSpanId : span.spanId;
    if (span.links.size() == 0) {
      expect(application, span, peer, waiting, span.traceIdHigh, span.traceIdLow, id, expected);
    }
    for (int i = 0; i < span.links.size(); i++) {
      SpanLinks links = span.links;
      expect(
          application,
          span,
          peer,
          true,
          links.traceIdHigh(i),
          links.traceIdLow(i),
          links.spanId(i),
          expected);
    }
  }

  private void expect(
      String application,
      SpanView span,
      String peer,
      boolean waiting,
      long traceIdHigh,
      long traceIdLow,
      long id,
      Map<BrokerQueue, List<SentHalf>> expected) {
    boolean database = span.kind == CLIENT && peer != null;
    long key = EdgeKey.key(traceIdHigh, traceIdLow, id);
    int side = List.of(0, 0, 2, 1, 3, 4).get(span.kind);
    SentHalf half =
        new SentHalf(
            application,
            null,
            side,
            span.status == 2,
            database ? 2 : span.kind >= PRODUCER ? 1 : 0,
            peer,
            0,
            waiting,
            waiting ? key : 0,
            waiting ? EdgeKey.check(traceIdHigh, traceIdLow, id) : 0,
            span.durationNanos);
    expected
        .computeIfAbsent(route.queues().get(route.place(key)), queue -> new ArrayList<>())
        .add(half);
  }

  @Test
  void bothHalvesOfAnEdgeReachOneQueueFromAnyAgent() {
    Map<BrokerQueue, List<SentHalf>> clients = sentBy(new AgentIdentity(1, 2, 3), "web", CLIENT);
    Map<BrokerQueue, List<SentHalf>> servers = sentBy(new AgentIdentity(4, 5, 6), "shop", SERVER);

    assertThat(clients).hasSize(QUEUES).containsOnlyKeys(servers.keySet());
    clients.forEach((queue, halves) ->
        assertThat(servers.get(queue))
            .extracting(SentHalf::key, SentHalf::check)
            .containsExactlyInAnyOrderElementsOf(
                halves.stream().map(half -> tuple(half.key(), half.check())).toList()));
  }

  /** Sends one side of 500 edges, in payloads of ten. */
  private Map<BrokerQueue, List<SentHalf>> sentBy(
      AgentIdentity identity, String application, int kind) {
    open(identity, PipelineConfig.defaults());
    Random random = new Random(25);
    for (int i = 0; i < 500; i++) {
      if (i % 10 == 0) {
        payload();
        resource(application);
      }
      SpanView span = span(kind);
      span.traceIdHigh = random.nextLong();
      span.traceIdLow = random.nextLong();
      long client = random.nextLong() | 1;
      if (kind == CLIENT) {
        span.spanId = client;
      } else {
        span.parentSpanId = client;
      }
      send(span);
    }
    batcher.closeForCommit();
    return byQueue(frame);
  }

  @Test
  void aHeadHasWhatItsSpanAndResourceSay() {
    resource("shop", "prod");
    SpanView call = span(CLIENT, "server.address", "pay.example", "peer.service", "pay");
    call.status = 2;
    call.samplingThreshold = 1L << 55;
    call.durationNanos = 11;
    send(call);
    send(span(CLIENT, "db.namespace", "orders", "db.system.name", "mysql"));
    send(span(INTERNAL, "peer.service", "pay"));
    resource(null, null);
    send(span(PRODUCER, "messaging.destination.name", "mails"));
    SpanView consumer = span(CONSUMER, "messaging.destination.name", "mails");
    consumer.parentSpanId = 9;
    send(consumer);
    send(span(SERVER));

    String unknown = "unknown_service";
    int check = EdgeKey.check(1, 2, 1);
    assertThat(sent())
        .containsExactlyInAnyOrder(
            new SentHalf("shop", "prod", 1, true, 0, "pay", 1L << 55, true, key(1), check, 11),
            new SentHalf("shop", "prod", 1, false, 2, "orders", 0, false, 0, 0, 20),
            new SentHalf(
                unknown, null, 3, false, 1, "mails", 0, true, key(4), EdgeKey.check(1, 2, 4), 40),
            new SentHalf(
                unknown, null, 4, false, 1, null, 0, true, key(9), EdgeKey.check(1, 2, 9), 50),
            new SentHalf(unknown, null, 2, false, 0, null, 0, false, 0, 0, 60));
  }

  private static long key(long spanId) {
    return EdgeKey.key(1, 2, spanId);
  }

  /** The redacted names are sent; they determine no queue. */
  @Test
  void halvesHaveTheFilteredNames() throws ConfigException {
    filter("redact: [{pattern: '[0-9]+', replace: N}]");
    resource("shop-7", "prod-8");
    send(span(CLIENT, "peer.service", "pay-9"));

    assertThat(sent())
        .singleElement()
        .extracting(SentHalf::application, SentHalf::namespace, SentHalf::peer)
        .containsExactly("shop-N", "prod-N", "pay-N");
  }

  private void demand(String... dimensions) {
    batcher.edges(
        new Edges(EdgesConfig.defaults(), route, new EdgeAttributes(List.of(dimensions))));
    payload();
  }

  @Test
  void halvesHaveTheValuesOfTheirSpanElseOfItsResource() {
    demand("http.route", "deployment.environment.name", "service.namespace", "absent");
    Attributes resource = new Attributes();
    add(resource, "service.name", "shop");
    add(resource, "service.namespace", "market");
    add(resource, "deployment.environment.name", "prod");
    batcher.resource(resource);
    send(span(SERVER, "http.route", "/pay", "other", "x"));
    send(span(CLIENT, "deployment.environment.name", "test", "db.system", "mysql"));
    send(span(PRODUCER, "deployment.environment.name", "", "http.route", ""));
    SpanView consumer = span(CONSUMER);
    add(consumer.additional, "http.route", "/mails");
    consumer.links.add(1, 2, 3);
    consumer.links.add(4, 5, 6);
    send(consumer);
    resource("other");
    send(span(SERVER));

    String environment = "deployment.environment.name";
    Map<String, String> ofConsumer =
        Map.of("http.route", "/mails", "service.namespace", "market", environment, "prod");
    assertThat(sent())
        .extracting(SentHalf::side, SentHalf::dimensions)
        .containsExactlyInAnyOrder(
            tuple(
                2,
                Map.of("http.route", "/pay", "service.namespace", "market", environment, "prod")),
            tuple(1, Map.of("service.namespace", "market", environment, "test")),
            tuple(3, Map.of("service.namespace", "market")),
            tuple(4, ofConsumer),
            tuple(4, ofConsumer),
            tuple(2, Map.of()));
  }

  @Test
  void withoutADemandHalvesHaveNoDimensions() {
    demand("http.route");
    demand();
    resource("shop");
    send(span(SERVER, "http.route", "/pay"));

    assertThat(sent()).singleElement().extracting(SentHalf::dimensions).isEqualTo(Map.of());
  }

  @Test
  void halvesHaveValuesOfTheLengthOfTheServersDefault() {
    demand("http.route");
    resource("shop");
    send(span(SERVER, "http.route", "x".repeat(DimensionValues.MAX_BYTES - 1) + "\u00e9"));

    assertThat(sent())
        .singleElement()
        .extracting(half -> half.dimensions().get("http.route"))
        .isEqualTo("x".repeat(DimensionValues.MAX_BYTES - 1));
  }

  /** Also of the resource, of measured spans, and in a dimension that names the peer as well. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          redact: [{pattern: '[0-9]+', replace: N}] | host.name=webN, http.route=/N, peer.service=pay-N
          limits: {max-value-bytes: 3}              | host.name=web, http.route=/17, peer.service=pay
          'attributes: [{span: [http.route]}]'      | host.name=web3, http.route=/17
          'attributes: [{span: [], resource: []}]'  | ''
          """)
  void dimensionsAreFiltered(String rule, String expected) throws ConfigException {
    for (int kind = SERVER; kind <= CONSUMER; kind++) {
      for (String drop : List.of("", "drop: [{name: 'GET *', keep: metrics}]\n")) {
        open();
        demand("http.route", "peer.service", "host.name");
        filter(drop + rule);
        PendingPayload payload = payload();
        resource("shop");
        SpanView span = span(kind, "http.route", "/17", "peer.service", "pay-9");
        span.parentSpanId = 8;
        send(span);

        assertThat(payload.measured()).isEqualTo(drop.isEmpty() ? 0 : 1);
        assertThat(sent())
            .singleElement()
            .extracting(half ->
                half.dimensions().entrySet().stream()
                    .map(Object::toString)
                    .collect(Collectors.joining(", ")))
            .isEqualTo(expected);
      }
    }
  }

  @Test
  void dimensionsAreAdditionalOfEveryKindThatLeavesHalves() throws ConfigException {
    batcher.detail(
        new Detail(
            new DetailConfig(DetailConfig.Detail.DEMAND, List.of()),
            new Demand(
                9, 1, Map.of("a", new Part(1, 5, false, 1, List.of(), List.of(), 1, List.of())))));
    demand("http.route");
    resource("shop");
    byte[] key = "http.route".getBytes(UTF_8);
    for (int kind : List.of(UNKNOWN_YET, SERVER, CLIENT, PRODUCER, CONSUMER)) {
      assertThat(batcher.additionalKeys(kind).contains(key, 0, key.length)).isTrue();
    }
    assertThat(batcher.additionalKeys(INTERNAL)).isNull();
    assertThat(batcher.firstKeys().contains(key, 0, key.length)).isFalse();

    filter("drop: [{name: 'GET *', keep: metrics}]");
    resource("shop");
    assertThat(batcher.firstKeys().contains(key, 0, key.length)).isTrue();
  }

  @Test
  void withoutQueuesNoHalfIsSent() {
    batcher =
        new Batcher(PipelineConfig.defaults(), frame, Long.MAX_VALUE, metrics, () -> 7, () -> 0);
    batcher.route(new Router(RoutingRules.defaults()), topology(2));
    payload();
    sendOneOfEachKind("shop");
    assertThat(sent()).isEmpty();

    batcher.edges(new Edges(EdgesConfig.defaults(), new EdgeRoute(new EdgeQueues(4, 1, Map.of()))));
    sendOneOfEachKind("shop");
    assertThat(sent()).isEmpty();

    batcher.edges(new Edges(EdgesConfig.defaults(), route));
    sendOneOfEachKind("shop");
    assertThat(sent()).hasSize(4);

    batcher.edges(Edges.NONE);
    sendOneOfEachKind("shop");
    assertThat(sent()).hasSize(4);
  }

  @ParameterizedTest
  @CsvSource({
    "auto, other, 4",
    "auto, batch-1, 0",
    "auto, batch-2, 4",
    "off, other, 0",
    "off, batch-1, 0",
    "off, batch-2, 4"
  })
  void theConfigurationDecidesByApplication(String standard, String application, int halves) {
    EdgesConfig config =
        new EdgesConfig(
            EdgesConfig.Edges.valueOf(standard.toUpperCase(Locale.ROOT)),
            List.of(
                new EdgesConfig.Rule("batch-1", EdgesConfig.Edges.OFF),
                new EdgesConfig.Rule("batch-*", EdgesConfig.Edges.AUTO)));
    batcher.edges(new Edges(config, route));
    sendOneOfEachKind(application);

    assertThat(sent()).hasSize(halves).allMatch(half -> half.application().equals(application));
  }

  private void sendOneOfEachKind(String application) {
    resource(application);
    for (int kind = 0; kind <= CONSUMER; kind++) {
      send(span(kind));
    }
  }

  @Test
  void spansThatAreNotSentLeaveNoHalf() throws ConfigException {
    filter(
        """
        drop: [{application: dropped, keep: nothing}]
        sample: [{application: sampled, ratio: 0.000001}]
        """);
    batcher.route(
        new Router(
            new RoutingRules(new Rule(1, Spread.SERIES, false), Map.of(), Set.of("excluded"))),
        topology(1));
    PendingPayload payload = payload();
    for (String application : List.of("dropped", "sampled", "excluded")) {
      resource(application);
      send(span(SERVER));
    }
    resource("x".repeat(ResourceCache.MAX_RESOURCE_TEXT_BYTES));
    send(span(SERVER));
    resource("shop");
    send(span(CLIENT, "big", "x".repeat(Batcher.MAX_SPAN_TEXT_BYTES)));
    batcher.rejected("bad_id");

    assertThat(sent()).isEmpty();
    assertThat(payload.filtered()).isEqualTo(3);
    assertThat(payload.rejected()).isEqualTo(3);
  }

  @Test
  void measuredSpansLeaveAHalfEach() throws ConfigException {
    filter("drop: [{name: 'GET *', keep: metrics, dimensions: [http.route]}]");
    PendingPayload payload = payload();
    resource("shop");
    for (int i = 0; i < 100; i++) {
      send(span(CLIENT, "http.route", "/", "server.address", "pay.example"));
    }

    assertThat(payload.measured()).isEqualTo(100);
    assertThat(sent())
        .hasSize(100)
        .allMatch(half -> "pay.example".equals(half.peer()))
        .extracting(SentHalf::key)
        .doesNotHaveDuplicates();
    assertThat(attributesOfSpans()).hasSize(100).containsOnly(Map.of("http.route", "/"));
  }

  private List<Map<String, String>> attributesOfSpans() {
    List<Map<String, String>> attributes = new ArrayList<>();
    for (int i = 0; i < frame.size(); i++) {
      if (TestFrames.queues(frame).get(i).topic() == BrokerQueue.Topic.SPANS) {
        SentSpan.read(TestFrames.bodies(frame).get(i))
            .forEach(span -> attributes.add(span.attributes()));
      }
    }
    return attributes;
  }

  /** The peer's name is filtered as if the span was kept, and its changes are not counted. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          limits: {max-name-bytes: 9}                                    | 2 | orders-7
          redact: [{pattern: '[0-9]', replace: N}]                       | 2 | orders-N
          'attributes: [{span: [db.system]}]'                            | 2 | mysql
          'attributes: [{span: [http.route]}]'                           | 0 |
          """)
  void measuredSpansHaveThePeerOfKeptOnes(String rule, int connectionType, String peer)
      throws ConfigException {
    for (String drop : List.of("", "drop: [{name: 'GET *', keep: metrics}]\n")) {
      open();
      filter(drop + rule);
      PendingPayload payload = payload();
      resource("shop");
      send(span(CLIENT, "db.namespace", "orders-7", "db.system", "mysql"));
      batcher.endPayload();

      assertThat(payload.measured()).isEqualTo(drop.isEmpty() ? 0 : 1);
      assertThat(sent())
          .singleElement()
          .extracting(SentHalf::connectionType, SentHalf::peer)
          .containsExactly(connectionType, peer);
    }
    // The host's name of each resource, and the namespace of the kept span.
    assertThat(metrics.spanChanges.labels("test", "value_redacted").get())
        .isEqualTo(rule.startsWith("redact") ? 3 : 0);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void spansGroupedByDemandLeaveAHalfEach(int skipped) {
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
                        15_000,
                        List.of("http.route"),
                        List.of(),
                        Long.MAX_VALUE,
                        List.of())))));
    PendingPayload payload = payload();
    resource("shop");
    for (int i = 0; i < 100; i++) {
      SpanView span = span(CLIENT, "http.route", "/", "server.address", "pay.example");
      span.attributesNotWanted = skipped;
      if (!batcher.span(span)) {
        span.attributesNotWanted = 0;
        send(span);
      }
    }

    assertThat(payload.accepted()).isEqualTo(100);
    assertThat(payload.grouped()).isGreaterThan(90);
    assertThat(sent())
        .hasSize(100)
        .allMatch(half -> "pay.example".equals(half.peer()))
        .extracting(SentHalf::key)
        .doesNotHaveDuplicates();
  }

  @Test
  void attributesOfPeersAreAdditionalToTheFirstOnesUnlessFiltersReadThem() throws ConfigException {
    batcher.detail(
        new Detail(
            new DetailConfig(DetailConfig.Detail.DEMAND, List.of()),
            new Demand(
                9, 1, Map.of("a", new Part(1, 5, false, 1, List.of(), List.of(), 1, List.of())))));
    payload();
    resource("shop");
    byte[] key = "server.address".getBytes(UTF_8);
    for (int kind : List.of(UNKNOWN_YET, CLIENT, PRODUCER)) {
      assertThat(batcher.additionalKeys(kind).contains(key, 0, key.length)).isTrue();
    }
    for (int kind : List.of(INTERNAL, SERVER)) {
      assertThat(batcher.additionalKeys(kind)).isNull();
    }
    byte[] operation = "messaging.operation.type".getBytes(UTF_8);
    KeySet ofConsumers = batcher.additionalKeys(CONSUMER);
    assertThat(ofConsumers.contains(operation, 0, operation.length)).isTrue();
    assertThat(ofConsumers.contains(key, 0, key.length)).isFalse();
    assertThat(batcher.firstKeys().contains(key, 0, key.length)).isFalse();

    filter("redact: [{pattern: '[0-9]+', replace: N}]");
    payload();
    resource("shop");
    assertThat(batcher.firstKeys()).isNull();

    filter("drop: [{name: 'GET *', keep: metrics, dimensions: [http.route]}]");
    payload();
    resource("shop");
    assertThat(batcher.firstKeys().contains(key, 0, key.length)).isTrue();

    batcher.edges(Edges.NONE);
    payload();
    resource("shop");
    assertThat(batcher.additionalKeys(CLIENT)).isNull();
    assertThat(batcher.firstKeys().contains(key, 0, key.length)).isFalse();
  }

  @Test
  void newQueuesCloseTheOpenBatches() {
    EdgeRoute more = new EdgeRoute(edgeQueues(QUEUES + 1));
    for (EdgeRoute now : List.of(route, more, route)) {
      batcher.edges(new Edges(EdgesConfig.defaults(), now));
      int from = frame.size();
      payload();
      resource("shop");
      for (int i = 0; i < 300; i++) {
        send(span(PRODUCER));
      }
      batcher.edges(Edges.NONE);
      int halves = 0;
      for (int i = from; i < frame.size(); i++) {
        BrokerQueue queue = TestFrames.queues(frame).get(i);
        if (queue.topic() == BrokerQueue.Topic.EDGES) {
          List<SentHalf> read = SentHalf.read(TestFrames.bodies(frame).get(i));
          halves += read.size();
          assertThat(read).allMatch(half -> now.queues().get(now.place(half.key())).equals(queue));
        }
      }
      assertThat(halves).isEqualTo(300);
    }
    assertThat(frame.halfEdges()).isEqualTo(900);
    assertNamesHaveNoGaps();
  }

  @Test
  void namesOfAQueueHaveNoGapsOverFrames() {
    for (int commit = 0; commit < 20; commit++) {
      payload();
      resource("shop");
      for (int i = 0; i < 10; i++) {
        send(span(PRODUCER));
      }
      batcher.closeForCommit();
    }
    assertThat(byQueue(frame)).hasSize(QUEUES);
    assertNamesHaveNoGaps();
  }

  private void assertNamesHaveNoGaps() {
    Map<BrokerQueue, Long> next = new HashMap<>();
    EdgeBatchReader reader = new EdgeBatchReader();
    for (int i = 0; i < frame.size(); i++) {
      BrokerQueue queue = TestFrames.queues(frame).get(i);
      if (queue.topic() == BrokerQueue.Topic.EDGES) {
        byte[] body = TestFrames.bodies(frame).get(i);
        assertThat(reader.wrap(body, 0, body.length)).isEqualTo(Rejection.NONE);
        assertThat(reader.sequence()).isEqualTo(next.merge(queue, 1L, Long::sum) - 1);
        assertThat(List.of(reader.agentHigh(), reader.agentLow(), reader.epoch()))
            .containsExactly(1L, 2L, 3L);
      }
    }
  }

  @Test
  void batchesAreClosedAtTheirLimits() {
    int mostBytes = 4_096;
    int mostHalves = 100;
    open(new AgentIdentity(1, 2, 3), new PipelineConfig(64 << 20, mostBytes, mostHalves, 20, 128));
    resource("shop");
    for (int i = 0; i < 5_000; i++) {
      send(span(PRODUCER));
    }
    for (int i = 0; i < 5_000; i++) {
      send(span(CLIENT, "server.address", "host-" + i + ".example".repeat(20)));
    }

    assertThat(sent()).hasSize(10_000);
    List<byte[]> bodies = SentHalf.bodies(frame);
    assertThat(bodies)
        .allSatisfy(body -> {
          assertThat(body).hasSizeLessThan(mostBytes + 512);
          assertThat(SentHalf.read(body)).hasSizeLessThanOrEqualTo(mostHalves);
        });
    assertThat(bodies.stream().filter(body -> SentHalf.read(body).size() == mostHalves).count())
        .isBetween(5_000L / mostHalves - 2 * QUEUES, 5_000L / mostHalves);
    assertThat(bodies.stream().filter(body -> body.length > mostBytes - 1_024).count())
        .isGreaterThan(100);
    assertNamesHaveNoGaps();
  }

  @Test
  void resourcesWithLongNamesLeaveNoHalves() {
    String application = "a".repeat(1_000);
    for (String namespace : List.of("n".repeat(24), "n".repeat(25))) {
      payload();
      resource(application, namespace);
      send(span(CLIENT, "server.address", "h".repeat(1_000)));
    }

    assertThat(sent())
        .singleElement()
        .satisfies(half -> {
          assertThat(half.application()).hasSize(1_000);
          assertThat(half.namespace()).hasSize(24);
          assertThat(half.peer()).hasSize(255);
        });
  }

  @Test
  void aFailureDiscardsTheHalves() {
    resource("shop");
    send(span(PRODUCER));
    batcher.discard();
    payload();
    resource("shop");
    send(span(SERVER));

    assertThat(sent()).singleElement().extracting(SentHalf::side).isEqualTo(2);
  }

  private void filter(String yaml) throws ConfigException {
    batcher.filter(new Filters(FiltersFile.parse(yaml.getBytes(UTF_8))));
    payload();
  }

  private void resource(String application) {
    resource(application, null);
  }

  private void resource(String application, String namespace) {
    Attributes resource = new Attributes();
    add(resource, "host.name", "web3");
    if (application != null) {
      add(resource, "service.name", application);
    }
    if (namespace != null) {
      add(resource, "service.namespace", namespace);
    }
    batcher.resource(resource);
  }

  /** Returns a span of trace (1, 2) with the next ID from 1, which takes ten times its ID. */
  private SpanView span(int kind, String... attributes) {
    SpanView span = new SpanView();
    span.traceIdHigh = 1;
    span.traceIdLow = 2;
    span.spanId = ++spanId;
    span.kind = kind;
    span.durationNanos = 10 * spanId;
    span.name = "GET /".getBytes(UTF_8);
    span.nameLength = span.name.length;
    IntStream.range(0, attributes.length / 2)
        .forEach(i -> add(span.attributes, attributes[2 * i], attributes[2 * i + 1]));
    return span;
  }

  private void send(SpanView span) {
    assertThat(batcher.span(span)).isTrue();
  }

  /** Closes the batches, and returns the half-edges of all batches of the frame. */
  private List<SentHalf> sent() {
    batcher.closeForCommit();
    return SentHalf.read(frame);
  }

  private static Map<BrokerQueue, List<SentHalf>> byQueue(Frame frame) {
    Map<BrokerQueue, List<SentHalf>> halves = new HashMap<>();
    for (int i = 0; i < frame.size(); i++) {
      BrokerQueue queue = TestFrames.queues(frame).get(i);
      if (queue.topic() == BrokerQueue.Topic.EDGES) {
        halves
            .computeIfAbsent(queue, itsQueue -> new ArrayList<>())
            .addAll(SentHalf.read(TestFrames.bodies(frame).get(i)));
      }
    }
    return halves;
  }
}
