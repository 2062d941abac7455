package org.traceetl.server.features.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.traceetl.server.config.EventsConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.window.SeriesDefinition;

/** Series of events are a family of their own, and in no other. */
class EventsPageTest {
  private static final List<String> SAMPLES =
      List.of(
          "traces_span_metrics_calls_total{service_name=\"shop\",span_name=\"GET /\","
              + "span_kind=\"SPAN_KIND_SERVER\",status_code=\"STATUS_CODE_ERROR\"} 4",
          "traces_span_metrics_calls_total{service_name=\"shop\",otel_metric_overflow=\"true\","
              + "trace_etl_queue=\"broker-a/3\"} 7",
          "traces_span_metrics_events_total{service_name=\"shop\",span_name=\"GET /\","
              + "span_kind=\"SPAN_KIND_SERVER\",status_code=\"STATUS_CODE_ERROR\","
              + "event_name=\"exception\",exception_type=\"IOException\"} 12",
          "traces_span_metrics_events_total{service_name=\"shop\",span_name=\"GET /\","
              + "span_kind=\"SPAN_KIND_SERVER\",status_code=\"STATUS_CODE_ERROR\"} 3",
          "traces_span_metrics_events_total{service_name=\"shop\",otel_metric_overflow=\"true\","
              + "trace_etl_queue=\"broker-a/3\"} 5");

  private static Naming naming(StandardProfile profile, Boolean enabled) {
    return new SpanNaming(
        new MetricsConfig(profile, null, null, null, null, null, null),
        new EventsConfig(enabled, null).addTo(SeriesConfig.defaults(), profile),
        PageFixture.BOUNDS);
  }

  private static Windows window() {
    return Windows.of(Windows.QUEUE, PageFixture.STRIDE)
        .create(0, "shop", "GET /", "2", "2", null, null)
        .row(0, 5, 4)
        .create(1, "shop", "GET /", "10", "2", "exception", "IOException")
        .row(1, 0, 12)
        .create(Windows.overflow(2, "shop"))
        .row(2, 5, 7)
        .create(
            new SeriesDefinition(
                3, Windows.CREATED_MILLIS, true, Arrays.asList("shop", null, "8", "0", null, null)))
        .row(3, 0, 5)
        // An event without a name has the labels of its span's series.
        .create(4, "shop", "GET /", "10", "2", null, null)
        .row(4, 0, 3);
  }

  private static Stream<String> samples(String page, String metric) {
    return page.lines().filter(line -> line.startsWith(metric));
  }

  @Test
  void eventsAreCountedAndNothingElse() {
    try (SpanPages pages = PageFixture.started(naming(StandardProfile.OTEL, true))) {
      pages.window(window().seal());
      String page = PageFixture.text(pages, Encoding.TEXT);

      assertThat(page).contains("# TYPE traces_span_metrics_events_total counter\n").endsWith("\n");
      assertThat(
              Stream.concat(
                  samples(page, "traces_span_metrics_calls_total"),
                  samples(page, "traces_span_metrics_events_total")))
          .containsExactlyInAnyOrderElementsOf(SAMPLES);
      assertThat(samples(page, "traces_span_metrics_duration_milliseconds_count")).hasSize(2);
      assertThat(
              samples(
                  PageFixture.text(pages, Encoding.OPENMETRICS),
                  "traces_span_metrics_events_created"))
          .hasSize(3)
          .allSatisfy(line -> assertThat(line).endsWith("} 1700000000.123"));
    }
  }

  @Test
  void aSeriesThatEndsMakesRoomForOneOfAnotherKind() {
    try (SpanPages pages = PageFixture.started(naming(StandardProfile.OTEL, true))) {
      pages.window(window().evict(0).evict(1).seal());
      pages.window(
          Windows.of(Windows.QUEUE, PageFixture.STRIDE)
              .create(0, "shop", "GET /", "10", "2", "exception", "IOException")
              .row(0, 0, 2)
              .create(1, "shop", "GET /", "2", "2", null, null)
              .row(1, 5, 1)
              .seal());
      String page = PageFixture.text(pages, Encoding.TEXT);

      assertThat(
              Stream.concat(
                  samples(page, "traces_span_metrics_calls_total"),
                  samples(page, "traces_span_metrics_events_total")))
          .containsExactlyInAnyOrder(
              SAMPLES.get(0).replace("} 4", "} 1"),
              SAMPLES.get(1),
              SAMPLES.get(2).replace("} 12", "} 2"),
              SAMPLES.get(3),
              SAMPLES.get(4));
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = StandardProfile.class,
      names = {"OTEL", "TEMPO"})
  void withoutEventsThereIsNoSuchFamily(StandardProfile profile) {
    try (SpanPages pages = PageFixture.started(naming(profile, false))) {
      assertThat(PageFixture.text(pages, Encoding.TEXT)).doesNotContain("_events");
    }
  }

  @Test
  void tempoHasThemWhereTheyAreAskedFor() {
    try (SpanPages pages = PageFixture.started(naming(StandardProfile.TEMPO, null))) {
      assertThat(PageFixture.text(pages, Encoding.TEXT)).doesNotContain("_events");
    }
    try (SpanPages pages = PageFixture.started(naming(StandardProfile.TEMPO, true))) {
      pages.window(window().seal());
      assertThat(samples(PageFixture.text(pages, Encoding.TEXT), "traces_spanmetrics_events_total"))
          .hasSize(3);
    }
  }
}
