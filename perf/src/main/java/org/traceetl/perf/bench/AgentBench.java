package org.traceetl.perf.bench;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;
import org.traceetl.perf.bench.load.ExportLoad;
import org.traceetl.perf.bench.load.FixedDemand;
import org.traceetl.perf.bench.load.GrpcSender;
import org.traceetl.perf.bench.load.HttpSender;
import org.traceetl.perf.bench.load.Load;
import org.traceetl.perf.bench.overhead.Application;
import org.traceetl.perf.bench.process.Usage;
import org.traceetl.perf.bench.report.Results;
import org.traceetl.testkit.EmbeddedRocketMq;
import org.traceetl.testkit.OwnCertificate;
import org.traceetl.testkit.PageSample;
import org.traceetl.testkit.Ports;
import org.traceetl.testkit.Program;
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
final class AgentBench extends Measurement {
  private static final String TOPIC = "trace-spans";
  private static final String ROUTING_TOPIC = "trace-routing";
  private static final String RING = "ring";
  private static final int QUEUES = 8;
  private static final int UNANSWERED = 64;
  private static final int CONNECTIONS = 4;
  private static final int REQUESTS = 512;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** Rest before the idle agent is measured: within 30 s the agent gives memory back. */
  private static final Duration SETTLE = Duration.ofSeconds(35);

  private static final List<String> PARTS =
      List.of("network", "pipeline", "publish", "flush", "gc", "jit", "rest");

  /** A thread in the JVM's thread list: its name, and its allocated bytes with a unit. */
  private static final Pattern ALLOCATED =
      Pattern.compile("(?m)^\"([^\"]*)\".* allocated=(\\d+)([BKMG]) ");

  @Mixin private Shipped shipped;
  @Mixin private FailedShare failed;
  @Mixin private RunFolder folder;

  @Option(
      names = "--seconds",
      description = "Sending time of a round, seconds (default: ${DEFAULT-VALUE}).")
  private int seconds = 8;

  @Option(
      names = "--warm-up",
      paramLabel = "SECONDS",
      description =
          "Sending time of the round before those that count (default: ${DEFAULT-VALUE}).")
  private int warmUpSeconds = 20;

  @Option(
      names = "--rounds",
      description = "Rounds that count, for each protocol (default: ${DEFAULT-VALUE}).")
  private int rounds = 3;

  @Option(
      names = "--protocols",
      split = ",",
      description =
          "grpc, http, grpc-tls, http-tls, in turn; ring: a traced application as fast as it can,"
              + " with spans of its own (default: ${DEFAULT-VALUE}).")
  private List<String> protocols = List.of("grpc", "http");

  @Option(
      names = "--idle-seconds",
      description = "How long the idle agent is measured; 0: not (default: ${DEFAULT-VALUE}).")
  private int idleSeconds = 20;

  private final HttpClient http = HttpClient.newHttpClient();

  private Path data;
  private Path rings;

  /** The agent without TLS, and the agent with TLS if a protocol needs it. */
  private Subject plain;

  private Subject secured;
  private OwnCertificate certificate;

  private record Subject(Program program, Usage usage, int grpcPort, int httpPort, URI metrics) {}

  @Override
  protected void measure() throws Exception {
    results.columns(
        "protocol round spans bytes_per_span published_bytes_per_span spooled_bytes_per_span"
            + " spans_per_second cpu_ns_per_span network_ns"
            + " pipeline_ns publish_ns flush_ns gc_ns jit_ns rest_ns allocated_bytes_per_span"
            + " allocated_network allocated_pipeline allocated_publish refused_requests"
            + " resident_mb");
    folder.runWithRings("agent-bench", this::measure);
  }

  private void measure(Path directory, Path ringDirectory) throws Exception {
    data = directory;
    rings = ringDirectory;
    ExportLoad requests =
        new ExportLoad(ExportLoad.realisticRequests(REQUESTS, failed.percent()), UNANSWERED);
    try (EmbeddedRocketMq rocketMq = EmbeddedRocketMq.start(directory.resolve("rocketmq"))) {
      rocketMq.createTopic(TOPIC, QUEUES);
      if (shipped.detail() == Detail.DEMAND) {
        rocketMq.createTopic(ROUTING_TOPIC, 1);
        publishDemand(rocketMq.namesrvAddress());
      }
      Map<String, Object> summary = new LinkedHashMap<>();
      summary.put("detail", shipped.detail());
      try {
        plain =
            start(
                directory.resolve("plain"),
                rocketMq.namesrvAddress(),
                "",
                protocols.contains(RING) ? "directory: " + rings : "enabled: false");
        idle("fresh", summary);
        if (protocols.stream().anyMatch(AgentBench::isTls)) {
          certificate = OwnCertificate.in(directory);
          secured =
              start(
                  directory.resolve("secured"),
                  rocketMq.namesrvAddress(),
                  ", tls: {certificate-file: %s, private-key-file: %s}"
                      .formatted(certificate.certificate(), certificate.privateKey()),
                  "enabled: false");
        }
        Map<String, List<Round>> byProtocol = new LinkedHashMap<>();
        for (String protocol : protocols) {
          round(protocol, 0, requests);
          byProtocol.put(protocol, new ArrayList<>());
        }
        for (int number = 1; number <= rounds; number++) {
          for (String protocol : protocols) {
            byProtocol.get(protocol).add(round(protocol, number, requests));
          }
        }
        byProtocol.forEach((protocol, all) -> summarise(protocol, all, summary));
        idle("after_load", summary);
        holdToTopic(rocketMq.namesrvAddress());
      } finally {
        Program.kill(subjects().map(Subject::program).toList());
      }
      results.summary("agent", summary);
    } finally {
      http.shutdownNow();
    }
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
   * @param ring the settings of its rings
   */
  private Subject start(Path directory, String nameServer, String tls, String ring)
      throws Exception {
    Ports ports = new Ports();
    int grpcPort = ports.next();
    int httpPort = ports.next();
    int telemetryPort = ports.next();
    Program agent =
        shipped.agent(
            directory,
            telemetryPort,
            """
            ring: {%s}
            otlp: {host: 127.0.0.1, grpc-port: %d, http-port: %d%s}
            rocketmq: {name-server: "%s", topic: %s}
            """
                .formatted(ring, grpcPort, httpPort, tls, nameServer, TOPIC));
    agent.start();
    agent.awaitReady(http, PATIENCE);
    URI metrics = URI.create("http://127.0.0.1:" + telemetryPort + "/metrics");
    if (shipped.detail() == Detail.DEMAND) {
      DemandInForce.await(http, metrics, agent.log().toString());
    }
    return new Subject(agent, new Usage(agent.pid()), grpcPort, httpPort, metrics);
  }

  /** Publishes what a server would demand; this measurement has no server. */
  private static void publishDemand(String nameServer) throws Exception {
    DefaultMQProducer producer = producer(nameServer);
    try {
      byte[] demand = FixedDemand.at(System.currentTimeMillis()).encode();
      producer.send(new Message(ROUTING_TOPIC, demand));
    } finally {
      producer.shutdown();
    }
  }

  private static DefaultMQProducer producer(String nameServer) throws MQClientException {
    DefaultMQProducer producer = new DefaultMQProducer("agent-bench");
    producer.setNamesrvAddr(nameServer);
    producer.start();
    return producer;
  }

  private Load load(String protocol, Subject subject, ExportLoad requests) throws Exception {
    return switch (protocol) {
      case "grpc" -> requests.to(new GrpcSender(subject.grpcPort, CONNECTIONS));
      case "http" -> requests.to(new HttpSender(subject.httpPort));
      case "grpc-tls" -> requests.to(new GrpcSender(subject.grpcPort, CONNECTIONS, certificate));
      case "http-tls" -> requests.to(new HttpSender(subject.httpPort, certificate));
      case RING ->
          Application.ring(
              shipped.jvmOptions(Application.NAME), Double.POSITIVE_INFINITY, data, rings);
      default -> throw new IllegalArgumentException("--protocols = " + protocol);
    };
  }

  private record Round(
      double cpuNanos,
      double spansPerSecond,
      Map<String, Double> cpuNanosByPart,
      double allocatedBytes,
      double publishedBytes,
      double spooledBytes) {}

  /** Adds the round with the median CPU, and the best one. */
  private static void summarise(String protocol, List<Round> all, Map<String, Object> summary) {
    if (all.isEmpty()) {
      return;
    }
    Round median = Results.median(all, Round::cpuNanos);
    summary.put(protocol + "_cpu_ns_per_span", median.cpuNanos);
    PARTS.forEach(part ->
        summary.put(protocol + "_" + part + "_ns", median.cpuNanosByPart.getOrDefault(part, 0.0)));
    summary.put(protocol + "_spans_per_second_per_core", 1e9 / median.cpuNanos);
    summary.put(protocol + "_spans_per_second_here", median.spansPerSecond);
    summary.put(protocol + "_allocated_bytes_per_span", median.allocatedBytes);
    summary.put(protocol + "_published_bytes_per_span", median.publishedBytes);
    summary.put(protocol + "_spooled_bytes_per_span", median.spooledBytes);
    double best = all.getFirst().cpuNanos;
    summary.put("best_" + protocol + "_cpu_ns_per_span", best);
    summary.put("best_" + protocol + "_spans_per_second_per_core", 1e9 / best);
  }

  private Round round(String protocol, int number, ExportLoad requests) throws Exception {
    Subject subject = isTls(protocol) ? secured : plain;
    Usage usage = subject.usage;
    double publishedBefore = metric(subject, "spans_published_total");
    double bytesBefore = metric(subject, "bytes_published_total");
    double spooledBefore = metric(subject, "spool_written_bytes_total");
    Map<String, Long> allocatedBefore = allocatedByPart(subject);
    Map<String, Long> partsBefore = usage.cpuNanosByPart(AgentBench::part);
    long cpuBefore = usage.cpuNanos();
    long startNanos = System.nanoTime();
    ExportLoad.Sent sent;
    Duration length = Duration.ofSeconds(number == 0 ? warmUpSeconds : seconds);
    try (Load load = load(protocol, subject, requests)) {
      sent = load.send(length.toNanos(), Double.POSITIVE_INFINITY);
      awaitPublished(subject, publishedBefore + sent.spans());
    }
    double spans = sent.spans();
    double spansPerSecond = spans / ((System.nanoTime() - startNanos) / 1e9);
    double cpu = (usage.cpuNanos() - cpuBefore) / spans;
    Map<String, Double> parts = perSpan(partsBefore, usage.cpuNanosByPart(AgentBench::part), spans);
    Map<String, Double> allocated = perSpan(allocatedBefore, allocatedByPart(subject), spans);
    if (metric(subject, "spans_published_total") - publishedBefore != spans) {
      throw new IllegalStateException(
          "more spans were published than sent: a repeat or a refused request was counted");
    }
    double publishedBytes = (metric(subject, "bytes_published_total") - bytesBefore) / spans;
    double spooledBytes = (metric(subject, "spool_written_bytes_total") - spooledBefore) / spans;
    if (sent.refused() > 0) {
      System.out.println("# " + sent.refused() + " requests were refused: " + sent.refusal());
    }
    double allocatedBytes = allocated.values().stream().mapToDouble(bytes -> bytes).sum();
    List<Object> row =
        new ArrayList<>(
            List.of(
                protocol,
                Results.round(number),
                sent.spans(),
                sent.bytes() / spans,
                publishedBytes,
                spooledBytes,
                spansPerSecond,
                cpu));
    PARTS.forEach(part -> row.add(parts.getOrDefault(part, 0.0)));
    row.add(allocatedBytes);
    PARTS.subList(0, 3).forEach(part -> row.add(allocated.getOrDefault(part, 0.0)));
    row.add(sent.refused());
    row.add(usage.residentBytes() / 1e6);
    results.row(row.toArray());
    return new Round(cpu, spansPerSecond, parts, allocatedBytes, publishedBytes, spooledBytes);
  }

  private void awaitPublished(Subject subject, double spans)
      throws IOException, InterruptedException {
    long startNanos = System.nanoTime();
    while (metric(subject, "spans_published_total") < spans) {
      if (System.nanoTime() - startNanos > PATIENCE.toNanos()) {
        throw new IOException(
            "of %.0f accepted spans only %.0f were published; see %s"
                .formatted(spans, metric(subject, "spans_published_total"), subject.program.log()));
      }
      Thread.sleep(200);
    }
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
                Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                Long.toString(subject.program.pid()),
                "Thread.print",
                "-e")
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

  private double metric(Subject subject, String name) throws IOException, InterruptedException {
    return PageSample.sum(PageSample.of(http, subject.metrics), "trace_etl_agent_" + name);
  }

  private void idle(String when, Map<String, Object> summary) throws InterruptedException {
    if (idleSeconds == 0) {
      return;
    }
    Usage usage = plain.usage;
    Thread.sleep(SETTLE);
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
    DefaultMQProducer producer = producer(nameServer);
    try {
      long messages = 0;
      for (MessageQueue queue : producer.fetchPublishMessageQueues(TOPIC)) {
        messages += producer.maxOffset(queue);
      }
      double published = 0;
      for (Subject subject : subjects().toList()) {
        published += metric(subject, "batches_published_total");
      }
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
