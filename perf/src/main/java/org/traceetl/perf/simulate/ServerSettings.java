package org.traceetl.perf.simulate;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
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

  /** Also longer than a lease: a new owner then shows a queue before its first window ends. */
  private static final int[] WINDOW_SECONDS = {1, 5, 10, 10};

  /** Also longer than the time after which brokers remove silent members. */
  private static final int[] LEASE_SECONDS = {5, 5, 15, 60};

  private static final int[] SNAPSHOT_SECONDS = {5, 20, 120, 600};

  /** Longer than a run, with all steps of clocks: no series ends. */
  private static final Duration IDLE = Duration.ofDays(365);

  private static final int MOST_WORKERS = 3;
  private static final int ALL_DOCUMENTS = 1_000_000;
  private static final int EXEMPLARS = 2;

  private ServerSettings() {}

  /**
   * Draws the configuration of servers whose pages and index show every span. Servers of an
   * installation share it.
   */
  static ServerConfig draw(RandomGenerator random) {
    DocumentsConfig documents = DocumentsConfig.defaults();
    return new ServerConfig(
        new RocketMqConfig(
            "name-server:9876", null, null, null, null, 1 + random.nextInt(MOST_WORKERS)),
        new JournalConfig(
            null, seconds(LEASE_SECONDS, random), seconds(SNAPSHOT_SECONDS, random), null, null),
        new WindowConfig(seconds(WINDOW_SECONDS, random), IDLE),
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

  private static Duration seconds(int[] from, RandomGenerator random) {
    return Duration.ofSeconds(from[random.nextInt(from.length)]);
  }
}
