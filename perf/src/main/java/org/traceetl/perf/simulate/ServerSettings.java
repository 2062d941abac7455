package org.traceetl.perf.simulate;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.JournalConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.features.index.IndexConfig;

/** The configuration of simulated servers. */
final class ServerSettings {
  /** Of the pages' buckets, in milliseconds. */
  static final List<Double> BOUNDS_MILLIS = List.of(1.0, 100.0, 1_000.0);

  private static final Duration WINDOW = Duration.ofSeconds(5);
  private static final Duration LEASE = Duration.ofSeconds(15);
  private static final Duration SNAPSHOTS = Duration.ofMinutes(2);

  /** Longer than a run, with all steps of clocks: no series ends. */
  private static final Duration IDLE = Duration.ofDays(365);

  private static final int WORKERS = 2;
  private static final int ALL_DOCUMENTS = 1_000_000;
  private static final int EXEMPLARS = 2;

  private ServerSettings() {}

  /** Returns the configuration of a server whose pages and index show every span. */
  static ServerConfig exact() {
    DocumentsConfig documents = DocumentsConfig.defaults();
    return new ServerConfig(
        new RocketMqConfig("name-server:9876", null, null, null, null, WORKERS),
        new JournalConfig(null, LEASE, SNAPSHOTS, null, null),
        new WindowConfig(WINDOW, IDLE),
        null,
        new HistogramConfig(BOUNDS_MILLIS, null, null),
        new DocumentsConfig(
            documents.slowerThan(),
            documents.thresholds(),
            documents.attributes(),
            ALL_DOCUMENTS,
            ALL_DOCUMENTS,
            EXEMPLARS),
        new MetricsConfig(null, null, null, MetricsConfig.QueueLabel.ALWAYS),
        Map.of(
            "index",
            IndexConfig.of(IndexConfig.Elasticsearch.at(List.of(URI.create("http://index:9200"))))),
        null,
        null,
        null,
        null,
        null);
  }
}
