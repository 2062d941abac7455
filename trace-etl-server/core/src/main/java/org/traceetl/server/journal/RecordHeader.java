package org.traceetl.server.journal;

import java.util.UUID;

/**
 * What a record says about itself. Two records of one queue with the same header have the same
 * payload, so that their chunks may stand in for one another.
 *
 * @param writer whose take of the queue wrote it: 128 random bits
 * @param epoch of the claim under which it was written, 1 or above; 0 of a barrier
 * @param number how many windows the chain has with it, 0 or above
 * @param from of a window: offset of the span queue where it begins; of a snapshot: offset of this
 *     log where it has to stand; of a step: that of the message it is over; of a repeated claim
 *     with places: the last of them; else {@link JournalLog#NONE}
 * @param to offset of the span queue after the last message that counts, {@link JournalLog#NONE}
 *     without any
 * @param writtenMillis when it was made by the writer's clock, milliseconds since 1970; decides
 *     nothing but when the next snapshot is due
 */
record RecordHeader(
    RecordKind kind, UUID writer, long epoch, long number, long from, long to, long writtenMillis) {
  /**
   * Whether it is the release of somebody who owns nothing. It says nothing to its readers: once it
   * is confirmed, so are all messages before it.
   */
  boolean isBarrier() {
    return kind == RecordKind.RELEASE && epoch == 0;
  }
}
