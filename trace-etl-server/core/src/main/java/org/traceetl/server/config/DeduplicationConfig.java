package org.traceetl.server.config;

import static org.traceetl.server.config.ConfigException.check;
import static org.traceetl.server.config.ConfigException.orElse;

/**
 * What a server remembers to recognize repeated batches: {@code trace-etl.deduplication}. A missing
 * value is its default.
 *
 * @param maxBytes heap of one queue for the agents whose batches are remembered; above it, the
 *     agent that was silent for longest is forgotten. Default 64 MiB: 100,000 agents that all have
 *     gaps in their batches, or 559,000 agents without gaps
 */
public record DeduplicationConfig(Long maxBytes) {
  private static final String PREFIX = "trace-etl.deduplication.";
  private static final long MIN_BYTES = 1L << 20;
  private static final long MAX_BYTES = 4L << 30;

  public DeduplicationConfig {
    maxBytes = orElse(maxBytes, 64L << 20);
    check(
        maxBytes >= MIN_BYTES && maxBytes <= MAX_BYTES,
        PREFIX + "max-bytes",
        maxBytes,
        "must be " + MIN_BYTES + " to " + MAX_BYTES);
  }

  public static DeduplicationConfig defaults() {
    return new DeduplicationConfig(null);
  }
}
