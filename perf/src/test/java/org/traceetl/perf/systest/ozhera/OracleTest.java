package org.traceetl.perf.systest.ozhera;

import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.testkit.OzheraMessages.attributes;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.thrift.TDeserializer;
import org.apache.thrift.protocol.TCompactProtocol;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.thrift.ozhera.TExtra;
import org.traceetl.proto.thrift.ozhera.TResource;
import org.traceetl.proto.thrift.ozhera.TSpanData;

/** The numbers are worked out by hand, from OzHera's rules. */
final class OracleTest {
  private static final long START_NANOS = 1_700_000_000_123_900_000L;

  private final Oracle oracle = new Oracle("staging", "hera", SpanGenerator.RULES);

  private static TSpanData span(
      String application, String name, long nanos, Object... keysAndValues) {
    return new TSpanData()
        .setTraceId("0123456789abcdef0123456789abcdef")
        .setSpanId("0123456789abcdef")
        .setName(name)
        .setStartEpochNanos(START_NANOS)
        .setEndEpochNanos(START_NANOS + nanos)
        .setExtra(new TExtra().setServiceName(application).setIp("10.1.2.3"))
        .setResouce(new TResource().setAttributes(attributes("service.env", "staging")))
        .setAttributes(attributes(keysAndValues));
  }

  private static Map<String, String> document(
      String type, String url, String service, String timestamp, String millis, String error) {
    return Map.ofEntries(
        Map.entry("domain", "hera"),
        Map.entry("type", type),
        Map.entry("host", "10.1.2.3"),
        Map.entry("url", url),
        Map.entry("serviceName", service),
        Map.entry("traceId", "0123456789abcdef0123456789abcdef"),
        Map.entry("timestamp", timestamp),
        Map.entry("duration", millis),
        Map.entry("errorType", error),
        Map.entry("errorCode", "500"),
        Map.entry("serverEnv", "staging"));
  }

  private Map<String, Double> samples() {
    Map<String, Double> samples = new TreeMap<>();
    oracle.samples().forEach((sample, value) -> samples.put(sample.toString(), value));
    return samples;
  }

  @Test
  void failedHttpSpanHasItsCodeAndADocument() {
    oracle.add(
        span(
            "order-service",
            "/orders",
            60_000_999,
            "span.kind",
            "server",
            "http.method",
            "GET",
            "error",
            true));

    String common = "application=order_service, ";
    String labels = "methodName=/orders, serverEnv=staging, serverIp=10.1.2.3}";
    assertThat(samples())
        .containsEntry("staging_trace_statistics_span_count_total{application=order-service}", 1.0)
        .containsEntry("staging_hera_aopTotalMethodCount_total{" + common + labels, 1.0)
        .containsEntry("staging_hera_httpError_total{" + common + "errorCode=500, " + labels, 1.0)
        .containsEntry(
            "staging_hera_aopMethodTimeCount_bucket{" + common + "le=50.0, " + labels, 0.0)
        .containsEntry(
            "staging_hera_aopMethodTimeCount_bucket{" + common + "le=100.0, " + labels, 1.0)
        .containsEntry("staging_hera_aopMethodTimeCount_sum{" + common + labels, 60.0)
        .containsEntry(
            "staging_hera_aopMethodTimeCount_without_methodName_count{"
                + common
                + "serverEnv=staging, serverIp=10.1.2.3}",
            1.0)
        .doesNotContainKey("staging_hera_aopSuccessMethodCount_total{" + common + labels);
    assertThat(oracle.documents().values())
        .singleElement()
        .extracting(ExpectedDocument::fields)
        .isEqualTo(document("http", "/orders", "order_service", "1700000000183", "60.0", "error"));
  }

  @Test
  void thresholdMustBeExceededByAWholeMicrosecond() {
    Object[] attributes = {
      "span.kind", "client", "rpc.system", "dubbo", "rpc.service", "Stock", "rpc.method", "reserve"
    };
    oracle.add(span("shop", "Stock/reserve", 1_000_000_999, attributes));
    assertThat(oracle.documents()).isEmpty();

    oracle.add(span("shop", "Stock/reserve", 1_000_001_000, attributes));
    assertThat(oracle.documents().values())
        .singleElement()
        .extracting(ExpectedDocument::fields)
        .isEqualTo(
            document(
                "dubbo_consumer", "Stock/reserve", "shop", "1700000001123", "1000.001", "timeout"));
  }

  @Test
  void excludedSpanIsInTheStatisticsOnly() {
    oracle.add(
        span(
            "shop",
            "/orders",
            1_000,
            "span.kind",
            "server",
            "http.method",
            "GET",
            "thread.name",
            "nacos-client"));
    oracle.add(span("load-test-3", "/orders", 1_000));
    assertThat(samples())
        .isEqualTo(
            Map.of(
                "staging_trace_statistics_span_count_total{application=shop}", 1.0,
                "staging_trace_statistics_span_count_total{application=load-test-3}", 1.0));
  }

  @Test
  void passwordIsInNoLabelOrDocument() {
    oracle.add(
        span(
            "shop",
            "SELECT",
            1_000,
            "db.system",
            "mysql",
            "db.connection_string",
            "mysql://shop:" + DatabaseSecret.PASSWORD + "@db:3306",
            "db.name",
            "orders",
            "error",
            "true"));
    assertThat(samples().toString() + oracle.documents())
        .contains("mysql://shop:***@db:3306/orders")
        .doesNotContain(DatabaseSecret.PASSWORD);
  }

  /** Each type, fast, slow and failed; and what the messages say is what was counted. */
  @Test
  void trafficHasEachTypeFastSlowAndFailed() throws Exception {
    SpanGenerator generator = new SpanGenerator(7);
    Set<String> documents = new HashSet<>();
    TDeserializer reader = new TDeserializer(new TCompactProtocol.Factory());
    for (int i = 0; i < 20_000; i++) {
      SpanGenerator.Generated generated = generator.next(START_NANOS + i);
      oracle.add(generated.span());
      TSpanData read = new TSpanData();
      reader.deserialize(read, generated.message());
      assertThat(read).isEqualTo(generated.span());
    }
    oracle
        .documents()
        .values()
        .forEach(
            one -> documents.add(one.fields().get("type") + " " + one.fields().get("errorType")));
    Set<String> expected = new HashSet<>();
    for (String type :
        new String[] {
          "http",
          "http_client",
          "dubbo_consumer",
          "dubbo_provider",
          "grpc_client",
          "grpc_server",
          "mysql",
          "mongodb",
          "rocketmq_producer",
          "rocketmq_consumer",
          "customize_method"
        }) {
      expected.add(type + " error");
      expected.add(type + " timeout");
    }
    expected.add("redis error");
    assertThat(documents).isEqualTo(expected);
    assertThat(oracle.spans()).isEqualTo(20_000);

    Map<String, Double> byApplication = new HashMap<>();
    oracle
        .samples()
        .forEach((sample, value) -> {
          if (sample.name().endsWith("_span_count_total")) {
            byApplication.merge(sample.labels().get("application"), value, Double::sum);
          }
        });
    assertThat(byApplication)
        .containsOnlyKeys(
            "order-service",
            "order_service",
            "user-center-api",
            "pay-gateway",
            "strict-gateway",
            "degraded-shop",
            "load-test-17",
            "a");
  }

  @Test
  void quantilesAreThoseOfPrometheus() {
    double[] bounds = {10, 50, 100};
    double[] values = {1, 2, 3, 20, 30, 60, 200, 300};
    double[] atMost = {3, 5, 6};
    assertThat(Quantile.ofBuckets(0.5, bounds, atMost, values.length)).isEqualTo(30);
    assertThat(Quantile.ofBuckets(0.99, bounds, atMost, values.length)).isEqualTo(100);
    assertThat(Quantile.isInBucketOf(0.5, bounds, values, 30)).isTrue();
    assertThat(Quantile.isInBucketOf(0.5, bounds, values, 9)).isFalse();
    assertThat(Quantile.isInBucketOf(0.99, bounds, values, 100)).isTrue();
  }
}
