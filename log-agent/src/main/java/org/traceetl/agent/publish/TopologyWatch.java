package org.traceetl.agent.publish;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.PublishConfig;
import org.traceetl.agent.route.Topology;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;

/**
 * Requests the topic's queues: every second until they are known, then at the configured interval.
 * If a request fails, the last known queues stay in use, also those of an earlier run.
 */
public final class TopologyWatch implements SteppedTask, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(TopologyWatch.class);

  private static final int UNKNOWN_REFRESH_MILLIS = 1_000;

  private final Transport transport;
  private final PublishConfig config;
  private final Supplier<Optional<Topology>> lastKnown;
  private final Consumer<Topology> listener;
  private final LogThrottle failureLog;
  // A daemon, because a request without an answer must not delay the exit.
  private final SteppedThread thread;
  // Owned by the thread.
  private Topology known;

  /**
   * Creates a watch that is not started.
   *
   * @param lastKnown the queues of an earlier run; read while requests fail and no queues are known
   * @param listener receives the queues each time they change, on the watch's thread
   */
  public TopologyWatch(
      Transport transport,
      PublishConfig config,
      Supplier<Optional<Topology>> lastKnown,
      Consumer<Topology> listener,
      Clocks clocks) {
    failureLog = new LogThrottle(Duration.ofSeconds(30), clocks.nanoClock());
    this.transport = transport;
    this.config = config;
    this.lastKnown = lastKnown;
    this.listener = listener;
    thread = SteppedThread.daemon(clocks, "topology", this, new LogThrottle(clocks.nanoClock()));
  }

  /** Starts the thread, which requests the queues at once. */
  public void start() {
    thread.start();
  }

  @Override
  public void close() {
    thread.finish();
  }

  private void fallBack(Topology topology) {
    known = topology;
    listener.accept(topology);
  }

  /** Requests the queues once. */
  @Override
  public long doWork() {
    try {
      Topology now = new Topology(transport.queues());
      if (!now.equals(known)) {
        log.info("Topic {} has {} queues: {}", config.topic(), now.queues().size(), now.queues());
        known = now;
        listener.accept(now);
      }
    } catch (IOException | RuntimeException e) {
      if (known == null) {
        lastKnown.get().ifPresent(this::fallBack);
      }
      if (!thread.isClosed() && failureLog.permits()) {
        log.warn(
            "{}{}",
            e.getMessage(),
            known == null ? "" : "; the " + known.queues().size() + " known queues stay in use");
      }
    }
    return TimeUnit.MILLISECONDS.toNanos(
        known == null ? UNKNOWN_REFRESH_MILLIS : config.routeRefreshMillis());
  }
}
