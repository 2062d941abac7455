package org.traceetl.server;

import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.proto.EdgeQueues;
import org.traceetl.proto.LearntNames;
import org.traceetl.server.assembly.DecisionsConfig;
import org.traceetl.server.assembly.ServerContext;
import org.traceetl.server.binding.AccessFile;
import org.traceetl.server.binding.ConfigurationRefused;
import org.traceetl.server.binding.RulesFile;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.component.Component;
import org.traceetl.server.component.Components;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.config.ConfigSection;
import org.traceetl.server.config.MetricsConfig.QueueLabel;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.consume.SpanPipeline;
import org.traceetl.server.consume.metrics.CardinalityReports;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.decisions.DecisionLog;
import org.traceetl.server.decisions.RoutingTopic;
import org.traceetl.server.decode.SpanRulesInForce;
import org.traceetl.server.features.preview.PreviewFeature;
import org.traceetl.server.features.preview.PreviewLimits;
import org.traceetl.server.features.rules.RulesConfig;
import org.traceetl.server.http.AccessPolicy;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.FeatureType;
import org.traceetl.server.journal.FleetWindows;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.journal.chain.JournalComponent;
import org.traceetl.server.profile.ProfileParts;
import org.traceetl.server.queues.KnownQueues;
import org.traceetl.server.queues.QueueStatus;
import org.traceetl.server.queues.QueueWatch;
import org.traceetl.server.rocketmq.Endpoint;
import org.traceetl.server.rules.Rules;
import org.traceetl.server.series.SpanNeeds;
import org.traceetl.server.telemetry.LateSpans;
import org.traceetl.server.telemetry.ServerTelemetry;
import org.traceetl.server.telemetry.TargetInfo;
import org.traceetl.server.web.ServerComponents;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.StoredDocuments;

/** Constructs the components of a server: core, and the features of the list. */
public final class ServerAssembly implements ServerContext {
  private static final Logger log = LoggerFactory.getLogger(ServerAssembly.class);

  private final ServerConfig config;
  private final ServerPlatform platform;
  private final Clocks clocks;
  private final ServerTelemetry telemetry;
  private final SpanPipelineMetrics metrics;
  private final TargetInfo targets;
  private final JournalAccess access;
  private final JournalComponent journal;

  /** Null if this server reads no half-edges. */
  private final JournalAccess edgesAccess;

  /** Null if this server reads no half-edges. */
  private final JournalComponent edgesJournal;

  private final QueueWatch queues;
  private final FleetWindows fleet = new FleetWindows();
  private StoredDocuments documents = StoredDocuments.NONE;

  /** Null if no feature has a topic for decisions. */
  private final DecisionsConfig decisionsConfig;

  private final SpanPipeline spans;

  /** Null if everyone sees everything. */
  private final AccessFile tenants;

  private volatile boolean awaitsRules;
  private volatile SpanNeeds needs;

  /** The rules in force; null if no rules were published. */
  private volatile Rules rules;

  /** Whether all servers read series with labels of their own; null if it is not known yet. */
  private volatile Boolean labels;

  /** Null while it is not known. */
  private volatile Boolean forms;

  private final List<Component> inOrder = new ArrayList<>();
  private Supplier<Set<QueueId>> growing = Set::of;
  private boolean saidWhyItDoesNotDecide;

  private ServerAssembly(ServerConfig config, ServerPlatform platform) {
    this.config = config;
    this.platform = platform;
    clocks = platform.clocks();
    telemetry = new ServerTelemetry(Version.text(), config.window().idle());
    metrics = new SpanPipelineMetrics(telemetry);
    targets = new TargetInfo(config.metrics(), config.window().idle());
    telemetry.show(targets);
    access = JournalAccess.of(config, platform, targets.attributes().isEmpty() ? null : targets);
    needs = new SpanNeeds(access.aggregation().slow(), Map.of());
    journal = access.component();
    edgesAccess = config.edges().enabled() ? JournalAccess.ofEdges(config, platform) : null;
    edgesJournal = edgesAccess == null ? null : edgesAccess.component();
    queues = new QueueWatch(access.logs(), config.rocketmq().topic(), clocks);
    DecisionsConfig configured = config.feature(DecisionsConfig.class);
    decisionsConfig = configured == null ? null : configured.over(config.window().length());
    List<Feature> before = new ArrayList<>();
    List<Feature> after = new ArrayList<>();
    for (FeatureType type : platform.features()) {
      ConfigSection<?, ?> section = type.section();
      Record own = section == null ? null : config.feature(section.type());
      (type.startsBeforeSpans() ? before : after).add(type.create(own, this));
    }
    List<Feature> features = Stream.concat(before.stream(), after.stream()).toList();
    spans = spans(features);
    inOrder.addAll(access.profile().components());
    inOrder.add(journal);
    MetricRegistry ofEdges = new MetricRegistry();
    if (edgesJournal != null) {
      inOrder.add(withMetrics(edgesJournal, ofEdges));
    }
    inOrder.addAll(before);
    inOrder.add(spans);
    if (edgesJournal != null) {
      inOrder.add(edges(features, ofEdges));
    }
    inOrder.add(queues);
    inOrder.addAll(after);
    inOrder.add(preview());
    metrics.tenants().register(telemetry);
    Path file = config.web().accessFile();
    tenants =
        file == null ? null : new AccessFile(file, config.web().signIn(), clocks, this::tenants);
    if (tenants != null) {
      inOrder.add(tenants);
    }
  }

  private void tenants(AccessPolicy policy) {
    access.aggregation().tenants(policy.belonging());
    metrics.tenants().tenants(policy.belonging());
    metrics.cardinality().tenants(policy.belonging());
  }

  /**
   * Returns the components of a server, not started.
   *
   * @throws IllegalArgumentException if parts of the configuration do not fit together
   * @throws UncheckedIOException if the trace index cannot be opened
   */
  public static ServerComponents assemble(ServerConfig config, ServerPlatform platform) {
    var assembly = new ServerAssembly(config, platform);
    Clocks clocks = platform.clocks();
    return new ServerComponents(
        assembly.telemetry,
        new Components(assembly.telemetry, assembly.inOrder, clocks.nanoClock()),
        clocks,
        assembly.tenants);
  }

  private PreviewFeature preview() {
    ConfiguredPreview preview = new ConfiguredPreview(config, PreviewLimits.SERVER, clocks);
    return new PreviewFeature(
        (application, since, proposed) ->
            preview.compare(
                application,
                rules,
                read(() -> {
                  ConfigurationOptions.checkProfile(config);
                  return RulesFile.parse(proposed, config);
                }),
                since,
                new PrintWriter(Writer.nullWriter())),
        RulesConfig.MAX_FILE_BYTES,
        clocks);
  }

  private SpanPipeline spans(List<Feature> features) {
    var late = new LateSpans(access.profile().countsEvents());
    late.register(telemetry);
    List<WindowFollower> followers =
        Stream.concat(
                features.stream().flatMap(feature -> feature.followers().stream()),
                Stream.of(
                    telemetry.books(), targets, metrics.cardinality(), metrics.tenants(), late))
            .toList();
    return new SpanPipeline(
        config.rocketmq(),
        platform.brokers().consumers(config.rocketmq(), clocks),
        config.journal().lease(),
        config.window(),
        access.aggregation(),
        journal.journals(),
        followers,
        clocks,
        metrics);
  }

  /** Returns the component with its metrics in another registry than that of the server. */
  private static Component withMetrics(Component component, MetricRegistry registry) {
    component.metrics(registry);
    return new Component() {
      @Override
      public void start(Endpoint here) {
        component.start(here);
      }

      @Override
      public void close() {
        component.close();
      }
    };
  }

  private EdgesComponent edges(List<Feature> features, MetricRegistry registry) {
    List<WindowFollower> followers =
        Stream.concat(
                features.stream().flatMap(feature -> feature.edgeFollowers().stream()),
                Stream.of(telemetry.addEdges(registry)))
            .toList();
    RocketMqConfig source = config.edges().source(config.rocketmq());
    SpanPipeline pipeline =
        new SpanPipeline(
            source,
            platform.brokers().consumers(source, clocks),
            config.journal().lease(),
            config.window(),
            edgesAccess.aggregation(),
            edgesJournal.journals(),
            followers,
            clocks,
            new SpanPipelineMetrics(registry));
    return new EdgesComponent(pipeline, registry);
  }

  @Override
  public ServerConfig config() {
    return config;
  }

  @Override
  public ProfileParts profile() {
    return access.profile();
  }

  @Override
  public JournalComponent journal() {
    return journal;
  }

  @Override
  public long schema() {
    return access.aggregation().schema();
  }

  @Override
  public JournalComponent edgesJournal() {
    return edgesJournal;
  }

  @Override
  public long edgesSchema() {
    return edgesAccess.aggregation().schema();
  }

  @Override
  public void edgeQueues(EdgeQueues list) {
    if (edgesAccess != null) {
      edgesAccess.aggregation().edgeQueues(list);
    }
  }

  @Override
  public void learnt(LearntNames names) {
    access.aggregation().learnt(names);
  }

  @Override
  public LearntNames learnt() {
    return access.aggregation().learnt();
  }

  @Override
  public void rules(Rules now) {
    rules = now;
    access.aggregation().rules(now);
  }

  @Override
  public Rules parseRules(Path file, byte[] content) {
    return read(() -> RulesFile.parseApplied(file, content, config));
  }

  private static Rules read(Supplier<Rules> file) {
    try {
      return file.get();
    } catch (ConfigurationRefused e) {
      throw new ConfigException(e.getMessage().lines().toList());
    }
  }

  @Override
  public void dimensions(Rules rules) {
    access.aggregation().dimensions(rules);
  }

  @Override
  public void documents(StoredDocuments store) {
    documents = store;
  }

  @Override
  public StoredDocuments documents() {
    return documents;
  }

  @Override
  public SpanRulesInForce spanRules() {
    return access.aggregation().spanRules();
  }

  @Override
  public void checkRules(Rules rules) {
    for (Rules.OfApplications of : rules.applications()) {
      config.with(of.keys().over(rules.defaults().over(config.rules())));
    }
    rules.checkForms(config.rules());
  }

  @Override
  public void needs(Map<String, Set<String>> attributes) {
    needs = new SpanNeeds(access.aggregation().slow(), attributes);
  }

  @Override
  public SpanNeeds needs() {
    return awaitsRules ? null : needs;
  }

  @Override
  public void awaitRules() {
    awaitsRules = true;
  }

  @Override
  public void stopAwaitingRules() {
    awaitsRules = false;
  }

  @Override
  public void labels(boolean readByAll) {
    labels = readByAll;
  }

  @Override
  public void forms(boolean readByAll) {
    forms = readByAll;
    access.aggregation().measures(readByAll);
  }

  @Override
  public void variances(boolean readByAll) {
    if (config.window().variances() == WindowConfig.Variances.AUTO) {
      access.aggregation().variances(readByAll);
    }
  }

  @Override
  public Boolean forms() {
    return forms;
  }

  @Override
  public Boolean labels() {
    return labels;
  }

  @Override
  public void awaitPanes() {
    if (config.window().panes() == WindowConfig.Panes.AUTO) {
      access.aggregation().awaitPanes();
    }
  }

  @Override
  public void stopAwaitingPanes() {
    access.aggregation().stopAwaitingPanes();
  }

  @Override
  public void panes(boolean windows, boolean snapshots) {
    boolean writes = windows && config.window().panes() == WindowConfig.Panes.AUTO;
    if (writes != access.aggregation().writesPanes()) {
      log.info(
          writes
              ? "Writing windows with panes from the next window on: all servers read them"
              : "Writing windows without panes from the next window on: not all servers read them");
    }
    access.aggregation().panes(writes, snapshots);
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
  public RandomGenerator random() {
    return platform.random();
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
    boolean distinguishable =
        config.metrics().queueLabel() == QueueLabel.ALWAYS
            || access.profile().addsUpWithoutQueueLabel();
    if (!distinguishable && !saidWhyItDoesNotDecide) {
      saidWhyItDoesNotDecide = true;
      log.info(
          "This server makes no decisions for the fleet: they require"
              + " trace-etl.metrics.queue-label = always on all servers");
    }
    return distinguishable;
  }
}
