package org.traceetl.perf.systest.ozhera;

import static org.traceetl.perf.systest.ozhera.SpanWriter.put;

import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.IntStream;
import org.apache.thrift.TException;
import org.traceetl.proto.thrift.ozhera.TAttributeType;
import org.traceetl.proto.thrift.ozhera.TAttributes;
import org.traceetl.proto.thrift.ozhera.TEvent;
import org.traceetl.proto.thrift.ozhera.TExtra;
import org.traceetl.proto.thrift.ozhera.TInstrumentationLibraryInfo;
import org.traceetl.proto.thrift.ozhera.TKind;
import org.traceetl.proto.thrift.ozhera.TResource;
import org.traceetl.proto.thrift.ozhera.TSpanContext;
import org.traceetl.proto.thrift.ozhera.TSpanData;
import org.traceetl.proto.thrift.ozhera.TStatus;
import org.traceetl.proto.thrift.ozhera.TValue;

/**
 * Generates the spans of a fleet with OzHera's agents: fast, slow and failed spans of each type
 * with metrics, and excluded, untyped and unusual spans. Except for times, a seed determines them.
 * Each span is a trace of its own. Confined to one thread.
 */
public final class SpanGenerator {
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
  private final SpanWriter writer;
  private final List<Maker> types =
      List.of(
          this::httpServer,
          this::httpServer,
          this::httpClient,
          this::dubboConsumer,
          this::dubboProvider,
          this::grpcClient,
          this::grpcServer,
          this::redis,
          this::redis,
          this::mysql,
          this::mongodb,
          this::producer,
          this::consumer,
          this::annotated,
          this::withoutType,
          this::odd);
  private long number;

  /** Fills a span's name, kind and attributes. */
  private interface Maker {
    void fill(TSpanData span, TAttributes attributes);
  }

  public record Generated(String application, TSpanData span, byte[] message) {}

  public SpanGenerator(long seed) throws TException {
    random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    writer = new SpanWriter();
  }

  /**
   * @param nowNanos the end of the span, nanoseconds since 1970
   */
  public Generated next(long nowNanos) throws TException {
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
    boolean fromLater = isOneIn(40);
    return new Generated(
        application, span, fromLater ? writer.writeWithUnknownField(span) : writer.write(span));
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
    TAttributes resource = new TAttributes();
    put(resource, "service.name", application);
    put(resource, "telemetry.sdk.language", "java");
    // The last host has neither attribute.
    if (host < HOSTS - 1) {
      put(resource, "service.env", host == 0 ? "staging" : "preview");
      put(resource, "service.env.id", (long) 70 + host);
    }
    return resource;
  }

  private void fail(TSpanData span, TAttributes attributes) {
    span.setStatus(TStatus.ERROR);
    if (isOneIn(2)) {
      put(attributes, "error", true);
    } else {
      put(attributes, "error", "true");
    }
    TAttributes exception = new TAttributes();
    put(exception, "exception.type", "java.lang.IllegalStateException");
    put(exception, "exception.message", "out of stock");
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
    span.setKind(TKind.SERVER);
    span.setName(
        isOneIn(30)
            ? "/favicon.ico"
            : isOneIn(30) ? "/health/live" : "/orders/" + "abcde".charAt(operation()));
    http(attributes, "server");
    put(attributes, "http.user_agent", isOneIn(40) ? "SecurityScan/1.0" : "okhttp/4.9");
  }

  private void httpClient(TSpanData span, TAttributes attributes) {
    span.setKind(TKind.CLIENT);
    span.setName("HTTP GET " + operation());
    http(attributes, "client");
    put(
        attributes,
        "http.url",
        isOneIn(30) ? "http://talos.local/metrics" : "http://stock.local:8080/items?page=1");
  }

  private void http(TAttributes attributes, String kind) {
    put(attributes, "span.kind", kind);
    put(attributes, "http.method", "GET");
    switch (random.nextInt(4)) {
      case 0 -> put(attributes, "http.status_code", "404");
      case 1 -> {
        // The call has no answer.
      }
      default -> put(attributes, "http.status_code", isOneIn(2) ? 200L : 502L);
    }
  }

  private void dubboConsumer(TSpanData span, TAttributes attributes) {
    span.setKind(TKind.CLIENT);
    rpc(span, attributes, "dubbo", "client");
  }

  private void dubboProvider(TSpanData span, TAttributes attributes) {
    span.setKind(TKind.SERVER);
    rpc(span, attributes, "dubbo", "server");
  }

  private void grpcClient(TSpanData span, TAttributes attributes) {
    span.setKind(TKind.CLIENT);
    rpc(span, attributes, "grpc", "client");
  }

  private void grpcServer(TSpanData span, TAttributes attributes) {
    span.setKind(TKind.SERVER);
    rpc(span, attributes, "grpc", "server");
  }

  private void rpc(TSpanData span, TAttributes attributes, String system, String kind) {
    String service = "org.shop.api.Stock" + random.nextInt(2);
    String method = "reserve" + operation();
    span.setName(service + "/" + method);
    put(attributes, "span.kind", kind);
    put(attributes, "rpc.system", system);
    // Without these attributes, OzHera uses the span's name and loses the span.
    if (!isOneIn(20)) {
      put(attributes, "rpc.service", service);
    } else if (isOneIn(2)) {
      put(attributes, "rpc.service", (String) null);
    }
    if (!isOneIn(20)) {
      put(attributes, "rpc.method", method);
    }
  }

  private void redis(TSpanData span, TAttributes attributes) {
    span.setKind(TKind.CLIENT);
    String command = List.of("GET", "SET", "MGET", "HGETALL", "EXPIRE").get(operation());
    span.setName(command);
    put(attributes, "span.kind", "client");
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
    span.setKind(TKind.CLIENT);
    span.setName("SELECT shop.orders");
    put(attributes, "span.kind", "client");
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
    span.setKind(TKind.CLIENT);
    span.setName("find shop.carts");
    put(attributes, "span.kind", "client");
    put(attributes, "db.system", "mongodb");
    put(attributes, "db.connection_string", connection("mongodb", 27_017));
    put(attributes, "db.operation", "find");
    put(attributes, "db.statement", "{\"find\": \"carts\", \"limit\": " + operation() + "}");
  }

  private void producer(TSpanData span, TAttributes attributes) {
    span.setKind(TKind.PRODUCER);
    messages(span, attributes, "producer");
  }

  private void consumer(TSpanData span, TAttributes attributes) {
    span.setKind(TKind.CONSUMER);
    messages(span, attributes, "consumer");
  }

  private void messages(TSpanData span, TAttributes attributes, String kind) {
    String topic = "orders-" + random.nextInt(3);
    span.setName(topic + (kind.equals("producer") ? " send" : " process"));
    put(attributes, "span.kind", kind);
    put(attributes, "messaging.system", isOneIn(20) ? "kafka" : "rocketmq");
    if (!isOneIn(20)) {
      put(attributes, "messaging.destination", topic);
    }
  }

  private void annotated(TSpanData span, TAttributes attributes) {
    span.setName("Prices.recalculate" + operation());
    put(attributes, "span.kind", "internal");
    if (isOneIn(2)) {
      put(attributes, "hera.annotations", true);
    } else {
      put(attributes, "hera.annotations", "true");
    }
  }

  private void withoutType(TSpanData span, TAttributes attributes) {
    span.setName("CartService.merge");
    put(attributes, "span.kind", "internal");
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
        put(attributes, "nothing", (String) null);
        put(
            attributes,
            "texts",
            TAttributeType.STRING_ARRAY,
            new TValue().setStringArrayValue(List.of("one", "two")));
      }
      case 2 -> {
        // The last attribute defines the type.
        httpServer(span, attributes);
        put(attributes, "rpc.system", "dubbo");
        put(attributes, "rpc.service", "org.shop.api.Rest");
      }
      case 3 -> {
        dubboProvider(span, attributes);
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
}
