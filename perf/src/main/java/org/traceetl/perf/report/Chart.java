package org.traceetl.perf.report;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.awt.Color;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Curves over one quantity, as an SVG picture. */
public final class Chart {
  private final XYChart chart;
  private int curves;

  public Chart(String title, String xTitle, String yTitle) {
    chart =
        new XYChartBuilder()
            .width(640)
            .height(360)
            .title(title)
            .xAxisTitle(xTitle)
            .yAxisTitle(yTitle)
            .build();
    chart.getStyler().setLegendPosition(Styler.LegendPosition.OutsideE);
    chart.getStyler().setYAxisMin(0.0);
    chart.getStyler().setChartBackgroundColor(Color.WHITE);
  }

  /** Draws the x-axis by powers of ten. */
  public Chart logarithmicX() {
    chart.getStyler().setXAxisLogarithmic(true);
    return this;
  }

  /** Adds a curve. */
  public Chart curve(String name, double[] x, double[] y) {
    chart.addSeries(name, x, y);
    curves++;
    return this;
  }

  /** Adds a curve without marks at its points: there are many. */
  public Chart line(String name, double[] x, double[] y) {
    chart.addSeries(name, x, y).setMarker(SeriesMarkers.NONE);
    curves++;
    return this;
  }

  /** Writes the picture. */
  public void write(Path svg) throws IOException {
    // The title says what a single curve is.
    chart.getStyler().setLegendVisible(curves > 1);
    Files.createDirectories(svg.toAbsolutePath().getParent());
    ByteArrayOutputStream drawn = new ByteArrayOutputStream();
    VectorGraphicsEncoder.saveVectorGraphic(chart, drawn, VectorGraphicsFormat.SVG);
    // Letters are outlines: with tenths of a pixel the picture is half as large.
    Files.writeString(svg, drawn.toString(UTF_8).replaceAll("(\\.\\d)\\d+", "$1"));
  }
}
