package org.traceetl.server.features.index;

import java.util.List;
import java.util.Map;
import org.traceetl.server.window.QueueId;

/**
 * Counts of an {@link IndexFollower}; fields may differ by one write.
 *
 * @param written documents stored in the index
 * @param dropped documents refused for good, by reason; absent reasons are 0
 * @param retried documents written again after a failed write, counted at each repetition
 * @param waitingDocuments documents read from the journal and not written yet
 * @param waitingBytes their approximate heap size
 * @param lag lag behind each followed queue
 * @param lastErrorMillis time of the store's last failure, milliseconds since 1970; 0 for none
 */
public record IndexTelemetry(
    long written,
    Map<String, Long> dropped,
    long retried,
    int waitingDocuments,
    long waitingBytes,
    Map<QueueId, IndexLag> lag,
    long lastErrorMillis) {
  /** Reasons of refusals for good. */
  public static final List<String> REASONS = List.of("mapping", "too_large", "layout", "internal");
}
