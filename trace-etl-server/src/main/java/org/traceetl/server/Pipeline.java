package org.traceetl.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.proto.LearntNames;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.config.JournalConfig;
import org.traceetl.server.config.MetricsConfig.Profile;
import org.traceetl.server.config.MetricsConfig.QueueLabel;
import org.traceetl.server.config.SigningConfig;
import org.traceetl.server.config.TemplatesConfig;
import org.traceetl.server.consume.Aggregation;
import org.traceetl.server.consume.SpanPipeline;
import org.traceetl.server.decisions.DecisionLog;
import org.traceetl.server.decisions.SignedLog;
import org.traceetl.server.decode.MappedProfile;
import org.traceetl.server.delta.DeltaPages;
import org.traceetl.server.expose.OzheraNaming;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.expose.SpanPages;
import org.traceetl.server.features.discovery.Fleet;
import org.traceetl.server.features.history.History;
import org.traceetl.server.features.history.HistoryFollower;
import org.traceetl.server.features.hotspot.HotspotDecider;
import org.traceetl.server.features.hotspot.Hotspots;
import org.traceetl.server.features.hotspot.HotspotsConfig;
import org.traceetl.server.features.index.TraceIndex;
import org.traceetl.server.features.learn.NameDecider;
import org.traceetl.server.journal.AuthenticatedLogs;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalKeys;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.LogJournals;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.RocketMqLogs;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.ozhera.OzheraProfile;
import org.traceetl.server.ozhera.OzheraRules;
import org.traceetl.server.ozhera.RulesFile;
import org.traceetl.server.ozhera.RulesWatch;
import org.traceetl.server.queues.KnownQueues;
import org.traceetl.server.queues.QueueStatus;
import org.traceetl.server.queues.QueueWatch;
import org.traceetl.server.rocketmq.Announcement;
import org.traceetl.server.rocketmq.Endpoint;
import org.traceetl.server.telemetry.ServerTelemetry;
import org.traceetl.server.web.Service;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * All parts of one server, constructed and joined here; started against the flow of spans, drained
 * with it.
 */
final class Pipeline implements Service {
  private static final Logger log = LoggerFactory.getLogger(Pipeline.class);

  /** A call to the journal that takes longer is one whose outcome is not known. */
  static final Duration JOURNAL_TIMEOUT = Duration.ofSeconds(3);

  private static final int MOST_HOTSPOTS_IN_METRICS = 50;

  /**
   * Windows of so long before a take are given to scrapers that the former owner did not give them.
   */
  private static final Duration READ_BACK = Duration.ofMinutes(5);

  /**
   * Sums of all series that may be kept for scrapers. Scrapers that come every so many windows are
   * at so many places.
   */
  private static final long PENDING_SUMS = 8;

  private final ServerTelemetry telemetry;

  /** Of profile ozhera; without a file in any other one. */
  private final RulesWatch rules;

  /** Null where there are {@link #deltas}. */
  private final SpanPages pages;

  /** Null but in profile ozhera with deltas. */
  private final DeltaPages deltas;

  private final JournalCounters journalCounters = new JournalCounters();
  private final RocketMqLogs logs;
  private final LogJournals journals;
  private final Sinks sinks;

  /** Null where they are disabled. */
  private final HotspotDecider hotspots;

  /** Null where none are learnt. */
  private final NameDecider names;

  private final SpanPipeline spans;
  private final ServerConfig config;
  private final Fleet fleet;
  private final QueueWatch queues;

  /**
   * @throws IllegalArgumentException if parts of the configuration do not fit together
   * @throws UncheckedIOException if the trace index cannot be opened
   */
  Pipeline(ServerConfig config, Clock clock) {
    this.config = config;
    telemetry = new ServerTelemetry(Version.text(), config.window().idle());
    rules = new RulesWatch(isOzhera(config) ? config.ozhera().rulesFile() : null);
    Aggregation aggregation = aggregation(config, rules);
    logs = new RocketMqLogs(config.rocketmq(), config.journal().topic(), JOURNAL_TIMEOUT);
    journals = journals(config, logs, keys(config.journal()), aggregation, journalCounters, clock);
    deltas = config.givesDeltas() ? deltas(config, clock) : null;
    pages = deltas == null ? spanPages(config) : null;
    // What they look at is what the history's follower reads.
    boolean decides = decides(config);
    SignedLog.check(config.hotspots().signing(), config.hotspots().topic());
    HotspotsConfig routing = config.hotspots().over(config.window().length());
    DecisionLog decisions =
        new RoutingTopic(routing.topic(), config.rocketmq().topic(), routing.signing());
    hotspots = decides && routing.enabled() ? new HotspotDecider(routing, decisions, clock) : null;
    TemplatesConfig templates = config.series().templates();
    names =
        templates.enabled() && templates.learn().enabled()
            ? new NameDecider(
                routing.topic(),
                routing.interval(),
                config.series(),
                decides,
                decisions,
                clock,
                aggregation::learnt)
            : null;
    sinks =
        new Sinks(config, logs, journals, aggregation.schema(), new Deciders(), telemetry, clock);
    List<WindowFollower> followers =
        new ArrayList<>(
            List.of(deltas == null ? pages : deltas, telemetry.books(), telemetry.cardinality()));
    followers.addAll(sinks.followers());
    spans =
        new SpanPipeline(
            config.rocketmq(),
            config.journal().lease(),
            config.window(),
            aggregation,
            journals,
            followers,
            clock,
            telemetry.pipeline());
    fleet = new Fleet(config.discovery(), logs::members, System::nanoTime, clock);
    queues = new QueueWatch(new SpanQueues(logs, config.rocketmq().topic()), clock);
    observeQueues();
    observeDiscovery();
    observeJournal();
    if (deltas == null) {
      observePages();
    } else {
      observeDeltas();
    }
    if (isOzhera(config)) {
      observeRules();
    }
    if (hotspots != null) {
      observeHotspots();
    }
    if (names != null) {
      observeNames();
    }
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

  private SpanPages spanPages(ServerConfig config) {
    return new SpanPages(
        isOzhera(config)
            ? new OzheraNaming(config.metrics(), config.ozhera())
            : new SpanNaming(config.metrics(), config.series(), config.histogram()),
        System::nanoTime,
        telemetry.timer(
                "trace_etl_page_render_seconds", "Time to render the pages anew after a window.")
            ::recordNanos);
  }

  private DeltaPages deltas(ServerConfig config, Clock clock) {
    return new DeltaPages(
        config.ozhera(),
        config.histogram().boundsNanos().length + 1,
        config.rocketmq().consumerGroup(),
        config.window().length(),
        PENDING_SUMS * config.series().max(),
        // There is a snapshot before what is looked for.
        READ_BACK.plus(config.journal().snapshotInterval()),
        new BrokerPlaces(logs, journals, config.rocketmq().topic()),
        telemetry.timer("trace_etl_delta_page_seconds", "Time to write an answer to a scraper.")
            ::recordNanos,
        clock,
        System::nanoTime);
  }

  /** Those who look at what the whole fleet counts. */
  private final class Deciders implements HistoryFollower.Listener {
    @Override
    public void window(SealedWindow window) {
      if (hotspots != null) {
        hotspots.window(window);
      }
      if (names != null) {
        names.window(window);
      }
    }

    @Override
    public void series(QueueImage image) {
      if (names != null) {
        names.series(image);
      }
    }
  }

  /** What brokers say of the spans' queues. */
  private record SpanQueues(RocketMqLogs logs, String topic) implements QueueWatch.Brokers {
    @Override
    public Set<QueueId> queues() throws IOException, InterruptedException {
      return logs.readableSpanQueues();
    }

    @Override
    public long end(QueueId queue) throws IOException, InterruptedException {
      return logs.open(topic, queue).end();
    }

    @Override
    public Collection<String> members() throws IOException, InterruptedException {
      return logs.members();
    }
  }

  /** Where the decisions stand, and what this server owns. */
  private final class RoutingTopic implements DecisionLog {
    private final String topic;
    private final String spanTopic;
    private final SigningConfig signing;

    RoutingTopic(String topic, String spanTopic, SigningConfig signing) {
      this.topic = topic;
      this.signing = signing;
      this.spanTopic = spanTopic;
    }

    @Override
    public QueueId place() throws IOException, InterruptedException {
      return logs.lowest(topic);
    }

    @Override
    public JournalLog open(QueueId place) {
      return new SignedLog(logs.open(topic, place), topic, signing);
    }

    @Override
    public Set<QueueId> queues() throws IOException, InterruptedException {
      return logs.spanQueues();
    }

    @Override
    public long end(QueueId queue) throws IOException, InterruptedException {
      return logs.open(spanTopic, queue).end();
    }

    @Override
    public Set<QueueId> owned() {
      return spans.queues().stream().map(QueueStatus::queue).collect(Collectors.toSet());
    }

    @Override
    public boolean upToDate() {
      return sinks.history().upToDate();
    }
  }

  @Override
  public SpanPages pages() {
    return pages;
  }

  @Override
  public DeltaPages deltas() {
    return deltas;
  }

  @Override
  public ServerTelemetry telemetry() {
    return telemetry;
  }

  @Override
  public TraceIndex index() {
    return sinks.index();
  }

  @Override
  public History history() {
    return sinks.history();
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

  @Override
  public Hotspots hotspots() {
    return hotspots == null ? null : hotspots.picture();
  }

  @Override
  public KnownQueues queues() {
    Set<QueueId> growing =
        hotspots == null
            ? Set.of()
            : hotspots.picture().behind().stream()
                .filter(Hotspots.Queue::growing)
                .map(Hotspots.Queue::queue)
                .collect(Collectors.toSet());
    return new KnownQueues(spans.queues(), queues.seen(), growing, config.series().max());
  }

  @Override
  public LearntNames learntNames() {
    return names == null ? LearntNames.NONE : names.current();
  }

  @Override
  public Fleet fleet() {
    return fleet;
  }

  @Override
  public boolean alive() {
    return (pages == null ? deltas.running() : pages.running())
        && spans.alive()
        && sinks.alive()
        && fleet.alive()
        && queues.alive()
        && (hotspots == null || hotspots.alive())
        && (names == null || names.alive());
  }

  @Override
  public Map<String, String> missing() {
    return spans.missing();
  }

  @Override
  public boolean ready() {
    return spans.ready();
  }

  @Override
  public void start(InetSocketAddress open, boolean tls) {
    rules.start();
    if (pages != null) {
      pages.start();
    }
    try {
      logs.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (deltas != null) {
      deltas.start();
    }
    sinks.start();
    if (names != null) {
      // Before the first span, as far as can be: it would be counted by its own name.
      names.start();
    }
    Endpoint here =
        Announcement.own(config.discovery().address(), open, tls, config.rocketmq().nameServer());
    spans.start(here);
    fleet.start(here);
    queues.start();
    if (hotspots != null) {
      hotspots.start();
    }
  }

  @Override
  public void drain(Duration within) {
    long deadlineNanos = System.nanoTime() + within.toNanos();
    spans.drain(within);
    try {
      sinks.drain(left(deadlineNanos));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    if (hotspots != null) {
      hotspots.close();
    }
    if (names != null) {
      names.close();
    }
    spans.close();
    fleet.close();
    queues.close();
    sinks.close();
    if (deltas != null) {
      // While the brokers can still be told.
      deltas.close();
    }
    journals.close();
    if (pages != null) {
      pages.close();
    }
    rules.close();
  }

  private static Duration left(long deadlineNanos) {
    return Duration.ofNanos(Math.max(0, deadlineNanos - System.nanoTime()));
  }

  private void observeQueues() {
    queueGauge("lag_messages", "Messages of a queue not read yet.", QueueStatus::lag);
    queueGauge("series", "Live series of a queue.", QueueStatus::series);
    queueGauge(
        "symbols", "Different strings that a queue's series are made of.", QueueStatus::symbols);
    queueGauge("agents", "Agents of a queue whose batches are remembered.", QueueStatus::agents);
    telemetry.gauge(
        "trace_etl_series_left",
        "Series that may still be made in this process.",
        spans::seriesLeft);
    telemetry.gauge(
        "trace_etl_ready", "1 if /ready answers 200, else 0.", () -> spans.ready() ? 1 : 0);
    telemetry.gauge(
        "trace_etl_missing_queues",
        "Queues given to this server that it does not read yet; /ready says why.",
        () -> spans.missing().size());
  }

  private void queueGauge(String what, String help, Function<QueueStatus, Number> value) {
    telemetry.gauge(
        "trace_etl_queue_" + what,
        help,
        "queue",
        () ->
            spans.queues().stream()
                .collect(
                    Collectors.toMap(
                        status -> status.queue().toString(), value, (first, second) -> second)));
  }

  private void observeDiscovery() {
    telemetry.gauge(
        "trace_etl_discovery_servers",
        "Servers that /api/targets lists; 0 while no broker has answered yet.",
        () -> fleet.servers().map(List::size).orElse(0));
    telemetry.gauge(
        "trace_etl_discovery_current",
        "1 if a broker has told at the last look which servers there are, else 0: the list is the"
            + " last known one.",
        () -> fleet.current() ? 1 : 0);
    telemetry.gauge(
        "trace_etl_discovery_left_out",
        "Members of the consumer group that /api/targets does not list.",
        "reason",
        fleet::leftOut);
  }

  private void observeJournal() {
    telemetry.counter(
        "trace_etl_journal_messages_total",
        "Messages that the journal has acknowledged.",
        journalCounters::appendedMessages);
    telemetry.counter(
        "trace_etl_journal_bytes_total",
        "Bytes of the messages that the journal has acknowledged.",
        journalCounters::appendedBytes);
    telemetry.counter(
        "trace_etl_journal_rejected_total",
        "Messages and records of the journal that do not count, each time that one is read.",
        "reason",
        journalCounters::rejections);
    telemetry.counter(
        "trace_etl_journal_histories_lost_total",
        "Queues whose journal lacked what is needed to go on: their counters began anew.",
        journalCounters::lostHistories);
  }

  private void observeHotspots() {
    telemetry.gauge(
        "trace_etl_hotspot_decider",
        "1 if this server decides about hotspots, else 0.",
        () -> hotspots.picture().state() == Hotspots.State.DECIDER ? 1 : 0);
    telemetry.gauge(
        "trace_etl_hotspot_epoch",
        "Epoch of the decisions in force; 0 for none.",
        () -> hotspots.picture().epoch());
    telemetry.gauge(
        "trace_etl_hotspot_queue_max_to_mean",
        "Spans a second that arrive on the heaviest queue by the mean of all, at the last look.",
        () -> hotspots.picture().maxToMean());
    telemetry.gauge(
        "trace_etl_hotspot_queues",
        "Queues of the applications that live on more than by default; of those with most load.",
        "application",
        () ->
            hotspots.picture().applications().stream()
                .filter(application -> application.sinceMillis() != 0)
                .limit(MOST_HOTSPOTS_IN_METRICS)
                .collect(
                    Collectors.toMap(
                        Hotspots.Application::application, Hotspots.Application::queues)));
    telemetry.gauge(
        "trace_etl_hotspot_lag_spans",
        "Spans that wait to be counted, about, those of open windows among them; of applications"
            + " that live on more queues, and of those with most load.",
        "application",
        () ->
            hotspots.picture().applications().stream()
                .limit(MOST_HOTSPOTS_IN_METRICS)
                .collect(
                    Collectors.toMap(
                        Hotspots.Application::application, Hotspots.Application::lag)));
    telemetry.counter(
        "trace_etl_hotspot_decisions_total",
        "Decisions about hotspots that this server has written.",
        hotspots::decided);
    telemetry.counter(
        "trace_etl_hotspot_decisions_lost_total",
        "Decisions of this server that do not hold, as another server's came before.",
        hotspots::lost);
    telemetry.counter(
        "trace_etl_hotspot_records_refused_total",
        "Records in the topic of the decisions that could not be read.",
        hotspots::refused);
  }

  private void observeNames() {
    telemetry.gauge(
        "trace_etl_learnt_names_epoch",
        "Epoch of the learnt names that are in force; 0 for none.",
        () -> names.current().epoch());
    telemetry.gauge(
        "trace_etl_learnt_name_rules",
        "Rules by which span names are joined, as they were learnt.",
        () -> names.current().rules());
    telemetry.counter(
        "trace_etl_learnt_names_forgotten_total",
        "Times that what was known of an application's names was forgotten, for there were too many.",
        names::forgotten);
    telemetry.counter(
        "trace_etl_learnt_names_records_refused_total",
        "Records in the topic of the decisions that could not be read, where names were looked for.",
        names::refused);
  }

  private void observeRules() {
    telemetry.gauge(
        "trace_etl_ozhera_rules_refused",
        "1 if the rules file of profile ozhera is wrong and older rules are in force, else 0.",
        () -> rules.isRefused() ? 1 : 0);
    telemetry.counter(
        "trace_etl_ozhera_rules_reloads_total",
        "Changes of the rules file of profile ozhera.",
        "result",
        rules::reloads);
  }

  private void observeDeltas() {
    hiddenQueues(() -> deltas.totals().hidden());
    foldedWindows(() -> deltas.totals().windows(), () -> deltas.totals().unknownRows());
    telemetry.gauge(
        "trace_etl_delta_scrapers",
        "Scrapers that are given windows.",
        () -> deltas.totals().missedMessages().size());
    telemetry.gauge(
        "trace_etl_delta_doubted_scrapers",
        "Scrapers that asked from several places in turn of late: if they are several, each gets a"
            + " part.",
        () -> deltas.totals().doubted());
    telemetry.counter(
        "trace_etl_delta_scrapers_forgotten_total",
        "Scrapers forgotten, the longest silent first, because too many series were kept.",
        () -> deltas.totals().forgottenForRoom());
    telemetry.counter(
        "trace_etl_delta_answers_total",
        "Answers to scrapers that were written to the end.",
        () -> deltas.totals().delivered());
    telemetry.counter(
        "trace_etl_delta_answers_failed_total",
        "Answers to scrapers that were not; what was in them is part of the next ones.",
        () -> deltas.totals().failed());
    telemetry.counter(
        "trace_etl_delta_bytes_total",
        "Bytes of the answers to scrapers, before compression.",
        () -> deltas.totals().bytes());
    telemetry.counter(
        "trace_etl_delta_missed_messages_total",
        "Messages of spans whose counts a scraper cannot be given any more: it was away for too"
            + " long.",
        "scraper",
        () -> deltas.totals().missedMessages());
    telemetry.counter(
        "trace_etl_delta_place_failures_total",
        "Calls of brokers about scrapers' places that failed; tried again.",
        deltas::placeFailures);
    telemetry.gauge(
        "trace_etl_delta_label_sets",
        "Different sets of labels that an answer may have.",
        () -> deltas.totals().labelSets());
    telemetry.gauge(
        "trace_etl_delta_pending_series",
        "Series kept for scrapers that were not given them, counted in each sum that is kept.",
        () -> deltas.totals().pendingSeries());
  }

  private void observePages() {
    telemetry.gauge("trace_etl_page_series", "Series on the page.", () -> pages.totals().series());
    hiddenQueues(() -> pages.totals().hidden());
    telemetry.counter(
        "trace_etl_lease_expiries_total",
        "Times that a queue left the page because its lease had run out.",
        () -> pages.totals().expiries());
    telemetry.gauge(
        "trace_etl_page_bytes",
        "Size of the span families on each page that is kept up to date.",
        "encoding",
        () ->
            pages.pageBytes().entrySet().stream()
                .collect(Collectors.toMap(e -> e.getKey().label(), Map.Entry::getValue)));
    foldedWindows(() -> pages.totals().windows(), () -> pages.totals().unknownRows());
  }

  private void hiddenQueues(DoubleSupplier hidden) {
    telemetry.gauge(
        "trace_etl_hidden_queues",
        "Queues whose series are not on the page: a former owner may show them, or the lease has"
            + " run out.",
        hidden);
  }

  private void foldedWindows(DoubleSupplier windows, DoubleSupplier unknownRows) {
    telemetry.counter(
        "trace_etl_windows_folded_total", "Windows whose counts are on the page.", windows);
    telemetry.counter(
        "trace_etl_fold_unknown_rows_total",
        "Rows of windows that belonged to no series: 0 unless something is broken.",
        unknownRows);
  }
}
