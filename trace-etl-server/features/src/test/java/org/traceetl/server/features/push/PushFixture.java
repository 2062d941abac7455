package org.traceetl.server.features.push;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.window.NativeBuckets;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SeriesDefinition;

/** Series and namings of tests. */
final class PushFixture {
  static final QueueId QUEUE = new QueueId("broker-a", 3);

  /** Three buckets: 10 ms, 100 ms, +Inf. */
  static final List<Double> BOUNDS = List.of(10.0, 100.0);

  private static final NativeTotals NO_NATIVES = new NativeTotals();

  private PushFixture() {}

  static PushNaming naming(HistogramConfig.Kind kind) {
    return naming(kind, Map.of("job", "trace-etl"));
  }

  /**
   * Returns a naming with sizes of spans.
   *
   * @param resourceAttributes null for Remote Write
   */
  static PushNaming sizes(Map<String, String> resourceAttributes) {
    return new PushNaming(
        ofPage(new HistogramConfig(BOUNDS, HistogramConfig.Kind.CLASSIC, 0), true),
        Map.of(),
        resourceAttributes);
  }

  static PushNaming naming(HistogramConfig.Kind kind, Map<String, String> labels) {
    return new PushNaming(ofPage(new HistogramConfig(BOUNDS, kind, 0)), labels);
  }

  /** Returns a naming for OTLP with a label and an attribute of resources. */
  static PushNaming otlp(HistogramConfig.Kind kind) {
    return otlp(new HistogramConfig(BOUNDS, kind, 0));
  }

  static PushNaming otlp(HistogramConfig histogram) {
    return new PushNaming(
        ofPage(histogram), Map.of("cluster", "eu"), Map.of("deployment.environment.name", "prod"));
  }

  /** Returns the native buckets of durations; null for none. */
  static NativeBuckets nativeBuckets(PushNaming naming) {
    return naming.families().get(1).nativeBuckets;
  }

  private static SpanNaming ofPage(HistogramConfig histogram) {
    return ofPage(histogram, false);
  }

  private static SpanNaming ofPage(HistogramConfig histogram, boolean size) {
    return new SpanNaming(
        new MetricsConfig(
            null,
            null,
            MetricsConfig.Unit.SECONDS,
            MetricsConfig.QueueLabel.ALWAYS,
            null,
            null,
            size),
        SeriesConfig.defaults(),
        histogram);
  }

  static SeriesDefinition definition(int series, String... values) {
    return new SeriesDefinition(series, 1_000, false, Arrays.asList(values));
  }

  /** Adds a sample of a series with the given spans by bucket. */
  static void sample(Samples to, SeriesDefinition series, long atMillis, long... counts) {
    to.sample(
        series,
        series.createdMillis(),
        atMillis,
        counts,
        0,
        counts.length,
        Arrays.stream(counts).sum() * 5,
        500_000,
        NO_NATIVES,
        Samples.NO_ROW,
        null);
  }

  /** Returns series of distinct names. */
  static List<SeriesDefinition> definitions(int count) {
    List<SeriesDefinition> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(definition(i, "shop", "GET /" + i, "2", "0"));
    }
    return all;
  }
}
