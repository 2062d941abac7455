package org.traceetl.server.config;

import static org.traceetl.common.ConfigException.checkRange;
import static org.traceetl.common.ConfigException.orElse;

import java.time.Duration;

/**
 * Agents as their servers see them: {@code trace-etl.agents}. A missing value is its default.
 *
 * @param silence after this time without a message of an agent, a queue does not wait for the agent
 *     any more, and {@code /api/completeness} names it as excluded; measured in the store times of
 *     the queue's messages, where a gap counts as at most 15 s, so that an outage of the broker
 *     excludes no agent; 30 s to 1 h
 */
public record AgentsConfig(Duration silence) {
  private static final Duration MIN_SILENCE = Duration.ofSeconds(30);
  private static final Duration MAX_SILENCE = Duration.ofHours(1);

  public AgentsConfig {
    silence = orElse(silence, Duration.ofMinutes(1));
    checkRange(
        "trace-etl.agents.silence", silence, MIN_SILENCE, MAX_SILENCE, "must be 30 s to 1 h");
  }

  public static AgentsConfig defaults() {
    return new AgentsConfig(null);
  }
}
