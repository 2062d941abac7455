package org.traceetl.server.canary;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class PagesTest {
  private final SpanNames names = new SpanNames(new Random(7));
  private final Pages pages = new Pages(null, names, null, List.of(), "calls_total");
  private final SeriesCounts counts = new SeriesCounts();

  private String series(String family, String queue, String value) {
    return family
        + "{service_name=\"c\",span_name=\""
        + names.of("http", "ordinary")
        + "\",span_kind=\"SPAN_KIND_SERVER\""
        + (queue.isEmpty() ? "" : ",trace_etl_queue=\"" + queue + "\"")
        + "} "
        + value
        + "\n";
  }

  private Pages.Page page(String... lines) throws IOException {
    return pages.parse(new BufferedReader(new StringReader(String.join("", lines))));
  }

  private void add(String... lines) throws IOException {
    counts.add(page(lines).counts().getOrDefault("http", Map.of()));
  }

  @Test
  void seriesThatMovesCountsOnce() throws IOException {
    add(series("calls_total", "", "5 # {trace_id=\"1\"} 2.0"), series("calls_created", "", "1.5"));
    add(series("calls_total", "b/1", "7.0"), series("calls_created", "b/1", "1.5"));
    assertThat(counts.sum()).isEqualTo(7);

    add(series("calls_total", "", "5"), series("calls_created", "", "1.5"));
    add();
    assertThat(counts.sum()).isEqualTo(7);
  }

  @Test
  void seriesOfTwoQueuesAndSeriesThatStartAgainCountBoth() throws IOException {
    add(
        series("calls_total", "b/1", "5"),
        series("calls_created", "b/1", "1.5"),
        series("calls_total", "b/2", "3"),
        series("calls_created", "b/2", "2.5"));
    assertThat(counts.sum()).isEqualTo(8);

    add(series("calls_total", "", "1"), series("calls_created", "", "9.5"));
    assertThat(counts.sum()).isEqualTo(9);
  }

  @Test
  void onlySeriesOfThisRunCount() throws IOException {
    Pages.Page page =
        page(
            "# TYPE calls counter\n",
            "calls_total{service_name=\"c\",span_name=\"canary other http ok\"} 3\n",
            "calls_total{service_name=\"a } \\\" b\",span_name=\"x\"} 3\n",
            "trace_etl_discovery_current 0.0\n",
            "trace_etl_discovery_servers 2.0\n",
            "trace_etl_missing_queues 2.0\n",
            "# EOF\n");
    assertThat(page.counts()).isEmpty();
    assertThat(page.isBrokerAway()).isTrue();
    assertThat(page.missingQueues()).isEqualTo(2);
  }

  @Test
  void startingServerDoesNotSayThatBrokersAreAway() throws IOException {
    assertThat(
            page("trace_etl_discovery_current 0.0\n", "trace_etl_discovery_servers 0.0\n")
                .isBrokerAway())
        .isFalse();
  }

  @Test
  void counterWithoutCreationTimeStartsAgainWhenItIsLower() {
    SeriesCounts.Restarting stored = new SeriesCounts.Restarting();
    stored.add(Map.of("a", 5L, "b", 1L));
    stored.add(Map.of("a", 2L));
    stored.add(Map.of("a", 4L, "b", 1L));
    assertThat(stored.sum()).isEqualTo(10);
  }

  @Test
  void rejectedSpansAreReadFromThePartialSuccess() {
    assertThat(PartialSuccess.rejected(new byte[0])).isZero();
    assertThat(PartialSuccess.rejected(new byte[] {1, 2, 3})).isZero();
    assertThat(PartialSuccess.rejected(new byte[] {10, 2, 8, 3})).isEqualTo(3);
    assertThat(PartialSuccess.rejected(new byte[] {10, 3, 8, (byte) 0x81, 1})).isEqualTo(129);
    assertThat(PartialSuccess.rejected(new byte[] {10, 2, 8, (byte) 0x81})).isEqualTo(1);
  }
}
