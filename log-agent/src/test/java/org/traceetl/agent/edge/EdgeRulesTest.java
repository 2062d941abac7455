package org.traceetl.agent.edge;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static org.traceetl.agent.flow.TestAttributes.add;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.agent.flow.SpanView;

final class EdgeRulesTest {
  private static final int UNSPECIFIED = 0;
  private static final int INTERNAL = 1;
  private static final int SERVER = 2;
  private static final int CLIENT = 3;
  private static final int PRODUCER = 4;
  private static final int CONSUMER = 5;

  private static final long TRACE_HIGH = 11;
  private static final long TRACE_LOW = 12;
  private static final long SPAN = 21;
  private static final long PARENT = 22;

  private final HalfEdge half = new HalfEdge();

  static Stream<Arguments> kinds() {
    return Stream.of(
        arguments("a client waits with its own ID", CLIENT, "client waits 21"),
        arguments("a producer waits with its own ID", PRODUCER, "producer waits 21 messaging"),
        arguments("a server waits with its parent's ID", SERVER, "server waits 22"),
        arguments("a consumer waits with its parent's ID", CONSUMER, "consumer waits 22 messaging"),
        arguments("an internal span leaves nothing", INTERNAL, "none"),
        arguments("a span of unspecified kind leaves nothing", UNSPECIFIED, "none"),
        arguments("a span of unknown kind leaves nothing", CONSUMER + 1, "none"),
        arguments("a span of negative kind leaves nothing", -1, "none"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("kinds")
  void kindDecides(String name, int kind, String expected) {
    assertThat(classified(span(kind))).as(name).isEqualTo(expected);
  }

  @Test
  void serversAndConsumersWithoutParentAreImmediate() {
    assertThat(classified(root(span(SERVER, "server.address", "shop")))).isEqualTo("server");
    assertThat(classified(root(span(CONSUMER, "messaging.destination.name", "orders"))))
        .isEqualTo("consumer messaging");
  }

  @Test
  void halvesThatWaitHaveTheTraceId() {
    SpanView span = span(SERVER);
    EdgeRules.classify(span, span.attributes, half);

    assertThat(half.traceIdHigh).isEqualTo(TRACE_HIGH);
    assertThat(half.traceIdLow).isEqualTo(TRACE_LOW);
  }

  @Test
  void aConsumerWithLinksWaitsForEachOfThemAndNotForItsParent() {
    SpanView consumer = span(CONSUMER);
    consumer.links.add(31, 32, 33);
    consumer.links.add(41, 42, 43);
    consumer.links.add(31, 32, 33);
    consumer.links.add(0, 0, 33);
    consumer.links.add(31, 32, 0);

    assertThat(classified(consumer)).isEqualTo("consumer waits 33 messaging");
    assertThat(half.traceIdHigh).isEqualTo(31);
    assertThat(half.traceIdLow).isEqualTo(32);
    assertThat(EdgeRules.halves(consumer)).isEqualTo(2);
    consumer.startUnixNanos = 9_000;
    EdgeRules.turnToLink(consumer, 1, half);
    assertThat(half.traceIdHigh).isEqualTo(41);
    assertThat(half.traceIdLow).isEqualTo(42);
    assertThat(half.clientSpanId).isEqualTo(43);
    assertThat(half.messageMicros).isEqualTo(9);

    consumer.parentSpanId = 0;
    assertThat(classified(consumer)).isEqualTo("consumer waits 33 messaging");
  }

  @Test
  void aMessageIsSentAtTheEndOfItsProducerAndReceivedAtTheStartOfItsConsumer() {
    assertThat(messageMicros(PRODUCER, 5_000_999, 2_000)).isEqualTo(5_002);
    assertThat(messageMicros(CONSUMER, 5_000_999, 2_000)).isEqualTo(5_000);
    assertThat(messageMicros(CLIENT, 5_000_999, 2_000)).isZero();
    assertThat(messageMicros(SERVER, 5_000_999, 2_000)).isZero();
    assertThat(messageMicros(PRODUCER, Long.MAX_VALUE, 1)).as("overflow").isZero();
    assertThat(messageMicros(CONSUMER, -1_000_000, 1)).as("before 1970").isZero();
  }

  private long messageMicros(int kind, long startUnixNanos, long durationNanos) {
    SpanView span = span(kind);
    span.startUnixNanos = startUnixNanos;
    span.durationNanos = durationNanos;
    EdgeRules.classify(span, span.attributes, half);
    return half.messageMicros;
  }

  /** Spans as the OpenTelemetry Java agent writes them, with its former and stable conventions. */
  static Stream<Arguments> spansOfTheJavaAgent() {
    return Stream.of(
        arguments(
            "HTTP client",
            span(
                CLIENT,
                "http.request.method",
                "GET",
                "url.full",
                "http://orders:8080/orders/7",
                "server.address",
                "orders",
                "server.port",
                "8080",
                "network.protocol.version",
                "1.1",
                "http.response.status_code",
                "200",
                "thread.id",
                "41",
                "thread.name",
                "http-nio-8080-exec-1"),
            "client waits 21 orders"),
        arguments(
            "HTTP client, former",
            span(
                CLIENT,
                "http.method",
                "GET",
                "http.url",
                "http://orders:8080/orders/7",
                "net.peer.name",
                "orders",
                "net.peer.port",
                "8080",
                "net.protocol.version",
                "1.1",
                "http.status_code",
                "200",
                "http.response_content_length",
                "17"),
            "client waits 21 orders"),
        arguments(
            "HTTP server",
            span(
                SERVER,
                "http.request.method",
                "GET",
                "http.route",
                "/orders/{id}",
                "url.scheme",
                "http",
                "url.path",
                "/orders/7",
                "server.address",
                "orders",
                "server.port",
                "8080",
                "client.address",
                "10.0.0.7",
                "network.peer.address",
                "10.0.0.7",
                "network.peer.port",
                "41212",
                "user_agent.original",
                "curl/8.5.0",
                "http.response.status_code",
                "200"),
            "server waits 22"),
        arguments(
            "HTTP server, former",
            span(
                SERVER,
                "http.method",
                "GET",
                "http.route",
                "/orders/{id}",
                "http.scheme",
                "http",
                "http.target",
                "/orders/7",
                "net.host.name",
                "orders",
                "net.host.port",
                "8080",
                "net.sock.peer.addr",
                "10.0.0.7",
                "net.sock.peer.port",
                "41212",
                "http.status_code",
                "200"),
            "server waits 22"),
        arguments(
            "gRPC client",
            span(
                CLIENT,
                "rpc.system",
                "grpc",
                "rpc.service",
                "shop.Orders",
                "rpc.method",
                "Find",
                "rpc.grpc.status_code",
                "0",
                "server.address",
                "orders",
                "server.port",
                "9090",
                "network.type",
                "ipv4",
                "network.peer.address",
                "10.0.0.8",
                "network.peer.port",
                "9090"),
            "client waits 21 orders"),
        arguments(
            "gRPC client, former",
            span(
                CLIENT,
                "rpc.system",
                "grpc",
                "rpc.service",
                "shop.Orders",
                "rpc.method",
                "Find",
                "net.peer.name",
                "orders",
                "net.peer.port",
                "9090",
                "net.sock.peer.addr",
                "10.0.0.8"),
            "client waits 21 orders"),
        arguments(
            "gRPC server",
            span(
                SERVER,
                "rpc.system.name",
                "grpc",
                "rpc.method",
                "shop.Orders/Find",
                "server.address",
                "orders"),
            "server waits 22"),
        arguments(
            "JDBC",
            span(
                CLIENT,
                "db.system.name",
                "postgresql",
                "db.namespace",
                "orders",
                "db.query.text",
                "SELECT * FROM item WHERE id = ?",
                "db.query.summary",
                "SELECT item",
                "server.address",
                "postgres-1",
                "server.port",
                "5432"),
            "client database orders"),
        arguments(
            "JDBC, former",
            span(
                CLIENT,
                "db.system",
                "postgresql",
                "db.name",
                "orders",
                "db.user",
                "shop",
                "db.connection_string",
                "postgresql://postgres-1:5432",
                "db.statement",
                "SELECT * FROM item WHERE id = ?",
                "db.operation",
                "SELECT",
                "db.sql.table",
                "item",
                "server.address",
                "postgres-1",
                "server.port",
                "5432"),
            "client database orders"),
        arguments(
            "JDBC, both",
            span(
                CLIENT,
                "db.system",
                "mssql",
                "db.system.name",
                "microsoft.sql_server",
                "db.name",
                "orders",
                "db.namespace",
                "main|orders"),
            "client database main|orders"),
        arguments(
            "JDBC without a database's name",
            span(CLIENT, "db.system", "h2", "db.connection_string", "h2:mem:"),
            "client database h2"),
        arguments(
            "Redis",
            span(
                CLIENT,
                "db.system.name",
                "redis",
                "db.namespace",
                "0",
                "db.operation.name",
                "GET",
                "db.query.text",
                "GET ?",
                "server.address",
                "cache",
                "server.port",
                "6379"),
            "client database cache"),
        arguments(
            "Redis, former",
            span(
                CLIENT,
                "db.system",
                "redis",
                "db.redis.database_index",
                "1",
                "db.statement",
                "GET ?",
                "db.operation",
                "GET",
                "net.peer.name",
                "cache",
                "net.peer.port",
                "6379"),
            "client database cache"),
        arguments(
            "MongoDB",
            span(
                CLIENT,
                "db.system.name",
                "mongodb",
                "db.namespace",
                "shop",
                "db.collection.name",
                "items",
                "db.operation.name",
                "find",
                "server.address",
                "mongo-1",
                "server.port",
                "27017"),
            "client database shop"),
        arguments(
            "MongoDB, former",
            span(
                CLIENT,
                "db.system",
                "mongodb",
                "db.name",
                "shop",
                "db.mongodb.collection",
                "items",
                "db.operation",
                "find",
                "db.connection_string",
                "mongodb://mongo-1:27017",
                "server.address",
                "mongo-1"),
            "client database shop"),
        arguments(
            "Kafka producer",
            span(
                PRODUCER,
                "messaging.system",
                "kafka",
                "messaging.destination.name",
                "orders",
                "messaging.operation",
                "publish",
                "messaging.client_id",
                "producer-1",
                "messaging.destination.partition.id",
                "3",
                "messaging.kafka.message.offset",
                "12345"),
            "producer waits 21 messaging orders"),
        arguments(
            "Kafka producer, former",
            span(
                PRODUCER,
                "messaging.system",
                "kafka",
                "messaging.destination",
                "orders",
                "messaging.destination_kind",
                "topic"),
            "producer waits 21 messaging orders"),
        arguments(
            "Kafka consumer",
            span(
                CONSUMER,
                "messaging.system",
                "kafka",
                "messaging.destination.name",
                "orders",
                "messaging.operation",
                "process",
                "messaging.kafka.consumer.group",
                "billing"),
            "consumer waits 22 messaging"),
        arguments(
            "Kafka consumer that receives, below the producer's span",
            span(CONSUMER, "messaging.system", "kafka", "messaging.operation", "receive"),
            "consumer waits 22 messaging"),
        arguments(
            "Kafka consumer that receives",
            span(
                CLIENT,
                "messaging.system",
                "kafka",
                "messaging.destination.name",
                "orders",
                "messaging.operation.name",
                "poll",
                "messaging.operation.type",
                "receive",
                "messaging.batch.message_count",
                "7"),
            "none"),
        arguments(
            "Kafka consumer that receives, former",
            root(
                span(
                    CONSUMER,
                    "messaging.system",
                    "kafka",
                    "messaging.destination.name",
                    "orders",
                    "messaging.operation",
                    "receive")),
            "none"),
        arguments(
            "Pulsar consumer that acknowledges",
            span(
                CLIENT,
                "messaging.operation.name",
                "ack",
                "messaging.operation.type",
                "settle",
                "messaging.destination.name",
                "orders"),
            "none"),
        arguments(
            "Kafka consumer that processes a batch of several producers",
            root(span(CONSUMER, "messaging.system", "kafka", "messaging.operation", "process")),
            "consumer messaging"),
        arguments(
            "SNS",
            span(CLIENT, "rpc.system", "aws-api", "messaging.destination.name", "orders"),
            "client waits 21 orders"));
  }

  /** Spans as OpenTelemetry's instrumentations for Python write them, by default and opted in. */
  static Stream<Arguments> spansOfPython() {
    return Stream.of(
        arguments(
            "requests, httpx, urllib3",
            span(
                CLIENT,
                "http.method",
                "GET",
                "http.url",
                "http://rates:8080/eur",
                "net.peer.ip",
                "10.0.0.9",
                "http.status_code",
                "200"),
            "client waits 21 rates"),
        arguments(
            "requests, httpx, opted in",
            span(
                CLIENT,
                "http.request.method",
                "GET",
                "url.full",
                "http://rates:8080/eur",
                "server.address",
                "rates",
                "network.peer.address",
                "rates"),
            "client waits 21 rates"),
        arguments(
            "urllib3, opted in",
            span(
                CLIENT,
                "http.request.method",
                "GET",
                "url.full",
                "http://rates:8080/eur",
                "http.response.status_code",
                "200"),
            "client waits 21 rates"),
        arguments(
            "sqlite3",
            span(CLIENT, "db.system", "sqlite", "db.statement", "SELECT 1"),
            "client database sqlite"),
        arguments(
            "sqlite3, opted in",
            span(CLIENT, "db.system.name", "sqlite", "db.query.text", "SELECT 1"),
            "client database sqlite"),
        arguments(
            "aiokafka consumer without a producer's span",
            root(
                span(
                    CONSUMER,
                    "messaging.system",
                    "kafka",
                    "messaging.operation.name",
                    "receive",
                    "messaging.operation.type",
                    "receive")),
            "none"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource({"spansOfTheJavaAgent", "spansOfPython"})
  void conventionsAreRead(String name, SpanView span, String expected) {
    assertThat(classified(span)).as(name).isEqualTo(expected);
  }

  /** Removes the name that counts and looks for the next one. */
  @Test
  void namesCountByPrecedence() {
    List<String> keys =
        EdgeAttributes.NO_DIMENSIONS.readKeys().stream()
            .map(key -> new String(key, UTF_8))
            .filter(key -> !key.startsWith("messaging.operation"))
            .toList();
    for (int first = 0; first < keys.size(); first++) {
      SpanView ascending = span(PRODUCER);
      SpanView descending = span(PRODUCER);
      for (int i = first; i < keys.size(); i++) {
        add(ascending.attributes, keys.get(i), valueNaming(keys.get(i)));
        int j = keys.size() - 1 - i + first;
        add(descending.attributes, keys.get(j), valueNaming(keys.get(j)));
      }
      assertThat(peer(ascending)).isEqualTo(keys.get(first));
      assertThat(peer(descending)).isEqualTo(keys.get(first));
    }
  }

  /** Returns a value of a key that makes the key the peer's name. */
  private static String valueNaming(String key) {
    return List.of("url.full", "http.url").contains(key) ? "http://" + key + "/" : key;
  }

  @ParameterizedTest
  @CsvSource({
    "http://rates, rates",
    "https://rates/eur, rates",
    "http://rates:8080, rates",
    "http://rates?at=now, rates",
    "http://rates#eur, rates",
    "http://user:secret@rates:8080/eur, rates",
    "http://us@er:secret@rates/eur, rates",
    "http://10.0.0.9:8080/eur@usd, 10.0.0.9",
    "http://[fd00::9]:8080/eur, fd00::9",
    "http://[fd00::9, fd00::9",
    "http+unix://%2Frun%2Frates.sock/eur, %2Frun%2Frates.sock"
  })
  void nameIsTheHostOfAUrl(String url, String host) {
    assertThat(peer(span(CLIENT, "http.url", url))).isEqualTo(host);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "rates",
        "rates:8080/eur",
        "/eur?next=http://rates/",
        "mailto:rates@example.com",
        ":",
        "http:",
        "http:/",
        "http://",
        "http:///eur",
        "http://user@",
        "http://user@/eur",
        "http://:8080/eur",
        "http://[",
        "http://[]/eur"
      })
  void urlWithoutHostIsNoName(String url) {
    assertThat(classified(span(CLIENT, "url.full", url))).isEqualTo("client waits 21");
    assertThat(classified(span(CLIENT, "url.full", url, "http.url", "http://rates/")))
        .isEqualTo("client waits 21 rates");
    assertThat(classified(span(CLIENT, "http.url", url, "db.system", "elasticsearch")))
        .isEqualTo("client database elasticsearch");
  }

  @Test
  void spansWithoutHalfEdgeLeaveNoPeer() {
    for (SpanView span :
        List.of(
            span(CLIENT, "messaging.operation.type", "receive", "server.address", "kafka-1"),
            root(span(CONSUMER, "messaging.operation", "receive", "server.address", "kafka-1")))) {
      assertThat(classified(span)).isEqualTo("none");
      assertThat(half.peerLength).isZero();
      assertThat(half.peer).isEmpty();
    }
  }

  @Test
  void namesThatUsersConfigureCountFirst() {
    assertThat(peer(span(CLIENT, "server.address", "10.1.2.3", "peer.service", "payment")))
        .isEqualTo("payment");
    assertThat(peer(span(CLIENT, "db.name", "orders", "service.peer.name", "orders-db")))
        .isEqualTo("orders-db");
  }

  @Test
  void emptyValuesDoNotCount() {
    assertThat(classified(span(CLIENT, "peer.service", "", "server.address", "shop")))
        .isEqualTo("client waits 21 shop");
    assertThat(classified(span(CLIENT, "db.name", ""))).isEqualTo("client waits 21");
    assertThat(classified(span(CLIENT, "server.address", "", "server.address", "shop")))
        .isEqualTo("client waits 21 shop");
  }

  @Test
  void firstOfEqualKeysCounts() {
    assertThat(peer(span(CLIENT, "server.address", "one", "server.address", "two")))
        .isEqualTo("one");
  }

  @Test
  void numberIsTheLastNameOfADatabase() {
    assertThat(peer(span(CLIENT, "db.namespace", "15", "db.system.name", "redis")))
        .isEqualTo("redis");
    assertThat(peer(span(CLIENT, "db.namespace", "15"))).isEqualTo("15");
    assertThat(peer(span(CLIENT, "db.namespace", "15a", "db.system.name", "redis")))
        .isEqualTo("15a");
  }

  @Test
  void similarKeysAreNotRead() {
    assertThat(
            classified(
                span(
                    CLIENT,
                    "db.statement",
                    "SELECT 1",
                    "db.user",
                    "shop",
                    "client.address",
                    "10.0.0.7",
                    "net.peer.port",
                    "80",
                    "",
                    "x",
                    "server.addres",
                    "x",
                    "server.addresss",
                    "x")))
        .isEqualTo("client waits 21");
  }

  @Test
  void longNamesAreCutBetweenCharacters() {
    String most = "a".repeat(HalfEdge.MAX_PEER_BYTES);
    assertThat(peer(span(CLIENT, "server.address", most))).isEqualTo(most);
    assertThat(peer(span(CLIENT, "server.address", most + "b"))).isEqualTo(most);
    for (String character : List.of("\u00e9", "\u20ac", "\ud83d\ude00")) {
      int bytes = character.getBytes(UTF_8).length;
      for (int inside = 1; inside < bytes; inside++) {
        String whole = "a".repeat(HalfEdge.MAX_PEER_BYTES - inside);
        assertThat(peer(span(CLIENT, "server.address", whole + character + "b"))).isEqualTo(whole);
      }
      String whole = "a".repeat(HalfEdge.MAX_PEER_BYTES - bytes) + character;
      assertThat(peer(span(CLIENT, "server.address", whole + character))).isEqualTo(whole);
    }
  }

  @Test
  void halfIsReused() {
    SpanView span = span(CLIENT, "db.name", "orders");
    EdgeRules.classify(span, span.attributes, half);
    assertThat(classified(span(CLIENT))).isEqualTo("client waits 21");
    assertThat(classified(span(SERVER))).isEqualTo("server waits 22");
    assertThat(classified(span(CLIENT, "db.name", "orders"))).isEqualTo("client database orders");
    assertThat(half.clientSpanId).isZero();
    assertThat(half.traceIdHigh | half.traceIdLow).isZero();
  }

  private String classified(SpanView span) {
    if (!EdgeRules.classify(span, span.attributes, half)) {
      return "none";
    }
    String side = List.of("client", "server", "producer", "consumer").get(half.side - 1);
    String waits = half.waiting ? " waits " + half.clientSpanId : "";
    String type = List.of("", " messaging", " database").get(half.connectionType);
    return side + waits + type + (half.peerLength == 0 ? "" : " " + peer());
  }

  private String peer(SpanView span) {
    assertThat(EdgeRules.classify(span, span.attributes, half)).isTrue();
    return peer();
  }

  private String peer() {
    return new String(half.peer, half.peerOffset, half.peerLength, UTF_8);
  }

  private static SpanView root(SpanView span) {
    span.parentSpanId = 0;
    return span;
  }

  private static SpanView span(int kind, String... attributes) {
    SpanView span = new SpanView();
    span.traceIdHigh = TRACE_HIGH;
    span.traceIdLow = TRACE_LOW;
    span.spanId = SPAN;
    span.parentSpanId = PARENT;
    span.kind = kind;
    for (int i = 0; i < attributes.length; i += 2) {
      add(span.attributes, attributes[i], attributes[i + 1]);
    }
    return span;
  }
}
