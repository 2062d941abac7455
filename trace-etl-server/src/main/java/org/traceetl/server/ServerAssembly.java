package org.traceetl.server;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.component.Component;
import org.traceetl.server.component.Components;
import org.traceetl.server.config.IndexConfig;
import org.traceetl.server.config.IndexConfig.Elasticsearch.Layout;
import org.traceetl.server.config.JournalConfig;
import org.traceetl.server.config.MetricsConfig.Profile;
import org.traceetl.server.config.MetricsConfig.QueueLabel;
import org.traceetl.server.config.OzheraConfig;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.config.TemplatesConfig;
import org.traceetl.server.consume.Aggregation;
import org.traceetl.server.consume.PipelineMetrics;
import org.traceetl.server.consume.SpanPipeline;
import org.traceetl.server.decisions.RoutingTopic;
import org.traceetl.server.decisions.SignedLog;
import org.traceetl.server.decode.MappedProfile;
import org.traceetl.server.features.discovery.Fleet;
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
import org.traceetl.server.features.pages.PagesFeature;
import org.traceetl.server.features.pages.SpanNaming;
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
import org.traceetl.server.ozhera.OzheraLayout;
import org.traceetl.server.ozhera.OzheraNaming;
import org.traceetl.server.ozhera.OzheraProfile;
import org.traceetl.server.ozhera.OzheraRules;
import org.traceetl.server.ozhera.RulesFile;
import org.traceetl.server.ozhera.RulesWatch;
import org.traceetl.server.ozhera.SpanType;
import org.traceetl.server.ozhera.delta.BrokerPlaces;
import org.traceetl.server.ozhera.delta.DeltaFeature;
import org.traceetl.server.ozhera.delta.DeltaPages;
import org.traceetl.server.queues.KnownQueues;
import org.traceetl.server.queues.QueueStatus;
import org.traceetl.server.queues.QueueWatch;
import org.traceetl.server.telemetry.ServerTelemetry;
import org.traceetl.server.web.AssembledServer;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SeriesDefinition;

/** Constructs the components of a server of one configuration, and joins them. */
final class ServerAssembly {
  private static final Logger log = LoggerFactory.getLogger(ServerAssembly.class);

  /** A call to the journal that takes longer is one whose outcome is not known. */
  static final Duration JOURNAL_TIMEOUT = Duration.ofSeconds(3);

  private static final double NANOS_PER_MILLI = 1e6;

  /** How far back a new owner replays windows that the previous owner did not give to scrapers. */
  private static final Duration READ_BACK = Duration.ofMinutes(5);

  /**
   * Sums of all series that may be kept for scrapers. Scrapers that come every so many windows are
   * at so many places.
   */
  private static final long PENDING_SUMS = 8;

  private final ServerConfig config;
  private final Clock clock;
  private final ServerTelemetry telemetry;
  private final PipelineMetrics metrics;

  /** Null but in profile ozhera. */
  private final RulesWatch rules;

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
    telemetry = new ServerTelemetry(Version.text(), config.window().idle());
    metrics = new PipelineMetrics(telemetry);
    rules = isOzhera(config) ? new RulesWatch(config.ozhera().rulesFile()) : null;
    aggregation = aggregation(config, rules);
    var counters = new JournalCounters();
    var logs = new RocketMqLogs(config.rocketmq(), config.journal().topic(), JOURNAL_TIMEOUT);
    journal =
        new JournalComponent(
            logs,
            journals(config, logs, keys(config.journal()), aggregation, counters, clock),
            counters);
    queues = new QueueWatch(logs, config.rocketmq().topic(), clock);
    SignedLog.check(config.hotspots().signing(), config.hotspots().topic());
    history = history();
    boolean decides = decides(config);
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
                ? subscribed(new HotspotDecider(routing, decisions, clock))
                : null);
    names = new LearnFeature(names(routing, decides, decisions), metrics.cardinality());
    // The order in which they start. Names before the spans, which would be counted by their own.
    List<Feature> sinks = List.of(pages(), index(), history, names);
    spans = spans(sinks);
    if (rules != null) {
      inOrder.add(rules);
    }
    inOrder.add(journal);
    inOrder.addAll(sinks);
    inOrder.addAll(List.of(spans, fleet(), queues, hotspots));
  }

  /**
   * The components of a server, yet to be started.
   *
   * @throws IllegalArgumentException if parts of the configuration do not fit together
   * @throws UncheckedIOException if the trace index cannot be opened
   */
  static AssembledServer assemble(ServerConfig config, Clock clock) {
    var assembly = new ServerAssembly(config, clock);
    return new AssembledServer(
        assembly.telemetry, new Components(assembly.telemetry, assembly.inOrder));
  }

  private static Aggregation aggregation(ServerConfig config, RulesWatch rules) {
    return new Aggregation(
        config.series(),
        config.histogram(),
        config.documents(),
        config.window(),
        config.metrics().unit(),
        config.rocketmq().messages(),
        isOzhera(config) ? new OzheraProfile(rules) : null,
        config.deduplication());
  }

  /** By the rules of now; null but in profile ozhera. */
  static MappedProfile fixedProfile(ServerConfig config) {
    if (!isOzhera(config)) {
      return null;
    }
    Path file = config.ozhera().rulesFile();
    OzheraRules fixed = file == null ? OzheraRules.defaults() : RulesFile.read(file);
    return new OzheraProfile(() -> fixed);
  }

  /** Null where messages of the journal bear no code. */
  static JournalKeys keys(JournalConfig config) {
    return config.keysFile() == null
        ? null
        : new JournalKeys(config.keysFile(), config.acceptUnsigned(), System::nanoTime);
  }

  /** The journals as a server of this configuration reads and writes them. */
  static LogJournals journals(
      ServerConfig config,
      RocketMqLogs logs,
      JournalKeys keys,
      JournalCounters counters,
      Clock clock) {
    Aggregation aggregation = aggregation(config, new RulesWatch(null));
    return journals(config, logs, keys, aggregation, counters, clock);
  }

  private static LogJournals journals(
      ServerConfig config,
      RocketMqLogs logs,
      JournalKeys keys,
      Aggregation aggregation,
      JournalCounters counters,
      Clock clock) {
    JournalConfig journal = config.journal();
    return new LogJournals(
        keys == null ? logs : new AuthenticatedLogs(logs, journal.topic(), keys, counters),
        config.rocketmq().topic(),
        config.rocketmq().consumerGroup(),
        isOzhera(config) && !config.givesDeltas()
            ? () -> aggregation.newImage().keepReceived()
            : aggregation::newImage,
        JournalTiming.system(clock, journal.lease(), journal.snapshotInterval()),
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
        clock,
        metrics);
  }

  private Feature pages() {
    if (config.givesDeltas()) {
      return new DeltaFeature(deltas(), telemetry);
    }
    return PagesFeature.of(
        isOzhera(config)
            ? new OzheraNaming(config.metrics(), config.ozhera())
            : new SpanNaming(config.metrics(), config.series(), config.histogram()),
        telemetry);
  }

  private DeltaPages deltas() {
    return new DeltaPages(
        config.ozhera(),
        config.histogram().boundsNanos().length + 1,
        config.rocketmq().consumerGroup(),
        config.window().length(),
        PENDING_SUMS * config.series().max(),
        // There is a snapshot before what is looked for.
        READ_BACK.plus(config.journal().snapshotInterval()),
        new BrokerPlaces(journal.logs(), journal.journals(), config.rocketmq().topic()),
        telemetry.timer("trace_etl_delta_page_seconds", "Time to write an answer to a scraper.")
            ::recordNanos,
        clock,
        System::nanoTime);
  }

  private IndexFeature index() {
    String group = config.rocketmq().consumerGroup() + "-index";
    IndexConfig.Elasticsearch elasticsearch = config.index().elasticsearch();
    return IndexFeature.open(
        config.index(),
        elasticsearch.layout() == Layout.OZHERA
            ? new OzheraLayout(elasticsearch)
            : ElasticsearchLayout.dataStream(elasticsearch),
        queue -> journal.journals().tail(queue, group),
        clock);
  }

  private Fleet fleet() {
    return new Fleet(config.discovery(), journal.logs()::members, System::nanoTime, clock);
  }

  private HistoryFeature history() {
    boolean ozhera = isOzhera(config);
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
                !ozhera,
                ozhera ? ServerAssembly::isOfCalls : any -> true,
                ozhera ? ServerAssembly::typeOfOzhera : ServerAssembly::kind),
            maxOperations,
            clock);
  }

  /** In profile ozhera series of calls have the buckets of the configuration, others have fewer. */
  private static boolean isOfCalls(SeriesDefinition definition) {
    String kind = definition.values().get(SeriesDefinition.SPAN_KIND);
    SpanType type = kind == null ? null : SpanType.of(Integer.parseInt(kind));
    return type != null && type.boundsMillis().equals(OzheraConfig.boundsMillis());
  }

  /** As pages have it. */
  private static String kind(int number) {
    SpanKind[] kinds = SpanKind.values();
    return "SPAN_KIND_" + kinds[number >= 0 && number < kinds.length ? number : 0];
  }

  private static String typeOfOzhera(int number) {
    SpanType type = SpanType.of(number);
    return type == null ? History.UNKNOWN_KIND : type.documentType();
  }

  /** Null where none are learnt. */
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
                clock,
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

  private static boolean isOzhera(ServerConfig config) {
    return config.metrics().profile() == Profile.OZHERA;
  }

  /**
   * A series that moves is shown by two servers for a while, and nothing but the label tells them
   * apart; deltas of profile ozhera add up without it.
   */
  private static boolean decides(ServerConfig config) {
    TemplatesConfig templates = config.series().templates();
    boolean wanted =
        config.hotspots().enabled() || templates.enabled() && templates.learn().enabled();
    if (!wanted || !config.history().enabled()) {
      return false;
    }
    boolean told = config.metrics().queueLabel() == QueueLabel.ALWAYS || config.givesDeltas();
    if (!told) {
      log.info(
          "Automatic hotspots and the learning of names are off here: they need"
              + " trace-etl.metrics.queue-label = always, on all servers");
    }
    return told;
  }
}
