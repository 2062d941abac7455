package org.traceetl.server.index;

import java.util.Map;

/**
 * What an {@link IndexFollower} has done so far, read at one moment; fields may be a write apart.
 *
 * @param written documents kept by the index
 * @param dropped documents lost to the index, by reason; a reason that is absent never happened
 * @param retried documents written again after a write that failed, counted at each repeat
 * @param queuedDocuments documents that wait, those of the write in progress included
 * @param queuedBytes their size on the heap, roughly
 * @param lastErrorMillis when the store last failed, milliseconds since 1970; 0 for never
 */
public record IndexTelemetry(
    long written,
    Map<String, Long> dropped,
    long retried,
    int queuedDocuments,
    long queuedBytes,
    long lastErrorMillis) {}
