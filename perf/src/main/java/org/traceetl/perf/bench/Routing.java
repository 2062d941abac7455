package org.traceetl.perf.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.Route;
import org.traceetl.agent.route.Router;
import org.traceetl.agent.route.SeriesHash;
import org.traceetl.agent.route.Topology;
import org.traceetl.perf.report.Chart;
import org.traceetl.perf.report.Results;
import org.traceetl.proto.HotspotDecisions;
import org.traceetl.proto.HotspotDecisions.Decision;
import org.traceetl.proto.LearntNames;
import org.traceetl.server.features.hotspot.HotspotPolicy;
import org.traceetl.server.features.hotspot.HotspotsConfig;
import org.traceetl.server.features.hotspot.QueueLoads;
import org.traceetl.server.window.QueueId;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * How evenly a fleet's load lies on the queues, look by look of the decider: the agents' router and
 * the servers' policy are the real ones, between them are sums instead of spans. Applications have
 * Zipf shares of the load, their operations Zipf shares of theirs. The loads: the applications as
 * they are, and the same below one that has nine tenths of all spans; that one with and without
 * spreading at random what more queues do not help.
 */
@Command(name = "routing", description = "Simulates the balance of queues with automatic hotspots.")
public final class Routing implements Callable<Integer> {
  private static final double HOT_SHARE = 0.9;
  private static final int SPANS_PER_SERIES = 8;

  /** So many that what is left of chance is below what is measured. */
  private static final int SPANS_OF_RANDOM_SERIES = 65_536;

  @Mixin private Results results;

  @Option(names = "--applications", description = "Default: ${DEFAULT-VALUE}.")
  private int applications = 5_000;

  @Option(names = "--operations", description = "Of each application (default: ${DEFAULT-VALUE}).")
  private int operations = 50;

  @Option(names = "--rate", description = "Spans a second (default: ${DEFAULT-VALUE}).")
  private double rate = 1_350_000;

  @Option(names = "--queues", description = "Of the span topic (default: ${DEFAULT-VALUE}).")
  private int queues = 24;

  @Option(names = "--servers", description = "That share the queues (default: ${DEFAULT-VALUE}).")
  private int servers = 3;

  @Option(names = "--skew", description = "Exponent of the shares (default: ${DEFAULT-VALUE}).")
  private double skew = 1;

  @Option(
      names = "--operation-skew",
      description = "The same of operations; 0: all alike (default: ${DEFAULT-VALUE}).")
  private double operationSkew = 1;

  @Option(names = "--looks", description = "Of the decider (default: ${DEFAULT-VALUE}).")
  private int looks = 60;

  @Option(names = "--help", usageHelp = true, description = "Show this.")
  private boolean help;

  private final HotspotsConfig config = config(false);

  private static HotspotsConfig config(boolean random) {
    return new HotspotsConfig(
        null, null, null, null, null, null, null, null, null, null, random, null, null);
  }

  public static void main(String... arguments) {
    System.exit(new CommandLine(new Routing()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    results.columns(
        "load", "look", "minutes", "queue_max_to_mean", "server_max_to_mean", "hotspots");
    Map<String, Object> pairs = new LinkedHashMap<>();
    pairs.put("applications", applications);
    pairs.put("series", applications * operations);
    pairs.put("spans_per_second", rate);
    pairs.put("queues", queues);
    pairs.put("heaviest_series_of_application", zipf(operations, operationSkew)[0]);
    Chart chart =
        new Chart(
            "Heaviest queue by the mean of " + queues,
            "minutes since the first look",
            "max / mean");
    simulate("zipf", new Fleet(0), config, chart, pairs);
    simulate("hot", new Fleet(HOT_SHARE), config, chart, pairs);
    simulate("hot_random", new Fleet(HOT_SHARE), config(true), chart, pairs);
    chart.write(results.file("routing.svg"));
    results.summary("routing", pairs);
    return 0;
  }

  private void simulate(
      String load, Fleet fleet, HotspotsConfig config, Chart chart, Map<String, Object> pairs) {
    Topology topology = topology(queues);
    HotspotPolicy policy = new HotspotPolicy(config);
    double[] minutes = new double[looks + 1];
    double[] balance = new double[looks + 1];
    int decisions = 0;
    int lastDecision = 0;
    for (int look = 0; look <= looks; look++) {
      QueueLoads loads = fleet.loads(topology, policy.decided());
      double[] totals = fleet.totals();
      minutes[look] = look * config.interval().toSeconds() / 60.0;
      balance[look] = maxToMean(totals);
      results.row(
          load,
          look,
          minutes[look],
          balance[look],
          maxToMean(byServer(totals)),
          policy.decided().size());
      if (look == 0) {
        pairs.put(load + "_before", balance[0]);
        pairs.put(load + "_servers_before", maxToMean(byServer(totals)));
        pairs.put(load + "_moved_by_a_queue", fleet.movedByAQueue(policy.decided()));
      }
      if (policy.look(loads, name -> false, look)) {
        decisions++;
        lastDecision = look;
      }
    }
    pairs.put(load + "_after", balance[looks]);
    pairs.put(load + "_servers_after", maxToMean(byServer(fleet.totals())));
    pairs.put(load + "_moved_by_a_queue_after", fleet.movedByAQueue(policy.decided()));
    pairs.put(load + "_queues_per_series", fleet.queuesPerSeries(topology, policy.decided()));
    pairs.put(load + "_hotspots", policy.decided().size());
    pairs.put(load + "_decisions", decisions);
    pairs.put(load + "_settled_minutes", minutes[lastDecision]);
    chart.line(load.replace('_', ' '), minutes, balance);
  }

  /** Queues in turns, as RocketMQ's averaging gives them out: each server a stretch of them. */
  private double[] byServer(double[] totals) {
    double[] sums = new double[servers];
    int at = 0;
    for (int server = 0; server < servers; server++) {
      int share = totals.length / servers + (server < totals.length % servers ? 1 : 0);
      for (int i = 0; i < share; i++) {
        sums[server] += totals[at++];
      }
    }
    return sums;
  }

  private static double maxToMean(double[] values) {
    return Arrays.stream(values).max().orElse(0)
        / Arrays.stream(values).average().orElse(Double.NaN);
  }

  private static Topology topology(int queues) {
    return new Topology(
        IntStream.range(0, queues).mapToObj(i -> new BrokerQueue("broker-a", i)).toList());
  }

  private static double[] zipf(int count, double skew) {
    double[] shares = IntStream.range(0, count).mapToDouble(i -> Math.pow(i + 1, -skew)).toArray();
    double sum = Arrays.stream(shares).sum();
    return Arrays.stream(shares).map(share -> share / sum).toArray();
  }

  /** All agents as one: they all route alike. */
  private final class Fleet {
    private final String[] names = new String[applications];
    private final double[] shares;
    private final double[] ofOperation = zipf(operations, operationSkew);
    private final Map<String, Decision> laidOutBy = new HashMap<>();
    private final Map<String, double[]> rates = new HashMap<>();
    private final SpanView span = new SpanView();
    private final SeriesHash seriesHash = new SeriesHash();

    /**
     * @param hotShare of the first application; 0: as the others
     */
    Fleet(double hotShare) {
      shares = zipf(applications, skew);
      if (hotShare > 0) {
        double others = 1 - shares[0];
        for (int i = 1; i < applications; i++) {
          shares[i] *= (1 - hotShare) / others;
        }
        shares[0] = hotShare;
      }
      Arrays.setAll(names, i -> "application-" + i);
    }

    /** The load as it lies when all agents follow these decisions. */
    QueueLoads loads(Topology topology, Map<String, Decision> decided) {
      Router router = router(decided);
      for (int a = 0; a < applications; a++) {
        Decision decision = decided.get(names[a]);
        if (!rates.containsKey(names[a]) || !Objects.equals(decision, laidOutBy.get(names[a]))) {
          boolean random = decision != null && decision.random();
          Route route = route(router, names[a], topology);
          rates.put(names[a], laidOut(route, topology, shares[a], random));
          laidOutBy.put(names[a], decision);
        }
      }
      List<QueueId> ids =
          topology.queues().stream().map(q -> new QueueId(q.broker(), q.id())).toList();
      return new QueueLoads(ids, rates);
    }

    double[] totals() {
      double[] totals = new double[queues];
      rates
          .values()
          .forEach(ofApplication ->
              Arrays.setAll(totals, queue -> totals[queue] + ofApplication[queue]));
      return totals;
    }

    private double[] laidOut(Route route, Topology topology, double share, boolean random) {
      double[] perQueue = new double[topology.queues().size()];
      int spans = random ? SPANS_OF_RANDOM_SERIES : 1;
      for (int operation = 0; operation < operations; operation++) {
        operation(operation);
        for (int i = 0; i < spans; i++) {
          nextSpan();
          BrokerQueue queue = route.queue(route.candidate(span, seriesHash));
          perQueue[queue.id()] += rate * share * ofOperation[operation] / spans;
        }
      }
      return perQueue;
    }

    private void nextSpan() {
      span.spanId += 0x9e3779b97f4a7c15L;
      span.traceIdLow += 0xd1b54a32d192ed03L;
    }

    private void operation(int operation) {
      span.name = ("GET /operation" + operation).getBytes(UTF_8);
      span.nameLength = span.name.length;
      span.kind = 2;
    }

    private Router router(Map<String, Decision> decided) {
      return new Router(
          RoutingRules.defaults(), new HotspotDecisions(1, 1, decided), LearntNames.NONE);
    }

    private Route route(Router router, String application, Topology topology) {
      byte[] name = application.getBytes(UTF_8);
      return router.route(name, 0, name.length, topology);
    }

    /** Part of the series that another queue makes move. */
    double movedByAQueue(Map<String, Decision> decided) {
      Router router = router(decided);
      Topology now = topology(queues);
      Topology then = topology(queues + 1);
      long moved = 0;
      for (String name : names) {
        Route from = route(router, name, now);
        Route to = route(router, name, then);
        for (int operation = 0; operation < operations; operation++) {
          operation(operation);
          moved +=
              from.queue(from.candidate(span, seriesHash))
                      .equals(to.queue(to.candidate(span, seriesHash)))
                  ? 0
                  : 1;
        }
      }
      return (double) moved / applications / operations;
    }

    /** Mean number of queues that spans of one series go to. */
    double queuesPerSeries(Topology topology, Map<String, Decision> decided) {
      Router router = router(decided);
      long used = 0;
      for (String name : names) {
        Route route = route(router, name, topology);
        for (int operation = 0; operation < operations; operation++) {
          operation(operation);
          Set<Integer> candidates = new HashSet<>();
          for (int i = 0; i < SPANS_PER_SERIES; i++) {
            nextSpan();
            candidates.add(route.candidate(span, seriesHash));
          }
          used += candidates.size();
        }
      }
      return (double) used / applications / operations;
    }
  }
}
