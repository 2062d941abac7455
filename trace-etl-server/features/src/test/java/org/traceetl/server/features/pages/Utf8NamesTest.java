package org.traceetl.server.features.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.prometheus.metrics.expositionformats.generated.com_google_protobuf_4_36_1.Metrics;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Naming;

/** With {@code names: utf-8}, dimensions have their keys as labels on pages in UTF-8 only. */
class Utf8NamesTest {
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";

  private static SpanPages pages(MetricsConfig metrics) {
    Naming naming = PageFixture.naming(metrics);
    SpanPages pages = PageFixture.started(naming);
    pages.window(
        Windows.of(Windows.QUEUE, PageFixture.STRIDE)
            .create(0, "checkout", "GET /cart", "2", "0", "/\"cart\\", "shop")
            .row(0, 12_345_678, 3, 1, 0, 0)
            .exemplar(1, TRACE, "b7ad6b7169203331", 10_250_000)
            .create(1, "checkout", "SELECT", "3", "2", null, "shop")
            .row(1, 90_000_000_000L, 0, 0, 0, 2)
            .create(Windows.overflow(2, "checkout"))
            .row(2, 5_000_000, 0, 7, 0, 0)
            .seal());
    return pages;
  }

  @ParameterizedTest
  @EnumSource
  void scrapersThatDoNotAskGetThePageOfUnderscores(Encoding encoding) {
    if (encoding.format().hasUtf8Names()) {
      return;
    }
    try (SpanPages underscores = pages(PageFixture.OTEL);
        SpanPages utf8 = pages(PageFixture.OTEL_UTF8)) {
      assertThat(utf8.hasUtf8Names()).isTrue();
      assertThat(underscores.hasUtf8Names()).isFalse();
      assertThat(PageFixture.bytes(utf8, encoding))
          .isEqualTo(PageFixture.bytes(underscores, encoding));
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"TEXT", "TEXT_GZIP", "OPENMETRICS", "OPENMETRICS_GZIP"})
  void keysAreQuotedInText(Encoding encoding) {
    try (SpanPages pages = pages(PageFixture.OTEL_UTF8)) {
      String page =
          PageFixture.text(pages, Encoding.of(encoding.format().withUtf8Names(), encoding.gzip()));
      String underscores = PageFixture.text(pages, encoding);

      assertThat(page)
          .contains(
              "traces_span_metrics_calls_total{service_name=\"checkout\",span_name=\"GET /cart\","
                  + "span_kind=\"SPAN_KIND_SERVER\",status_code=\"STATUS_CODE_UNSET\","
                  + "\"http.route\"=\"/\\\"cart\\\\\",namespace=\"shop\"} 4\n")
          .isEqualTo(underscores.replace(",http_route=", ",\"http.route\"="))
          .isNotEqualTo(underscores);
    }
  }

  @Test
  void keysAreNamesInProtobuf() throws IOException {
    try (SpanPages pages = pages(PageFixture.OTEL_UTF8)) {
      var in = new ByteArrayInputStream(PageFixture.bytes(pages, Encoding.PROTOBUF_UTF8));
      Metrics.MetricFamily calls = Metrics.MetricFamily.parseDelimitedFrom(in);
      Map<String, String> labels = new TreeMap<>();
      calls
          .getMetric(0)
          .getLabelList()
          .forEach(pair -> labels.put(pair.getName(), pair.getValue()));

      assertThat(labels)
          .containsEntry("http.route", "/\"cart\\")
          .containsEntry("namespace", "shop")
          .containsEntry("service_name", "checkout")
          .hasSize(6);
      assertThat(PageFixture.bytes(pages, Encoding.PROTOBUF_UTF8_GZIP))
          .isEqualTo(PageFixture.bytes(pages, Encoding.PROTOBUF_UTF8));
    }
  }
}
