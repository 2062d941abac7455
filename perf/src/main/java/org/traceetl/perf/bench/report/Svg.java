package org.traceetl.perf.bench.report;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;
import org.knowm.xchart.internal.chartpart.Chart;

/** Writes charts as SVG pictures. */
public final class Svg {
  private Svg() {}

  /** Writes a chart, and creates the directory. */
  public static void write(Chart<?, ?> chart, Path file) throws IOException {
    Files.createDirectories(file.toAbsolutePath().getParent());
    ByteArrayOutputStream drawn = new ByteArrayOutputStream();
    VectorGraphicsEncoder.saveVectorGraphic(chart, drawn, VectorGraphicsFormat.SVG);
    // Letters are outlines: rounding to tenths of a pixel halves the size of the picture.
    Files.writeString(file, drawn.toString(UTF_8).replaceAll("(\\.\\d)\\d+", "$1"));
  }
}
