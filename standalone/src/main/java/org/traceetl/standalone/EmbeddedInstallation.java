package org.traceetl.standalone;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.traceetl.agent.Platform;
import org.traceetl.agent.RunningAgent;
import org.traceetl.agent.config.AgentConfig;
import org.traceetl.agent.config.CountedEventsConfig;
import org.traceetl.agent.config.DetailConfig;
import org.traceetl.agent.config.FilesConfig;
import org.traceetl.agent.config.OtlpConfig;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.agent.config.PublishConfig;
import org.traceetl.agent.config.RingConfig;
import org.traceetl.agent.config.RoutingConfig;
import org.traceetl.agent.config.SpoolConfig;
import org.traceetl.agent.config.TelemetryConfig;
import org.traceetl.agent.config.WatchedFile;
import org.traceetl.server.TraceEtlServer;

/** A server and an agent that share one broker: all between an application and Prometheus. */
final class EmbeddedInstallation implements AutoCloseable {
  private static final Duration AGENT_DRAINS_WITHIN = Duration.ofSeconds(10);

  private static final Duration POLL = Duration.ofMillis(50);

  private final TraceEtlServer server;
  private final RunningAgent agent;

  private EmbeddedInstallation(TraceEtlServer server, RunningAgent agent) {
    this.server = server;
    this.agent = agent;
  }

  /**
   * The configuration.
   *
   * @param namesrv RocketMQ's name server, {@code host:port}
   * @param topic exists at the broker
   * @param journalTopic exists at the broker, with the same number of queues
   * @param directory for the agent's state and the trace index
   * @param otlpGrpcPort 0 chooses a free port, as in the other ports
   * @param ringDirectory where applications create their rings
   * @param traceLogs globs of trace logs that the agent reads; none: only OTLP
   * @param events names of the spans' events that the agent sends; none: the default names
   * @param serverProperties further keys of the server; they take precedence
   */
  record Settings(
      String namesrv,
      String topic,
      String journalTopic,
      Path directory,
      int otlpGrpcPort,
      int otlpHttpPort,
      int httpPort,
      Duration window,
      Path ringDirectory,
      List<String> traceLogs,
      List<String> events,
      Map<String, Object> serverProperties) {}

  /**
   * Starts the server, then the agent.
   *
   * @throws IOException if the agent cannot be started; the server is closed again
   */
  static EmbeddedInstallation start(Settings settings) throws IOException {
    return start(settings, Optional.empty(), DetailConfig.defaults());
  }

  /** Starts the server, then the agent with a filters file and this detail. */
  static EmbeddedInstallation start(
      Settings settings, Optional<WatchedFile> filters, DetailConfig detail) throws IOException {
    TraceEtlServer server = TraceEtlServer.start(serverProperties(settings));
    RunningAgent agent = null;
    try {
      agent = RunningAgent.start(agentConfig(settings, filters, detail), Platform.SYSTEM);
      return new EmbeddedInstallation(server, agent);
    } finally {
      if (agent == null) {
        server.close();
      }
    }
  }

  /** Returns the server's configuration, also for a second server. */
  static Map<String, Object> serverProperties(Settings settings) {
    Map<String, Object> properties = new HashMap<>();
    properties.put("server.port", settings.httpPort);
    properties.put("trace-etl.rocketmq.name-server", settings.namesrv);
    properties.put("trace-etl.rocketmq.topic", settings.topic);
    properties.put("trace-etl.journal.topic", settings.journalTopic);
    properties.put("trace-etl.window.length", settings.window.toMillis() + "ms");
    properties.put("trace-etl.index.type", "lucene");
    properties.put(
        "trace-etl.index.lucene.directory", settings.directory.resolve("index").toString());
    properties.putAll(settings.serverProperties);
    return properties;
  }

  private static AgentConfig agentConfig(
      Settings settings, Optional<WatchedFile> filters, DetailConfig detail) {
    OtlpConfig otlp = OtlpConfig.defaults();
    FilesConfig files = FilesConfig.defaults();
    RingConfig rings = RingConfig.defaults();
    Path agentDirectory = settings.directory.resolve("agent");
    return new AgentConfig(
        agentDirectory,
        Math.toIntExact(AGENT_DRAINS_WITHIN.toMillis()),
        new OtlpConfig(
            true,
            otlp.host(),
            settings.otlpGrpcPort,
            settings.otlpHttpPort,
            otlp.maxRequestBytes()),
        new FilesConfig(settings.traceLogs, files.pollIntervalMillis(), files.maxLineBytes()),
        new RingConfig(
            true,
            settings.ringDirectory,
            rings.group(),
            rings.maxRings(),
            rings.maxBytes(),
            rings.maxDictionaryBytes()),
        pipelineConfig(settings),
        SpoolConfig.defaults(agentDirectory),
        routingConfig(settings),
        filters,
        detail,
        publishConfig(settings),
        new TelemetryConfig(true, "127.0.0.1", 0));
  }

  private static PipelineConfig pipelineConfig(Settings settings) {
    PipelineConfig pipeline = PipelineConfig.defaults();
    return settings.events.isEmpty()
        ? pipeline
        : new PipelineConfig(
            pipeline.maxBytesInFlight(),
            pipeline.batchBytes(),
            pipeline.batchSpans(),
            pipeline.lingerMillis(),
            pipeline.openBatches(),
            new CountedEventsConfig(settings.events, pipeline.events().attributes()));
  }

  /** Makes the agent read decisions from the topic to which the server writes them. */
  private static RoutingConfig routingConfig(Settings settings) {
    RoutingConfig routing = RoutingConfig.defaults();
    Object topic = settings.serverProperties.get("trace-etl.hotspots.topic");
    return new RoutingConfig(
        routing.keys(),
        routing.file(),
        routing.hotspots(),
        routing.learntNames(),
        topic == null ? routing.hotspotsTopic() : topic.toString(),
        routing.publicKeysFile(),
        routing.rerouteAfterSeconds());
  }

  /** Makes the agent send half-edges to the topic that the server reads. */
  private static PublishConfig publishConfig(Settings settings) {
    PublishConfig rocketmq = PublishConfig.defaults();
    Object edges = settings.serverProperties.get("trace-etl.edges.topic");
    return new PublishConfig(
        settings.namesrv,
        settings.topic,
        edges == null ? rocketmq.edgesTopic() : edges.toString(),
        rocketmq.producerGroup(),
        rocketmq.accessKey(),
        rocketmq.secretKey(),
        rocketmq.sendTimeoutMillis(),
        rocketmq.retryFirstMillis(),
        rocketmq.retryMaxMillis(),
        rocketmq.routeRefreshMillis(),
        rocketmq.tls(),
        rocketmq.bundles(),
        rocketmq.lingerMillis());
  }

  int otlpGrpcPort() {
    return agent.otlpGrpcPort().orElseThrow();
  }

  int otlpHttpPort() {
    return agent.otlpHttpPort().orElseThrow();
  }

  /** Returns the server's HTTP port. */
  int httpPort() {
    return server.port();
  }

  /** Returns the port of the agent's own metrics. */
  int agentTelemetryPort() {
    return agent.telemetryPort().orElseThrow();
  }

  /**
   * Waits until the agent accepts spans: it must have found the topic's queues.
   *
   * @throws IOException if it does not within that time
   */
  void awaitReady(Duration within) throws IOException, InterruptedException {
    long limitNanos = System.nanoTime() + within.toNanos();
    while (!agent.problem().isEmpty()) {
      if (System.nanoTime() > limitNanos) {
        throw new IOException("the agent does not accept spans: " + agent.problem());
      }
      Thread.sleep(POLL);
    }
  }

  /**
   * Drains in the direction of the spans. The broker confirms what the agent accepted. The journal
   * keeps what the server has read, and the next server continues there. Unread batches stay at the
   * broker.
   *
   * @throws IOException if the agent did not drain in time; everything is closed nevertheless
   */
  @Override
  public void close() throws IOException {
    boolean confirmed = agent.drain(AGENT_DRAINS_WITHIN);
    server.close();
    if (!confirmed) {
      throw new IOException(
          "the broker did not confirm all spans within "
              + AGENT_DRAINS_WITHIN.toSeconds()
              + " s; unconfirmed spans stay in the agent's spool");
    }
  }
}
