package org.traceetl.perf.bench;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.traceetl.perf.bench.fleet.AgentHost;
import org.traceetl.perf.bench.process.Usage;
import org.traceetl.perf.bench.report.Lines;
import org.traceetl.testkit.PageSample;
import org.traceetl.testkit.Ports;
import org.traceetl.testkit.Program;
import org.traceetl.testkit.RocketMqPrograms;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Measures what a fleet costs: ever more agents on a broker, with the series of many applications
 * on several servers. In each step the CPU, memory and connections of all programs are measured
 * under load, and a server is killed. At the end the servers' pages must have each span once.
 */
@Command(
    name = "fleet",
    description = {
      "Measures CPU, memory, connections and the time of a take-over against the number of agents.",
      "",
      "Agents are real: each has its identity, state directory, spool, pipeline and RocketMQ"
          + " client, with its threads and connections. Many run in one process, where they share"
          + " the heap and compiled code, and their OTLP ports are closed: requests of the"
          + " applications are made in the process. RocketMQ and the servers are programs of their"
          + " own with the shipped options.",
      "",
      "Fails unless the pages have each span once at the end, servers having been killed.",
      ""
    })
final class Fleet extends Measurement {
  private static final Duration START_LIMIT = Duration.ofMinutes(10);
  private static final Duration DRAIN_LIMIT = Duration.ofMinutes(10);
  private static final Duration TAKE_OVER_LIMIT = Duration.ofMinutes(10);
  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final Duration SAMPLE = Duration.ofMinutes(1);

  /** Some of a page's series; the first part also has the server's own metrics. */
  private static final String PART = "/metrics?shard=0/64";

  private static final int MINUTES_BETWEEN_KILLS = 10;

  private static final double MEGABYTE = 1e6;

  @Mixin private Installed installed;
  @Mixin private RunFolder folder;

  @Option(
      names = "--agents",
      split = ",",
      paramLabel = "NUMBER",
      description = "Agents of each step, ascending (default: 100,250,500,1000).")
  private List<Integer> steps = List.of(100, 250, 500, 1_000);

  @Option(
      names = "--agents-of-process",
      description = "Agents in one process (default: ${DEFAULT-VALUE}).")
  private int agentsOfProcess = 250;

  @Option(
      names = "--applications",
      description = "Applications of the fleet (default: ${DEFAULT-VALUE}).")
  private int applications = 10_000;

  @Option(
      names = "--applications-of-host",
      description = "Applications on the host of an agent (default: ${DEFAULT-VALUE}).")
  private int applicationsOfHost = 20;

  @Option(
      names = "--operations",
      description =
          "Operations of an application; one has about 20 series of Prometheus"
              + " (default: ${DEFAULT-VALUE}).")
  private int operations = 5;

  @Option(
      names = "--rate",
      description = "Spans per second of an agent (default: ${DEFAULT-VALUE}).")
  private double rate = 10;

  @Option(names = "--servers", description = "Servers (default: ${DEFAULT-VALUE}).")
  private int serverCount = 3;

  @Option(
      names = "--seconds",
      description = "Duration of the measurement in each step (default: ${DEFAULT-VALUE}).")
  private int seconds = 60;

  @Option(
      names = "--hold",
      paramLabel = "MINUTES",
      description =
          "Then holds the load of the last step for this time, looks at all programs each minute,"
              + " and kills a server every ten minutes (default: ${DEFAULT-VALUE}).")
  private int holdMinutes;

  @Option(
      names = "--quick",
      description = "Runs a smoke test: a few agents and applications, two servers, one second.")
  private boolean quick;

  private final HttpClient http = HttpClient.newHttpClient();
  private final List<Program> hosts = new ArrayList<>();
  private final List<URI> hostPorts = new ArrayList<>();
  private final List<Program> servers = new ArrayList<>();
  private final List<URI> serverPorts = new ArrayList<>();
  private final Ports ports = new Ports();
  private RocketMqPrograms rocketMq;
  private int started;
  private int killed;
  private Duration lease = Duration.ofSeconds(30);

  /** The programs of a kind. */
  private enum Part {
    AGENTS,
    BROKER,
    NAME_SERVER,
    SERVERS;

    String label() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /** What a step measured. */
  private record Step(
      int agents,
      Map<Part, Double> cores,
      Map<Part, Double> megabytes,
      long brokerSockets,
      double takeOverSeconds) {}

  @Override
  protected void measure() throws Exception {
    if (quick) {
      steps = List.of(2, 4);
      agentsOfProcess = 2;
      applications = 30;
      applicationsOfHost = 10;
      serverCount = 2;
      seconds = 1;
      lease = Duration.ofSeconds(2);
    }
    for (int i = 1; i < steps.size(); i++) {
      if (steps.get(i) <= steps.get(i - 1)) {
        throw new IllegalArgumentException("--agents=" + steps + " must be ascending");
      }
    }
    results.columns(
        "agents spans_per_second agent_cpu_percent broker_cores name_server_cores server_cores"
            + " agent_mb agent_threads broker_mb server_mb broker_sockets name_server_sockets"
            + " page_mb_gzip page_seconds take_over_seconds");
    try {
      folder.run("fleet", this::run);
    } finally {
      http.shutdownNow();
    }
  }

  private void run(Path data) throws Exception {
    rocketMq =
        new RocketMqPrograms(
            data, ports, installed.jvmOptions("broker"), installed.brokerSettings());
    try {
      rocketMq.start(installed.queues());
      rocketMq.makeDecisionsTopic();
      startServers(data);
      List<Step> measured = new ArrayList<>();
      for (int agents : steps) {
        startAgents(data, agents);
        measured.add(step(agents));
      }
      draw(measured);
      if (holdMinutes > 0) {
        hold();
      }
      summarize(measured);
    } finally {
      Program.kill(all());
    }
  }

  private List<Program> all() {
    List<Program> all = new ArrayList<>(hosts);
    all.addAll(servers);
    all.addAll(rocketMq.all());
    return all;
  }

  private void startServers(Path data) throws IOException, InterruptedException {
    for (int i = 0; i < serverCount; i++) {
      int port = ports.next();
      serverPorts.add(URI.create("http://127.0.0.1:" + port));
      servers.add(
          installed.server(
              data.resolve("server-" + i),
              port,
              """
              trace-etl:
                rocketmq: {name-server: "%s"}
                history: {max-applications: %d}
                journal: {lease: %ds}
              """
                  .formatted(rocketMq.address(), applications, lease.toSeconds())));
      servers.getLast().start();
    }
    for (Program server : servers) {
      server.awaitReady(http, START_LIMIT);
    }
  }

  private void startAgents(Path data, int agents) throws IOException, InterruptedException {
    long startNanos = System.nanoTime();
    for (; started < agents; started += Math.min(agentsOfProcess, agents - started)) {
      int port = ports.next();
      int count = Math.min(agentsOfProcess, agents - started);
      Path home = data.resolve("agents-" + hosts.size());
      URI uri = URI.create("http://127.0.0.1:" + port);
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(installed.jvmOptions("agent"));
      command.addAll(
          List.of(
              // Instead of the limits of one agent.
              "-Xmx" + (256 + 10 * count) + "m",
              "-XX:MaxNewSize=256m",
              "-XX:MaxDirectMemorySize=" + (256 + 4 * count) + "m",
              "-Duser.home=" + home,
              "-Drocketmq.log.root=" + home.resolve("rocketmq-log"),
              "-Dlogback.configurationFile=log-agent-logback.xml",
              "-cp",
              System.getProperty("java.class.path"),
              AgentHost.class.getName(),
              "--port=" + port,
              "--directory=" + home,
              "--name-server=" + rocketMq.address(),
              "--first=" + started,
              "--agents=" + count,
              "--applications=" + applications,
              "--applications-of-host=" + applicationsOfHost,
              "--operations=" + operations,
              "--rate=" + rate));
      hosts.add(
          new Program(
              "agents-" + hosts.size(),
              command,
              Map.of(),
              data.resolve("agents-" + hosts.size() + ".log"),
              uri.resolve("/ready")));
      hostPorts.add(uri);
      hosts.getLast().start();
    }
    for (Program host : hosts) {
      host.awaitReady(http, START_LIMIT);
    }
    await("agents have no demand in force", START_LIMIT, () -> figure("with_demand") == agents);
    await(
        "the servers do not show all series",
        START_LIMIT,
        () ->
            shown(-1) >= (double) Math.min(applications, agents * applicationsOfHost) * operations);
    System.out.printf(
        "%d agents run, and the pages have all their series, after %.0f s; measuring for %d s%n",
        agents, (System.nanoTime() - startNanos) / 1e9, seconds);
  }

  private Step step(int agents) throws IOException, InterruptedException {
    Map<Part, Long> before = cpuNanos();
    double spansBefore = figure("published");
    long startNanos = System.nanoTime();
    Thread.sleep(Duration.ofSeconds(seconds));
    double nanos = System.nanoTime() - startNanos;
    Map<Part, Long> after = cpuNanos();
    double spans = figure("published") - spansBefore;
    Map<Part, Double> cores = new TreeMap<>();
    Map<Part, Double> megabytes = new TreeMap<>();
    for (Part part : Part.values()) {
      cores.put(part, (after.get(part) - before.get(part)) / nanos);
      megabytes.put(part, usages(part).stream().mapToLong(Usage::anonymousBytes).sum() / MEGABYTE);
    }
    Scrape page = Scrape.taken(http, serverPorts.getFirst().resolve("/metrics"), true);
    long sockets = usages(Part.BROKER).getFirst().sockets();
    Step step = new Step(agents, cores, megabytes, sockets, takeOver());
    results.row(
        agents,
        spans * TimeUnit.SECONDS.toNanos(1) / nanos,
        100 * cores.get(Part.AGENTS) / agents,
        cores.get(Part.BROKER),
        cores.get(Part.NAME_SERVER),
        cores.get(Part.SERVERS),
        megabytes.get(Part.AGENTS) / agents,
        (double) usages(Part.AGENTS).stream().mapToLong(Usage::threads).sum() / agents,
        megabytes.get(Part.BROKER),
        megabytes.get(Part.SERVERS),
        sockets,
        usages(Part.NAME_SERVER).getFirst().sockets(),
        page.bytes() / MEGABYTE,
        page.nanos() / 1e9,
        step.takeOverSeconds);
    return step;
  }

  /**
   * Kills a server, and starts it again.
   *
   * @return seconds until the other servers showed all series
   */
  private double takeOver() throws IOException, InterruptedException {
    double series = shown(-1);
    int victim = killed++ % serverCount;
    servers.get(victim).kill();
    long startNanos = System.nanoTime();
    await("the servers do not show all series", TAKE_OVER_LIMIT, () -> shown(victim) >= series);
    double taken = (System.nanoTime() - startNanos) / 1e9;
    servers.get(victim).start();
    servers.get(victim).awaitReady(http, START_LIMIT);
    await("the servers do not show all series", TAKE_OVER_LIMIT, () -> shown(-1) >= series);
    return taken;
  }

  /** Returns the series on the pages of all servers but one. */
  private double shown(int but) throws IOException, InterruptedException {
    double series = 0;
    for (int i = 0; i < serverCount; i++) {
      if (i != but) {
        series +=
            PageSample.sum(
                PageSample.of(http, serverPorts.get(i).resolve(PART)), "trace_etl_page_series");
      }
    }
    return series;
  }

  private List<Usage> usages(Part part) {
    List<Program> programs =
        switch (part) {
          case AGENTS -> hosts;
          case BROKER -> List.of(rocketMq.broker());
          case NAME_SERVER -> List.of(rocketMq.nameServer());
          case SERVERS -> servers;
        };
    return programs.stream().map(program -> new Usage(program.pid())).toList();
  }

  private Map<Part, Long> cpuNanos() {
    Map<Part, Long> nanos = new TreeMap<>();
    for (Part part : Part.values()) {
      nanos.put(part, usages(part).stream().mapToLong(Usage::cpuNanos).sum());
    }
    return nanos;
  }

  /** Returns the sum of a figure of all agents. */
  private double figure(String name) throws IOException, InterruptedException {
    double sum = 0;
    for (URI host : hostPorts) {
      sum += PageSample.sum(PageSample.of(http, host.resolve("/figures")), name);
    }
    return sum;
  }

  /** Looks at all programs while the last step's load goes on and servers are killed. */
  private void hold() throws IOException, InterruptedException {
    List<Double> minutes = new ArrayList<>();
    long startNanos = System.nanoTime();
    int lastKilled = 0;
    Map<String, List<Double>> megabytes = new LinkedHashMap<>();
    Map<String, List<Double>> threads = new LinkedHashMap<>();
    Map<String, List<Double>> files = new LinkedHashMap<>();
    List<Double> pageSeconds = new ArrayList<>();
    for (double minute = 0; minute <= holdMinutes; minute = since(startNanos)) {
      minutes.add(minute);
      for (Part part : Part.values()) {
        List<Usage> usages = usages(part);
        add(megabytes, part, usages.stream().mapToLong(Usage::anonymousBytes).sum() / MEGABYTE);
        add(threads, part, usages.stream().mapToLong(Usage::threads).sum());
        add(files, part, usages.stream().mapToLong(Usage::openFiles).sum());
      }
      Scrape page = Scrape.taken(http, serverPorts.getFirst().resolve("/metrics"), true);
      pageSeconds.add(page.nanos() / 1e9);
      System.out.printf("minute=%.1f page_seconds=%.3f%n", minute, pageSeconds.getLast());
      if (minute >= lastKilled + MINUTES_BETWEEN_KILLS) {
        lastKilled = (int) minute;
        takeOver();
      }
      Thread.sleep(SAMPLE);
    }
    draw("fleet-memory", "Memory", "minutes", "MB", minutes, megabytes);
    draw("fleet-threads", "Threads", "minutes", "threads", minutes, threads);
    draw("fleet-files", "Open files and connections", "minutes", "number", minutes, files);
    draw(
        "fleet-page", "A page with gzip", "minutes", "s", minutes, Map.of("server 1", pageSeconds));
  }

  private static double since(long startNanos) {
    return (System.nanoTime() - startNanos) / (double) TimeUnit.MINUTES.toNanos(1);
  }

  private static void add(Map<String, List<Double>> lines, Part part, double value) {
    lines.computeIfAbsent(part.label(), name -> new ArrayList<>()).add(value);
  }

  private void draw(List<Step> measured) throws IOException {
    List<Integer> agents = measured.stream().map(Step::agents).toList();
    Map<String, List<Double>> cores = new LinkedHashMap<>();
    Map<String, List<Double>> gigabytes = new LinkedHashMap<>();
    for (Step step : measured) {
      step.cores.forEach((part, value) -> add(cores, part, value));
      step.megabytes.forEach((part, value) -> add(gigabytes, part, value / 1e3));
    }
    draw("fleet-cpu", "CPU", "agents", "cores", agents, cores);
    draw("fleet-ram", "Memory", "agents", "GB", agents, gigabytes);
    draw(
        "fleet-connections",
        "Connections of the broker",
        "agents",
        "sockets",
        agents,
        Map.of("broker", measured.stream().map(step -> (double) step.brokerSockets).toList()));
    draw(
        "fleet-take-over",
        "A server is killed",
        "agents",
        "s until all series are shown",
        agents,
        Map.of("take-over", measured.stream().map(Step::takeOverSeconds).toList()));
  }

  private void draw(
      String name,
      String title,
      String quantity,
      String value,
      List<? extends Number> quantities,
      Map<String, List<Double>> lines)
      throws IOException {
    Lines drawn = new Lines(title, quantity, value, quantities);
    lines.forEach(drawn::line);
    drawn.write(results.file(name + ".svg"));
  }

  /** Stops the load, and compares the pages with what the agents accepted. */
  private void summarize(List<Step> measured) throws IOException, InterruptedException {
    for (URI host : hostPorts) {
      http.send(
          HttpRequest.newBuilder(host.resolve("/stop")).build(),
          HttpResponse.BodyHandlers.discarding());
    }
    await(
        "the broker has not confirmed all spans",
        DRAIN_LIMIT,
        () -> figure("published") == figure("accepted"));
    // What was offered last may be confirmed only now.
    await("the pages do not have each span once", DRAIN_LIMIT, () -> calls() == figure("accepted"));
    Map<String, Object> pairs = new LinkedHashMap<>();
    pairs.put("agents", measured.getLast().agents);
    pairs.put("accepted", figure("accepted"));
    pairs.put("counted", calls());
    pairs.put("failed", figure("failed"));
    pairs.put("refused", figure("refused"));
    pairs.put("series", shown(-1));
    pairs.put("samples", samples());
    pairs.put("servers_killed", killed);
    results.summary("fleet", pairs);
  }

  private double calls() throws IOException, InterruptedException {
    double calls = 0;
    for (URI server : serverPorts) {
      calls += Scrape.of(http, server.resolve("/metrics")).calls();
    }
    return calls;
  }

  private double samples() throws IOException, InterruptedException {
    double samples = 0;
    for (URI server : serverPorts) {
      samples += Scrape.of(http, server.resolve("/metrics")).samples();
    }
    return samples;
  }

  private interface Condition {
    boolean holds() throws IOException, InterruptedException;
  }

  private void await(String otherwise, Duration limit, Condition condition)
      throws IOException, InterruptedException {
    long startNanos = System.nanoTime();
    while (!holds(condition)) {
      for (Program host : hosts) {
        if (!host.isRunning()) {
          throw new IOException(host.name() + " has ended; see " + host.log());
        }
      }
      if (System.nanoTime() - startNanos > limit.toNanos()) {
        throw new IOException(otherwise + " after " + limit.toSeconds() + " s");
      }
      Thread.sleep(LOOK);
    }
  }

  /** Returns whether it holds; not if a program is too busy to answer. */
  private static boolean holds(Condition condition) throws IOException, InterruptedException {
    try {
      return condition.holds();
    } catch (HttpTimeoutException e) {
      return false;
    }
  }
}
