package org.traceetl.perf.simulate;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.traceetl.agent.config.AgentConfig;
import org.traceetl.perf.simulate.agent.AgentSettings;
import org.traceetl.perf.simulate.agent.Calls;
import org.traceetl.perf.simulate.agent.Sender;
import org.traceetl.perf.simulate.agent.SentSpan;
import org.traceetl.perf.simulate.agent.SimulatedAgent;
import org.traceetl.perf.simulate.broker.ClusterOptions;
import org.traceetl.perf.simulate.broker.Misbehaviour;
import org.traceetl.perf.simulate.broker.SimulatedCluster;
import org.traceetl.perf.simulate.check.Acceptance;
import org.traceetl.perf.simulate.check.AgentBooks;
import org.traceetl.perf.simulate.check.BrokerClocks;
import org.traceetl.perf.simulate.check.CompleteMinutes;
import org.traceetl.perf.simulate.check.CounterTruth;
import org.traceetl.perf.simulate.check.EdgeTruth;
import org.traceetl.perf.simulate.check.HalfEdge;
import org.traceetl.perf.simulate.check.HistorySums;
import org.traceetl.perf.simulate.check.MeasureTruth;
import org.traceetl.perf.simulate.check.Naming;
import org.traceetl.perf.simulate.check.PaneTruth;
import org.traceetl.perf.simulate.check.RegionTruth;
import org.traceetl.perf.simulate.check.SeamTruth;
import org.traceetl.perf.simulate.check.SentDocuments;
import org.traceetl.perf.simulate.check.SeriesKey;
import org.traceetl.perf.simulate.check.Sight;
import org.traceetl.perf.simulate.check.Truth;
import org.traceetl.perf.simulate.fault.Fault;
import org.traceetl.perf.simulate.fault.Installation;
import org.traceetl.perf.simulate.fault.Target;
import org.traceetl.perf.simulate.server.Scraper;
import org.traceetl.perf.simulate.server.SimulatedBackfill;
import org.traceetl.perf.simulate.server.SimulatedIndex;
import org.traceetl.perf.simulate.server.SimulatedReceiver;
import org.traceetl.perf.simulate.server.SimulatedRules;
import org.traceetl.perf.simulate.server.SimulatedServer;
import org.traceetl.perf.simulate.world.Durable;
import org.traceetl.perf.simulate.world.Host;
import org.traceetl.perf.simulate.world.Process;
import org.traceetl.perf.simulate.world.World;
import org.traceetl.proto.EdgeQueues;
import org.traceetl.proto.MalformedDecisionsException;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.features.completeness.Completeness;
import org.traceetl.server.features.history.History;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.testkit.PageSample;

/**
 * A fleet of agents and servers with its brokers and index, its senders, and what is known of the
 * spans that they sent.
 */
final class SimulatedInstallation implements Installation, Scenario.Parts {
  /** Well above journal.snapshot-interval and the longest round; bounds the memory of long runs. */
  private static final Duration RETENTION = Duration.ofHours(2);

  private static final String SPANS = "trace-spans";
  private static final String EDGES = "trace-edges";
  private static final String DECISIONS = "trace-routing";

  /** A metric of agents: the epoch of their list of queues for half-edges. */
  private static final String EDGE_LIST = "edge_queues_epoch";

  private static final int SPANS_PER_REQUEST = 10;

  /** Of every other sender. */
  private static final long GIVE_UP_NANOS = TimeUnit.MINUTES.toNanos(10);

  private static final long SUPERVISOR_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** Several steps of at most this length leave windows in the minutes that are compared. */
  private static final long SHORT_STEP_MILLIS = TimeUnit.SECONDS.toMillis(10);

  private static final long BOUNDS_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long COMPLETE_NANOS = TimeUnit.SECONDS.toNanos(20);

  /** Servers assume that no message is stored later after it was sent. */
  private static final long SENT_WITHIN_MILLIS = TimeUnit.SECONDS.toMillis(3);

  private static final int PER_MILLE = 1_000;

  /** After the first quiet point, agents have a demand while they receive spans. */
  private static final int QUIET_POINTS_UNTIL_GROUPS = 2;

  /** By then, servers have been healthy for long enough to follow changed rules. */
  private static final int QUIET_POINTS_UNTIL_REGIONS = 3;

  /** Histories date windows by the clocks of servers, and find messages by those of brokers. */
  private static final Duration AFTER_STEP = Duration.ofMinutes(70);

  /**
   * A batch that is sent twice counts if its first copy is stored, as late as clients wait for an
   * answer.
   */
  private static final long LATE_STORE_MILLIS = TimeUnit.SECONDS.toMillis(10);

  /** Short steps of clocks and their drift in the longest round. */
  private static final long CLOCKS_MILLIS = TimeUnit.MINUTES.toMillis(2);

  /** Histories count windows twice that a master loses after they were read. */
  private static final Duration AFTER_LOSS = Duration.ofMinutes(10);

  private static final double NANOS_PER_MILLI = 1e6;

  /** With those of forms before the last one, and of measures. */
  private static final int SERIES_BY_FORM = 5;

  private static final String RULES_REVISION = "rules_revision";
  private static final String RULES_WAIT = "rules_waiting";

  private final World world;
  private final Consumer<String> failures;
  private final ClusterOptions brokers;
  private final SimulatedCluster cluster;
  private final SimulatedIndex index;
  private final SimulatedReceiver receiver;
  private final SimulatedRules rules;
  private final List<SimulatedAgent> agents = new ArrayList<>();
  private final List<SimulatedServer> servers = new ArrayList<>();
  private final int usualServers;

  /** Whether the run has no faults. */
  private final boolean faultless;

  /** One for each agent. */
  private final List<Sender> senders = new ArrayList<>();

  private final List<Acceptance> acceptances = new ArrayList<>();

  /** By run of an agent: batches on its first page. */
  private final Map<String, Double> recoveredBatches = new TreeMap<>();

  private final Scraper scraper;
  private final Truth truth = new Truth(ServerSettings.BOUNDS_MILLIS);
  private final SentDocuments documents = new SentDocuments();
  private final HistorySums histories;

  /** Null if servers keep no sizes. */
  private final CounterTruth sizes;

  /** Null if no span was sampled. */
  private final CounterTruth variances;

  private final KnownSince demanded = new KnownSince();

  /** Null without half-edges. */
  private final EdgeTruth edges;

  /** That the agent knows queues of half-edges. */
  private final KnownSince listed = new KnownSince();

  /** By epoch: the queues of each list that has some. */
  private final Map<Long, Map<String, EdgeQueues.Queues>> lists = new HashMap<>();

  /** The queues of the newest list. */
  private Map<String, EdgeQueues.Queues> list = Map.of();

  /** Null if no pane is written. */
  private final PaneTruth panes;

  /** Null if no pane is written. */
  private final CompleteMinutes complete;

  /** Processes at the looks of {@link #complete} so far. */
  private final Set<String> seenServers = new HashSet<>();

  // At the last of these looks.
  private boolean wasWhole = true;
  private int lostRoutes;

  /** By the name of the agent that receives its spans. */
  private final Map<String, String> applications = new HashMap<>();

  /** When senders resumed last. */
  private long resumedMillis;

  private final long paneMillis;

  /** {@link History#mergedSpans} at the last quiet point, by server. */
  private final Map<String, Long> mergedSpans = new TreeMap<>();

  private final BrokerClocks brokerClocks = new BrokerClocks();

  /** Steps of agents' clocks that have not ended. */
  private final Map<Target, Long> steps = new TreeMap<>();

  /** By agent: its step when it started last. */
  private final Map<Target, Long> stepsAtStart = new TreeMap<>();

  /** By program that is paused: since when, by the true clock. */
  private final Map<Target, Long> pausedNanos = new TreeMap<>();

  // By which batches may arrive later than their age says, since the last quiet point.
  private long lateRequestMillis;
  private long pauseMillis;
  private long clocksMillis;

  /** {@link SimulatedCluster#readLosses} at the last comparison. */
  private int readLosses;

  private final Sight sight;

  /** Applications to which rules may add a dimension, so their series may end. */
  private final Set<String> ruled;

  /** Null if rules change nothing. */
  private final RegionTruth regions;

  /** Null if rules have no measures. */
  private final MeasureTruth measures;

  /** By backfill; empty if the run has none. */
  private final SortedMap<Target, SimulatedBackfill> backfills = new TreeMap<>();

  private final SortedMap<Target, SeamTruth> seams = new TreeMap<>();

  /** Backfills whose samples their truth has. */
  private final Set<Target> ended = new TreeSet<>();

  /** By which spans may have counted too early or too late so far. */
  private long slackMillis;

  /**
   * Whether all servers followed the newest rules at the last quiet point, and none is new since.
   */
  private boolean rulesAreFollowed;

  /**
   * Quiet points since the last one, or change of rules, at which all servers followed the rules.
   */
  private int quietPointsBehind;

  /** Spans that agents sent without what rules need, as the pages of the last quiet point say. */
  private double outdatedSpans;

  /** The last process of each server, at the last quiet point. */
  private Set<String> processes = Set.of();

  /** Quiet points since rules added a dimension that they have not taken back. */
  private int quietPointsWithRules;

  private boolean rulesAddRegion;

  /** Programs that run, or start again if they end. */
  private final Set<Target> wanted = new TreeSet<>();

  private final DemandDraw demand;
  private final EdgeDraw edgeDraw;

  /** Whether an agent has sent spans in groups by demand. */
  private boolean grouped;

  private int quietPoints;

  /**
   * @param recorded whether the run begins or ends with a recorded state
   */
  SimulatedInstallation(World world, Plan plan, boolean recorded, Consumer<String> failures) {
    this.world = world;
    this.failures = failures;
    demand = DemandDraw.of(plan, recorded);
    edgeDraw = EdgeDraw.of(plan, recorded);
    brokers = brokers(plan).withEdgeQueues(edgeDraw.queues());
    cluster = new SimulatedCluster(world, brokers);
    index = new SimulatedIndex(world);
    ruled = demand.panes() ? ruled(plan) : Set.of();
    regions = ruled.isEmpty() ? null : new RegionTruth(ruled::contains);
    boolean hasForms = regions != null && demand.forms();
    measures = hasForms ? new MeasureTruth(ruled::contains) : null;
    receiver =
        new SimulatedReceiver(
            world,
            ruled::contains,
            (series, atMillis, by) ->
                seams.values().forEach(seam -> seam.live(series, atMillis, by)));
    for (int number = 1; number <= plan.fleet().agents(); number++) {
      String name = Target.agent(number).toString();
      AgentConfig config =
          AgentSettings.draw(
              name,
              SPANS,
              demand.detail(number - 1),
              demand.bundles().get(number - 1),
              demand.lingerMillis().get(number - 1),
              world.random());
      agents.add(new SimulatedAgent(world, name, config, cluster::transports));
    }
    usualServers = plan.fleet().servers();
    faultless = plan.schedule().faults().isEmpty() && plan.from().isEmpty();
    ServerConfig config = ServerSettings.draw(demand, edgeDraw, !ruled.isEmpty(), world.random());
    List<String> names =
        IntStream.rangeClosed(1, usualServers + 1)
            .mapToObj(number -> Target.server(number).toString())
            .toList();
    rules =
        new SimulatedRules(world, names, hasForms ? DemandDraw.rules(plan.seed()).split() : null);
    for (int number = 1; number <= usualServers + 1; number++) {
      String name = names.get(number - 1);
      boolean isOther = demand.twoConfigurations() && number % 2 == 0;
      ServerConfig own = isOther ? ServerSettings.other(config) : config;
      servers.add(new SimulatedServer(world, name, own, cluster::brokers, index, receiver, rules));
    }
    if (plan.schedule().faults().stream().anyMatch(Fault.Backfill.class::isInstance)) {
      IntStream.rangeClosed(1, ruled.size()).forEach(number -> addBackfill(number, config));
    }
    int series = 0;
    Calls calls = edgeDraw.calls(plan.seed());
    // Calls share traces, whose spans may be in one batch or in several.
    boolean areSampled = demand.weights() && calls == null;
    long pauseNanos = (long) (1e9 * plan.fleet().agents() * SPANS_PER_REQUEST / plan.rate());
    for (int i = 0; i < agents.size(); i++) {
      // If rules change, a variance may end and begin again between two scrapes.
      boolean hasWeights = areSampled && !ruled.contains(application(i + 1));
      Sender.Load load =
          new Sender.Load(
              application(i + 1),
              SPANS_PER_REQUEST,
              pauseNanos,
              i % 2 == 0 ? GIVE_UP_NANOS : Long.MAX_VALUE / 2,
              demand.dimension(),
              hasForms,
              hasWeights,
              calls);
      series += load.series() * (hasForms ? SERIES_BY_FORM : 1) * (hasWeights ? 2 : 1);
      applications.put(agents.get(i).name(), application(i + 1));
      int number = i;
      senders.add(
          new Sender(
              world,
              load,
              agents.get(i),
              (span, certain, when) -> sent(number, span, certain, when)));
      acceptances.add(new Acceptance(Target.agent(i + 1).toString(), failures));
    }
    scraper =
        new Scraper(
            world,
            () -> servers,
            ServerSettings.bounds(
                plan.fleet().agents(),
                plan.fleet().brokers(),
                series,
                plan.fleet().brokers() * plan.queues(),
                hasForms),
            ruled::contains,
            failures);
    histories = new HistorySums(world.unixMillis());
    panes = demand.panes() ? new PaneTruth(world.unixMillis()) : null;
    complete = demand.panes() ? new CompleteMinutes(failures) : null;
    sizes = demand.sizes() ? new CounterTruth("size", Naming::sizes) : null;
    variances =
        areSampled && ruled.size() < agents.size()
            ? new CounterTruth("variance", Naming::variances)
            : null;
    edges =
        edgeDraw.used()
            ? new EdgeTruth(
                ServerSettings.BOUNDS_MILLIS, edgeDraw.maxWait().toNanos(), world::nanos)
            : null;
    if (edges != null) {
      cluster.observe(EDGES, (broker, queue, body) -> edges.stored(broker + "/" + queue, body));
      cluster.observe(DECISIONS, (broker, queue, body) -> lookForList(body));
    }
    resumedMillis = world.unixMillis();
    paneMillis = config.window().length().toMillis();
    sight = new Sight(Naming.OTEL, ruled::contains, failures);
  }

  private void addBackfill(int number, ServerConfig config) {
    Target target = Target.backfill(number);
    backfills.put(
        target,
        new SimulatedBackfill(
            world,
            target.toString(),
            application(number),
            config,
            rules,
            cluster::brokers,
            process -> cluster.spans(process, config.rocketmq())));
    seams.put(
        target,
        new SeamTruth(application(number), !demand.agents().get(number - 1), world.unixMillis()));
  }

  /** Returns the applications of which some fault of a plan changes the rules. */
  private static Set<String> ruled(Plan plan) {
    int most =
        plan.schedule().faults().stream()
            .mapToInt(
                fault -> fault instanceof Fault.ChangedRules changed ? changed.applications() : 0)
            .max()
            .orElse(0);
    return Set.copyOf(applications(Math.min(most, plan.fleet().agents())));
  }

  /** Returns the first applications. */
  private static List<String> applications(int count) {
    return IntStream.rangeClosed(1, count).mapToObj(SimulatedInstallation::application).toList();
  }

  /** Agents may take over a list of queues for half-edges as soon as a broker has it. */
  private void lookForList(byte[] record) {
    if (!EdgeQueues.FORMAT.begins(record)) {
      return;
    }
    try {
      EdgeQueues read = EdgeQueues.FORMAT.decode(record, world.unixMillis());
      if (read.brokers().isEmpty()) {
        listed.forget();
      } else {
        lists.put(read.epoch(), read.brokers());
      }
      if (!read.brokers().equals(list)) {
        list = read.brokers();
        edges.listChanged();
      }
    } catch (MalformedDecisionsException e) {
      failures.accept("a server wrote a list of queues that cannot be read: " + e.getMessage());
    }
  }

  /**
   * Returns a configuration that docs/install.md recommends: brokers keep what they confirmed. A
   * replicated one shows confirmed messages only, as RocketMQ does since 5.3.1 (issue 8239): what
   * others lose in two failovers within seconds may stay unnoticed, see docs/reliability.md.
   */
  private static ClusterOptions brokers(Plan plan) {
    boolean replicated = plan.fleet().replicas() > 1;
    return ClusterOptions.of(plan.fleet().brokers(), plan.fleet().replicas(), plan.queues())
        .with(
            !replicated || (plan.seed() >> 2 & 1) == 1, !replicated && (plan.seed() >> 1 & 1) == 1)
        .keeping(RETENTION);
  }

  /**
   * Returns whether brokers lost confirmed messages, after which nothing is known of what pages
   * show. Replicas without SYNC_FLUSH do so after several faults, such as the loss of power of a
   * master that no other replica follows yet.
   */
  boolean hasLostConfirmed() {
    return cluster.confirmedLosses() > 0;
  }

  /** Returns whether real brokers would have lost these messages too. */
  boolean mayLoseConfirmed() {
    return !brokers.syncFlush() || cluster.unflushedLosses() == cluster.confirmedLosses();
  }

  private void sent(int agent, SentSpan span, boolean certain, PaneTruth.Accepted when) {
    SeriesKey key = regions == null ? span.series() : span.series().withoutRegion();
    for (long i = 0; i < span.weight(); i++) {
      count(key, span, certain, when);
    }
    if (variances != null && span.weight() > 1) {
      long variance = span.weight() * (span.weight() - 1);
      variances.add(key, variance, certain && quietPoints >= QUIET_POINTS_UNTIL_GROUPS);
    }
    Process process = agents.get(agent).process();
    if (sizes != null) {
      // Without a demand from the first attempt on it may send no sizes.
      boolean hadDemand = demanded.holds(agent, process, when.fromMillis());
      sizes.add(key, span.sizeBytes(), certain && hadDemand);
    }
    for (HalfEdge half : span.halves()) {
      edges.sent(half, certain && listed.holds(agent, process, when.fromMillis()));
    }
    if (span.document() != null) {
      documents.add(span.id(), span.document(), certain);
    }
  }

  /** Adds a span once for each span that it represents. */
  private void count(SeriesKey key, SentSpan span, boolean certain, PaneTruth.Accepted when) {
    if (panes != null && certain) {
      panes.add(span.series().service(), when);
    } else if (panes != null) {
      panes.uncertain(span.series().service());
    }
    seams.values().forEach(seam -> seam.add(span.series(), certain, when));
    truth.add(key, span.durationNanos(), certain);
    if (regions != null && !span.series().region().isEmpty()) {
      regions.add(span.series());
    }
    if (measures != null) {
      measures.add(span.series(), span.durationNanos(), span.amount(), certain);
    }
  }

  /** Starts all programs and senders. */
  void start() {
    for (int number = 1; number <= agents.size(); number++) {
      start(Target.agent(number));
    }
    for (int number = 1; number <= usualServers; number++) {
      start(Target.server(number));
    }
    world.after(SUPERVISOR_NANOS, this::supervise);
    senders.forEach(Sender::start);
    scraper.start();
    world.after(BOUNDS_NANOS, this::checkBounds);
    if (complete != null) {
      world.after(COMPLETE_NANOS, this::checkComplete);
    }
  }

  /** Compares what servers show as complete with what they showed before. */
  private void checkComplete() {
    boolean isWhole = cluster.isWhole();
    boolean brokerWasAway = !isWhole || !wasWhole || cluster.lostRoutes() > lostRoutes;
    wasWhole = isWhole;
    lostRoutes = cluster.lostRoutes();
    for (SimulatedServer server : servers) {
      if (seenServers.add(server.run()) && brokerWasAway) {
        // It may not know the queues of that broker.
        complete.uncertainServer(server.run());
      }
      History history = server.history();
      Completeness completeness = server.completeness();
      if (history != null && completeness != null && completeness.isUpToDate()) {
        for (Completeness.View view : completeness.applications()) {
          complete.look(
              server.run(),
              view.name(),
              isWaitedFor(view, history) ? view.untilMillis() : null,
              world.unixMillis(),
              key -> minutes(history, key));
        }
      }
    }
    world.after(COMPLETE_NANOS, this::checkComplete);
  }

  /**
   * Returns whether the application's agent is waited for: not before its first batch after a
   * pause, and not while it is excluded or far behind, or an unknown agent is.
   */
  private boolean isWaitedFor(Completeness.View view, History history) {
    return view.named().stream()
            .map(WindowCompleteness.Agent::host)
            .noneMatch(host -> host.isEmpty() || view.name().equals(applications.get(host)))
        && minutes(history, HistorySums.Key.of(view.name())).stream()
            .anyMatch(minute -> minute.startMillis() >= resumedMillis && minute.sums().calls() > 0);
  }

  /** Reads the pages of agents at any time: what exceeds a limit now may not at a quiet point. */
  private void checkBounds() {
    for (int i = 0; i < agents.size(); i++) {
      Process process = agents.get(i).process();
      if (process != null) {
        int number = i;
        process.start("page", () -> checkPage(process, number));
      }
    }
    world.after(BOUNDS_NANOS, this::checkBounds);
  }

  private void checkPage(Process process, int number) {
    SimulatedAgent agent = agents.get(number);
    List<PageSample> page = PageSample.of(agent.page());
    long nowMillis = world.unixMillis();
    demanded.look(number, process, value(page, "demand_version") != 0, nowMillis);
    listed.look(number, process, lists.containsKey(value(page, EDGE_LIST)), nowMillis);
    grouped |= PageSample.sum(page, "trace_etl_agent_spans_grouped_total") > 0;
    double recovered =
        recoveredBatches.computeIfAbsent(process.name(), name -> AgentBooks.batches(page));
    AgentBooks.checkBounds(process.name(), page, recovered, failures);
    acceptances
        .get(number)
        .read(
            process.name(),
            world.nanos(),
            page,
            agent.disk().works(),
            senders.get(number).waitingSinceNanos());
  }

  private static long value(List<PageSample> page, String ofAgent) {
    return (long) PageSample.sum(page, "trace_etl_agent_" + ofAgent);
  }

  private boolean haveNewestList() {
    return agents.stream()
        .map(agent -> value(PageSample.of(agent.page()), EDGE_LIST))
        .allMatch(epoch -> list.equals(lists.get(epoch)));
  }

  /** Starts what ended at a step after its fault, as a supervisor does. */
  private void supervise() {
    wanted.forEach(this::start);
    world.after(SUPERVISOR_NANOS, this::supervise);
  }

  /** Returns what outlasts all processes, and what is known of it, by name. */
  SortedMap<String, Durable> durable() {
    SortedMap<String, Durable> parts = new TreeMap<>();
    parts.put("brokers", cluster);
    parts.put("index", index);
    parts.put("truth", truth);
    parts.put("documents", documents);
    parts.put("histories", histories);
    parts.put("created-times", sight);
    for (int i = 0; i < agents.size(); i++) {
      parts.put(Target.agent(i + 1).toString(), agents.get(i).disk());
    }
    return parts;
  }

  /** Decides nothing about the requests under way: the run ends here. */
  void giveUpRequests() {
    senders.forEach(Sender::giveUp);
  }

  /** Returns the number of spans that agents accepted. */
  long spans() {
    return truth.spans();
  }

  // Checks

  @Override
  public void heal() {
    cluster.heal();
    index.away(false);
    receiver.away(false);
    index.trouble(0);
    for (SimulatedAgent agent : agents) {
      agent.disk().fill(false);
      agent.disk().slow(0);
      agent.disk().failForces(false);
      agent.disk().failWrites(false);
    }
    for (int number = 1; number <= agents.size(); number++) {
      healProcess(Target.agent(number));
    }
    for (int number = 1; number <= usualServers; number++) {
      healProcess(Target.server(number));
    }
  }

  private void healProcess(Target program) {
    resume(program);
    start(program);
  }

  @Override
  public void pauseSenders() {
    senders.forEach(Sender::pause);
  }

  @Override
  public void resumeSenders() {
    resumedMillis = world.unixMillis();
    senders.forEach(Sender::resume);
  }

  @Override
  public void disturbed() {
    if (edges != null) {
      edges.disturbed();
    }
  }

  @Override
  public boolean isCertain() {
    // Histories that are not compared may lag.
    return truth.isCertain() && histories.areCompared(world.unixMillis());
  }

  @Override
  public void decide() {
    truth.settle(Naming.OTEL, pages().values());
  }

  @Override
  public void settle() {
    boolean groups = demand.published() && demand.agents().contains(true);
    if (++quietPoints == QUIET_POINTS_UNTIL_GROUPS && grouped != groups) {
      failures.accept(
          groups
              ? "no agent has sent spans in groups by demand"
              : "spans were sent in groups without a demand");
    }
    if (sizes != null) {
      sizes.settle(Naming.OTEL, pages().values());
      if (quietPoints == QUIET_POINTS_UNTIL_GROUPS && !sizes.areKnown()) {
        failures.accept("no agent has sent the sizes of spans by demand");
      }
    }
    if (variances != null) {
      variances.settle(Naming.OTEL, pages().values());
      if (quietPoints == QUIET_POINTS_UNTIL_GROUPS && !variances.areKnown()) {
        failures.accept("no series has a variance");
      }
    }
    if (edges != null) {
      edges.settle(pages().values(), haveNewestList());
      if (quietPoints == QUIET_POINTS_UNTIL_GROUPS && !edges.areStored()) {
        failures.accept("no agent has sent half-edges");
      }
    }
    quietPointsWithRules += rulesAddRegion ? 1 : 0;
    if (quietPointsWithRules >= QUIET_POINTS_UNTIL_REGIONS && !regions.areCounted()) {
      failures.accept("no span has been counted by the dimension of the rules");
    }
    if (measures != null) {
      settleMeasures();
    }
    // All were compared; the index still recognizes the IDs of its documents.
    documents.forget();
    index.forgetCreated();
    settleHistories();
  }

  private void settleMeasures() {
    Collection<List<PageSample>> pages = pagesWithRegions().values();
    measures.settle(pages);
    rulesAreFollowed = follow(pages);
    quietPointsBehind = rulesAreFollowed ? 0 : quietPointsBehind + 1;
    if (quietPointsBehind >= QUIET_POINTS_UNTIL_REGIONS) {
      failures.accept("some server does not follow the newest rules");
    }
    if (rulesAreFollowed) {
      world.timeline().note("rules", "all servers follow revision " + rules.revision());
    }
    outdatedSpans = outdatedSpans(pages);
    processes = processes();
  }

  /** Returns whether all servers count by the newest rules. */
  private boolean follow(Collection<List<PageSample>> pages) {
    long servers = pages.stream().filter(page -> ofServer(page, RULES_REVISION) != null).count();
    return servers == this.servers.stream().filter(Host::isRunning).count()
        && pages.stream()
            .filter(page -> ofServer(page, RULES_REVISION) != null)
            .allMatch(page ->
                ofServer(page, RULES_REVISION) == rules.revision()
                    && ofServer(page, RULES_WAIT) == 0);
  }

  private static Double ofServer(List<PageSample> page, String name) {
    return page.stream()
        .filter(sample -> sample.name().equals("trace_etl_" + name))
        .map(PageSample::value)
        .findFirst()
        .orElse(null);
  }

  private static double outdatedSpans(Collection<List<PageSample>> pages) {
    return pages.stream()
        .flatMap(List::stream)
        .filter(sample ->
            sample.name().equals("trace_etl_rules_outdated_spans_total")
                || sample.name().equals("trace_etl_measured_spans_total")
                    && "not_sent".equals(sample.labels().get("outcome")))
        .mapToDouble(PageSample::value)
        .sum();
  }

  /** Returns the last process of each server, whether it runs or not. */
  private Set<String> processes() {
    return servers.stream().map(SimulatedServer::run).collect(Collectors.toSet());
  }

  /** Returns the measures that all servers had in force since the last quiet point; null if not. */
  private Map<String, Set<String>> measuresInForce(Collection<List<PageSample>> pages) {
    return rulesAreFollowed
            && processes().equals(processes)
            && outdatedSpans(pages) == outdatedSpans
        ? rules.measures()
        : null;
  }

  private void compareHistories(List<String> differences) {
    for (SimulatedServer server : servers) {
      History history = server.history();
      if (history != null) {
        histories.compare(
            server.name(),
            world.unixMillis(),
            truth.sums(),
            key -> minutes(history, key),
            differences::add);
        // Servers count spans in a later pane if a window has too many panes.
        if (panes != null && history.mergedSpans() == mergedSpans.getOrDefault(server.name(), 0L)) {
          panes.compare(
              server.name(),
              world.unixMillis(),
              slackMillis(),
              key -> minutes(history, key),
              differences::add);
        }
      }
    }
  }

  /** Returns by which spans since the last quiet point may have counted too early or too late. */
  private long slackMillis() {
    return paneMillis + LATE_STORE_MILLIS + lateRequestMillis + pauseMillis + clocksMillis;
  }

  private void settleHistories() {
    servers.stream()
        .map(SimulatedServer::history)
        .filter(Objects::nonNull)
        .findFirst()
        .ifPresent(history -> {
          histories.settle(world.unixMillis(), truth.sums(), key -> minutes(history, key));
          if (panes != null) {
            panes.settle(world.unixMillis(), key -> minutes(history, key));
          }
        });
    if (complete != null) {
      complete.settle();
    }
    mergedSpans.clear();
    for (SimulatedServer server : servers) {
      History history = server.history();
      if (history != null) {
        mergedSpans.put(server.name(), history.mergedSpans());
      }
    }
    slackMillis = Math.max(slackMillis, slackMillis());
    lateRequestMillis = 0;
    pauseMillis = 0;
    clocksMillis = 0;
  }

  private static List<HistorySums.Minute> minutes(History history, HistorySums.Key key) {
    List<History.Minute> minutes =
        key.operation().isEmpty()
            ? history.minutes(key.application(), History.MINUTES)
            : history.minutes(key.application(), key.operation(), key.kind(), History.MINUTES);
    return minutes.stream()
        .map(History.Minute::interval)
        .map(minute ->
            new HistorySums.Minute(
                minute.startMillis(),
                new HistorySums.Sums(
                    minute.calls(),
                    minute.errors(),
                    Math.round(minute.durationMillis() * NANOS_PER_MILLI))))
        .toList();
  }

  private void historiesDiffer(Duration howLong) {
    long untilMillis = world.unixMillis() + howLong.toMillis();
    histories.uncertainUntil(untilMillis);
    if (panes != null) {
      panes.uncertainUntil(untilMillis);
      complete.uncertainUntil(untilMillis);
    }
  }

  @Override
  public List<String> differences() throws InterruptedException {
    if (cluster.readLosses() > readLosses) {
      readLosses = cluster.readLosses();
      historiesDiffer(AFTER_LOSS);
      if (edges != null) {
        edges.messagesLost();
      }
    }
    List<String> differences = new ArrayList<>();
    for (SimulatedServer server : servers) {
      if (server.isRunning() && !server.ready()) {
        differences.add(server.name() + " is not ready: " + new TreeMap<>(server.missing()));
      }
      if (!server.healthy()) {
        differences.add(server.name() + " is not healthy");
      }
      if (edges != null && server.isRunning() && !server.missing().isEmpty()) {
        differences.add(server.name() + " lacks " + new TreeMap<>(server.missing()));
      }
    }
    for (int i = 0; i < agents.size(); i++) {
      SimulatedAgent agent = agents.get(i);
      String name = Target.agent(i + 1).toString();
      if (!agent.isReady()) {
        differences.add(name + " is not ready");
      }
      List<PageSample> page = PageSample.of(agent.page());
      AgentBooks.checkBalance(name, page, differences::add);
      if (PageSample.sum(page, "trace_etl_agent_spool_batches") > 0) {
        differences.add(name + " has unconfirmed batches");
      }
      boolean demanded = PageSample.sum(page, "trace_etl_agent_demand_version") > 0;
      // Agents need the demand for half-edges, if for nothing else.
      if (demanded != demand.published()) {
        differences.add(name + (demanded ? " has a demand" : " has no demand"));
      }
      if (!senders.get(i).isPaused()) {
        differences.add(name + " has stored no request since all faults ended");
      }
    }
    if (!differences.isEmpty()) {
      return differences;
    }
    scraper.scrape();
    scraper.unseenBounds().forEach(metric -> differences.add("no page has " + metric));
    for (SimulatedServer server : servers) {
      Scraper.Answer answer = server.openMetrics().await();
      if (answer != null) {
        sight.read(answer.process(), samples(answer.bytes()));
      }
    }
    Map<String, Set<String>> inForce = null;
    if (regions != null) {
      Collection<List<PageSample>> withRegions = pagesWithRegions().values();
      regions.compare(Naming.OTEL, withRegions, differences::add);
      if (measures != null) {
        inForce = measuresInForce(withRegions);
        measures.compare(withRegions, inForce, differences::add);
      }
    }
    Collection<List<PageSample>> pages = pages().values();
    truth.compare(Naming.OTEL, pages, differences::add);
    if (sizes != null) {
      sizes.compare(Naming.OTEL, pages, differences::add);
    }
    if (variances != null) {
      variances.compare(Naming.OTEL, pages, differences::add);
    }
    if (edges != null) {
      edges.compare(pages, differences::add);
    }
    if (demand.panes()) {
      comparePushed(inForce, differences);
    }
    seams.keySet().forEach(target -> compareBackfill(target, differences));
    documents.compare(index.created(), differences::add);
    SentDocuments.checkExemplars(index.exemplars(), differences::add);
    if (demand.dimension()) {
      index
          .withoutPath()
          .forEach(id -> differences.add("document " + id + " lacks an attribute of its span"));
    }
    SentDocuments.checkRepeats(index.repeated(), faultless, failures);
    if (truth.isCertain()) {
      compareHistories(differences);
    }
    return differences;
  }

  private void comparePushed(Map<String, Set<String>> inForce, List<String> differences) {
    // Spans wait for the next pane until the broker's clock is there again.
    if (!brokerClocks.areSetBack(world.unixMillis())) {
      Consumer<String> atReceiver = difference -> differences.add("the receiver: " + difference);
      List<PageSample> pushed = PageSample.of(receiver.page());
      if (regions != null) {
        regions.compare(Naming.OTEL, List.of(pushed), atReceiver);
      }
      if (measures != null) {
        measures.compare(List.of(pushed), inForce, atReceiver);
      }
      List<List<PageSample>> compared = List.of(compared(pushed));
      truth.compare(Naming.OTEL, compared, atReceiver);
      if (sizes != null) {
        sizes.compare(Naming.OTEL, compared, atReceiver);
      }
      if (variances != null) {
        variances.compare(Naming.OTEL, compared, atReceiver);
      }
    }
    differences.addAll(receiver.faults());
  }

  private void compareBackfill(Target target, List<String> differences) {
    SimulatedBackfill backfill = backfills.get(target);
    if (!wanted.contains(target)) {
      return;
    }
    if (backfill.lines() == null) {
      differences.add(target + " has not ended");
      return;
    }
    SeamTruth seam = seams.get(target);
    if (ended.add(target)) {
      seam.backfilled(backfill.lines());
    }
    String line =
        seam.compare(
            world.unixMillis(),
            Math.max(slackMillis, slackMillis()),
            difference -> differences.add(target + ": " + difference));
    world.timeline().note(target.toString(), line);
  }

  /** Returns the last pages, and what ended; without the label that rules add. */
  private SortedMap<String, List<PageSample>> pages() {
    SortedMap<String, List<PageSample>> pages = pagesWithRegions();
    pages.replaceAll((process, page) -> compared(page));
    return pages;
  }

  private SortedMap<String, List<PageSample>> pagesWithRegions() {
    SortedMap<String, List<PageSample>> pages = new TreeMap<>();
    scraper.lastPages().forEach((process, page) -> pages.put(process, samples(page)));
    if (regions != null) {
      pages.put("ended", PageSample.of(scraper.ended()));
    }
    return pages;
  }

  /** Returns samples as the truth has them: each series is the sum over the label of rules. */
  private List<PageSample> compared(List<PageSample> page) {
    return regions == null
        ? page
        : page.stream().map(sample -> sample.without(SeriesKey.REGION)).toList();
  }

  private static List<PageSample> samples(byte[] page) {
    return PageSample.of(new String(page, UTF_8));
  }

  // Faults

  @Override
  public void kill(Target program, int operations) {
    wanted.remove(program);
    host(program).kill(operations);
  }

  @Override
  public void losePower(Target agent, int operations) {
    wanted.remove(agent);
    agent(agent).losePower(operations);
  }

  @Override
  public void start(Target target) {
    switch (target.role()) {
      case AGENT, SERVER, BACKFILL -> {
        wanted.add(target);
        if (target.role() == Target.Role.AGENT) {
          startAgent(target);
        } else {
          host(target).start();
        }
      }
      default -> cluster.start(target.toString());
    }
  }

  /**
   * An agent dates what an earlier run of it left by its wall clock, so steps between their starts
   * are in these dates.
   */
  private void startAgent(Target target) {
    SimulatedAgent agent = agent(target);
    Process before = agent.process();
    agent.start();
    if (agent.process() != before) {
      Long step = steps.getOrDefault(target, 0L);
      Long stepBefore = stepsAtStart.put(target, step);
      if (panes != null && stepBefore != null && !stepBefore.equals(step)) {
        histories.uncertain(application(target.number()));
        panes.uncertain(application(target.number()));
        complete.uncertain(application(target.number()));
      }
    }
  }

  private static String application(int agent) {
    return "service-" + agent;
  }

  @Override
  public void drain(Target program) {
    wanted.remove(program);
    host(program).drain();
  }

  @Override
  public void pause(Target program) {
    host(program).pause();
    pausedNanos.putIfAbsent(program, world.nanos());
  }

  @Override
  public void resume(Target program) {
    host(program).resume();
    Long sinceNanos = pausedNanos.remove(program);
    if (sinceNanos != null) {
      pauseMillis =
          Math.max(pauseMillis, TimeUnit.NANOSECONDS.toMillis(world.nanos() - sinceNanos));
    }
  }

  @Override
  public void stepClock(Target target, long millis) {
    if (target.role() != Target.Role.AGENT && Math.abs(millis) > SHORT_STEP_MILLIS) {
      historiesDiffer(AFTER_STEP);
    }
    clocksMillis = CLOCKS_MILLIS;
    if (complete != null && target.role() == Target.Role.BROKER) {
      complete.uncertain();
    }
    if (target.role() == Target.Role.AGENT) {
      steps.merge(target, millis, Long::sum);
    }
    switch (target.role()) {
      case AGENT, SERVER -> host(target).stepClock(millis);
      default -> {
        if (edges != null) {
          edges.clockStepped();
        }
        brokerClocks.step(target.toString(), millis, world.unixMillis());
        cluster.stepClock(target.toString(), millis);
      }
    }
  }

  @Override
  public void drift(Target program, double partsPerMillion) {
    host(program).drift(partsPerMillion);
    clocksMillis = CLOCKS_MILLIS;
  }

  @Override
  public void fillDisk(Target target, boolean full) {
    if (target.role() == Target.Role.BROKER) {
      cluster.fillDisk(target.toString(), full);
    } else {
      agent(target).disk().fill(full);
    }
  }

  @Override
  public void route(Target agent, int queues) {
    agent(agent).route(queues);
  }

  @Override
  public void slowDisk(Target agent, long millis) {
    agent(agent).disk().slow(TimeUnit.MILLISECONDS.toNanos(millis));
  }

  @Override
  public void failFlushes(Target agent, boolean failing) {
    agent(agent).disk().failForces(failing);
  }

  @Override
  public void failWrites(Target agent, boolean failing) {
    agent(agent).disk().failWrites(failing);
  }

  @Override
  public void cut(Target from, Target to) {
    cluster.cut(from.toString(), to.toString());
  }

  @Override
  public void join(Target from, Target to) {
    cluster.join(from.toString(), to.toString());
  }

  @Override
  public void crashBroker(Target broker) {
    cluster.crash(broker.toString());
  }

  @Override
  public void losePowerOfBroker(Target broker, long stallMillis) {
    cluster.losePower(broker.toString(), TimeUnit.MILLISECONDS.toNanos(stallMillis));
  }

  @Override
  public void crashReplica(Target broker, int replica) {
    cluster.crash(broker.toString(), replica);
  }

  @Override
  public void startReplica(Target broker, int replica) {
    cluster.start(broker.toString(), replica);
  }

  @Override
  public void lag(Target broker, int replica, long millis) {
    cluster.lag(broker.toString(), replica, TimeUnit.MILLISECONDS.toNanos(millis));
  }

  @Override
  public void failOver(Target broker, int messages) {
    cluster.failOver(broker.toString(), messages);
  }

  @Override
  public void misbehave(Target broker, Misbehaviour how, int perMille, long millis) {
    if (how == Misbehaviour.LATE_REQUEST) {
      lateRequestMillis = Math.max(lateRequestMillis, millis);
      if (complete != null && millis > SENT_WITHIN_MILLIS) {
        complete.uncertain();
      }
    }
    cluster.misbehave(
        broker.toString(),
        how,
        (double) perMille / PER_MILLE,
        TimeUnit.MILLISECONDS.toNanos(millis));
  }

  @Override
  public void readOnly(Target broker, boolean now) {
    cluster.readOnly(broker.toString(), now);
  }

  @Override
  public void rebalance() {
    cluster.rebalance();
  }

  @Override
  public void addEdgeQueue() {
    cluster.addEdgeQueue();
  }

  @Override
  public void changeRules(int count) {
    rules.change(applications(count));
    rulesAreFollowed = false;
    quietPointsBehind = 0;
    rulesAddRegion = regions != null && rules.addRegion();
    quietPointsWithRules = 0;
  }

  @Override
  public void deleteMessages(Target broker, long olderMillis) {
    cluster.deleteOld(broker.toString(), TimeUnit.MILLISECONDS.toNanos(olderMillis));
    long beforeMillis = world.unixMillis() - olderMillis;
    histories.deletedBefore(beforeMillis);
    if (panes != null) {
      panes.deletedBefore(beforeMillis);
    }
  }

  @Override
  public void indexAway(boolean away) {
    index.away(away);
    receiver.away(away);
  }

  @Override
  public void troubleIndex(int perMille) {
    index.trouble(perMille);
  }

  private SimulatedAgent agent(Target target) {
    return agents.get(target.number() - 1);
  }

  private Host host(Target program) {
    return switch (program.role()) {
      case AGENT -> agent(program);
      case BACKFILL -> backfills.get(program);
      default -> servers.get(program.number() - 1);
    };
  }

  /** Returns lines for a reader: which programs run, the state of the brokers, and what is cut. */
  List<String> describe() {
    List<String> lines = new ArrayList<>();
    lines.add("State at the end:");
    lines.add(demand.toString());
    lines.add(edgeDraw.toString());
    lines.add("Receiver of pushed series: " + receiver);
    Stream.concat(agents.stream(), servers.stream())
        .map(host -> host.name() + (host.isRunning() ? " runs" : " does not run"))
        .forEach(lines::add);
    lines.addAll(cluster.describe());
    return lines;
  }
}
