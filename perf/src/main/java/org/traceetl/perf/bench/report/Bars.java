package org.traceetl.perf.bench.report;

import java.awt.Color;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.style.Styler;

/** Draws one value of each variant as an SVG picture. */
public final class Bars {
  private final CategoryChart chart;
  private final List<String> names = new ArrayList<>();
  private final List<Double> values = new ArrayList<>();

  public Bars(String title, String yTitle) {
    chart =
        new CategoryChartBuilder()
            .width(760)
            .height(360)
            .title(title)
            .xAxisTitle("")
            .yAxisTitle(yTitle)
            .build();
    chart.getStyler().setLegendVisible(false);
    chart.getStyler().setLegendPosition(Styler.LegendPosition.OutsideE);
    chart.getStyler().setXAxisLabelRotation(30);
    chart.getStyler().setLabelsVisible(true);
    chart.getStyler().setChartBackgroundColor(Color.WHITE);
  }

  public Bars bar(String name, double value) {
    names.add(name);
    values.add(value);
    return this;
  }

  public void write(Path svg) throws IOException {
    chart.addSeries("values", names, values);
    Svg.write(chart, svg);
  }
}
