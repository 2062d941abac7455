package org.traceetl.server.journal.format;

import java.util.UUID;
import org.traceetl.server.journal.JournalLog;

/**
 * The header of a record. Two records of one queue with equal headers have equal payloads, so their
 * chunks are interchangeable.
 *
 * @param writer 128 random bits that identify the writer's take-over of the queue
 * @param epoch of the claim under which it was written, 1 or above; 0 for a barrier
 * @param number windows in the chain, including this record, 0 or above
 * @param from for a window, its first offset of the span queue; for a snapshot, its intended offset
 *     in this log; for a step, the offset of the skipped message; for a repeated claim with places,
 *     the last place; else {@link JournalLog#NONE}
 * @param to offset of the span queue after the last message that counts, {@link JournalLog#NONE}
 *     without one
 * @param writtenMillis creation time by the writer's clock, milliseconds since 1970
 */
public record RecordHeader(
    RecordKind kind, UUID writer, long epoch, long number, long from, long to, long writtenMillis) {
  /**
   * Returns whether a record may have it. A writer asserts this, and a reader rejects any other
   * header.
   */
  boolean isValid() {
    return number >= 0 && (epoch >= 1 || isBarrier());
  }

  /**
   * Returns whether it is a release without ownership. Readers ignore it: once it is confirmed, all
   * messages before it are confirmed.
   */
  public boolean isBarrier() {
    return kind == RecordKind.RELEASE && epoch == 0;
  }
}
