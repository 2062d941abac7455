package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.base.Splitter;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.traceetl.proto.thrift.ozhera.TSpanData;
import org.traceetl.testkit.Elasticsearch;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Sends spans of each type through a real RocketMQ, and compares the page and a real Elasticsearch
 * literally. The expected lines are those of OzHera's metric service for the same spans.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class OzheraGoldenTest {
  private static final JsonMapper JSON = new JsonMapper();
  private static final String INDEX = "golden-errors-";
  private static final Duration FAST = Duration.ofNanos(60_000_999);
  private static final Duration SLOW = Duration.ofNanos(1_000_001_000);
  private static final String CALLS = "50 100 150 200 250 300 400 500 700 1000 2000 3000 5000";
  private static final String REDIS = "0.1 0.5 1 10 100 500 1000";
  private static final String SQL = "10 50 100 500 1000";

  private Elasticsearch elasticsearch;
  private OzheraServer server;
  private OzheraSender spans;
  private int runs;

  @BeforeAll
  void start() throws Exception {
    elasticsearch = Elasticsearch.shared();
    String topic = SharedBroker.newTopic(2);
    server = OzheraServer.start(topic, OzheraServer.indexed(elasticsearch.url(), INDEX));
    spans = OzheraSender.to(topic);
  }

  @AfterAll
  void stop() {
    if (spans != null) {
      spans.close();
    }
    if (server != null) {
      server.close();
    }
  }

  /**
   * A type of spans.
   *
   * @param attributes alternating keys and values
   * @param labels of its counters and histogram, in addition to the common ones
   * @param counters total, success, slow or none, error
   * @param errorLabels of the counter of errors, in addition to the common ones
   * @param withoutMethod labels of the histogram without a method; null: none
   */
  private record Golden(
      String type,
      String name,
      List<Object> attributes,
      Map<String, String> labels,
      List<String> counters,
      Map<String, String> errorLabels,
      String histogram,
      String bounds,
      Map<String, String> withoutMethod,
      Map<String, String> document) {
    @Override
    public String toString() {
      return type;
    }
  }

  private static Golden http(String type, String kind, String client, String error) {
    return new Golden(
        type,
        "/orders",
        List.of("span.kind", kind, "http.method", "GET", "http.status_code", 502L),
        Map.of("methodName", "/orders"),
        List.of(
            "aop" + client + "TotalMethodCount",
            "aop" + client + "SuccessMethodCount",
            "http" + client + "SlowQuery",
            error),
        Map.of("methodName", "/orders", "errorCode", "502"),
        "aop" + client + "MethodTimeCount",
        CALLS,
        Map.of(),
        Map.of("url", "/orders", "errorCode", "502"));
  }

  private static Golden rpc(
      String type, String system, String kind, boolean withoutMethod, List<String> metrics) {
    Map<String, String> labels = Map.of("serviceName", "org.shop.Stock", "methodName", "reserve");
    return new Golden(
        type,
        "org.shop.Stock/reserve",
        List.of(
            "span.kind",
            kind,
            "rpc.system",
            system,
            "rpc.service",
            "org.shop.Stock",
            "rpc.method",
            "reserve"),
        labels,
        metrics.subList(0, 4),
        labels,
        metrics.get(4),
        CALLS,
        withoutMethod ? Map.of("serviceName", "org.shop.Stock") : null,
        Map.of("url", "org.shop.Stock/reserve", "errorCode", "500"));
  }

  private static Golden messages(String type, String kind, String prefix) {
    return new Golden(
        type,
        "orders " + kind,
        List.of(
            "span.kind", kind, "messaging.system", "rocketmq", "messaging.destination", "orders"),
        Map.of("topic", "orders"),
        List.of(
            prefix + "TotalCount", prefix + "SuccessCount", prefix + "SlowQuery", prefix + "Error"),
        Map.of("topic", "orders"),
        prefix + "TimeCost",
        CALLS,
        null,
        Map.of("url", "orders " + kind, "errorCode", "500"));
  }

  /** Parses pairs such as {@code method=GET|port=6379}. */
  private static Map<String, String> labels(String pairs) {
    return Splitter.on('|').withKeyValueSeparator(Splitter.on('=').limit(2)).split(pairs);
  }

  /**
   * Returns such pairs as alternating keys and values, which have the types that they look like.
   */
  private static List<Object> attributes(String pairs) {
    List<Object> attributes = new ArrayList<>();
    labels(pairs)
        .forEach((key, value) -> {
          attributes.add(key);
          if (value.matches("\\d+")) {
            attributes.add(Long.parseLong(value));
          } else {
            attributes.add(value.equals("true") ? true : value);
          }
        });
    return attributes;
  }

  private static List<String> names(String names) {
    return List.of(names.split(" "));
  }

  static Stream<Golden> types() {
    Map<String, String> redis = labels("method=GET|host=cache.local|port=6379");
    Map<String, String> mysql =
        labels(
            "dataSource=mysql://db.local:3306/shop|sqlMethod=SELECT"
                + "|sql=select * from orders where id = ?");
    Map<String, String> mongodb =
        labels("dataSource=mongodb://db.local:27017|method=find|command=find carts");
    Map<String, String> custom = labels("methodName=Prices.update");
    return Stream.of(
        http("http", "server", "", "httpError"),
        http("http_client", "client", "Client", "httpClientError"),
        rpc(
            "dubbo_consumer",
            "dubbo",
            "client",
            true,
            names(
                "dubboBisTotalCount dubboBisSuccessCount dubboConsumerSlowQuery"
                    + " dubboConsumerError dubboConsumerTimeCost")),
        rpc(
            "dubbo_provider",
            "dubbo",
            "server",
            true,
            names(
                "dubboMethodCalledCount dubboMethodCalledSuccessCount"
                    + " dubboProviderSlowQuery dubboProviderError dubboProviderCount")),
        rpc(
            "grpc_client",
            "grpc",
            "client",
            false,
            names(
                "grpcClient grpcClientSuccess grpcClientSlowQuery"
                    + " grpcClientError grpcClientTimeCost")),
        rpc(
            "grpc_server",
            "grpc",
            "server",
            false,
            names(
                "grpcServer grpcServerSuccess grpcServerSlowQuery"
                    + " grpcServerError grpcServerTimeCost")),
        new Golden(
            "redis",
            "GET",
            attributes(
                "span.kind=client|db.system=redis|db.statement=GET user:17"
                    + "|net.peer.name=cache.local|net.peer.port=6379"),
            redis,
            names("RedisTotalCount RedisSuccessCount none redisError"),
            redis,
            "RedisMethodTimeCost",
            REDIS,
            null,
            labels("url=GET|dataSource=cache.local:6379|errorCode=500")),
        new Golden(
            "mysql",
            "SELECT shop.orders",
            attributes(
                "span.kind=client|db.system=mysql"
                    + "|db.connection_string=mysql://db.local:3306|db.name=shop"
                    + "|db.operation=SELECT"
                    + "|db.statement=select * from orders where id = ?"),
            mysql,
            names("sqlTotalCount sqlSuccessCount dbSlowQuery dbError"),
            mysql,
            "sqlTotalTimer",
            SQL,
            null,
            labels(
                "url=select * from orders where id = ?"
                    + "|dataSource=mysql://db.local:3306/shop|errorCode=500")),
        new Golden(
            "mongodb",
            "find shop.carts",
            attributes(
                "span.kind=client|db.system=mongodb"
                    + "|db.connection_string=mongodb://db.local:27017"
                    + "|db.operation=find|db.statement=find carts"),
            mongodb,
            names("mongoTotalCount mongoSuccessCount mongodbSlowQuery mongodbError"),
            mongodb,
            "mongoTotalTimer",
            SQL,
            null,
            labels("url=find carts|dataSource=mongodb://db.local:27017|errorCode=500")),
        messages("rocketmq_producer", "producer", "rocketmqProducer"),
        messages("rocketmq_consumer", "consumer", "rocketmqConsumer"),
        new Golden(
            "customize_method",
            "Prices.update",
            attributes("span.kind=internal|hera.annotations=true"),
            custom,
            names(
                "CustomizeMethodTotalCount CustomizeMethodSuccessCount"
                    + " CustomizeMethodSlowQuery CustomizeMethodError"),
            custom,
            "CustomizeMethodTimeCost",
            CALLS,
            null,
            labels("url=Prices.update|errorCode=500")));
  }

  /** Sends three spans: a usual one, a slow one and a failed one. */
  @ParameterizedTest
  @MethodSource("types")
  void typeHasItsMetricsAndDocuments(Golden golden) throws Exception {
    String application = "golden-" + golden.type.replace('_', '-') + "-" + runs++;
    String underscored = application.replace('-', '_');
    OzheraServer.Scraper scraper = server.scraper("prometheus");
    TSpanData fast = span(golden, application, FAST);
    TSpanData slow = span(golden, application, SLOW);
    TSpanData failed = OzheraSender.with(span(golden, application, FAST), "error", true);
    spans.send(fast, slow, failed);
    scraper.await("staging_hera_" + golden.counters.getFirst() + "_total", 3);

    Map<String, Double> expected = new TreeMap<>();
    expected.put(
        "staging_trace_statistics_span_count_total{application=\"" + application + "\"}", 3.0);
    List<Double> counts = List.of(3.0, 2.0, 1.0, 1.0);
    for (int i = 0; i < counts.size(); i++) {
      String counter = golden.counters.get(i);
      if (!counter.equals("none")) {
        expected.put(
            sample(
                counter + "_total", underscored, i == 3 ? golden.errorLabels : golden.labels, null),
            counts.get(i));
      }
    }
    histogram(expected, golden.histogram, underscored, golden.labels, golden.bounds);
    if (golden.withoutMethod != null) {
      histogram(
          expected,
          golden.histogram + "_without_methodName",
          underscored,
          golden.withoutMethod,
          golden.bounds);
    }
    Map<String, Double> given = new TreeMap<>(scraper.sums());
    // A new scraper begins with the newest window, which may have spans of the previous type.
    given
        .keySet()
        .removeIf(sample -> !sample.replace('-', '_').contains("\"" + underscored + "\""));
    assertThat(given).isEqualTo(expected);

    List<Map<String, String>> documents = new ArrayList<>();
    documents.add(document(golden, underscored, failed, "60.0", "error"));
    if (!golden.counters.get(2).equals("none")) {
      documents.add(document(golden, underscored, slow, "1000.001", "timeout"));
    }
    EndToEndTest.eventually("the documents of " + application)
        .untilAsserted(() ->
            assertThat(documents(underscored)).containsExactlyInAnyOrderElementsOf(documents));
  }

  private static TSpanData span(Golden golden, String application, Duration duration) {
    return OzheraSender.with(
        OzheraSender.span(application, golden.name, duration), golden.attributes.toArray());
  }

  private static void histogram(
      Map<String, Double> expected,
      String name,
      String application,
      Map<String, String> labels,
      String bounds) {
    // Twice 60 ms, once 1000.001 ms: durations are truncated to microseconds.
    for (String bound : bounds.split(" ")) {
      double millis = Double.parseDouble(bound);
      double within = (60 <= millis ? 2 : 0) + (1_000.001 <= millis ? 1 : 0);
      expected.put(sample(name + "_bucket", application, labels, Double.toString(millis)), within);
    }
    expected.put(sample(name + "_bucket", application, labels, "+Inf"), 3.0);
    expected.put(sample(name + "_count", application, labels, null), 3.0);
    expected.put(sample(name + "_sum", application, labels, null), 1_120.001);
  }

  private static String sample(
      String name, String application, Map<String, String> labels, String le) {
    Map<String, String> all = new TreeMap<>(labels);
    all.put("application", application);
    all.put("serverIp", "10.1.2.3");
    all.put("serverEnv", "staging");
    all.put("serverEnvId", "77");
    if (le != null) {
      all.put("le", le);
    }
    List<String> texts = new ArrayList<>();
    all.forEach((label, value) -> texts.add(label + "=\"" + value + "\""));
    return "staging_hera_" + name + "{" + String.join(",", texts) + "}";
  }

  private static Map<String, String> document(
      Golden golden, String application, TSpanData span, String duration, String errorType) {
    Map<String, String> document = new TreeMap<>(golden.document);
    document.put("domain", "hera");
    document.put("type", golden.type);
    document.put("host", "10.1.2.3");
    document.put("serviceName", application);
    document.put("traceId", span.getTraceId());
    // Start and duration in whole milliseconds.
    long micros = (span.getEndEpochNanos() - span.getStartEpochNanos()) / 1_000;
    document.put(
        "timestamp", Long.toString(span.getStartEpochNanos() / 1_000_000 + micros / 1_000));
    document.put("duration", duration);
    document.put("errorType", errorType);
    document.put("serverEnv", "staging");
    return document;
  }

  private List<Map<String, String>> documents(String application) throws Exception {
    URI search =
        elasticsearch
            .url()
            .resolve("/" + INDEX + "*/_search?size=100&q=serviceName:%22" + application + "%22");
    HttpResponse<String> response =
        OzheraServer.HTTP.send(
            HttpRequest.newBuilder(search).timeout(Duration.ofSeconds(20)).build(),
            HttpResponse.BodyHandlers.ofString());
    List<Map<String, String>> documents = new ArrayList<>();
    for (JsonNode hit : JSON.readTree(response.body()).at("/hits/hits")) {
      Map<String, String> document = new TreeMap<>();
      hit.path("_source")
          .forEachEntry((field, value) -> {
            assertThat(value.isString()).as("%s = %s", field, value).isTrue();
            if (!value.asString().isEmpty()) {
              document.put(field, value.asString());
            }
          });
      documents.add(document);
    }
    return documents;
  }
}
