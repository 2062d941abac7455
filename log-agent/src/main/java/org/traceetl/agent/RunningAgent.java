package org.traceetl.agent;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.AgentConfig;
import org.traceetl.agent.config.PublishConfig;
import org.traceetl.agent.config.RoutingConfig;
import org.traceetl.agent.detail.Detail;
import org.traceetl.agent.edge.EdgeAttributes;
import org.traceetl.agent.edge.Edges;
import org.traceetl.agent.filter.Filters;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.OtlpFormat;
import org.traceetl.agent.forward.Forwarding;
import org.traceetl.agent.http.PortAccess;
import org.traceetl.agent.kubernetes.KubernetesPods;
import org.traceetl.agent.pipeline.Pipeline;
import org.traceetl.agent.pipeline.PipelineMetrics;
import org.traceetl.agent.publish.DecisionsFile;
import org.traceetl.agent.publish.DecisionsWatch;
import org.traceetl.agent.publish.Expiry;
import org.traceetl.agent.publish.PublishMetrics;
import org.traceetl.agent.publish.Publisher;
import org.traceetl.agent.publish.PublisherOptions;
import org.traceetl.agent.publish.RecordFollower;
import org.traceetl.agent.publish.TopologyFile;
import org.traceetl.agent.publish.TopologyWatch;
import org.traceetl.agent.publish.Transport;
import org.traceetl.agent.reload.ReloadMetrics;
import org.traceetl.agent.reload.Reloader;
import org.traceetl.agent.route.EdgeRoute;
import org.traceetl.agent.route.RoutingState;
import org.traceetl.agent.source.file.FileMetrics;
import org.traceetl.agent.source.file.FileSource;
import org.traceetl.agent.source.otlp.OtlpJsonDecoder;
import org.traceetl.agent.source.otlp.OtlpProtobufDecoder;
import org.traceetl.agent.source.otlp.OtlpReceiver;
import org.traceetl.agent.source.otlp.OtlpRequests;
import org.traceetl.agent.source.ring.RingSource;
import org.traceetl.agent.spool.Spool;
import org.traceetl.agent.spool.SpoolMetrics;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.agent.state.RunClocks;
import org.traceetl.agent.state.StateDirectory;
import org.traceetl.agent.telemetry.AgentMetrics;
import org.traceetl.agent.telemetry.TelemetryServer;
import org.traceetl.common.Clocks;
import org.traceetl.proto.Demand;
import org.traceetl.proto.EdgeQueues;
import org.traceetl.proto.Heartbeat;
import org.traceetl.proto.HotspotDecisions;
import org.traceetl.proto.LearntNames;

/**
 * A running agent, from its start to its drain. Several can run in one JVM, each with its own state
 * directory.
 */
public final class RunningAgent implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RunningAgent.class);

  /** How long the agent uses a demand after it was last renewed. */
  private static final Duration DEMAND_VALID = Duration.ofHours(24);

  /** Closed last to first. */
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();

  private final AgentConfig config;
  private final Clocks clocks;
  private final AgentMetrics metrics = new AgentMetrics();
  private final Spool spool;
  private final RoutingState routing;
  private final Pipeline pipeline;
  private final Publisher publisher;
  // Null if no endpoint is configured.
  private final Forwarding forwarding;
  private final Intake intake;
  private final OtlpReceiver otlp;
  private final FileSource files;
  private final RingSource rings;
  private final TelemetryServer telemetry;
  private final Reloader reloader;
  // Null until it is drained.
  private Boolean nothingLeft;
  // Confined to the thread that reads the demand.
  private boolean sendsSizes;
  private EdgeRoute edgeRoute = EdgeRoute.NONE;
  private List<String> edgeKeys = List.of();

  /**
   * Starts all components. The broker need not be reachable, because accepted batches wait in the
   * spool. Sources must wait only until the topic's queues are known.
   *
   * @throws IOException if a file, port, directory or the RocketMQ client cannot be used; started
   *     components are closed
   */
  public static RunningAgent start(AgentConfig config, Platform platform) throws IOException {
    return new RunningAgent(config, platform);
  }

  private RunningAgent(AgentConfig config, Platform platform) throws IOException {
    this.config = config;
    clocks = platform.clocks();
    metrics.gauge(
        "build_info",
        "Always 1; the label contains the agent's version.",
        "version",
        Map.of(LogAgent.version(), () -> 1));
    try {
      StateDirectory state = open(StateDirectory.open(config.stateDirectory(), platform.disk()));
      AgentIdentity identity = AgentIdentity.next(state, platform.random());
      log.info("Agent {}, epoch {}, state in {}", identity.id(), identity.epoch(), state.path());
      reloader = open(new Reloader(metrics.add(new ReloadMetrics()), clocks));
      spool =
          open(
              Spool.open(
                  config.spool(),
                  identity,
                  metrics.add(new SpoolMetrics()),
                  clocks,
                  platform.disk()));
      RunClocks runs = RunClocks.start(state, identity, clocks.millis() - spool.nowMillis());
      Transport transport = open(platform.transports().connect(config, identity));
      PublishMetrics publishMetrics = metrics.add(new PublishMetrics());
      publisher =
          open(
              new Publisher(
                  PublisherOptions.of(config),
                  transport,
                  spool,
                  runs::downMillis,
                  new Heartbeat(
                      identity.high(), identity.low(), identity.epoch(), false, platform.host()),
                  publishMetrics,
                  clocks,
                  platform.random()));
      publisher.start();
      LiveRules rules =
          new LiveRules(
              config,
              platform.disk(),
              metrics,
              now -> routing().rules(now),
              now -> pipeline().filters(new Filters(now)));
      routing = new RoutingState(rules.routing(), router -> pipeline().router(router));
      pipeline =
          open(
              new Pipeline(
                  config.pipeline(),
                  identity,
                  spool,
                  metrics.add(new PipelineMetrics()),
                  clocks,
                  spool::nowMillis));
      pipeline.router(routing.router());
      pipeline.filters(new Filters(rules.filters()));
      List<Checkpoint.Position> places = spool.places();
      if (config.kubernetes().enabled()) {
        followPods(platform);
      }
      pipeline.start();
      publisher.routes(pipeline::topology);
      rules.follow(reloader);
      if (config.routing().hotspots()
          || config.routing().learntNames()
          || followsDemand()
          || config.edges().sendsAny()) {
        followDecisions(state, transport, publishMetrics);
      }
      followTopology(state, transport);
      forwarding =
          config.forward().endpoints().isEmpty()
              ? null
              : open(
                  Forwarding.start(
                      config.forward(),
                      state.path().resolve("forward"),
                      platform.disk(),
                      clocks,
                      platform.random(),
                      Map.of(
                          OtlpFormat.PROTOBUF, new OtlpProtobufDecoder(),
                          OtlpFormat.JSON, new OtlpJsonDecoder())));
      if (forwarding != null) {
        metrics.add(forwarding.metrics());
      }
      intake = forwarding == null ? pipeline : forwarding.over(pipeline);
      otlp = config.otlp().enabled() ? openOtlp() : null;
      files =
          open(
              new FileSource(
                  config.files(),
                  intake,
                  places.stream().filter(place -> !RingSource.isOne(place)).toList(),
                  metrics.add(new FileMetrics()),
                  clocks));
      files.start();
      rings =
          open(
              new RingSource(
                  config.ring(), intake, places, config.pipeline().maxBytesInFlight() / 2, clocks));
      metrics.add(rings.metrics());
      rings.start();
      telemetry = config.telemetry().enabled() ? openTelemetry() : null;
      reloader.start();
    } catch (IOException | RuntimeException e) {
      closeOpened();
      throw e;
    }
  }

  private void followPods(Platform platform) {
    KubernetesPods pods = open(new KubernetesPods(config.kubernetes(), clocks, platform.random()));
    metrics.add(pods.metrics());
    pipeline.completing(pods);
    pods.start();
  }

  private OtlpReceiver openOtlp() throws IOException {
    OtlpReceiver receiver =
        open(
            new OtlpReceiver(
                config.otlp(),
                config.pipeline().maxBytesInFlight(),
                intake,
                spool.answered(),
                clocks));
    metrics.add(receiver.metrics());
    receiver.start();
    log.info(
        "Receiving OTLP on {}: gRPC port {}, HTTP port {}{}",
        config.otlp().host(),
        receiver.grpcPort(),
        receiver.httpPort(),
        config.otlp().tls().isPresent() ? ", with TLS" : "");
    if (config.otlp().hasClearTextTokens()) {
      warnOfClearText(config.otlp().host(), "otlp");
    }
    reload("otlp", receiver.access());
    return receiver;
  }

  private TelemetryServer openTelemetry() throws IOException {
    TelemetryServer server =
        open(
            TelemetryServer.start(
                config.telemetry(), metrics.registry, this::problem, clocks.wall()));
    if (config.telemetry().hasClearTextTokens()) {
      warnOfClearText(config.telemetry().host(), "telemetry");
    }
    metrics.gauge(
        "telemetry_certificate_end_timestamp_seconds",
        "Expiry of the telemetry port's certificate as Unix time; 0 without TLS.",
        server.access()::certificateEndSeconds);
    reload("telemetry", server.access());
    return server;
  }

  private static void warnOfClearText(String host, String port) {
    log.warn(
        "Bearer tokens are sent in clear text to {}, because {}.allow-clear-text-token is true",
        host,
        port);
  }

  private void followTopology(StateDirectory state, Transport transport) {
    TopologyFile file = new TopologyFile(state, config.rocketmq());
    open(new TopologyWatch(
            transport,
            config.rocketmq(),
            file::load,
            topology -> {
              publisher.topology(topology);
              file.save(topology);
            },
            clocks))
        .start();
  }

  private void reload(String port, PortAccess access) {
    if (access.hasTls()) {
      reloader.add(port + "_tls", access::reloadTls);
    }
    if (access.hasTokenFile()) {
      reloader.add(port + "_token", access::reloadTokens);
    }
  }

  private void followDecisions(
      StateDirectory state, Transport transport, PublishMetrics publishMetrics) {
    RoutingConfig routed = config.routing();
    String topic = routed.hotspotsTopic();
    PublishConfig rocketmq = config.rocketmq();
    open(new DecisionsWatch(
            new DecisionsWatch.Options(
                topic, routed.publicKeysFile(), rocketmq.routeRefreshMillis()),
            known -> transport.newest(topic, known),
            new RecordFollower<>(
                HotspotDecisions.FORMAT,
                HotspotDecisions.NONE,
                routed.hotspots() ? new DecisionsFile(state, "hotspots", topic, rocketmq) : null,
                routing::decisions),
            new RecordFollower<>(
                LearntNames.FORMAT,
                LearntNames.NONE,
                routed.learntNames()
                    ? new DecisionsFile(state, "learnt-names", topic, rocketmq)
                    : null,
                routing::learnt),
            new RecordFollower<>(
                Demand.FORMAT,
                Demand.NONE,
                followsDemand() ? new DecisionsFile(state, "demand", topic, rocketmq) : null,
                this::demanded,
                this::permit,
                Demand::sameContent,
                new Expiry(DEMAND_VALID, clocks)),
            new RecordFollower<>(
                EdgeQueues.FORMAT,
                EdgeQueues.NONE,
                config.edges().sendsAny()
                    ? new DecisionsFile(state, "edge-queues", topic, rocketmq)
                    : null,
                this::edgeQueues),
            publishMetrics,
            clocks))
        .start();
  }

  private boolean followsDemand() {
    return config.detail().usesDemand()
        || config.rocketmq().bundles() == PublishConfig.Bundles.AUTO
        || config.edges().sendsAny();
  }

  /** Called by the thread that reads the demand. */
  private void demanded(Demand demand) {
    // If all spans are sent whole, only the need of their sizes matters. New detail closes batches.
    if (config.detail().usesDemand() || demand.needsSizes() != sendsSizes) {
      sendsSizes = demand.needsSizes();
      pipeline.detail(new Detail(config.detail(), demand));
    }
    if (config.edges().sendsAny() && !demand.edgeKeys().equals(edgeKeys)) {
      edgeKeys = demand.edgeKeys();
      sendEdges();
    }
  }

  /** Called by the thread that reads the queues. */
  private void edgeQueues(EdgeQueues list) {
    edgeRoute = new EdgeRoute(list);
    publisher.edges(edgeRoute.topology());
    sendEdges();
  }

  private void sendEdges() {
    pipeline.edges(new Edges(config.edges(), edgeRoute, new EdgeAttributes(edgeKeys)));
  }

  private void permit(Demand demand) {
    publisher.heartbeats(demand);
    if (config.rocketmq().bundles() == PublishConfig.Bundles.AUTO) {
      publisher.bundles(demand);
    }
  }

  private <T extends AutoCloseable> T open(T part) {
    opened.push(part);
    return part;
  }

  /** Requests a re-read of the reloadable files. Safe for any thread. */
  public void reload() {
    reloader.request();
  }

  /**
   * Adds a source to reload while the agent runs.
   *
   * @param what its name in the log and as a metric label: lower case with underscores
   */
  void watch(String what, Reloader.Source source) {
    reloader.add(what, source);
  }

  /** Sets the trace logs to follow; other followed ones are first read to their end. */
  void followFiles(List<String> globs) {
    files.follow(globs);
  }

  /** For listeners that are created before the pipeline, and called after. */
  private Pipeline pipeline() {
    return pipeline;
  }

  private RoutingState routing() {
    return routing;
  }

  /**
   * For simulations: returns an entry for complete OTLP requests of this JVM. Repeats are joined
   * per entry, so use one.
   */
  public OtlpRequests otlpRequests() {
    return new OtlpRequests(intake, spool.answered());
  }

  /** For simulations: returns the agent's metrics, as the telemetry port does. */
  public String metricsPage() throws IOException {
    return metrics.page();
  }

  /** Returns why the agent cannot accept spans now; empty if it can. */
  public String problem() {
    return pipeline.problem();
  }

  /** Returns the port of OTLP over gRPC in use, if it is open. */
  public OptionalInt otlpGrpcPort() {
    return otlp == null ? OptionalInt.empty() : OptionalInt.of(otlp.grpcPort());
  }

  /** Returns the port of OTLP over HTTP in use, if it is open. */
  public OptionalInt otlpHttpPort() {
    return otlp == null ? OptionalInt.empty() : OptionalInt.of(otlp.httpPort());
  }

  /** Returns the telemetry port in use, if it is open. */
  public OptionalInt telemetryPort() {
    return telemetry == null ? OptionalInt.empty() : OptionalInt.of(telemetry.port());
  }

  /**
   * Stops in the order of the flow. Sources stop accepting; accepted payloads are committed to the
   * spool and answered; batches are published while the time allows; ports close. Unconfirmed
   * batches stay in the spool, and the next start sends them. So do trace requests in the buffer of
   * forwarding.
   *
   * @param timeout longest wait for the broker's confirmations and the endpoints of forwarding
   * @return true if the spool is empty; later calls return the same value
   */
  public synchronized boolean drain(Duration timeout) {
    if (nothingLeft == null) {
      nothingLeft = stop(timeout);
    }
    return nothingLeft;
  }

  private boolean stop(Duration timeout) {
    long endNanos = clocks.nanos() + timeout.toNanos();
    if (otlp != null) {
      otlp.stopAccepting();
    }
    files.stopAccepting();
    rings.stopAccepting();
    pipeline.close();
    try {
      publisher.drain(timeout.toNanos());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    publisher.close();
    if (forwarding != null) {
      drainForwarding(Duration.ofNanos(Math.max(0, endNanos - clocks.nanos())));
    }
    int left = spool.batches();
    closeOpened();
    if (left == 0) {
      log.info("Drained: the broker has confirmed all accepted spans");
    } else {
      log.warn("{} batches remain in the spool; the agent sends them after the next start", left);
    }
    return left == 0;
  }

  private void drainForwarding(Duration timeout) {
    try {
      if (!forwarding.drain(timeout)) {
        log.warn(
            "Trace requests remain in the buffer of forwarding; the agent forwards them after the"
                + " next start");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Stops without waiting for the broker. */
  @Override
  public void close() {
    drain(Duration.ZERO);
  }

  private void closeOpened() {
    while (!opened.isEmpty()) {
      AutoCloseable part = opened.pop();
      try {
        part.close();
      } catch (Exception e) {
        log.warn("Failed to close {}", part.getClass().getSimpleName(), e);
      }
    }
  }
}
