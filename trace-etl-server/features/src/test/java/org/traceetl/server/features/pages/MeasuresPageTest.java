package org.traceetl.server.features.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.window.Form;
import org.traceetl.server.window.MeasureForm;
import org.traceetl.testkit.Programs;

/** Series of measures on pages: families that series bring. */
class MeasuresPageTest {
  private static final Naming NAMING = PageFixture.naming(PageFixture.OTEL);
  private static final long SECOND = 1_000_000_000;
  private static final long MILLI = 1_000_000;
  private static final String REQUESTS = "http_server_request_duration_seconds";
  private static final String DURATION =
      form(true, "s", new Form(new long[] {5 * MILLI, SECOND}, null, SECOND));
  private static final String GOOD = form(false, "1", new Form(new long[0], null, MILLI));
  private static final String BYTES = form(false, "By", new Form(new long[0], null, MILLI));

  private static String form(boolean isHistogram, String unit, Form values) {
    return new MeasureForm(isHistogram, unit, "Help with \\ and\nline; unit=s", values).text();
  }

  private static Windows create(
      Windows to, int number, String metric, String form, String... labels) {
    List<String> values = new ArrayList<>();
    values.addAll(List.of("shop", metric, "14", "0"));
    values.add(null);
    values.add(null);
    values.addAll(List.of(Form.KEY, form));
    values.addAll(List.of(labels));
    return to.create(number, values.toArray(String[]::new));
  }

  private static SpanPages pages(Naming naming) {
    SpanPages pages = PageFixture.started(naming);
    Windows spans = Windows.of(Windows.QUEUE, PageFixture.STRIDE);
    spans.create(0, "shop", "GET", "2", "0", null, "eu").row(0, 2 * SECOND, 1, 2, 0, 4);
    pages.window(spans.seal());
    // Sections that are kept from here on must not hide what comes later.
    PageFixture.ENCODINGS.forEach(encoding -> PageFixture.bytes(pages, encoding));
    Windows next = Windows.of(Windows.QUEUE, PageFixture.STRIDE);
    create(next, 1, "http.server.request.duration", DURATION, "http.route", "/a")
        .row(1, 2 * SECOND, 3, 1, 2);
    create(next, 2, "response.size", BYTES).row(2, 1_500 * MILLI + 250_000, 7);
    create(next, 3, "response.size", BYTES, MetricsConfig.OVERFLOW_LABEL, "true")
        .row(3, 8 * MILLI, 2);
    create(next, 4, "response.size", "forged").row(4, MILLI, 1);
    create(next, 5, "traces.span.metrics.calls", BYTES).row(5, MILLI, 1);
    create(next, 6, "response_size", BYTES).row(6, MILLI, 1);
    create(next, 7, "response.size_bytes", DURATION).row(7, MILLI, 1);
    create(next, 8, "trace_etl_slo_good", GOOD, "slo", "fast").row(8, 3 * MILLI, 4);
    create(next, 9, "trace_etl_slo_good", GOOD, MetricsConfig.OVERFLOW_LABEL, "true", "slo", "fast")
        .row(9, 2 * MILLI, 2);
    create(next, 10, "trace_etl_forged", GOOD).row(10, MILLI, 1);
    pages.window(next.seal());
    return pages;
  }

  private static Map<String, Double> values(Samples samples, String name) {
    return samples.values.entrySet().stream()
        .filter(sample -> sample.getKey().name().equals(name))
        .collect(
            Collectors.toMap(
                sample -> {
                  Map<String, String> labels = sample.getKey().labels();
                  assertThat(labels)
                      .containsEntry("service_name", "shop")
                      .containsEntry("trace_etl_queue", Windows.QUEUE.toString())
                      .containsKey(MetricsConfig.FORM_LABEL)
                      .doesNotContainKeys("span_name", "span_kind", "status_code");
                  return labels.getOrDefault("http_route", "")
                      + labels.getOrDefault(MetricsConfig.OVERFLOW_LABEL, "")
                      + labels.getOrDefault("slo", "")
                      + labels.getOrDefault("le", "");
                },
                sample -> sample.getValue().doubleValue()));
  }

  @ParameterizedTest
  @EnumSource(
      names = {"TEXT", "TEXT_GZIP", "OPENMETRICS", "OPENMETRICS_2", "PROTOBUF", "PROTOBUF_GZIP"})
  void measuresHaveFamiliesOfTheirOwn(Encoding encoding) {
    try (SpanPages pages = pages(NAMING)) {
      if (encoding.format().isProtobuf()) {
        Map<Samples.Key, Double> text = new java.util.HashMap<>();
        Samples.parse(PageFixture.text(pages, Encoding.OPENMETRICS))
            .values
            .forEach((key, value) -> text.put(key, value.doubleValue()));
        assertThat(ProtobufPageTest.values(PageFixture.bytes(pages, encoding)))
            .containsAllEntriesOf(text);
        return;
      }
      String text = PageFixture.text(pages, encoding);
      assertThat(text).doesNotContain("bounds=", "forged");
      assertThat(text.lines().filter(line -> line.startsWith("# TYPE " + REQUESTS))).hasSize(1);
      assertThat(text.lines().filter(line -> line.startsWith("# HELP " + REQUESTS)))
          .containsExactly("# HELP " + REQUESTS + " Help with \\\\ and\\nline; unit=s");
      if (encoding.format().isOpenMetrics()) {
        assertThat(text).contains("# UNIT " + REQUESTS + " seconds\n");
      }
      Samples samples = Samples.parse(text);
      assertThat(values(samples, REQUESTS + "_bucket"))
          .containsOnly(
              Map.entry("/a0.005", 3.0), Map.entry("/a1.0", 4.0), Map.entry("/a+Inf", 6.0));
      assertThat(values(samples, REQUESTS + "_sum")).containsOnly(Map.entry("/a", 2.0));
      assertThat(values(samples, "response_size_bytes_total"))
          .as("another metric with the same name in Prometheus has no room")
          .containsOnly(Map.entry("", 1_500.25), Map.entry("true", 8.0));
      assertThat(values(samples, "trace_etl_slo_good_total"))
          .as("also without room for series")
          .containsOnly(Map.entry("fast", 3.0), Map.entry("truefast", 2.0));
      assertThat(samples.values.keySet())
          .as("a series of spans has no measure, and the other way round")
          .filteredOn(key -> key.name().equals("traces_span_metrics_calls_total"))
          .hasSize(1);
    }
  }

  @Test
  void promtoolReadsThePage() throws Exception {
    try (SpanPages pages = pages(NAMING)) {
      Programs.Result result =
          Programs.run(
              List.of(Programs.require("promtool"), "check", "metrics"),
              PageFixture.bytes(pages, Encoding.TEXT));

      assertThat(result.output().lines())
          .containsExactly(
              "traces_span_metrics_duration_milliseconds use base unit \"seconds\" instead of"
                  + " \"milliseconds\"");
    }
  }
}
