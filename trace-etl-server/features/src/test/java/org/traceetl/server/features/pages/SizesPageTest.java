package org.traceetl.server.features.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.EventsConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.expose.SpanNaming;

/** The sizes of spans are a family of their own, and in no other. */
class SizesPageTest {
  private static final String LABELS =
      "{service=\"shop\",span_name=\"GET /\",span_kind=\"SPAN_KIND_SERVER\","
          + "status_code=\"STATUS_CODE_ERROR\"";

  private static Naming naming(boolean size) {
    return new SpanNaming(
        new MetricsConfig(StandardProfile.TEMPO, null, null, null, null, null, size),
        new EventsConfig(true, null).addTo(SeriesConfig.defaults(), StandardProfile.TEMPO),
        PageFixture.BOUNDS);
  }

  private static Windows window() {
    return Windows.of(Windows.QUEUE, PageFixture.STRIDE + 1)
        .sizes()
        .create(0, "shop", "GET /", "2", "2", null, null)
        .row(0, 5, 4, 0, 0, 3, (1L << 40) + 7)
        .create(1, "shop", "GET /", "10", "2", "exception", null)
        .row(1, 0, 12, 0, 0, 0, 0);
  }

  private static List<String> samples(String page) {
    return page.lines().filter(line -> !line.startsWith("#") && !line.contains("_bucket")).toList();
  }

  @Test
  void sizesAreACounterOfSpans() {
    try (SpanPages pages = PageFixture.started(naming(true))) {
      pages.window(window().seal());
      pages.window(
          Windows.of(Windows.QUEUE, PageFixture.STRIDE + 1)
              .sizes()
              .row(0, 5, 0, 1, 0, 0, 100)
              .seal());
      String page = PageFixture.text(pages, Encoding.TEXT);

      assertThat(page)
          .contains(
              "# HELP traces_spanmetrics_size_total Bytes of spans as agents received them, by"
                  + " service, name, kind and status.\n"
                  + "# TYPE traces_spanmetrics_size_total counter\n")
          .contains("traces_spanmetrics_latency_bucket" + LABELS + ",le=\"+Inf\"} 8\n");
      assertThat(samples(page))
          .containsExactlyInAnyOrder(
              "traces_spanmetrics_calls_total" + LABELS + "} 8",
              "traces_spanmetrics_latency_sum" + LABELS + "} 0.00000001",
              "traces_spanmetrics_latency_count" + LABELS + "} 8",
              "traces_spanmetrics_size_total" + LABELS + "} " + ((1L << 40) + 107),
              "traces_spanmetrics_events_total" + LABELS + ",event_name=\"exception\"} 12");
      assertThat(PageFixture.text(pages, Encoding.OPENMETRICS))
          .contains("# TYPE traces_spanmetrics_size counter\n")
          .contains("traces_spanmetrics_size_created" + LABELS + "} 1700000000.123\n");
      assertThat(PageFixture.text(pages, Encoding.OPENMETRICS_2))
          .contains("# TYPE traces_spanmetrics_size_total counter\n")
          .contains(
              "traces_spanmetrics_size_total"
                  + LABELS
                  + "} "
                  + ((1L << 40) + 107)
                  + " st@1700000000.123\n");
      assertThat(ProtobufPageTest.counters(PageFixture.bytes(pages, Encoding.PROTOBUF)))
          .containsEntry("traces_spanmetrics_calls_total", List.of(8.0))
          .containsEntry("traces_spanmetrics_size_total", List.of((1L << 40) + 107.0))
          .containsEntry("traces_spanmetrics_events_total", List.of(12.0));
    }
  }

  @Test
  void aSeriesThatEndsTakesItsSizeWithIt() {
    try (SpanPages pages = PageFixture.started(naming(true))) {
      pages.window(window().evict(0).evict(1).seal());
      pages.window(
          Windows.of(Windows.QUEUE, PageFixture.STRIDE + 1)
              .sizes()
              .create(0, "shop", "GET /", "2", "2", null, null)
              .row(0, 5, 1, 0, 0, 0, 50)
              .seal());

      assertThat(samples(PageFixture.text(pages, Encoding.TEXT)))
          .contains("traces_spanmetrics_size_total" + LABELS + "} 50");
    }
  }

  @Test
  void withoutSizesThereIsNoSuchFamily() {
    try (SpanPages pages = PageFixture.started(naming(false))) {
      assertThat(PageFixture.text(pages, Encoding.TEXT)).doesNotContain("_size");
    }
  }
}
