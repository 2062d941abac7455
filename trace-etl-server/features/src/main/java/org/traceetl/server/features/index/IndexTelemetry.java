package org.traceetl.server.features.index;

import java.util.List;
import java.util.Map;
import org.traceetl.server.window.QueueId;

/**
 * What an {@link IndexFollower} has done so far, read at one moment; fields may be a write apart.
 *
 * @param written documents kept by the index
 * @param dropped documents that the index refused for good, by reason; a reason that is absent
 *     never happened
 * @param retried documents written again after a write that failed, counted at each repeat
 * @param waitingDocuments documents read from the journal and not written yet
 * @param waitingBytes their size on the heap, roughly
 * @param lag how far the index is behind each queue that is followed
 * @param lastErrorMillis when the store last failed, milliseconds since 1970; 0 for never
 */
public record IndexTelemetry(
    long written,
    Map<String, Long> dropped,
    long retried,
    int waitingDocuments,
    long waitingBytes,
    Map<QueueId, IndexLag> lag,
    long lastErrorMillis) {
  /** Why documents may be refused for good. */
  public static final List<String> REASONS = List.of("mapping", "too_large", "layout", "internal");
}
