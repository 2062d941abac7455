package org.traceetl.perf.simulate;

import static java.util.Map.entry;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.traceetl.perf.simulate.check.SeriesKey;
import org.traceetl.perf.simulate.server.Bound;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.JournalConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.config.WindowConfig.Panes;
import org.traceetl.server.features.demand.DemandConfig;
import org.traceetl.server.features.index.IndexConfig;
import org.traceetl.server.features.push.PushConfig;
import org.traceetl.server.features.rules.RulesConfig;

/** The configuration of simulated servers. */
final class ServerSettings {
  /** Bounds of the duration histogram's buckets, in milliseconds. */
  static final List<Double> BOUNDS_MILLIS = List.of(1.0, 100.0, 1_000.0);

  /** Also longer than a lease: a new owner then shows a queue before its first window ends. */
  private static final int[] WINDOW_SECONDS = {1, 5, 10, 10};

  /** Also longer than the time after which brokers remove silent members. */
  private static final int[] LEASE_SECONDS = {5, 5, 15, 60};

  private static final int[] SNAPSHOT_SECONDS = {5, 20, 120, 600};

  /** Longer than a run, with all steps of clocks: no series ends. */
  private static final Duration IDLE = Duration.ofDays(365);

  private static final List<SeriesConfig.Dimension> REGION =
      List.of(new SeriesConfig.Dimension(SeriesKey.REGION, null, SeriesConfig.From.ANY));

  /** The name of each server's file of {@link org.traceetl.perf.simulate.server.SimulatedRules}. */
  private static final Path RULES = Path.of("rules.yaml");

  private static final String DEMAND = "demand";
  private static final Duration OTHER_EXEMPLAR_INTERVAL = Duration.ofSeconds(7);

  private static final int MOST_WORKERS = 3;
  private static final int ALL_DOCUMENTS = 1_000_000;
  private static final int EXEMPLARS = 2;

  /** Small, so that even a short outage of the index stops servers from reading windows. */
  private static final int BATCH_DOCUMENTS = 100;

  /**
   * Most documents in the windows that one read of the journal returns after an outage of brokers.
   */
  private static final int DOCUMENTS_OF_A_READ = 2_000;

  /** As {@code DocumentWriter}, and a read of each broker. */
  private static final long MOST_DOCUMENT_BYTES = 10L << 20;

  /** A portion of {@code SeriesBudget}, which a queue takes at once. */
  private static final int SERIES_IN_ADVANCE = 256;

  /** Names of spans, and texts that each queue has. */
  private static final int MOST_SYMBOLS = 20;

  /** Forms, names of measures and of their labels, and values of these. */
  private static final int MOST_SYMBOLS_OF_RULES = 40;

  private ServerSettings() {}

  /**
   * Draws the configuration of servers whose pages and index show every span. Servers of an
   * installation share it, except what {@link #other} changes.
   *
   * @param hasRules whether servers have a file of rules, and the dimension of spans is in no
   *     configuration
   */
  static ServerConfig draw(
      DemandDraw demand, EdgeDraw edges, boolean hasRules, RandomGenerator random) {
    DocumentsConfig documents = DocumentsConfig.defaults();
    return new ServerConfig(
        new RocketMqConfig(
            "name-server:9876", null, null, null, null, 1 + random.nextInt(MOST_WORKERS)),
        new JournalConfig(
            null, seconds(LEASE_SECONDS, random), seconds(SNAPSHOT_SECONDS, random), null, null),
        new WindowConfig(
            seconds(WINDOW_SECONDS, random),
            IDLE,
            demand.panes() ? Panes.AUTO : Panes.OFF,
            null,
            null),
        SeriesConfig.defaults()
            .withDimensions(demand.dimension() && !hasRules ? REGION : List.of()),
        new HistogramConfig(BOUNDS_MILLIS, null, null),
        new DocumentsConfig(
            documents.slowerThan(),
            documents.thresholds(),
            documents.attributes(),
            ALL_DOCUMENTS,
            ALL_DOCUMENTS,
            EXEMPLARS),
        new MetricsConfig(
            null, null, null, MetricsConfig.QueueLabel.ALWAYS, null, null, demand.sizes()),
        Map.of(
            "push",
            PushConfig.to(
                demand.panes()
                    ? List.of(PushConfig.Endpoint.at(URI.create("http://receiver:9090/write")))
                    : List.of()),
            "index",
            new IndexConfig(
                IndexConfig.Type.ELASTICSEARCH,
                BATCH_DOCUMENTS,
                IndexConfig.Elasticsearch.at(List.of(URI.create("http://index:9200"))),
                IndexConfig.defaults().lucene()),
            DEMAND,
            new DemandConfig(demand.published(), null, null),
            "rules",
            new RulesConfig(hasRules ? RULES : null, null)),
        null,
        null,
        null,
        null,
        edges.config(),
        null,
        null,
        null);
  }

  /** Returns a configuration with another part in the demand, whose series are the same. */
  static ServerConfig other(ServerConfig config) {
    Map<String, Record> features = new TreeMap<>(config.ofFeatures());
    features.put(DEMAND, new DemandConfig(true, OTHER_EXEMPLAR_INTERVAL, null));
    return new ServerConfig(
        config.rocketmq(),
        config.journal(),
        config.window(),
        config.series(),
        config.histogram(),
        config.documents(),
        config.metrics(),
        features,
        config.ofProfiles(),
        config.events(),
        config.deduplication(),
        config.agents(),
        config.edges(),
        null,
        config.web(),
        config.drainWithin());
  }

  /**
   * Returns the bounds of servers' memory and queues, by metric. Programs that keep what moved to
   * another server, or forget a limit, exceed them.
   *
   * @param series of all applications, each of which may be on any queue
   * @param queues of all brokers
   * @param forms whether rules have buckets, units and measures
   */
  static Map<String, Bound> bounds(int agents, int brokers, int series, int queues, boolean forms) {
    Bound none = new Bound(0, 0);
    Bound documents = new Bound(0, 2 * BATCH_DOCUMENTS + (double) brokers * DOCUMENTS_OF_A_READ);
    return Map.ofEntries(
        entry("trace_etl_queue_agents", new Bound(0, agents)),
        entry("trace_etl_agents_evicted_total", none),
        entry("trace_etl_queue_series", new Bound(0, series)),
        entry(
            "trace_etl_queue_symbols",
            new Bound(0, MOST_SYMBOLS + agents + (forms ? MOST_SYMBOLS_OF_RULES : 0))),
        entry(
            "trace_etl_series_left",
            new Bound(
                SeriesConfig.defaults().max() - (double) (series + SERIES_IN_ADVANCE) * queues,
                Double.MAX_VALUE)),
        entry("trace_etl_history_applications", new Bound(0, agents)),
        entry("trace_etl_history_operations", new Bound(0, series)),
        entry("trace_etl_documents_queued", documents),
        entry("trace_etl_documents_queued_bytes", new Bound(0, MOST_DOCUMENT_BYTES)),
        entry("trace_etl_dimensions_not_sent_total", none),
        entry("trace_etl_documents_not_sent_total", none));
  }

  private static Duration seconds(int[] from, RandomGenerator random) {
    return Duration.ofSeconds(from[random.nextInt(from.length)]);
  }
}
