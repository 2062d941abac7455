package org.traceetl.server;

import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.component.Component;
import org.traceetl.server.component.Components;
import org.traceetl.server.config.IndexConfig;
import org.traceetl.server.config.JournalConfig;
import org.traceetl.server.config.MetricsConfig.QueueLabel;
import org.traceetl.server.config.TemplatesConfig;
import org.traceetl.server.consume.Aggregation;
import org.traceetl.server.consume.PipelineMetrics;
import org.traceetl.server.consume.SpanPipeline;
import org.traceetl.server.decisions.RoutingTopic;
import org.traceetl.server.decisions.SignedLog;
import org.traceetl.server.decode.Messages;
import org.traceetl.server.features.discovery.DiscoveryFeature;
import org.traceetl.server.features.history.History;
import org.traceetl.server.features.history.HistoryFeature;
import org.traceetl.server.features.history.SeriesRules;
import org.traceetl.server.features.hotspot.HotspotDecider;
import org.traceetl.server.features.hotspot.HotspotFeature;
import org.traceetl.server.features.hotspot.HotspotsConfig;
import org.traceetl.server.features.index.ElasticsearchLayout;
import org.traceetl.server.features.index.IndexFeature;
import org.traceetl.server.features.learn.LearnFeature;
import org.traceetl.server.features.learn.NameDecider;
import org.traceetl.server.http.Feature;
import org.traceetl.server.journal.AuthenticatedLogs;
import org.traceetl.server.journal.FleetWindows;
import org.traceetl.server.journal.JournalComponent;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalKeys;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.LogJournals;
import org.traceetl.server.journal.RocketMqLogs;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.profile.ProfileParts;
import org.traceetl.server.queues.KnownQueues;
import org.traceetl.server.queues.QueueStatus;
import org.traceetl.server.queues.QueueWatch;
import org.traceetl.server.telemetry.ServerTelemetry;
import org.traceetl.server.web.ServerComponents;
import org.traceetl.server.window.QueueId;

/** Constructs and connects the components of a server from its configuration. */
final class ServerAssembly {
  private static final Logger log = LoggerFactory.getLogger(ServerAssembly.class);

  /** Timeout of journal calls. After it, the outcome of a call is unknown. */
  static final Duration JOURNAL_TIMEOUT = Duration.ofSeconds(3);

  private static final double NANOS_PER_MILLI = 1e6;

  private final ServerConfig config;
  private final Clock clock;
  private final Clocks clocks;
  private final ServerTelemetry telemetry;
  private final PipelineMetrics metrics;

  private final ProfileParts profile;

  private final Aggregation aggregation;
  private final JournalComponent journal;
  private final QueueWatch queues;
  private final HistoryFeature history;
  private final HotspotFeature hotspots;
  private final LearnFeature names;
  private final SpanPipeline spans;
  private final List<Component> inOrder = new ArrayList<>();

  private ServerAssembly(ServerConfig config, Clock clock) {
    this.config = config;
    this.clock = clock;
    clocks = new Clocks(System::nanoTime, clock);
    telemetry = new ServerTelemetry(Version.text(), config.window().idle());
    metrics = new PipelineMetrics(telemetry);
    profile = ProfileParts.of(config);
    aggregation = aggregation(config, profile);
    var counters = new JournalCounters();
    var logs =
        new RocketMqLogs(config.rocketmq(), config.journal().topic(), JOURNAL_TIMEOUT, clocks);
    journal =
        new JournalComponent(
            logs,
            journals(config, profile, logs, keys(config.journal()), aggregation, counters, clocks),
            counters);
    queues = new QueueWatch(logs, config.rocketmq().topic(), clock);
    SignedLog.check(config.hotspots().signing(), config.hotspots().topic());
    history = history();
    boolean decides = decides(config, profile);
    HotspotsConfig routing = config.hotspots().over(config.window().length());
    var decisions =
        new RoutingTopic(
            logs,
            routing.topic(),
            config.rocketmq().topic(),
            routing.signing(),
            this::ownQueues,
            history::upToDate);
    hotspots =
        new HotspotFeature(
            decides && routing.enabled()
                ? subscribed(new HotspotDecider(routing, decisions, clocks))
                : null);
    names = new LearnFeature(names(routing, decides, decisions), metrics.cardinality());
    // The order of the start. Names start before the spans, which would be counted under their own
    // names.
    List<Feature> sinks =
        List.of(profile.pages(journal, telemetry, clocks), index(), history, names);
    spans = spans(sinks);
    inOrder.addAll(profile.components());
    inOrder.add(journal);
    inOrder.addAll(sinks);
    inOrder.addAll(List.of(spans, fleet(), queues, hotspots));
  }

  /**
   * Returns the components of a server, not started.
   *
   * @throws IllegalArgumentException if parts of the configuration do not fit together
   * @throws UncheckedIOException if the trace index cannot be opened
   */
  static ServerComponents assemble(ServerConfig config, Clock clock) {
    var assembly = new ServerAssembly(config, clock);
    return new ServerComponents(
        assembly.telemetry,
        new Components(assembly.telemetry, assembly.inOrder, assembly.clocks.nanoClock()));
  }

  private static Aggregation aggregation(ServerConfig config, ProfileParts profile) {
    return new Aggregation(
        config.series(),
        config.histogram(),
        config.documents(),
        config.window(),
        config.metrics().unit(),
        Messages.of(config.rocketmq().messages()),
        profile.mapping(),
        config.deduplication());
  }

  /** Returns the keys of the journal; null if messages are not authenticated. */
  static JournalKeys keys(JournalConfig config) {
    return config.keysFile() == null
        ? null
        : new JournalKeys(config.keysFile(), config.acceptUnsigned(), System::nanoTime);
  }

  /** Returns the journals as a server with this configuration reads and writes them. */
  static LogJournals journals(
      ServerConfig config,
      RocketMqLogs logs,
      JournalKeys keys,
      JournalCounters counters,
      Clocks clocks) {
    ProfileParts profile = ProfileParts.of(config);
    Aggregation aggregation = aggregation(config, profile);
    return journals(config, profile, logs, keys, aggregation, counters, clocks);
  }

  private static LogJournals journals(
      ServerConfig config,
      ProfileParts profile,
      RocketMqLogs logs,
      JournalKeys keys,
      Aggregation aggregation,
      JournalCounters counters,
      Clocks clocks) {
    JournalConfig journal = config.journal();
    return new LogJournals(
        keys == null ? logs : new AuthenticatedLogs(logs, journal.topic(), keys, counters),
        config.rocketmq().topic(),
        config.rocketmq().consumerGroup(),
        profile.showsReceivedSpans()
            ? () -> aggregation.newImage().keepReceived()
            : aggregation::newImage,
        JournalTiming.of(clocks, journal.lease(), journal.snapshotInterval()),
        counters);
  }

  private SpanPipeline spans(List<Feature> sinks) {
    List<WindowFollower> followers =
        Stream.concat(
                sinks.stream().flatMap(sink -> sink.followers().stream()),
                Stream.of(telemetry.books(), metrics.cardinality()))
            .toList();
    return new SpanPipeline(
        config.rocketmq(),
        config.journal().lease(),
        config.window(),
        aggregation,
        journal.journals(),
        followers,
        clocks,
        metrics);
  }

  private IndexFeature index() {
    String group = config.rocketmq().consumerGroup() + "-index";
    IndexConfig.Elasticsearch elasticsearch = config.index().elasticsearch();
    return IndexFeature.open(
        config.index(),
        elasticsearch.layout().equals(IndexConfig.Elasticsearch.DATA_STREAM)
            ? ElasticsearchLayout.dataStream(elasticsearch)
            : profile.layout(elasticsearch, clock),
        queue -> journal.journals().tail(queue, group),
        clocks);
  }

  private DiscoveryFeature fleet() {
    return new DiscoveryFeature(config.discovery(), journal.logs()::members, clocks);
  }

  private HistoryFeature history() {
    long[] boundsNanos = config.histogram().boundsNanos();
    int maxOperations = config.history().maxOperations();
    History kept =
        config.history().enabled()
            ? new History(config.history().maxApplications(), maxOperations, boundsNanos, clock)
            : null;
    return new HistoryFeature(
            kept, this::knownQueues, config.documents().slowerThan().toNanos() / NANOS_PER_MILLI)
        .follow(
            journal.logs(),
            journal.journals(),
            config.journal().snapshotInterval(),
            new SeriesRules(
                aggregation.schema(),
                boundsNanos.length + 1,
                profile.countsEvents(),
                profile::hasBucketsOfHistory,
                profile::kind),
            maxOperations,
            clocks);
  }

  /** Returns the name decider; null if learning is off. */
  private NameDecider names(HotspotsConfig routing, boolean decides, RoutingTopic decisions) {
    TemplatesConfig templates = config.series().templates();
    return templates.enabled() && templates.learn().enabled()
        ? subscribed(
            new NameDecider(
                routing.topic(),
                routing.interval(),
                config.series(),
                decides,
                decisions,
                clocks,
                aggregation::learnt))
        : null;
  }

  private <T extends FleetWindows.Listener> T subscribed(T listener) {
    history.subscribe(listener);
    return listener;
  }

  private Set<QueueId> ownQueues() {
    return spans.queues().stream().map(QueueStatus::queue).collect(Collectors.toSet());
  }

  private KnownQueues knownQueues() {
    return new KnownQueues(
        spans.queues(), queues.seen(), hotspots.growing(), config.series().max());
  }

  /**
   * Returns whether this server may decide. Two servers briefly show a series that moves; only the
   * queue label distinguishes these, unless their sums stay correct without it.
   */
  private static boolean decides(ServerConfig config, ProfileParts profile) {
    TemplatesConfig templates = config.series().templates();
    boolean wanted =
        config.hotspots().enabled() || templates.enabled() && templates.learn().enabled();
    if (!wanted || !config.history().enabled()) {
      return false;
    }
    boolean told =
        config.metrics().queueLabel() == QueueLabel.ALWAYS || profile.addsUpWithoutQueueLabel();
    if (!told) {
      log.info(
          "Automatic hotspots and learnt names are off: they require"
              + " trace-etl.metrics.queue-label = always on all servers");
    }
    return told;
  }
}
