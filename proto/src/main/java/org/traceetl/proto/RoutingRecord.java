package org.traceetl.proto;

import java.util.Arrays;

/**
 * A complete set of the servers' decisions on one subject. Among the records of a kind in the
 * routing topic exactly one is valid, whatever their order and places.
 */
public interface RoutingRecord {
  /** Returns a number that rises with each decision; above 0, except if there is no decision. */
  long epoch();

  /** Returns when it was decided, milliseconds since 1970. */
  long decidedMillis();

  /** Returns the bytes of the record in the topic. */
  byte[] encode();

  /**
   * Returns whether this record is valid instead of another one of its kind. The record with the
   * higher epoch is; if the epochs are equal, the record with the greater encoded bytes, compared
   * as unsigned numbers. All readers agree, whatever they read first.
   */
  default boolean holdsOver(RoutingRecord other) {
    return epoch() != other.epoch()
        ? epoch() > other.epoch()
        : Arrays.compareUnsigned(encode(), other.encode()) > 0;
  }
}
