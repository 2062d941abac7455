package org.traceetl.perf.bench.report;

import java.awt.Color;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler;

/** Draws values against a quantity, one line for each name, as an SVG picture. */
public final class Lines {
  private final XYChart chart;
  private final List<? extends Number> quantities;

  /**
   * @param quantities at least one, ascending
   */
  public Lines(String title, String quantity, String value, List<? extends Number> quantities) {
    this.quantities = List.copyOf(quantities);
    chart =
        new XYChartBuilder()
            .width(760)
            .height(300)
            .title(title)
            .xAxisTitle(quantity)
            .yAxisTitle(value)
            .build();
    chart.getStyler().setChartBackgroundColor(Color.WHITE);
    chart.getStyler().setLegendPosition(Styler.LegendPosition.OutsideE);
    chart.getStyler().setYAxisMin(0.0);
    chart.getStyler().setXAxisMin(0.0);
    chart.getStyler().setMarkerSize(5);
  }

  /**
   * Adds a line.
   *
   * @param values one for each quantity
   */
  public Lines line(String name, List<? extends Number> values) {
    chart.addSeries(name, quantities, values);
    return this;
  }

  public void write(Path svg) throws IOException {
    Svg.write(chart, svg);
  }
}
