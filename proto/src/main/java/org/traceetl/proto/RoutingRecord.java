package org.traceetl.proto;

import java.util.Arrays;

/**
 * What the servers have decided about one matter, whole: of the records of a kind in the routing
 * topic one holds, and which one does not depend on where or in which order they stand.
 */
public interface RoutingRecord {
  /** Rises with each decision; above 0, but for a record that stands for none. */
  long epoch();

  /** When it was decided, milliseconds since 1970. */
  long decidedMillis();

  /** As it stands in the topic. */
  byte[] encode();

  /**
   * Whether it holds rather than another one of its kind: the one with the higher epoch, of two
   * with the same the one whose bytes as it stands in the topic are greater, compared as unsigned
   * numbers from the first on. The same for all readers, whichever they read first.
   */
  default boolean holdsOver(RoutingRecord other) {
    return epoch() != other.epoch()
        ? epoch() > other.epoch()
        : Arrays.compareUnsigned(encode(), other.encode()) > 0;
  }
}
