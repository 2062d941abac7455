package org.traceetl.perf.bench;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.MessageQueue;
import org.traceetl.perf.bench.load.ExportLoad;
import org.traceetl.perf.bench.load.GrpcSender;
import org.traceetl.perf.bench.load.HttpSender;
import org.traceetl.perf.bench.load.OtlpSender;
import org.traceetl.perf.bench.load.OwnCertificate;
import org.traceetl.perf.bench.process.Usage;
import org.traceetl.perf.bench.report.Results;
import org.traceetl.testkit.EmbeddedRocketMq;
import org.traceetl.testkit.Ports;
import org.traceetl.testkit.Program;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Measures the shipped agent in its own process: CPU and garbage per span, and its idle cost. It
 * receives OTLP from this JVM and publishes to a real RocketMQ in this JVM. A round counts only if
 * every span was published and the topic has every batch.
 */
@Command(
    name = "agent",
    description = "Measures the log-agent: OTLP in to published batches, and idle.")
public final class AgentBench implements Callable<Integer> {
  private static final String TOPIC = "trace-spans";
  private static final int QUEUES = 8;
  private static final int UNANSWERED = 64;
  private static final int CONNECTIONS = 4;
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final List<String> PARTS =
      List.of("network", "pipeline", "publish", "flush", "gc", "jit", "rest");

  /** A thread in the JVM's thread list: its name, and its allocated bytes with a unit. */
  private static final Pattern ALLOCATED =
      Pattern.compile("(?m)^\"([^\"]*)\".* allocated=(\\d+)([BKMG]) ");

  @Mixin private Results results;

  @Option(
      names = "--seconds",
      description = "Sending time of a round, seconds (default: ${DEFAULT-VALUE}).")
  private int seconds = 8;

  @Option(
      names = "--warm-up-seconds",
      description = "The same of the round before those that count (default: ${DEFAULT-VALUE}).")
  private int warmUpSeconds = 20;

  @Option(
      names = "--rounds",
      description = "Rounds that count, for each protocol (default: ${DEFAULT-VALUE}).")
  private int rounds = 3;

  @Option(
      names = "--protocols",
      split = ",",
      description =
          "grpc, http, grpc-tls, http-tls, each round of one after the others"
              + " (default: ${DEFAULT-VALUE}).")
  private List<String> protocols = List.of("grpc", "http");

  @Option(
      names = "--requests",
      description =
          "Different requests, sent in turn with new trace IDs (default: ${DEFAULT-VALUE}).")
  private int requests = 512;

  @Option(
      names = "--idle-seconds",
      description =
          "How long the idle agent is watched; 0 leaves it out (default: ${DEFAULT-VALUE}).")
  private int idleSeconds = 20;

  @Option(
      names = "--settle-seconds",
      description =
          "Rest before it is watched; within 30 s the agent gives memory back"
              + " (default: ${DEFAULT-VALUE}).")
  private int settleSeconds = 35;

  @Option(
      names = "--agent-jar",
      description = "The agent as it is built (default: the one in log-agent/target).")
  private Path agentJar;

  @Option(
      names = "--jvm-options",
      paramLabel = "FILE",
      description = "Options of its JVM (default: ${DEFAULT-VALUE}).")
  private Path jvmOptions = Path.of("deploy", "jvm", "log-agent.options");

  @Option(
      names = "--jvm-option",
      paramLabel = "OPTION",
      description = "A further option of its JVM; may be given several times.")
  private List<String> moreJvmOptions = List.of();

  @Option(names = "--keep", description = "Keep the agent's log and files, and say where.")
  private boolean keep;

  @Option(names = "--help", usageHelp = true, description = "Prints this help.")
  private boolean help;

  private final HttpClient http = HttpClient.newHttpClient();

  /** The agent without TLS, and the agent with TLS if the option is set. */
  private Subject plain;

  private Subject secured;
  private OwnCertificate certificate;

  private record Subject(
      Program program, Usage usage, int grpcPort, int httpPort, int telemetryPort) {
    URI uri(String path) {
      return URI.create("http://127.0.0.1:" + telemetryPort + path);
    }
  }

  public static void main(String... arguments) {
    System.exit(new CommandLine(new AgentBench()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    Path directory = Files.createTempDirectory("trace-etl-agent-bench");
    ExportLoad load = new ExportLoad(ExportLoad.realisticRequests(requests), UNANSWERED);
    results.columns(
        "protocol",
        "round",
        "spans",
        "bytes_per_span",
        "spans_per_second",
        "cpu_ns_per_span",
        "network_ns",
        "pipeline_ns",
        "publish_ns",
        "flush_ns",
        "gc_ns",
        "jit_ns",
        "rest_ns",
        "allocated_bytes_per_span",
        "allocated_network",
        "allocated_pipeline",
        "allocated_publish",
        "refused_requests",
        "resident_mb");
    try (EmbeddedRocketMq rocketMq = EmbeddedRocketMq.start(directory.resolve("rocketmq"))) {
      rocketMq.createTopic(TOPIC, QUEUES);
      Map<String, Object> summary = new LinkedHashMap<>();
      try {
        plain = start(directory.resolve("plain"), rocketMq.namesrvAddress(), "");
        idle("fresh", summary);
        if (protocols.stream().anyMatch(AgentBench::isTls)) {
          certificate = OwnCertificate.in(directory);
          secured =
              start(
                  directory.resolve("secured"),
                  rocketMq.namesrvAddress(),
                  ", tls: {certificate-file: %s, private-key-file: %s}"
                      .formatted(certificate.certificate(), certificate.privateKey()));
        }
        Map<String, List<Round>> byProtocol = new LinkedHashMap<>();
        for (String protocol : protocols) {
          round(protocol, 0, load);
          byProtocol.put(protocol, new ArrayList<>());
        }
        for (int number = 1; number <= rounds; number++) {
          for (String protocol : protocols) {
            byProtocol.get(protocol).add(round(protocol, number, load));
          }
        }
        for (String protocol : protocols) {
          List<Round> all = byProtocol.get(protocol);
          if (!all.isEmpty()) {
            all.sort(Comparator.comparingDouble(Round::cpuNanos));
            summarise(protocol, all.get((all.size() - 1) / 2), summary);
            summary.put("best_" + protocol + "_cpu_ns_per_span", all.getFirst().cpuNanos());
            summary.put(
                "best_" + protocol + "_spans_per_second_per_core", 1e9 / all.getFirst().cpuNanos());
          }
        }
        idle("after_load", summary);
        holdToTopic(rocketMq.namesrvAddress());
      } finally {
        Program.kill(subjects().map(Subject::program).toList());
      }
      results.summary("agent", summary);
    } finally {
      http.shutdownNow();
      if (keep) {
        System.out.println("kept: " + directory);
      } else {
        RunFolder.delete(directory);
      }
    }
    return 0;
  }

  private static boolean isTls(String protocol) {
    return protocol.endsWith("-tls");
  }

  private Stream<Subject> subjects() {
    return Stream.of(plain, secured).filter(Objects::nonNull);
  }

  /**
   * Starts an agent.
   *
   * @param tls the TLS settings of its OTLP ports
   */
  private Subject start(Path directory, String nameServer, String tls) throws Exception {
    Files.createDirectories(directory);
    Ports ports = new Ports();
    int grpcPort = ports.next();
    int httpPort = ports.next();
    int telemetryPort = ports.next();
    Path config = directory.resolve("log-agent.yaml");
    Files.writeString(
        config,
        """
        state-directory: %s
        ring: {enabled: false}
        otlp: {host: 127.0.0.1, grpc-port: %d, http-port: %d%s}
        rocketmq: {name-server: "%s", topic: %s}
        telemetry: {host: 127.0.0.1, port: %d}
        """
            .formatted(
                directory.resolve("state"),
                grpcPort,
                httpPort,
                tls,
                nameServer,
                TOPIC,
                telemetryPort));
    List<String> command = new ArrayList<>();
    command.add(javaHome("java"));
    command.add("@" + jvmOptions.toAbsolutePath());
    command.addAll(moreJvmOptions);
    command.addAll(List.of("-jar", agentJar().toString(), "--config=" + config));
    Program agent =
        new Program(
            "log-agent",
            command,
            Map.of(),
            directory.resolve("log-agent.log"),
            URI.create("http://127.0.0.1:" + telemetryPort + "/health"));
    agent.start();
    await(
        "the agent does not work; see " + agent.log() + " (--keep)",
        () -> {
          try {
            return agent.isReady(http);
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        });
    return new Subject(agent, new Usage(agent.pid()), grpcPort, httpPort, telemetryPort);
  }

  private static String javaHome(String program) {
    return Path.of(System.getProperty("java.home"), "bin", program).toString();
  }

  private OtlpSender sender(String protocol, Subject subject) throws Exception {
    return switch (protocol) {
      case "grpc" -> new GrpcSender(subject.grpcPort, CONNECTIONS);
      case "http" -> new HttpSender(subject.httpPort);
      case "grpc-tls" -> new GrpcSender(subject.grpcPort, CONNECTIONS, certificate);
      case "http-tls" -> new HttpSender(subject.httpPort, certificate);
      default -> throw new IllegalArgumentException("--protocols = " + protocol);
    };
  }

  private Path agentJar() throws IOException {
    if (agentJar != null) {
      return agentJar.toAbsolutePath();
    }
    Path target = Path.of("log-agent", "target").toAbsolutePath();
    try (Stream<Path> files = Files.list(target)) {
      return files
          .filter(
              file -> file.getFileName().toString().matches("log-agent-[^-]+(-SNAPSHOT)?\\.jar"))
          .findFirst()
          .orElseThrow(() -> new IOException("no log-agent-*.jar in " + target));
    }
  }

  private static void await(String otherwise, BooleanSupplier condition)
      throws InterruptedException {
    long startNanos = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - startNanos > PATIENCE.toNanos()) {
        throw new IllegalStateException(otherwise);
      }
      Thread.sleep(200);
    }
  }

  private record Round(
      double cpuNanos,
      double spansPerSecond,
      Map<String, Double> cpuNanosByPart,
      double allocatedBytes) {}

  /** Adds the round with the median CPU to the summary. */
  private static void summarise(String protocol, Round median, Map<String, Object> summary) {
    summary.put(protocol + "_cpu_ns_per_span", median.cpuNanos);
    PARTS.forEach(part ->
        summary.put(protocol + "_" + part + "_ns", median.cpuNanosByPart.getOrDefault(part, 0.0)));
    summary.put(protocol + "_spans_per_second_per_core", 1e9 / median.cpuNanos);
    summary.put(protocol + "_spans_per_second_here", median.spansPerSecond);
    summary.put(protocol + "_allocated_bytes_per_span", median.allocatedBytes);
  }

  private Round round(String protocol, int number, ExportLoad load) throws Exception {
    Subject subject = isTls(protocol) ? secured : plain;
    Usage usage = subject.usage;
    double publishedBefore = metric(subject, "spans_published_total");
    Map<String, Long> allocatedBefore = allocatedByPart(subject);
    Map<String, Long> partsBefore = usage.cpuNanosByPart(AgentBench::part);
    long cpuBefore = usage.cpuNanos();
    long startNanos = System.nanoTime();
    ExportLoad.Sent sent;
    try (OtlpSender sender = sender(protocol, subject)) {
      sent = load.send(sender, Duration.ofSeconds(number == 0 ? warmUpSeconds : seconds).toNanos());
      await(
          "spans were accepted and not published: "
              + sent.spans()
              + " were sent, before that "
              + publishedBefore,
          () -> metric(subject, "spans_published_total") - publishedBefore >= sent.spans());
    }
    double spans = sent.spans();
    double spansPerSecond = spans / ((System.nanoTime() - startNanos) / 1e9);
    double cpu = (usage.cpuNanos() - cpuBefore) / spans;
    Map<String, Double> parts = perSpan(partsBefore, usage.cpuNanosByPart(AgentBench::part), spans);
    Map<String, Double> allocated = perSpan(allocatedBefore, allocatedByPart(subject), spans);
    if (metric(subject, "spans_published_total") - publishedBefore != spans) {
      throw new IllegalStateException(
          "more was published than sent: a repeat was counted, or a refused request was taken");
    }
    if (sent.refused() > 0) {
      System.out.println("# " + sent.refused() + " requests were refused: " + sent.refusal());
    }
    double allocatedBytes = allocated.values().stream().mapToDouble(bytes -> bytes).sum();
    List<Object> row =
        new ArrayList<>(
            List.of(
                protocol,
                number == 0 ? "warm-up" : Integer.toString(number),
                sent.spans(),
                sent.bytes() / spans,
                spansPerSecond,
                cpu));
    PARTS.forEach(part -> row.add(parts.getOrDefault(part, 0.0)));
    row.add(allocatedBytes);
    PARTS.subList(0, 3).forEach(part -> row.add(allocated.getOrDefault(part, 0.0)));
    row.add(sent.refused());
    row.add(usage.residentBytes() / 1e6);
    results.row(row.toArray());
    return new Round(cpu, spansPerSecond, parts, allocatedBytes);
  }

  private static Map<String, Double> perSpan(
      Map<String, Long> before, Map<String, Long> after, double spans) {
    Map<String, Double> each = new TreeMap<>();
    after.forEach((part, now) -> each.put(part, (now - before.getOrDefault(part, 0L)) / spans));
    return each;
  }

  /** Returns the agent's part that a thread belongs to, by its name or the first 15 characters. */
  private static String part(String thread) {
    if (thread.startsWith("otlp-io")) {
      return "network";
    }
    if (thread.startsWith("pipeline")) {
      return "pipeline";
    }
    if (Stream.of("publisher", "Netty", "AsyncSender", "MQClient", "Publish", "Request")
        .anyMatch(thread::startsWith)) {
      return "publish";
    }
    if (thread.startsWith("spool-flush")) {
      return "flush";
    }
    if (Stream.of("GC", "G1", "VM", "Z", "Parallel").anyMatch(thread::startsWith)) {
      return "gc";
    }
    return thread.contains("Compiler") || thread.startsWith("C1") || thread.startsWith("C2")
        ? "jit"
        : "rest";
  }

  /** Returns the bytes that living Java threads have allocated, as counted by the JVM. */
  private static Map<String, Long> allocatedByPart(Subject subject)
      throws IOException, InterruptedException {
    Process jcmd =
        new ProcessBuilder(
                javaHome("jcmd"), Long.toString(subject.program.pid()), "Thread.print", "-e")
            .redirectErrorStream(true)
            .start();
    String threads = new String(jcmd.getInputStream().readAllBytes());
    if (jcmd.waitFor() != 0) {
      throw new IOException("jcmd does not list the agent's threads: " + threads);
    }
    Map<String, Long> allocated = new TreeMap<>();
    for (MatchResult thread : ALLOCATED.matcher(threads).results().toList()) {
      long bytes = Long.parseLong(thread.group(2)) << 10 * "BKMG".indexOf(thread.group(3));
      allocated.merge(part(thread.group(1)), bytes, Long::sum);
    }
    return allocated;
  }

  private double metric(Subject subject, String name) {
    try {
      String page =
          http.send(
                  HttpRequest.newBuilder(subject.uri("/metrics")).build(),
                  HttpResponse.BodyHandlers.ofString())
              .body();
      String sample = "trace_etl_agent_" + name + " ";
      return page.lines()
          .filter(line -> line.startsWith(sample))
          .mapToDouble(line -> Double.parseDouble(line.substring(sample.length())))
          .findFirst()
          .orElseThrow();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(
          "the agent's metrics cannot be read; see " + subject.program.log(), e);
    }
  }

  private void idle(String when, Map<String, Object> summary) throws InterruptedException {
    if (idleSeconds == 0) {
      return;
    }
    Usage usage = plain.usage;
    Thread.sleep(Duration.ofSeconds(settleSeconds));
    long cpuBefore = usage.cpuNanos();
    long startNanos = System.nanoTime();
    Thread.sleep(Duration.ofSeconds(idleSeconds));
    double share = (double) (usage.cpuNanos() - cpuBefore) / (System.nanoTime() - startNanos);
    summary.put("idle_" + when + "_resident_mb", usage.residentBytes() / 1e6);
    summary.put("idle_" + when + "_proportional_mb", usage.proportionalBytes() / 1e6);
    summary.put("idle_" + when + "_cpu_percent", 100 * share);
    System.out.println("# " + summary);
  }

  /** Compares the broker's count of messages with the agent's count of published batches. */
  private void holdToTopic(String nameServer) throws Exception {
    DefaultMQProducer producer = new DefaultMQProducer("agent-bench");
    producer.setNamesrvAddr(nameServer);
    producer.start();
    try {
      long messages = 0;
      for (MessageQueue queue : producer.fetchPublishMessageQueues(TOPIC)) {
        messages += producer.maxOffset(queue);
      }
      double published =
          subjects().mapToDouble(subject -> metric(subject, "batches_published_total")).sum();
      if (messages != published) {
        throw new IllegalStateException(
            "the topic has %d messages, and %.0f batches were published"
                .formatted(messages, published));
      }
    } finally {
      producer.shutdown();
    }
  }
}
