package org.traceetl.perf.systest.chaos;

import java.awt.Color;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.SeriesMarkers;
import org.traceetl.perf.bench.report.Svg;
import org.traceetl.testkit.Prometheus;
import tools.jackson.databind.JsonNode;

/**
 * Draws the rate of spans during an outage as Prometheus answers it, once for scraped and once for
 * pushed series. Both pictures have the same axes.
 */
final class OutageCharts {
  /** Of the rate; the charts begin when it has all samples. */
  private static final Duration RANGE = Duration.ofMinutes(1);

  private static final double MILLIS_PER_MINUTE = 60_000;
  private static final double MARGIN = 1.1;
  private static final Color LINE = new Color(0x1f, 0x5f, 0xbf);
  private static final Color AWAY = new Color(0xe4, 0xe4, 0xe4);

  private final Prometheus prometheus;
  private final Period shown;
  private final List<Period> outages;
  private final long stepMillis;

  /**
   * @param shown the period of the charts
   * @param outages periods without a broker
   */
  OutageCharts(Prometheus prometheus, Period shown, List<Period> outages, PaneSchedule panes) {
    this.prometheus = prometheus;
    this.shown = shown;
    this.outages = List.copyOf(outages);
    stepMillis = panes.lengthMillis();
  }

  private record Line(List<Double> minutes, List<Double> rates) {
    private double highest() {
      return rates.stream().mapToDouble(Double::doubleValue).max().orElse(0);
    }
  }

  void write(Path directory) throws IOException, InterruptedException {
    String scrapedQuery = query(PrometheusAnswers.SCRAPED);
    String pushedQuery = query(PrometheusAnswers.PUSHED);
    Line scraped = line(scrapedQuery);
    Line pushed = line(pushedQuery);
    double highest = Math.max(scraped.highest(), pushed.highest()) * MARGIN;
    Files.createDirectories(directory);
    draw(directory.resolve("outage-scraped.svg"), "scraped: " + scrapedQuery, scraped, highest);
    draw(directory.resolve("outage-pushed.svg"), "pushed: " + pushedQuery, pushed, highest);
  }

  private static String query(String job) {
    return String.format(
        Locale.ROOT,
        "sum(rate(traces_span_metrics_calls_total{job=\"%s\"}[%dm]))",
        job,
        RANGE.toMinutes());
  }

  private Line line(String query) throws IOException, InterruptedException {
    // Pushed samples have the times of pane ends.
    long fromMillis = Math.ceilDiv(shown.fromMillis() + RANGE.toMillis(), stepMillis) * stepMillis;
    Line line = new Line(new ArrayList<>(), new ArrayList<>());
    for (JsonNode series :
        prometheus
            .data(
                String.format(
                    Locale.ROOT,
                    "/api/v1/query_range?start=%.3f&end=%.3f&step=%.3f&query=%s",
                    fromMillis / 1e3,
                    shown.toMillis() / 1e3,
                    stepMillis / 1e3,
                    Prometheus.encode(query)))
            .path("result")) {
      for (JsonNode point : series.path("values")) {
        line.minutes.add(minute(Math.round(point.get(0).asDouble() * 1e3)));
        line.rates.add(Prometheus.number(point));
      }
    }
    return line;
  }

  private double minute(long millis) {
    return (millis - shown.fromMillis()) / MILLIS_PER_MINUTE;
  }

  private void draw(Path svg, String title, Line line, double highest) throws IOException {
    XYChart chart =
        new XYChartBuilder()
            .width(760)
            .height(260)
            .title(title)
            .xAxisTitle("minutes")
            .yAxisTitle("spans per second")
            .build();
    chart.getStyler().setChartBackgroundColor(Color.WHITE);
    chart.getStyler().setLegendPosition(Styler.LegendPosition.InsideSW);
    chart.getStyler().setChartTitleFont(chart.getStyler().getChartTitleFont().deriveFont(12f));
    chart.getStyler().setXAxisMin(minute(shown.fromMillis() + RANGE.toMillis()));
    chart.getStyler().setXAxisMax(minute(shown.toMillis()));
    chart.getStyler().setYAxisMin(0.0);
    chart.getStyler().setYAxisMax(highest);
    for (int i = 0; i < outages.size(); i++) {
      Period away = outages.get(i);
      XYSeries area =
          chart.addSeries(
              "broker away" + " ".repeat(i),
              List.of(minute(away.fromMillis()), minute(away.toMillis())),
              List.of(highest, highest));
      area.setXYSeriesRenderStyle(XYSeries.XYSeriesRenderStyle.Area);
      area.setMarker(SeriesMarkers.NONE);
      area.setLineColor(AWAY);
      area.setFillColor(AWAY);
      area.setShowInLegend(i == 0);
    }
    XYSeries rate = chart.addSeries("rate", line.minutes, line.rates);
    rate.setMarker(SeriesMarkers.NONE);
    rate.setLineColor(LINE);
    rate.setShowInLegend(false);
    Svg.write(chart, svg);
  }
}
