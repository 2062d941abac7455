package org.traceetl.server.features.preview;

import java.util.List;
import java.util.stream.Stream;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.expose.SpanNaming;

/**
 * Rules of an application, as the sections of a valid configuration. Its profile copies attributes
 * to series.
 *
 * @param name how reports call them
 * @param measures with at most as many bounds as {@code ofRows}
 * @param ofRows the histogram of the configuration, for whose buckets rows of series have room
 */
public record PreviewedRules(
    String name,
    SeriesConfig series,
    MetricsConfig metrics,
    HistogramConfig histogram,
    List<MeasureConfig> measures,
    HistogramConfig ofRows) {
  public PreviewedRules {
    measures = List.copyOf(measures);
    MeasureConfig.checkBounds("measures", measures, ofRows);
  }

  /** Returns the names of the series of measures. */
  SpanNaming namingOfMeasures() {
    return new SpanNaming(metrics, series, ofRows);
  }

  /** Returns the names of the series of spans. */
  SpanNaming naming() {
    return new SpanNaming(metrics, series, histogram);
  }

  /** Returns the labels of a series, in the order of its values. */
  List<String> labels() {
    boolean utf8 = metrics.names() == MetricsConfig.Names.UTF_8;
    return Stream.concat(
            metrics.profile().labels().stream(),
            series.dimensions().stream()
                .map(dimension -> utf8 ? dimension.utf8Label() : dimension.label()))
        .toList();
  }
}
