package org.traceetl.server.features.pages;

import static org.assertj.core.api.Assertions.assertThat;

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
import org.traceetl.server.window.NativeBuckets;
import org.traceetl.testkit.Programs;

/** Series of several forms: other buckets, other units, native buckets. */
class FormsTest {
  private static final String MILLIS = "traces_span_metrics_duration_milliseconds";
  private static final String SECONDS = "traces_span_metrics_duration_seconds";
  private static final String CALLS = "traces_span_metrics_calls_total";
  private static final Naming NAMING = PageFixture.naming(PageFixture.OTEL);
  private static final long SECOND = 1_000_000_000;

  private static String form(Integer schema, long unitNanos, long... boundsMillis) {
    long[] nanos = boundsMillis.clone();
    for (int i = 0; i < nanos.length; i++) {
      nanos[i] *= 1_000_000;
    }
    return new Form(nanos, schema, unitNanos).text();
  }

  private static Windows create(Windows to, int number, String form) {
    return form == null
        ? to.create(number, "shop", "GET", "2", "0", null, "eu")
        : to.create(number, "shop", "GET", "2", "0", null, "eu", Form.KEY, form);
  }

  private static SpanPages pages(Naming naming) {
    SpanPages pages = PageFixture.started(naming);
    Windows first = Windows.of(Windows.QUEUE, PageFixture.STRIDE);
    create(first, 0, null).row(0, 2 * SECOND, 1, 2, 0, 4);
    pages.window(first.seal());
    // Sections that are kept from here on must not hide what comes later.
    PageFixture.ENCODINGS.forEach(encoding -> PageFixture.bytes(pages, encoding));
    Windows next = Windows.of(Windows.QUEUE, PageFixture.STRIDE);
    create(next, 1, form(null, 1_000_000, 5, 10)).row(1, 3 * SECOND, 3, 0, 7);
    create(next, 2, form(null, SECOND, 500)).row(2, 4 * SECOND, 1, 8);
    int number = NativeBuckets.of(0, SECOND).of(SECOND);
    create(next, 3, form(0, SECOND)).row(3, 5 * SECOND, 5).natives(Map.of(number, 5L));
    create(next, 4, "forged").row(4, 6 * SECOND, 6);
    pages.window(next.seal());
    return pages;
  }

  private static Map<String, Double> values(Samples samples, String name) {
    return samples.values.entrySet().stream()
        .filter(sample -> sample.getKey().name().equals(name))
        .collect(
            Collectors.toMap(
                sample ->
                    sample.getKey().labels().getOrDefault(MetricsConfig.FORM_LABEL, "")
                        + sample.getKey().labels().getOrDefault("le", ""),
                sample -> sample.getValue().doubleValue()));
  }

  @ParameterizedTest
  @EnumSource(
      names = {"TEXT", "TEXT_GZIP", "OPENMETRICS", "OPENMETRICS_2", "PROTOBUF", "PROTOBUF_GZIP"})
  void seriesOfOneFamilyHaveTheirOwnBuckets(Encoding encoding) {
    try (SpanPages pages = pages(NAMING)) {
      if (encoding.format().isProtobuf()) {
        assertThat(ProtobufPageTest.values(PageFixture.bytes(pages, encoding)))
            .containsAllEntriesOf(classic(Encoding.OPENMETRICS, pages));
        return;
      }
      String text = PageFixture.text(pages, encoding);
      assertThat(text.lines().filter(line -> line.startsWith("# TYPE " + MILLIS))).hasSize(1);
      assertThat(text.lines().filter(line -> line.startsWith("# TYPE " + SECONDS))).hasSize(1);
      assertThat(text).doesNotContain("bounds=", "forged");
      Samples samples = Samples.parse(text);
      String other = Form.label(form(null, 1_000_000, 5, 10));
      assertThat(values(samples, MILLIS + "_bucket"))
          .containsOnly(
              Map.entry("2.0", 1.0),
              Map.entry("10.5", 3.0),
              Map.entry("1000.0", 3.0),
              Map.entry("+Inf", 7.0),
              Map.entry(other + "5.0", 3.0),
              Map.entry(other + "10.0", 3.0),
              Map.entry(other + "+Inf", 10.0));
      String seconds = Form.label(form(null, SECOND, 500));
      assertThat(values(samples, SECONDS + "_bucket"))
          .containsEntry(seconds + "0.5", 1.0)
          .containsEntry(seconds + "+Inf", 9.0);
      assertThat(values(samples, SECONDS + "_sum"))
          .containsOnly(Map.entry(seconds, 4.0), Map.entry(Form.label(form(0, SECOND)), 5.0));
      assertThat(values(samples, CALLS)).hasSize(5).containsEntry(Form.label("forged"), 6.0);
    }
  }

  /** Returns the samples of series that have no native buckets. */
  private static Map<Samples.Key, Double> classic(Encoding encoding, SpanPages pages) {
    String withNative = Form.label(form(0, SECOND));
    return Samples.parse(PageFixture.text(pages, encoding)).values.entrySet().stream()
        .filter(
            sample -> !withNative.equals(sample.getKey().labels().get(MetricsConfig.FORM_LABEL)))
        .collect(Collectors.toMap(Map.Entry::getKey, sample -> sample.getValue().doubleValue()));
  }

  @Test
  void aFamilyWithoutUnitInItsNameHasNoOtherUnit() {
    try (SpanPages pages = pages(PageFixture.naming(PageFixture.TEMPO))) {
      Samples samples = Samples.parse(PageFixture.text(pages, Encoding.OPENMETRICS));
      String name = "traces_spanmetrics_latency_count";
      assertThat(values(samples, name))
          .containsOnlyKeys("", Form.label(form(null, SECOND, 500)), Form.label(form(0, SECOND)));
      assertThat(values(samples, "traces_spanmetrics_calls_total")).hasSize(5);
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
          .containsExactly(MILLIS + " use base unit \"seconds\" instead of \"milliseconds\"");
    }
  }
}
