package org.traceetl.perf.bench.load;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.traceetl.proto.TraceId;
import org.traceetl.proto.thrift.ozhera.TAttributes;
import org.traceetl.proto.thrift.ozhera.TExtra;
import org.traceetl.proto.thrift.ozhera.TKind;
import org.traceetl.proto.thrift.ozhera.TResource;
import org.traceetl.proto.thrift.ozhera.TSpanContext;
import org.traceetl.proto.thrift.ozhera.TSpanData;
import org.traceetl.proto.thrift.ozhera.TStatus;
import org.traceetl.testkit.OzheraMessages;

/**
 * Generates single spans as OzHera's agents write them: all kinds with OzHera metrics, with about
 * 20 attributes, including the resource's, and 1 KB each. Applications are drawn by Zipf shares,
 * durations are log-normal, and one span in a hundred failed. Equal seeds give equal streams.
 */
public final class OzheraStream {
  private static final int METHODS = 10;

  private final SplittableRandom random;
  private final double[] shares;

  /**
   * A message.
   *
   * @param application the number of its application
   */
  public record Span(int application, byte[] message) {}

  /**
   * @param applications the number of applications
   */
  public OzheraStream(long seed, int applications) {
    random = new SplittableRandom(seed);
    shares = SpanStream.zipf(applications);
  }

  public List<Span> spans(int count) {
    List<Span> spans = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      spans.add(span());
    }
    return spans;
  }

  private Span span() {
    int application = SpanStream.draw(shares, random);
    int method = Math.min(random.nextInt(METHODS), random.nextInt(METHODS));
    boolean failed = random.nextInt(100) == 0;
    Attributes tags = new Attributes();
    String kind = tags(tags, application, method, failed);
    tags.add("span.kind", kind);
    tags.add("thread.name", "http-nio-8080-exec-" + random.nextInt(200));
    tags.add("thread.id", random.nextInt(20, 400));
    if (failed) {
      tags.add("error", true);
    }
    long startNanos = 1_795_000_000_000_000_000L + random.nextLong(1_000_000_000_000L);
    long nanos = (long) (2e6 * Math.exp(1.3 * random.nextGaussian()));
    String traceId = TraceId.toHex(random.nextLong(), random.nextLong());
    String ip = "10.1." + application + "." + random.nextInt(4);
    Attributes process =
        new Attributes()
            .add("service.name", "shop-service-" + application)
            .add("service.env", "production")
            .add("service.env.id", "17")
            .add("ip", ip)
            .add("host.name", "shop-service-" + application + "-6f7d8c9b5-x2x4z")
            .add("telemetry.sdk.language", "java")
            .add("telemetry.sdk.version", "1.15.0");
    TSpanData span =
        new TSpanData()
            .setTraceId(traceId)
            .setSpanId(TraceId.toHex(0, random.nextLong()).substring(16))
            .setParentSpanContext(
                new TSpanContext()
                    .setTraceId(traceId)
                    .setSpanId(TraceId.toHex(0, random.nextLong()).substring(16)))
            .setResouce(new TResource().setAttributes(process.thrift))
            .setName(name(tags, method))
            .setKind(TKind.valueOf(kind.toUpperCase(java.util.Locale.ROOT)))
            .setStartEpochNanos(startNanos)
            .setAttributes(tags.thrift)
            .setEvents(List.of())
            .setLinks(List.of())
            .setStatus(failed ? TStatus.ERROR : TStatus.UNSET)
            .setEndEpochNanos(startNanos + nanos)
            .setTotalAttributeCount(tags.thrift.getKeysSize())
            .setExtra(
                new TExtra()
                    .setIp(ip)
                    .setHostname("shop-service-" + application + "-6f7d8c9b5-x2x4z")
                    .setServiceName("shop-service-" + application));
    return new Span(application, OzheraMessages.of(span));
  }

  private static String name(Attributes tags, int method) {
    return tags.has("db.system") || tags.has("messaging.system")
        ? "operation " + method
        : "/api/v1/resource" + method + "/items";
  }

  /** Adds the attributes of a random kind; returns its span.kind. */
  private String tags(Attributes tags, int application, int method, boolean failed) {
    int kind = random.nextInt(100);
    boolean client = random.nextBoolean();
    if (kind < 35) {
      tags.add("http.method", method % 2 == 0 ? "GET" : "POST")
          .add("http.status_code", failed ? 500 : 200)
          .add("http.flavor", "1.1")
          .add(
              "http.url",
              "http://shop-service-" + application + ".svc/api/v1/resource" + method + "/items")
          .add("http.user_agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36")
          .add("http.request_content_length", random.nextInt(4_000))
          .add("http.response_content_length", random.nextInt(40_000))
          .add("net.peer.ip", "10.2.3." + random.nextInt(250))
          .add("net.peer.port", random.nextInt(30_000, 60_000))
          .add("net.transport", "IP.TCP");
    } else if (kind < 60) {
      tags.add("rpc.system", kind < 52 ? "dubbo" : "grpc")
          .add("rpc.service", "com.example.shop.api.Service" + method % 4)
          .add("rpc.method", "method" + method)
          .add("net.peer.ip", "10.2.3." + random.nextInt(250))
          .add("net.peer.port", 20_880)
          .add("dubbo.group", "production")
          .add("dubbo.version", "2.7.12")
          .add("dubbo.params", "[{\"id\":" + random.nextInt(1_000_000) + ",\"count\":3}]");
    } else if (kind < 78) {
      client = true;
      tags.add("db.system", "redis")
          .add("db.statement", (method % 2 == 0 ? "GET" : "HMGET") + " cart:? ?")
          .add("db.redis.database_index", 0)
          .add("net.peer.name", "redis-" + method % 3 + ".example.com")
          .add("net.peer.port", 6_379)
          .add("net.transport", "IP.TCP");
    } else if (kind < 88) {
      client = true;
      tags.add("db.system", "mysql")
          .add("db.name", "shop")
          .add("db.user", "shop")
          .add("db.connection_string", "mysql://mysql-" + method % 2 + ".example.com:3306")
          .add("db.operation", "SELECT")
          .add("db.sql.table", "orders_" + method)
          .add(
              "db.statement",
              "SELECT id, state, total FROM orders_" + method + " WHERE customer = ? AND state = ?")
          .add("net.peer.port", 3_306);
    } else if (kind < 92) {
      client = true;
      tags.add("db.system", "mongodb")
          .add("db.name", "shop")
          .add("db.connection_string", "mongodb://mongo.example.com:27017")
          .add("db.operation", "find")
          .add("db.mongodb.collection", "items" + method)
          .add("db.statement", "{\"find\": \"items" + method + "\", \"filter\": {\"_id\": \"?\"}}");
    } else if (kind < 97) {
      tags.add("messaging.system", "rocketmq")
          .add("messaging.destination", "orders-" + method % 3)
          .add("messaging.destination_kind", "topic")
          .add("messaging.message_id", "7F0000010001" + random.nextInt(1_000_000))
          .add("messaging.rocketmq.message_tag", "created");
      return client ? "producer" : "consumer";
    } else {
      tags.add("hera.annotations", true).add("code.function", "method" + method);
      return "internal";
    }
    return client ? "client" : "server";
  }

  /** Attributes in their order. */
  private static final class Attributes {
    private final TAttributes thrift = OzheraMessages.attributes();

    Attributes add(String key, Object value) {
      OzheraMessages.put(thrift, key, value);
      return this;
    }

    boolean has(String key) {
      return thrift.getKeys().stream().anyMatch(each -> each.getValue().equals(key));
    }
  }
}
