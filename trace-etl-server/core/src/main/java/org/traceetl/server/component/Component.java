package org.traceetl.server.component;

import java.time.Duration;
import java.util.Map;
import org.traceetl.server.rocketmq.Endpoint;

/**
 * A part of the server with a life of its own. Its methods but the first may be called at any time.
 */
public interface Component extends AutoCloseable {
  /** Registers its metrics. Called once, before {@link #start}. */
  default void metrics(MetricRegistry registry) {}

  /**
   * Begins its work. Called once.
   *
   * @param here where this server is; its port is open
   */
  default void start(Endpoint here) {}

  /** Whether it does its work; false only for what a restart would mend. Never waits. */
  default boolean healthy() {
    return true;
  }

  /** What it lacks, and why: by queue, topic or part. Never waits. */
  default Map<String, String> missing() {
    return Map.of();
  }

  /** Whether nothing is missing that this server could do something about. Never waits. */
  default boolean ready() {
    return missing().isEmpty();
  }

  /**
   * Ends intake and passes on what was taken in. Idempotent.
   *
   * @return whether all of it was passed on in time
   */
  default boolean drain(Duration within) throws InterruptedException {
    return true;
  }

  /** Releases everything, started and drained or not. Idempotent. */
  @Override
  void close();
}
