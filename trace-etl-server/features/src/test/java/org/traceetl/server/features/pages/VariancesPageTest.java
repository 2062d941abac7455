package org.traceetl.server.features.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Naming;

/** Variances are counters with the labels of their series, and on no page without them. */
class VariancesPageTest {
  private static final String VARIANCE = "traces_span_metrics_calls_variance_total";
  private static final String CALLS = "traces_span_metrics_calls_total";

  private static Windows calls() {
    return Windows.of(Windows.QUEUE, PageFixture.STRIDE)
        .create(0, "shop", "GET", "2", "0", null, "eu")
        .row(0, 5, 1, 2, 0, 4);
  }

  private static List<String> samples(String page, String name) {
    return page.lines()
        .filter(line -> line.startsWith(name + "{"))
        .map(line -> line.substring(name.length()))
        .toList();
  }

  @ParameterizedTest
  @EnumSource(
      names = {"TEXT", "TEXT_GZIP", "OPENMETRICS", "OPENMETRICS_2", "PROTOBUF", "PROTOBUF_GZIP"})
  void variancesHaveTheLabelsOfTheirSeries(Encoding encoding) {
    Naming naming = PageFixture.naming(PageFixture.OTEL);
    try (SpanPages pages = PageFixture.started(naming)) {
      pages.window(calls().seal());
      // Sections that are kept from here on must not hide what comes later.
      PageFixture.bytes(pages, encoding);
      pages.window(
          Windows.of(Windows.QUEUE, PageFixture.STRIDE)
              .create(1, "shop", "GET", "18", "0", null, "eu")
              .row(1, 0, 1L << 41, 0, 0, 0)
              .create(2, "shop", "GET", "19", "2", null, "eu")
              .row(2, 0, 2, 0, 0, 0)
              .seal());
      if (encoding.format().isProtobuf()) {
        assertThat(ProtobufPageTest.counters(PageFixture.bytes(pages, encoding)))
            .containsEntry(CALLS, List.of(7.0))
            .containsEntry(VARIANCE, List.of(0x1p41, 2.0));
        return;
      }
      String page = PageFixture.text(pages, encoding);
      List<String> ofCalls = samples(page, CALLS);
      List<String> ofVariances = samples(page, VARIANCE);
      assertThat(ofCalls).hasSize(1);
      assertThat(ofVariances).hasSize(2);
      assertThat(ofVariances.getFirst())
          .startsWith(ofCalls.getFirst().replaceFirst("} .*", "} " + (1L << 41)));
      assertThat(ofVariances.getLast()).contains("SPAN_KIND_CLIENT", "STATUS_CODE_ERROR");
      assertThat(page).contains("Estimated variance of the spans counted");
    }
  }

  @Test
  void aVarianceSaturates() {
    Naming naming = PageFixture.naming(PageFixture.OTEL);
    try (SpanPages pages = PageFixture.started(naming)) {
      pages.window(
          Windows.of(Windows.QUEUE, PageFixture.STRIDE)
              .create(1, "shop", "GET", "18", "0", null, "eu")
              .row(1, 0, Long.MAX_VALUE - (1L << 32), 0, 0, 0)
              .seal());
      for (int i = 0; i < 3; i++) {
        pages.window(
            Windows.of(Windows.QUEUE, PageFixture.STRIDE).row(1, 0, 1L << 48, 0, 0, 0).seal());
        assertThat(samples(PageFixture.text(pages, Encoding.TEXT), VARIANCE))
            .singleElement()
            .asString()
            .endsWith("} " + Long.MAX_VALUE);
      }
    }
  }

  @Test
  void pagesWithoutSampledSpansHaveNoSuchFamily() {
    Naming naming = PageFixture.naming(PageFixture.OTEL);
    try (SpanPages pages = PageFixture.started(naming)) {
      pages.window(calls().seal());
      assertThat(PageFixture.text(pages, Encoding.OPENMETRICS)).doesNotContain("variance");
    }
  }
}
