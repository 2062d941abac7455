package org.traceetl.server.features.backfill;

import com.google.common.hash.Hashing;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.traceetl.server.config.AgentsConfig;
import org.traceetl.server.config.DeduplicationConfig;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.decode.Messages;
import org.traceetl.server.decode.SpanMeasures;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.window.Form;
import org.traceetl.server.window.SeriesDefinition;

/**
 * What to backfill, with sections of a valid configuration that contain the rules. Their profile
 * copies attributes to series.
 *
 * @param application its name
 * @param measures the measures of the application
 * @param histogram the receiver gets all of its buckets, files the classic ones
 * @param prefix begin of the names of all series
 * @param range of time
 * @param directory for the files
 * @param bytesPerSecond maximum rate at which messages are read, above 0
 * @param live what servers count by these rules, so that it ends where their series begin; null if
 *     the range has its end
 * @param receiver receives the samples besides the files; null for files only
 */
public record BackfillRequest(
    String application,
    RocketMqConfig rocketmq,
    SeriesConfig series,
    MetricsConfig metrics,
    HistogramConfig histogram,
    List<MeasureConfig> measures,
    WindowConfig window,
    DeduplicationConfig deduplication,
    AgentsConfig agents,
    String prefix,
    Range range,
    Path directory,
    long bytesPerSecond,
    LiveRules live,
    SampleReceiver receiver) {
  public BackfillRequest {
    measures = List.copyOf(measures);
    MeasureConfig.checkBounds("measures", measures, histogram);
  }

  /**
   * A range of time.
   *
   * @param sinceText its begin as the user gave it, such as {@code 6h}
   * @param untilText its end as the user gave it; null for the default
   * @param since its begin, not before 1970
   * @param until its end; null for that of the last pane that is closed, or of the seam
   */
  public record Range(String sinceText, String untilText, Instant since, Instant until) {}

  /** Returns the same request with a receiver of the samples. */
  public BackfillRequest with(SampleReceiver other) {
    return new BackfillRequest(
        application,
        rocketmq,
        series,
        metrics,
        histogram,
        measures,
        window,
        deduplication,
        agents,
        prefix,
        range,
        directory,
        bytesPerSecond,
        live,
        other);
  }

  /** Returns the names and labels of the samples. */
  public SpanNaming naming() {
    MetricsConfig prefixed =
        new MetricsConfig(
            metrics.profile(),
            prefix + metrics.namespace(),
            metrics.unit(),
            MetricsConfig.QueueLabel.CONFLICT,
            metrics.names(),
            List.of(),
            metrics.size());
    SpanNaming naming = new SpanNaming(prefixed, series, histogram, prefix);
    // Families in the order of the rules, so that the order of samples depends on nothing else.
    measures.forEach(measure -> naming.families(anySeries(measure)));
    return naming;
  }

  private SeriesDefinition anySeries(MeasureConfig measure) {
    List<String> values = new ArrayList<>();
    values.addAll(
        List.of(application, measure.name(), Integer.toString(SeriesDefinition.OF_MEASURES), "0"));
    series.dimensions().forEach(dimension -> values.add(null));
    values.addAll(List.of(Form.KEY, SpanMeasures.form(measure).text()));
    return new SeriesDefinition(0, 0, false, values);
  }

  /** Returns an aggregation for one queue. */
  Aggregation newAggregation() {
    long seed =
        Hashing.farmHashFingerprint64().hashString(fingerprint(), StandardCharsets.UTF_8).asLong();
    Aggregation aggregation =
        Aggregation.builder(() -> seed)
            .series(series)
            .histogram(histogram)
            .documents(new DocumentsConfig(null, null, null, 0, 0, 0))
            .window(window)
            .unit(metrics.unit())
            .sizes(metrics.size())
            .messages(Messages.of(rocketmq.messages()))
            .deduplication(deduplication)
            .agents(agents)
            .measures(measures)
            .build();
    aggregation.measures(true);
    return aggregation;
  }

  /** Returns a hash of all that determines the files, except application and range. */
  String fingerprint() {
    List<Object> all =
        List.of(
            rocketmq.topic(),
            rocketmq.messages(),
            series,
            metrics.profile().id(),
            prefix + metrics.namespace(),
            metrics.unit(),
            metrics.names(),
            metrics.size(),
            Arrays.toString(histogram.boundsNanos()),
            measures,
            window,
            deduplication,
            agents);
    return Hashing.sha256().hashString(all.toString(), StandardCharsets.UTF_8).toString();
  }
}
