package org.traceetl.agent.spool;

import java.util.List;

/**
 * Selects neighbouring segments with few unsettled bytes, to be merged into one. Without merges,
 * batches for an unreachable broker would keep the space of confirmed ones.
 */
final class MergePlan {
  /** A segment is worth a merge if at least 1/8 of its bytes is settled. */
  private static final int LEAST_SETTLED_PART = 8;

  private final List<Segment> segments;
  private final int mergeable;
  private final long mostBytes;
  private final int mostBatches;

  /**
   * @param segments all segments, oldest first
   * @param mergeable how many of them, from the oldest, may be replaced
   * @param mostBytes unsettled bytes that the merged segment may have
   * @param mostBatches unsettled batches that it may have
   */
  MergePlan(List<Segment> segments, int mergeable, long mostBytes, int mostBatches) {
    this.segments = segments;
    this.mergeable = mergeable;
    this.mostBytes = mostBytes;
    this.mostBatches = mostBatches;
  }

  /** Returns the segments to merge, oldest first; empty if none are worth it. */
  List<Segment> sources() {
    for (int i = 0; i < mergeable; i++) {
      Segment segment = segments.get(i);
      if (segment.settledBytes() * LEAST_SETTLED_PART >= segment.bytes()) {
        List<Segment> sources = around(i);
        if (!sources.isEmpty()) {
          return sources;
        }
      }
    }
    return List.of();
  }

  /** Returns this segment and its neighbours, as far as a merge frees at least what it copies. */
  private List<Segment> around(int middle) {
    int from = middle;
    int to = middle + 1;
    boolean grows = fits(from, to);
    while (grows) {
      if (from > 0 && pays(from - 1, to)) {
        from--;
      } else if (to < mergeable && pays(from, to + 1)) {
        to++;
      } else {
        grows = false;
      }
    }
    return fits(from, to) && hasNumber(segments, to) ? segments.subList(from, to) : List.of();
  }

  private boolean pays(int from, int to) {
    long settled = 0;
    long unsettled = 0;
    for (Segment segment : segments.subList(from, to)) {
      settled += segment.settledBytes();
      unsettled += segment.unsettledBytes();
    }
    return settled >= unsettled && fits(from, to);
  }

  private boolean fits(int from, int to) {
    long bytes = 0;
    long batches = 0;
    for (Segment segment : segments.subList(from, to)) {
      bytes += segment.unsettledBytes();
      batches += segment.unsettled();
    }
    return bytes <= mostBytes && batches <= mostBatches;
  }

  /**
   * Returns whether a number is free before the segment at this index; a merge needs it to keep the
   * order.
   */
  static boolean hasNumber(List<Segment> segments, int to) {
    return to == segments.size() || segments.get(to - 1).number + 1 < segments.get(to).lowest();
  }
}
