package org.traceetl.server.config;

import static org.traceetl.common.ConfigException.checkRange;
import static org.traceetl.common.ConfigException.orElse;

/**
 * Memory for the recognition of repeated batches: {@code trace-etl.deduplication}. A missing value
 * is its default.
 *
 * @param maxBytes heap per queue for the names of batches; 1 MiB to 4 GiB. An agent takes 120 bytes
 *     (170 with growth, and 40 for its completeness, which are not counted) and 544 more for each
 *     of its last two runs with a gap; the default suffices for 100,000 agents with gaps. Above it,
 *     the agent silent for longest is forgotten and counted in {@code
 *     trace_etl_agents_evicted_total}. A queue that moves to a server with less room loses agents
 */
public record DeduplicationConfig(Long maxBytes) {
  private static final String PREFIX = "trace-etl.deduplication.";
  private static final long MIN_BYTES = 1L << 20;
  private static final long MAX_BYTES = 4L << 30;

  public DeduplicationConfig {
    maxBytes = orElse(maxBytes, 64L << 20);
    checkRange(PREFIX + "max-bytes", maxBytes, MIN_BYTES, MAX_BYTES);
  }

  public static DeduplicationConfig defaults() {
    return new DeduplicationConfig(null);
  }
}
