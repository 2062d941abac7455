package org.traceetl.server.binding;

import static org.traceetl.server.config.ConfigException.check;
import static org.traceetl.server.config.ConfigException.orElse;

import java.time.Duration;
import org.traceetl.server.config.DeduplicationConfig;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.EventsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.IndexConfig;
import org.traceetl.server.config.JournalConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.OzheraConfig;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.WebConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.features.discovery.DiscoveryConfig;
import org.traceetl.server.features.history.HistoryConfig;
import org.traceetl.server.features.hotspot.HotspotsConfig;

/**
 * Everything that a server is told: {@code trace-etl}. A missing part is its default.
 *
 * @param histogram default: the bounds of the profile
 * @param drainWithin how long a server that is told to end may take to seal and keep what it has
 *     read; default 20 s
 */
public record ServerConfig(
    RocketMqConfig rocketmq,
    JournalConfig journal,
    WindowConfig window,
    SeriesConfig series,
    HistogramConfig histogram,
    DocumentsConfig documents,
    MetricsConfig metrics,
    IndexConfig index,
    HistoryConfig history,
    HotspotsConfig hotspots,
    OzheraConfig ozhera,
    EventsConfig events,
    DeduplicationConfig deduplication,
    DiscoveryConfig discovery,
    WebConfig web,
    Duration drainWithin) {
  private static final Duration MAX_DRAIN = Duration.ofMinutes(10);

  /**
   * With 36 overflow series each, and what has given up its place and is still shown, they and the
   * 10,000,000 series of a process are fewer than the 2^24 that a journal can number.
   */
  private static final int MAX_OZHERA_APPLICATIONS = 100_000;

  public ServerConfig {
    rocketmq = orElse(rocketmq, new RocketMqConfig(null, null, null, null, null, null));
    journal = orElse(journal, JournalConfig.defaults());
    window = orElse(window, new WindowConfig(null, null));
    series = orElse(series, SeriesConfig.defaults());
    metrics = orElse(metrics, MetricsConfig.defaults());
    histogram = orElse(histogram, metrics.profile().histogram());
    documents = orElse(documents, DocumentsConfig.defaults());
    index = orElse(index, IndexConfig.defaults());
    history = orElse(history, HistoryConfig.defaults());
    hotspots = orElse(hotspots, HotspotsConfig.defaults());
    ozhera = orElse(ozhera, OzheraConfig.defaults());
    events = orElse(events, EventsConfig.defaults());
    deduplication = orElse(deduplication, DeduplicationConfig.defaults());
    discovery = orElse(discovery, DiscoveryConfig.defaults());
    web = orElse(web, WebConfig.open());
    drainWithin = orElse(drainWithin, Duration.ofSeconds(20));
    check(
        !journal.topic().equals(rocketmq.topic()),
        "trace-etl.journal.topic",
        journal.topic(),
        "must not be trace-etl.rocketmq.topic");
    check(
        !hotspots.topic().equals(rocketmq.topic()) && !hotspots.topic().equals(journal.topic()),
        "trace-etl.hotspots.topic",
        hotspots.topic(),
        "must be a topic of its own");
    if (metrics.profile() == MetricsConfig.Profile.OZHERA) {
      ozhera.requireScrapers();
      series = ofOzhera(series, histogram);
    }
    series = events.addTo(series, metrics.profile());
    if (index.elasticsearch().layout() == IndexConfig.Elasticsearch.Layout.OZHERA) {
      check(
          metrics.profile() == MetricsConfig.Profile.OZHERA,
          "trace-etl.index.elasticsearch.layout",
          "ozhera",
          "needs trace-etl.metrics.profile = ozhera, which makes what it has fields for");
      documents =
          index.type() == IndexConfig.Type.ELASTICSEARCH ? documents.withoutExemplars() : documents;
    }
    for (SeriesConfig.Dimension dimension : series.dimensions()) {
      String label = dimension.label();
      check(
          !metrics.profile().labels().contains(label)
              && !label.equals(MetricsConfig.OVERFLOW_LABEL)
              && !label.equals(MetricsConfig.QUEUE_LABEL),
          "trace-etl.series.dimensions.label",
          label,
          "is a label that every series has; give attribute "
              + dimension.attribute()
              + " another one");
    }
    check(
        drainWithin.isPositive() && drainWithin.compareTo(MAX_DRAIN) <= 0,
        "trace-etl.drain-within",
        drainWithin,
        "must be above 0, at most 10 minutes");
  }

  /** Whether scrapers are given deltas, in place of cumulative pages. */
  public boolean givesDeltas() {
    return metrics.profile() == MetricsConfig.Profile.OZHERA
        && ozhera.temporality() == OzheraConfig.Temporality.DELTA;
  }

  /** All that makes a series there is OzHera's. */
  private static SeriesConfig ofOzhera(SeriesConfig series, HistogramConfig histogram) {
    check(
        series.dimensions().isEmpty() || series.dimensions().equals(OzheraConfig.dimensions()),
        "trace-etl.series.dimensions",
        series.dimensions().size() + " of them",
        "must be absent with profile ozhera, which has labels of its own");
    check(
        histogram.equals(MetricsConfig.Profile.OZHERA.histogram()),
        "trace-etl.histogram",
        "given",
        "must be absent with profile ozhera, which has buckets of its own");
    check(
        series.maxApplications() <= MAX_OZHERA_APPLICATIONS,
        "trace-etl.series.max-applications",
        series.maxApplications(),
        "must be at most "
            + MAX_OZHERA_APPLICATIONS
            + " with profile ozhera, where each may have an overflow series of each kind and outcome");
    return series.withDimensions(OzheraConfig.dimensions());
  }

  public static ServerConfig defaults() {
    return new ServerConfig(
        null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
        null);
  }
}
