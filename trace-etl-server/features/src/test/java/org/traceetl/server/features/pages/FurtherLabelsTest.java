package org.traceetl.server.features.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.expose.Encoding;
import org.traceetl.testkit.Programs;

/** Series with labels that only the rules of their application have, beside others. */
class FurtherLabelsTest {
  private static final String CALLS = "traces_span_metrics_calls_total";
  private static final String FIXED =
      "service_name=\"checkout\",span_name=\"GET /cart\",span_kind=\"SPAN_KIND_SERVER\","
          + "status_code=\"STATUS_CODE_UNSET\",";

  private static SpanPages pages(MetricsConfig metrics) {
    SpanPages pages = PageFixture.started(PageFixture.naming(metrics));
    pages.window(
        Windows.of(Windows.QUEUE, PageFixture.STRIDE)
            .create(0, "checkout", "GET /cart", "2", "0", "/cart", null, "tenant.id", "gold")
            .row(0, 12_345_678, 3, 1, 0, 0)
            .create(1, "checkout", "GET /cart", "2", "0", "/cart", null, "tenant.id", "a\"\n")
            .row(1, 1_000_000, 1)
            .create(2, "shop", "SELECT", "3", "2", null, "eu")
            .row(2, 90_000_000_000L, 0, 0, 0, 2)
            // Without the labels that no page may have, it equals the one before.
            .create(3, "shop", "SELECT", "3", "2", null, "eu", "le", "1", "__name__", "x", "odd")
            .row(3, 5_000_000, 0, 7, 0, 0)
            .create(Windows.overflow(4, "checkout"))
            .row(4, 5_000_000, 0, 7, 0, 0)
            .seal());
    return pages;
  }

  @ParameterizedTest
  @EnumSource(names = {"TEXT", "OPENMETRICS", "OPENMETRICS_2"})
  void textHasThemAfterTheDimensions(Encoding encoding) {
    try (SpanPages pages = pages(PageFixture.OTEL_UTF8)) {
      assertThat(PageFixture.text(pages, encoding))
          .contains(CALLS + "{" + FIXED + "http_route=\"/cart\",tenant_id=\"gold\"} 4")
          .contains("http_route=\"/cart\",tenant_id=\"a\\\"\\n\"} 1")
          .contains("namespace=\"eu\",trace_etl_queue=\"broker-a/3\"} 7")
          .isEqualTo(text(encoding));
      Encoding utf8 = Encoding.of(encoding.format().withUtf8Names(), false);
      assertThat(PageFixture.text(pages, utf8))
          .contains(CALLS + "{" + FIXED + "\"http.route\"=\"/cart\",\"tenant.id\"=\"gold\"} 4");
    }
  }

  private static String text(Encoding encoding) {
    try (SpanPages underscores = pages(PageFixture.OTEL)) {
      return PageFixture.text(underscores, encoding);
    }
  }

  @Test
  void protobufHasThem() {
    try (SpanPages pages = pages(PageFixture.OTEL_UTF8)) {
      Map<String, String> labels =
          new TreeMap<>(
              Map.of(
                  "service_name",
                  "checkout",
                  "span_name",
                  "GET /cart",
                  "span_kind",
                  "SPAN_KIND_SERVER",
                  "status_code",
                  "STATUS_CODE_UNSET",
                  "http_route",
                  "/cart",
                  "tenant_id",
                  "gold"));
      assertThat(ProtobufPageTest.values(PageFixture.bytes(pages, Encoding.PROTOBUF)))
          .containsEntry(new Samples.Key(CALLS, labels), 4.0);
      labels.put("http.route", labels.remove("http_route"));
      labels.put("tenant.id", labels.remove("tenant_id"));
      assertThat(ProtobufPageTest.values(PageFixture.bytes(pages, Encoding.PROTOBUF_UTF8)))
          .containsEntry(new Samples.Key(CALLS, labels), 4.0);
    }
  }

  @Test
  void promtoolReportsOnlyTheUnitOfTheProfile() throws Exception {
    try (SpanPages pages = pages(PageFixture.OTEL)) {
      Programs.Result result =
          Programs.run(
              List.of(Programs.require("promtool"), "check", "metrics"),
              PageFixture.bytes(pages, Encoding.TEXT));

      assertThat(result.output().lines())
          .containsExactly(
              "traces_span_metrics_duration_milliseconds"
                  + " use base unit \"seconds\" instead of \"milliseconds\"");
    }
  }
}
