package org.traceetl.server.profile;

import java.time.Clock;
import java.util.List;
import org.traceetl.server.component.Component;
import org.traceetl.server.config.CoreConfig;
import org.traceetl.server.config.IndexConfig;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.decode.MappedProfile;
import org.traceetl.server.features.index.ElasticsearchLayout;
import org.traceetl.server.features.pages.PagesFeature;
import org.traceetl.server.features.pages.SpanNaming;
import org.traceetl.server.http.Feature;
import org.traceetl.server.journal.JournalComponent;
import org.traceetl.server.telemetry.ServerTelemetry;
import org.traceetl.server.window.SeriesDefinition;

/**
 * What differs between servers of different profiles: how spans become series, what shows these,
 * and which documents are kept. The defaults are those of series that are made of attributes as
 * they are.
 */
public interface ProfileParts {
  /** The parts of a server with the profile of its configuration, yet to be started. */
  static ProfileParts of(CoreConfig config) {
    return config.metrics().profile() instanceof MappedSpansProfile mapped
        ? mapped.parts(config)
        : (journal, telemetry, clock) ->
            PagesFeature.of(
                new SpanNaming(config.metrics(), config.series(), config.histogram()), telemetry);
  }

  /** What shows the series to Prometheus. Called once. */
  Feature pages(JournalComponent journal, ServerTelemetry telemetry, Clock clock);

  /**
   * Says which series spans belong to, by what {@link #components} keep up to date once they are
   * started; null where series are made of attributes as they are.
   */
  default MappedProfile mapping() {
    return null;
  }

  /** Those that start before all others. */
  default List<Component> components() {
    return List.of();
  }

  /** Whether the pages show the spans received of each application. */
  default boolean showsReceivedSpans() {
    return false;
  }

  /**
   * Whether series that move between servers add up without a label that tells their queues apart.
   */
  default boolean addsUpWithoutQueueLabel() {
    return false;
  }

  /** The layout that the profile names. */
  default ElasticsearchLayout layout(IndexConfig.Elasticsearch elasticsearch) {
    return ElasticsearchLayout.dataStream(elasticsearch);
  }

  /** Whether there are series of events, which are no calls. */
  default boolean countsEvents() {
    return true;
  }

  /** Whether a series has the buckets of the configuration, which are those of the history. */
  default boolean hasBucketsOfHistory(SeriesDefinition definition) {
    return true;
  }

  /** What the number of a kind is called, as pages have it; 0 stands for those it does not know. */
  default String kind(int number) {
    SpanKind[] kinds = SpanKind.values();
    return "SPAN_KIND_" + kinds[number >= 0 && number < kinds.length ? number : 0];
  }
}
