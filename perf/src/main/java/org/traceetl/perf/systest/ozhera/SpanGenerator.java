package org.traceetl.perf.systest.ozhera;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.traceetl.testkit.OzheraMessages.attributes;
import static org.traceetl.testkit.OzheraMessages.put;

import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.IntStream;
import org.traceetl.proto.thrift.ozhera.TAttributes;
import org.traceetl.proto.thrift.ozhera.TEvent;
import org.traceetl.proto.thrift.ozhera.TExtra;
import org.traceetl.proto.thrift.ozhera.TInstrumentationLibraryInfo;
import org.traceetl.proto.thrift.ozhera.TKind;
import org.traceetl.proto.thrift.ozhera.TResource;
import org.traceetl.proto.thrift.ozhera.TSpanContext;
import org.traceetl.proto.thrift.ozhera.TSpanData;
import org.traceetl.proto.thrift.ozhera.TStatus;
import org.traceetl.testkit.OzheraMessages;

/**
 * Generates the spans of a fleet with OzHera's agents: fast, slow and failed spans of each type
 * with metrics, and excluded, untyped and unusual spans. Except for times, a seed determines them.
 * Each span is a trace of its own. Confined to one thread.
 */
final class SpanGenerator {
  /** The exclusions, overrides and degraded applications of this traffic. */
  static final Rules RULES =
      new Rules(
          List.of("load-test"),
          List.of("favicon.ico"),
          List.of("/health"),
          List.of("nacos"),
          List.of("talos"),
          List.of("SecurityScan"),
          List.of("@@"),
          new Rules.Thresholds(1_000, 1_000, 1_000),
          Map.of("strict-gateway", new Rules.Thresholds(200, 300, 100)),
          List.of("degraded-shop"));

  /** Two names are one in Prometheus; another is excluded. */
  private static final List<String> APPLICATIONS =
      List.of(
          "order-service",
          "order_service",
          "user-center-api",
          "pay-gateway",
          "strict-gateway",
          "degraded-shop",
          "load-test-17",
          "a");

  /** A field number that the current version does not use. */
  private static final int UNKNOWN_FIELD = 99;

  private static final int TYPE_BINARY = 8;
  private static final byte[] UNKNOWN_VALUE = "from a later version".getBytes(UTF_8);

  private static final int HOSTS = 3;
  private static final int MOST_OPERATIONS = 5;
  private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(9);

  /** Durations on bucket bounds and thresholds, and one nanosecond below and above. */
  private static final long[] EDGE_NANOS = {
    0,
    1,
    999,
    100_000,
    100_001,
    100_999,
    101_000,
    500_000,
    10_000_000,
    50_000_000,
    50_000_999,
    50_001_000,
    1_000_000_000,
    1_000_000_999,
    1_000_001_000,
    5_000_000_000L,
    5_000_001_000L,
  };

  private final RandomGenerator random;
  private final List<Maker> types =
      List.of(
          this::httpServer,
          this::httpServer,
          this::httpClient,
          (span, attributes) -> rpc(span, attributes, "dubbo", TKind.CLIENT),
          (span, attributes) -> rpc(span, attributes, "dubbo", TKind.SERVER),
          (span, attributes) -> rpc(span, attributes, "grpc", TKind.CLIENT),
          (span, attributes) -> rpc(span, attributes, "grpc", TKind.SERVER),
          this::redis,
          this::redis,
          this::mysql,
          this::mongodb,
          (span, attributes) -> messages(span, attributes, TKind.PRODUCER, " send"),
          (span, attributes) -> messages(span, attributes, TKind.CONSUMER, " process"),
          this::annotated,
          this::withoutType,
          this::odd);
  private long number;

  /** Fills a span's name, kind and attributes. */
  private interface Maker {
    void fill(TSpanData span, TAttributes attributes);
  }

  record Generated(String application, TSpanData span, byte[] message) {}

  SpanGenerator(long seed) {
    random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
  }

  /**
   * @param nowNanos the end of the span, nanoseconds since 1970
   */
  Generated next(long nowNanos) {
    number++;
    String application = APPLICATIONS.get(random.nextInt(APPLICATIONS.size()));
    int host = random.nextInt(HOSTS);
    TSpanData span = new TSpanData();
    span.setTraceId(String.format("%016x%016x", random.nextLong() | 1, number));
    span.setSpanId(String.format("%016x", random.nextLong() | 1));
    span.setSampled(true);
    span.setEnded(true);
    span.setStatus(TStatus.UNSET);
    span.setKind(TKind.INTERNAL);
    span.setParentSpanContext(
        new TSpanContext().setTraceId(span.getTraceId()).setSpanId("00000000000000ab"));
    span.setInstrumentationLibraryInfo(
        new TInstrumentationLibraryInfo().setName("io.opentelemetry").setVersion("1.3.0"));
    span.setExtra(
        new TExtra()
            .setServiceName(application)
            .setIp("10.1." + Math.floorMod(application.hashCode(), 200) + "." + host)
            .setHostname(application + "-" + host));
    span.setResouce(new TResource().setAttributes(resource(application, host)));
    long nanos = durationNanos();
    span.setStartEpochNanos(nowNanos - nanos);
    span.setEndEpochNanos(nowNanos);
    TAttributes attributes = new TAttributes();
    put(attributes, "thread.id", (long) random.nextInt(200));
    put(attributes, "thread.name", isOneIn(50) ? "nacos-client-3" : "http-nio-8080-exec-7");
    types.get(random.nextInt(types.size())).fill(span, attributes);
    if (isOneIn(10)) {
      fail(span, attributes);
    }
    if (attributes.getKeysSize() > 0) {
      span.setAttributes(attributes);
      span.setTotalAttributeCount(attributes.getKeysSize());
    }
    byte[] message = OzheraMessages.of(span);
    return new Generated(application, span, isOneIn(40) ? withUnknownField(message) : message);
  }

  private boolean isOneIn(int times) {
    return random.nextInt(times) == 0;
  }

  private long durationNanos() {
    if (isOneIn(12)) {
      return EDGE_NANOS[random.nextInt(EDGE_NANOS.length)];
    }
    // Each power of ten from 10 µs is equally frequent.
    return (long) Math.min(LONGEST_NANOS, 1e4 * Math.pow(10, 6 * random.nextDouble()));
  }

  private static TAttributes resource(String application, int host) {
    TAttributes resource =
        attributes("service.name", application, "telemetry.sdk.language", "java");
    // The last host has neither attribute.
    if (host < HOSTS - 1) {
      put(resource, "service.env", host == 0 ? "staging" : "preview");
      put(resource, "service.env.id", (long) 70 + host);
    }
    return resource;
  }

  private void fail(TSpanData span, TAttributes attributes) {
    span.setStatus(TStatus.ERROR);
    put(attributes, "error", isOneIn(2) ? true : "true");
    TAttributes exception =
        attributes(
            "exception.type",
            "java.lang.IllegalStateException",
            "exception.message",
            "out of stock");
    span.addToEvents(
        new TEvent()
            .setName("exception")
            .setEpochNanos(span.getEndEpochNanos())
            .setAttributes(exception));
  }

  private int operation() {
    return random.nextInt(MOST_OPERATIONS);
  }

  private void httpServer(TSpanData span, TAttributes attributes) {
    String name =
        isOneIn(30)
            ? "/favicon.ico"
            : isOneIn(30) ? "/health/live" : "/orders/" + "abcde".charAt(operation());
    begin(span, attributes, TKind.SERVER, name);
    http(attributes);
    put(attributes, "http.user_agent", isOneIn(40) ? "SecurityScan/1.0" : "okhttp/4.9");
  }

  private void httpClient(TSpanData span, TAttributes attributes) {
    begin(span, attributes, TKind.CLIENT, "HTTP GET " + operation());
    http(attributes);
    put(
        attributes,
        "http.url",
        isOneIn(30) ? "http://talos.local/metrics" : "http://stock.local:8080/items?page=1");
  }

  private static void begin(TSpanData span, TAttributes attributes, TKind kind, String name) {
    span.setKind(kind);
    span.setName(name);
    put(attributes, "span.kind", kind.name().toLowerCase(Locale.ROOT));
  }

  private void http(TAttributes attributes) {
    put(attributes, "http.method", "GET");
    switch (random.nextInt(4)) {
      case 0 -> put(attributes, "http.status_code", "404");
      case 1 -> {
        // The call has no answer.
      }
      default -> put(attributes, "http.status_code", isOneIn(2) ? 200L : 502L);
    }
  }

  private void rpc(TSpanData span, TAttributes attributes, String system, TKind kind) {
    String service = "org.shop.api.Stock" + random.nextInt(2);
    String method = "reserve" + operation();
    begin(span, attributes, kind, service + "/" + method);
    put(attributes, "rpc.system", system);
    // Without these attributes, OzHera uses the span's name and loses the span.
    if (!isOneIn(20)) {
      put(attributes, "rpc.service", service);
    } else if (isOneIn(2)) {
      put(attributes, "rpc.service", null);
    }
    if (!isOneIn(20)) {
      put(attributes, "rpc.method", method);
    }
  }

  private void redis(TSpanData span, TAttributes attributes) {
    String command = List.of("GET", "SET", "MGET", "HGETALL", "EXPIRE").get(operation());
    begin(span, attributes, TKind.CLIENT, command);
    put(attributes, "db.system", "redis");
    switch (random.nextInt(8)) {
      case 0 -> put(attributes, "db.statement", command);
      case 1 -> put(attributes, "db.statement", command + " ? ?");
      case 2 -> put(attributes, "db.statement", "?");
      case 3 -> {
        // The span's name contains the command.
      }
      case 4 -> put(attributes, "db.statement", "x".repeat(98 + operation()) + " key");
      default -> put(attributes, "db.statement", command + " user:17 user:18");
    }
    put(attributes, "net.peer.name", "cache-" + random.nextInt(2) + ".local");
    put(attributes, "net.peer.port", 6_379L);
  }

  private void mysql(TSpanData span, TAttributes attributes) {
    begin(span, attributes, TKind.CLIENT, "SELECT shop.orders");
    put(attributes, "db.system", "mysql");
    put(attributes, "db.connection_string", connection("mysql", 3_306));
    put(attributes, "db.name", "shop");
    put(attributes, "db.operation", isOneIn(2) ? "SELECT" : "UPDATE");
    put(attributes, "db.statement", sql());
    put(attributes, "db.user", "shop");
  }

  private String connection(String scheme, int port) {
    String address = "db-" + random.nextInt(2) + ".local:" + port;
    return scheme + "://" + (isOneIn(4) ? "shop:" + DatabaseSecret.PASSWORD + "@" : "") + address;
  }

  private String sql() {
    return switch (random.nextInt(6)) {
      case 0 -> "select @@version";
      case 1 ->
          "select * from orders where "
              + IntStream.range(0, 20 + operation())
                  .mapToObj(column -> "column_" + column + " = ?")
                  .reduce((some, one) -> some + " and " + one)
                  .orElseThrow();
      case 2 -> "select '" + "订单".repeat(47 + operation()) + "'";
      default -> "select * from orders where id in (" + "?, ".repeat(operation()) + "?)";
    };
  }

  private void mongodb(TSpanData span, TAttributes attributes) {
    begin(span, attributes, TKind.CLIENT, "find shop.carts");
    put(attributes, "db.system", "mongodb");
    put(attributes, "db.connection_string", connection("mongodb", 27_017));
    put(attributes, "db.operation", "find");
    put(attributes, "db.statement", "{\"find\": \"carts\", \"limit\": " + operation() + "}");
  }

  private void messages(TSpanData span, TAttributes attributes, TKind kind, String verb) {
    String topic = "orders-" + random.nextInt(3);
    begin(span, attributes, kind, topic + verb);
    put(attributes, "messaging.system", isOneIn(20) ? "kafka" : "rocketmq");
    if (!isOneIn(20)) {
      put(attributes, "messaging.destination", topic);
    }
  }

  private void annotated(TSpanData span, TAttributes attributes) {
    begin(span, attributes, TKind.INTERNAL, "Prices.recalculate" + operation());
    put(attributes, "hera.annotations", isOneIn(2) ? true : "true");
  }

  private void withoutType(TSpanData span, TAttributes attributes) {
    begin(span, attributes, TKind.INTERNAL, "CartService.merge");
    put(attributes, "code.lines", 17L);
    put(attributes, "ratio", 0.25);
  }

  private void odd(TSpanData span, TAttributes attributes) {
    switch (random.nextInt(7)) {
      case 0 -> {
        span.setName("no attributes");
        attributes.unsetKeys();
        attributes.unsetValues();
      }
      case 1 -> {
        httpServer(span, attributes);
        put(attributes, "nothing", null);
        put(attributes, "texts", List.of("one", "two"));
      }
      case 2 -> {
        // The last attribute defines the type.
        httpServer(span, attributes);
        put(attributes, "rpc.system", "dubbo");
        put(attributes, "rpc.service", "org.shop.api.Rest");
      }
      case 3 -> {
        rpc(span, attributes, "dubbo", TKind.SERVER);
        span.getExtra().unsetIp();
      }
      case 4 -> {
        httpClient(span, attributes);
        span.getExtra().unsetServiceName();
      }
      case 5 -> {
        annotated(span, attributes);
        span.unsetResouce();
      }
      default -> span.setName("");
    }
  }

  /** Returns the message with a field at its end that current readers do not know. */
  private static byte[] withUnknownField(byte[] known) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    // Omits the byte that ends the struct.
    bytes.write(known, 0, known.length - 1);
    // The field may be far from the last one, so its header has the long form: type, number.
    bytes.write(TYPE_BINARY);
    int zigzag = UNKNOWN_FIELD * 2;
    bytes.write(zigzag & 0x7f | 0x80);
    bytes.write(zigzag >>> 7);
    bytes.write(UNKNOWN_VALUE.length);
    bytes.write(UNKNOWN_VALUE, 0, UNKNOWN_VALUE.length);
    bytes.write(0);
    return bytes.toByteArray();
  }
}
