package org.traceetl.agent.publish;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.RocketMqConfig;
import org.traceetl.agent.route.Topology;
import org.traceetl.common.DutyCycle;
import org.traceetl.common.DutyThread;
import org.traceetl.common.LogThrottle;

/**
 * Asks for the topic's queues: every second until they are known, then at the configured interval.
 * When they cannot be had, the last known ones stay, be it those of an earlier run.
 */
public final class TopologyWatch implements DutyCycle, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(TopologyWatch.class);

  private static final int UNKNOWN_REFRESH_MILLIS = 1_000;

  private final Transport transport;
  private final RocketMqConfig config;
  private final Supplier<Optional<Topology>> lastKnown;
  private final Consumer<Topology> listener;
  private final LogThrottle failureLog;
  // A daemon: a question that the name server does not answer must not hold up the end.
  private final DutyThread thread;
  // Owned by the thread.
  private Topology known;

  /**
   * Not started yet.
   *
   * @param lastKnown the queues of an earlier run; asked for when the first question fails
   * @param listener told each time the queues have changed, on the watch's thread
   */
  public TopologyWatch(
      Transport transport,
      RocketMqConfig config,
      Supplier<Optional<Topology>> lastKnown,
      Consumer<Topology> listener,
      LongSupplier nanoClock) {
    failureLog = new LogThrottle(Duration.ofSeconds(30), nanoClock);
    this.transport = transport;
    this.config = config;
    this.lastKnown = lastKnown;
    this.listener = listener;
    thread = new DutyThread(Thread.ofPlatform().daemon().name("topology"), this, nanoClock);
  }

  /** Asks for the first time. */
  public void start() {
    thread.start();
  }

  @Override
  public void close() {
    thread.close();
  }

  @Override
  public int doWork() {
    refresh();
    return 0;
  }

  @Override
  public long idleNanos() {
    return TimeUnit.MILLISECONDS.toNanos(
        known == null ? UNKNOWN_REFRESH_MILLIS : config.routeRefreshMillis());
  }

  private void fallBack(Topology topology) {
    known = topology;
    listener.accept(topology);
  }

  private void refresh() {
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
      if (!thread.isEnded() && failureLog.permits()) {
        log.warn(
            "{}{}",
            e.getMessage(),
            known == null ? "" : "; the " + known.queues().size() + " known queues stay in use");
      }
    }
  }
}
