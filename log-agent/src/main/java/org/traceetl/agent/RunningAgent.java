package org.traceetl.agent;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalInt;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.AgentConfig;
import org.traceetl.agent.pipeline.Pipeline;
import org.traceetl.agent.publish.Publisher;
import org.traceetl.agent.publish.RocketMqTransport;
import org.traceetl.agent.publish.TopologyWatch;
import org.traceetl.agent.route.Router;
import org.traceetl.agent.source.file.FileSource;
import org.traceetl.agent.source.otlp.OtlpReceiver;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.agent.state.StateDirectory;
import org.traceetl.agent.telemetry.AgentMetrics;
import org.traceetl.agent.telemetry.TelemetryServer;

/**
 * An agent at work, from its start to its drain. Several can run in one JVM, each with its own
 * state directory.
 */
public final class RunningAgent implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RunningAgent.class);

  /** Closed last to first. */
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();

  private final Pipeline pipeline;
  private final Publisher publisher;
  private final OtlpReceiver otlp;
  private final FileSource files;
  private final TelemetryServer telemetry;
  // Null until it is drained.
  private Boolean allConfirmed;

  /**
   * Starts all parts. The broker need not be there: until it is, sources are told to wait.
   *
   * @throws IOException when a port, the state directory or the RocketMQ client cannot be had; what
   *     was started until then is closed
   */
  public static RunningAgent start(AgentConfig config) throws IOException {
    return new RunningAgent(config);
  }

  private RunningAgent(AgentConfig config) throws IOException {
    try {
      StateDirectory state = open(StateDirectory.open(config.stateDirectory()));
      AgentIdentity identity = AgentIdentity.next(state);
      log.info("Agent {}, epoch {}, state in {}", identity.id(), identity.epoch(), state.path());
      AgentMetrics metrics = new AgentMetrics();

      RocketMqTransport.redirectClientLog(state.path().resolve("rocketmq-client-log"));
      RocketMqTransport transport =
          open(
              RocketMqTransport.start(
                  config.rocketmq(), identity.id() + "-" + ProcessHandle.current().pid()));
      publisher = open(new Publisher(transport, config.rocketmq(), metrics, System::nanoTime));
      publisher.start();
      pipeline =
          open(
              new Pipeline(
                  config.pipeline(),
                  new Router(config.routing()),
                  identity,
                  publisher,
                  metrics,
                  System::nanoTime));
      pipeline.start();
      TopologyWatch watch =
          open(
              new TopologyWatch(
                  transport,
                  config.rocketmq(),
                  topology -> {
                    publisher.topology(topology);
                    pipeline.topology(topology);
                  }));
      watch.start();

      otlp =
          config.otlp().enabled()
              ? open(
                  new OtlpReceiver(config.otlp(), config.pipeline().maxBytesInFlight(), pipeline))
              : null;
      if (otlp != null) {
        OtlpMetrics.register(otlp.counters(), metrics);
        otlp.start();
        log.info(
            "OTLP is received on {}: gRPC {}, HTTP {}",
            config.otlp().host(),
            otlp.grpcPort(),
            otlp.httpPort());
      }
      files = open(new FileSource(config.files(), pipeline, state, metrics));
      files.start();
      telemetry =
          config.telemetry().enabled()
              ? open(TelemetryServer.start(config.telemetry(), metrics.registry, this::problem))
              : null;
    } catch (IOException | RuntimeException e) {
      closeOpened();
      throw e;
    }
  }

  private <T extends AutoCloseable> T open(T part) {
    opened.push(part);
    return part;
  }

  /** Why the agent cannot take spans now; empty when it can. */
  public String problem() {
    return pipeline.canAccept() ? "" : "the broker is away or the topic has no route";
  }

  /** The port of OTLP over gRPC in use, if it is open. */
  public OptionalInt otlpGrpcPort() {
    return otlp == null ? OptionalInt.empty() : OptionalInt.of(otlp.grpcPort());
  }

  /** The port of OTLP over HTTP in use, if it is open. */
  public OptionalInt otlpHttpPort() {
    return otlp == null ? OptionalInt.empty() : OptionalInt.of(otlp.httpPort());
  }

  /** The telemetry port in use, if it is open. */
  public OptionalInt telemetryPort() {
    return telemetry == null ? OptionalInt.empty() : OptionalInt.of(telemetry.port());
  }

  /**
   * Stops in the order of the flow: sources accept nothing more, what was accepted is published and
   * answered, ports close. What the broker has not confirmed in time is answered as failed, for its
   * sender to repeat.
   *
   * @param timeout longest wait for the broker's confirmations
   * @return true if all that was accepted is confirmed; the same when it is called again
   */
  public synchronized boolean drain(Duration timeout) {
    if (allConfirmed == null) {
      allConfirmed = stop(timeout);
    }
    return allConfirmed;
  }

  private boolean stop(Duration timeout) {
    if (otlp != null) {
      otlp.stopAccepting();
    }
    files.stopAccepting();
    pipeline.close();
    boolean confirmed = false;
    try {
      confirmed = publisher.drain(timeout.toNanos());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    publisher.close();
    closeOpened();
    if (confirmed) {
      log.info("Drained: all that was accepted is confirmed");
    } else {
      log.warn("Stopped before all was confirmed: its senders were told to repeat it");
    }
    return confirmed;
  }

  /** Stops without waiting for the broker. */
  @Override
  public void close() {
    drain(Duration.ZERO);
  }

  private void closeOpened() {
    while (!opened.isEmpty()) {
      try {
        opened.pop().close();
      } catch (Exception e) {
        log.warn("A part did not close well", e);
      }
    }
  }
}
