package org.traceetl.server;

import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.proto.LearntNames;
import org.traceetl.server.assembly.DecisionsConfig;
import org.traceetl.server.assembly.ServerContext;
import org.traceetl.server.binding.Features;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.component.Component;
import org.traceetl.server.component.Components;
import org.traceetl.server.config.ConfigSection;
import org.traceetl.server.config.JournalConfig;
import org.traceetl.server.config.MetricsConfig.QueueLabel;
import org.traceetl.server.consume.Aggregation;
import org.traceetl.server.consume.CardinalityReports;
import org.traceetl.server.consume.PipelineMetrics;
import org.traceetl.server.consume.SpanPipeline;
import org.traceetl.server.decisions.DecisionLog;
import org.traceetl.server.decisions.RoutingTopic;
import org.traceetl.server.decode.Messages;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.FeatureType;
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

/** Constructs the components of a server: core, and the features of the list. */
final class ServerAssembly implements ServerContext {
  private static final Logger log = LoggerFactory.getLogger(ServerAssembly.class);

  /** Timeout of journal calls. After it, the outcome of a call is unknown. */
  static final Duration JOURNAL_TIMEOUT = Duration.ofSeconds(3);

  private final ServerConfig config;
  private final Clock clock;
  private final Clocks clocks;
  private final ServerTelemetry telemetry;
  private final PipelineMetrics metrics;
  private final ProfileParts profile;
  private final Aggregation aggregation;
  private final JournalComponent journal;
  private final QueueWatch queues;
  private final FleetWindows fleet = new FleetWindows();

  /** Null if no feature has a topic for decisions. */
  private final DecisionsConfig decisionsConfig;

  private final SpanPipeline spans;
  private final List<Component> inOrder = new ArrayList<>();
  private Supplier<Set<QueueId>> growing = Set::of;
  private boolean saidWhyItDoesNotDecide;

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
    DecisionsConfig configured = config.feature(DecisionsConfig.class);
    decisionsConfig = configured == null ? null : configured.over(config.window().length());
    List<Feature> before = new ArrayList<>();
    List<Feature> after = new ArrayList<>();
    for (FeatureType type : Features.ALL) {
      ConfigSection<?, ?> section = type.section();
      Record own = section == null ? null : config.feature(section.type());
      (type.startsBeforeSpans() ? before : after).add(type.create(own, this));
    }
    spans = spans(Stream.concat(before.stream(), after.stream()).toList());
    inOrder.addAll(profile.components());
    inOrder.add(journal);
    inOrder.addAll(before);
    inOrder.add(spans);
    inOrder.add(queues);
    inOrder.addAll(after);
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

  private SpanPipeline spans(List<Feature> features) {
    List<WindowFollower> followers =
        Stream.concat(
                features.stream().flatMap(feature -> feature.followers().stream()),
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

  @Override
  public ServerConfig config() {
    return config;
  }

  @Override
  public ProfileParts profile() {
    return profile;
  }

  @Override
  public JournalComponent journal() {
    return journal;
  }

  @Override
  public long schema() {
    return aggregation.schema();
  }

  @Override
  public void learnt(LearntNames names) {
    aggregation.learnt(names);
  }

  @Override
  public ServerTelemetry telemetry() {
    return telemetry;
  }

  @Override
  public Clocks clocks() {
    return clocks;
  }

  @Override
  public CardinalityReports cardinality() {
    return metrics.cardinality();
  }

  @Override
  public FleetWindows fleet() {
    return fleet;
  }

  @Override
  public KnownQueues queues() {
    return new KnownQueues(spans.queues(), queues.seen(), growing.get(), config.series().max());
  }

  @Override
  public void growing(Supplier<Set<QueueId>> queues) {
    growing = queues;
  }

  @Override
  public DecisionLog decisions() {
    return decisionsConfig == null
        ? null
        : new RoutingTopic(
            journal.logs(),
            decisionsConfig.topic(),
            config.rocketmq().topic(),
            decisionsConfig.signing(),
            () -> spans.queues().stream().map(QueueStatus::queue).collect(Collectors.toSet()),
            fleet::upToDate);
  }

  @Override
  public DecisionsConfig decisionsConfig() {
    return decisionsConfig;
  }

  /**
   * Returns whether this server may decide. Two servers briefly show a series that moves; only the
   * queue label distinguishes these, unless their sums stay correct without it.
   */
  @Override
  public boolean decides() {
    if (!fleet.available()) {
      return false;
    }
    boolean told =
        config.metrics().queueLabel() == QueueLabel.ALWAYS || profile.addsUpWithoutQueueLabel();
    if (!told && !saidWhyItDoesNotDecide) {
      saidWhyItDoesNotDecide = true;
      log.info(
          "Automatic hotspots and learnt names are off: they require"
              + " trace-etl.metrics.queue-label = always on all servers");
    }
    return told;
  }
}
