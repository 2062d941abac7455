package org.traceetl.server.component;

import java.time.Duration;
import java.util.Map;
import org.traceetl.server.rocketmq.Endpoint;

/**
 * A part of the server with its own life cycle. Any method but the first may be called at any time.
 */
public interface Component extends AutoCloseable {
  /** Registers its metrics. Called once, before {@link #start}. */
  default void metrics(MetricRegistry registry) {}

  /**
   * Starts its work. Called once.
   *
   * @param here endpoint of this server; its port is open
   */
  default void start(Endpoint here) {}

  /** Returns whether it works; false only if a restart would help. Never waits. */
  default boolean healthy() {
    return true;
  }

  /** Returns what is missing, and why, by queue, topic or part. Never waits. */
  default Map<String, String> missing() {
    return Map.of();
  }

  /** Returns whether nothing is missing that this server could fix. Never waits. */
  default boolean ready() {
    return missing().isEmpty();
  }

  /**
   * Stops intake and passes on everything that was accepted. Idempotent.
   *
   * @return whether everything was passed on in time
   */
  default boolean drain(Duration within) throws InterruptedException {
    return true;
  }

  /** Releases all resources, even if not started or drained. Idempotent. */
  @Override
  void close();
}
