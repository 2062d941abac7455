package org.traceetl.perf.bench;

import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.traceetl.perf.bench.edges.CallTrees;
import org.traceetl.perf.bench.edges.CallTrees.Phase;
import org.traceetl.perf.bench.edges.Edge;
import org.traceetl.perf.bench.edges.Expected;
import org.traceetl.perf.bench.edges.Graph;
import org.traceetl.perf.bench.edges.Rule;
import org.traceetl.perf.bench.edges.Tally;
import org.traceetl.perf.bench.load.GrpcSender;
import org.traceetl.perf.bench.load.OtlpSender;
import org.traceetl.testkit.PageSample;
import org.traceetl.testkit.Ports;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Compares the service graph of trace-etl with that of the OpenTelemetry Collector, edge by edge,
 * on the same bytes in the same order. Each difference must follow from a {@link Rule}. Three
 * Collectors that share the spans by service get the same bytes, and three more of which one is
 * killed and started again; so is the server of trace-etl.
 */
@Command(
    name = "edges",
    description = {
      "Compares the service graphs of trace-etl and of the OpenTelemetry Collector on the same call"
          + " trees of 50 applications: requests, failed requests and both histograms of each edge.",
      "",
      "Three more Collectors share the same spans by service, and three others do while one of them"
          + " is killed and started again. The server of trace-etl is killed and started again at"
          + " the same time.",
      "",
      "Fails if a difference between trace-etl and one Collector follows from no rule.",
      ""
    })
final class EdgeComparison extends Measurement {
  private static final Duration WINDOW = Duration.ofSeconds(2);
  private static final EdgeLimits EDGES =
      new EdgeLimits(Duration.ofSeconds(30), 500_000, Duration.ofSeconds(1));

  /** The time of all spans that are not late; it is half over when programs are killed. */
  private static final Duration FIRST = Duration.ofSeconds(8);

  private static final Duration LATER = Duration.ofSeconds(2);

  /** After this time, open halves have expired. */
  private static final Duration EXPIRY = EDGES.maxWait().plusSeconds(10);

  private static final Duration SEND_LIMIT = Duration.ofSeconds(30);
  private static final Duration READY_LIMIT = Duration.ofMinutes(2);
  private static final Duration PAGE_LIMIT = Duration.ofMinutes(2);
  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final String UNPAIRED = "traces_service_graph_unpaired_spans_total";
  private static final String EQUAL = "equal";
  private static final String UNEXPLAINED = "UNEXPLAINED";

  @Mixin private Installed installed;
  @Mixin private BuiltCollector collector;
  @Mixin private RunFolder folder;

  @Option(names = "--trees", description = "Call trees (default: ${DEFAULT-VALUE}).")
  private int trees = 1_000;

  @Option(
      names = "--seed",
      description = "Of the call trees; equal seeds give equal trees (default: ${DEFAULT-VALUE}).")
  private long seed = 1;

  private final HttpClient http = HttpClient.newHttpClient();
  private final Ports ports = new Ports();
  private final Map<String, Object> summary = new LinkedHashMap<>();

  @Override
  protected void measure() throws Exception {
    if (trees < 1) {
      throw new IllegalArgumentException("--trees=" + trees + " must be at least 1");
    }
    results.columns(
        "client server connection_type verdict requests collector_requests failed collector_failed"
            + " server_durations collector_server_durations client_durations"
            + " collector_client_durations");
    try {
      folder.run("edges", this::run);
    } finally {
      http.shutdownNow();
    }
  }

  private void run(Path data) throws Exception {
    CallTrees calls = new CallTrees(seed, trees);
    try (TraceEtl ours = TraceEtl.withEdges(data, ports, installed, List.of(), WINDOW, EDGES);
        BalancedCollectors one = collectors("one", 1, data);
        BalancedCollectors three = collectors("three", 3, data);
        BalancedCollectors killed = collectors("killed", 3, data)) {
      ours.start(http);
      one.start(http);
      three.start(http);
      killed.start(http);
      try (OtlpSender sender = new GrpcSender(ours.otlpPort(), 1)) {
        Targets targets =
            export ->
                List.of(sender, one.sender(export), three.sender(export), killed.sender(export));
        List<CallTrees.Export> first = calls.exports(Phase.FIRST);
        int half = first.size() / 2;
        send(first.subList(0, half), FIRST.dividedBy(2), targets);
        ours.server().kill();
        ours.server().start();
        killed.killFirst(http);
        send(first.subList(half, first.size()), FIRST.dividedBy(2), targets);
        send(calls.exports(Phase.LATE), LATER, targets);
        sendFurther(calls, targets);
        send(calls.exports(Phase.TOO_LATE), LATER, targets);
        sendFurther(calls, targets);
      }
      ours.server().awaitReady(http, READY_LIMIT);
      Expected expected = calls.expected();
      List<PageSample> page = awaitPages(expected, ours, one);
      Graph graph = Graph.of(page);
      List<String> unexplained = compare(expected, graph, one.graph(http));
      long unpaired = (long) PageSample.sum(page, UNPAIRED);
      summary.put("unpaired_spans", unpaired);
      if (unpaired != expected.unpairedSpans()) {
        unexplained.add(
            "%d unpaired spans in place of %d".formatted(unpaired, expected.unpairedSpans()));
      }
      share("our", expected.ours(), graph);
      share("one", expected.collectors(), one.graph(http));
      share("three", expected.collectors(), three.graph(http));
      share("three_killed", expected.collectors(), killed.graph(http));
      results.summary("edges", summary);
      if (!unexplained.isEmpty()) {
        throw new IOException(
            "no rule explains %d differences: %s".formatted(unexplained.size(), unexplained));
      }
    }
  }

  private BalancedCollectors collectors(String name, int number, Path data) throws IOException {
    return new BalancedCollectors(name, number, collector, data, ports, EDGES);
  }

  /** Where a request is sent to. */
  @FunctionalInterface
  private interface Targets {
    List<OtlpSender> of(CallTrees.Export export);
  }

  /** Sends requests one after the other, in at least this time. */
  private static void send(List<CallTrees.Export> exports, Duration time, Targets targets)
      throws IOException, InterruptedException {
    long startNanos = System.nanoTime();
    for (int i = 0; i < exports.size(); i++) {
      for (OtlpSender target : targets.of(exports.get(i))) {
        send(exports.get(i), target);
      }
      long dueNanos = startNanos + time.toNanos() * (i + 1) / exports.size();
      TimeUnit.NANOSECONDS.sleep(dueNanos - System.nanoTime());
    }
  }

  /** Sends a request until it is accepted: a connection to a killed program must be made again. */
  private static void send(CallTrees.Export export, OtlpSender target)
      throws IOException, InterruptedException {
    long startNanos = System.nanoTime();
    String refusal = target.await(export.bytes());
    while (refusal != null) {
      if (System.nanoTime() - startNanos > SEND_LIMIT.toNanos()) {
        throw new IOException("a request was refused: " + refusal);
      }
      Thread.sleep(LOOK);
      refusal = target.await(export.bytes());
    }
  }

  /** Sends further requests until all halves sent before have expired. */
  private static void sendFurther(CallTrees calls, Targets targets)
      throws IOException, InterruptedException {
    long startNanos = System.nanoTime();
    while (System.nanoTime() - startNanos < EXPIRY.toNanos()) {
      send(List.of(calls.further()), LOOK, targets);
    }
  }

  /** Waits until both pages are as expected, at most for a time. Returns the page of trace-etl. */
  private List<PageSample> awaitPages(Expected expected, TraceEtl ours, BalancedCollectors one)
      throws IOException, InterruptedException {
    long startNanos = System.nanoTime();
    List<PageSample> page = PageSample.of(http, ours.page());
    while (System.nanoTime() - startNanos < PAGE_LIMIT.toNanos()
        && !(Graph.of(page).equal(expected.ours())
            && one.graph(http).equal(expected.collectors()))) {
      Thread.sleep(LOOK);
      page = PageSample.of(http, ours.page());
    }
    return page;
  }

  /**
   * Writes a row for each edge of either graph, and prints the rules.
   *
   * @return the edges whose difference follows from no rule
   */
  private List<String> compare(Expected expected, Graph ours, Graph theirs) {
    SortedSet<Edge> all = new TreeSet<>(ours.edges());
    all.addAll(theirs.edges());
    all.addAll(expected.ours().edges());
    Map<Rule, Integer> explained = new EnumMap<>(Rule.class);
    List<String> unexplained = new ArrayList<>();
    int equal = 0;
    for (Edge edge : all) {
      Set<Rule> rules = expected.rules(edge);
      String verdict;
      if (!ours.of(edge).equal(expected.ours().of(edge))
          || !theirs.of(edge).equal(expected.collectors().of(edge))) {
        verdict = UNEXPLAINED;
        unexplained.add(edge.toString());
      } else if (ours.of(edge).equal(theirs.of(edge))) {
        verdict = EQUAL;
        equal++;
      } else {
        verdict = rules.stream().map(Rule::name).collect(Collectors.joining("+"));
        rules.forEach(rule -> explained.merge(rule, 1, Integer::sum));
      }
      results.row(row(edge, verdict, ours.of(edge), theirs.of(edge)));
    }
    explained.forEach(
        (rule, edges) -> System.out.printf("# %s (%d edges): %s%n", rule, edges, rule.text()));
    summary.put("edges", all.size());
    summary.put("equal", equal);
    summary.put("explained", all.size() - equal - unexplained.size());
    summary.put("unexplained", unexplained.size());
    return unexplained;
  }

  private static Map<String, Object> row(Edge edge, String verdict, Tally ours, Tally theirs) {
    Map<String, Object> values = new HashMap<>();
    values.put("client", edge.client());
    values.put("server", edge.server());
    values.put("connection_type", edge.type());
    values.put("verdict", verdict);
    values.put("requests", ours.requests());
    values.put("collector_requests", theirs.requests());
    values.put("failed", ours.failed());
    values.put("collector_failed", theirs.failed());
    values.put("server_durations", ours.serverDurations());
    values.put("collector_server_durations", theirs.serverDurations());
    values.put("client_durations", ours.clientDurations());
    values.put("collector_client_durations", theirs.clientDurations());
    return values;
  }

  /**
   * Adds to the summary how many requests a graph has of those that it must have, and how many it
   * has on wrong edges: of all, and of those whose ends both send spans.
   */
  private void share(String name, Graph expected, Graph found) {
    share(name, expected, found, edge -> true);
    share(name + "_between", expected, found, Edge::isBetweenApplications);
  }

  private void share(String name, Graph expected, Graph found, Predicate<Edge> which) {
    long right = expected.requestsIn(found, which);
    summary.put(name + "_requests", expected.requests(which));
    summary.put(name + "_right", (double) right / expected.requests(which));
    summary.put(name + "_wrong", found.requests(which) - right);
  }
}
