package org.traceetl.agent.spool;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.traceetl.agent.route.BrokerQueue;

/**
 * The segments with their unsettled batches, oldest first, and the counts of these batches. Its
 * lock guards the batches of each segment, and where each batch is. Safe for any thread.
 */
final class SegmentList {
  /** Unsettled batches for one broker. */
  private static final class Share {
    private long bytes;
    private int batches;
  }

  // All guarded by this.
  private final ArrayDeque<Segment> segments = new ArrayDeque<>();
  private final Map<String, Share> shares = new HashMap<>();
  private int batches;
  private long batchBytes;
  private long spans;

  /** Adds a newest segment, with the batches that it has. */
  synchronized void add(Segment segment) {
    segments.addLast(segment);
    segment.allUnsettled().forEach(batch -> count(batch, 1));
  }

  /**
   * Adds batches to the end of a segment.
   *
   * @param offset of the first body in the segment's file
   */
  synchronized void append(Segment segment, List<SpooledBatch> added, long offset) {
    long at = offset;
    for (SpooledBatch batch : added) {
      batch.offset = at;
      at += batch.length();
      segment.add(batch);
      count(batch, 1);
    }
  }

  /** Settles a batch; returns false if it was already settled. */
  synchronized boolean settle(SpooledBatch batch) {
    if (batch.isSettled()) {
      return false;
    }
    batch.settle();
    batch.segment.settle(batch);
    count(batch, -1);
    return true;
  }

  private void count(SpooledBatch batch, int sign) {
    batches += sign;
    batchBytes += (long) sign * batch.length();
    spans += (long) sign * batch.spans();
    if (batch.queue().topic() == BrokerQueue.Topic.SPANS) {
      countShare(batch, sign);
    }
  }

  private void countShare(SpooledBatch batch, int sign) {
    Share share = shares.computeIfAbsent(batch.queue().broker(), broker -> new Share());
    share.bytes += (long) sign * (batch.length() + Segment.BATCH_BYTES);
    share.batches += sign;
  }

  /** Settles and returns the batches of the oldest deletable segment that has unsettled ones. */
  synchronized List<SpooledBatch> settleOldest() {
    List<SpooledBatch> oldest =
        deletable().stream()
            .filter(segment -> segment.unsettled() > 0)
            .findFirst()
            .map(Segment::allUnsettled)
            .orElse(List.of());
    oldest.forEach(this::settle);
    return oldest;
  }

  synchronized List<SpooledBatch> unsettled(Collection<Segment> of) {
    List<SpooledBatch> unsettled = new ArrayList<>();
    of.forEach(segment -> unsettled.addAll(segment.allUnsettled()));
    return unsettled;
  }

  synchronized List<Segment> all() {
    return new ArrayList<>(segments);
  }

  /** Returns the segments whose positions and requests are in a newer one. */
  private List<Segment> deletable() {
    List<Segment> all = all();
    while (!all.isEmpty() && !all.removeLast().isState()) {
      // A segment without a state does not replace earlier ones.
    }
    return all;
  }

  /** Removes and returns the segments that nothing needs any more. */
  synchronized List<Segment> removeSettled() {
    if (segments.size() < 2) {
      return List.of();
    }
    List<Segment> done = deletable();
    done.removeIf(segment -> segment.unsettled() > 0);
    segments.removeAll(done);
    return done;
  }

  /** Returns the segments whose force failed and whose content is needed. */
  synchronized List<Segment> unsound(Segment active) {
    // Not a stream: an idle agent, whose code is not compiled, asks ten times a second.
    List<Segment> unsound = new ArrayList<>();
    for (Segment segment : segments) {
      if (segment.frames.isUnsound() && (segment == active || segment.unsettled() > 0)) {
        unsound.add(segment);
      }
    }
    return unsound;
  }

  /** Returns the segments to merge into one with these limits; empty if none are worth it. */
  synchronized List<Segment> toMerge(long mostBytes, int mostBatches) {
    return new MergePlan(all(), deletable().size(), mostBytes, mostBatches).sources();
  }

  /**
   * Replaces neighbouring segments by a new one.
   *
   * @param copied the batches that the new one has
   * @param offsets of their bodies in its file
   */
  synchronized void replace(
      List<Segment> sources, List<SpooledBatch> copied, long[] offsets, Segment replacement) {
    for (int i = 0; i < offsets.length; i++) {
      SpooledBatch batch = copied.get(i);
      if (batch.isSettled()) {
        replacement.addSettled(batch.spans());
      } else {
        replacement.add(batch);
        batch.offset = offsets[i];
      }
    }
    List<Segment> all = all();
    all.set(all.indexOf(sources.getFirst()), replacement);
    all.removeAll(sources);
    segments.clear();
    segments.addAll(all);
  }

  /** Removes and returns a segment's settled batches that are not written yet; null for none. */
  synchronized int[] takeNewlySettled(Segment segment) {
    return segment.takeNewlySettled();
  }

  synchronized void putBackNewlySettled(Segment segment, int[] settled) {
    segment.putBackNewlySettled(settled);
  }

  /**
   * Reads a batch's body.
   *
   * @return null if it was settled meanwhile
   */
  byte[] read(SpooledBatch batch) throws IOException {
    while (true) {
      Segment segment;
      long offset;
      synchronized (this) {
        if (batch.isSettled()) {
          return null;
        }
        segment = batch.segment;
        offset = batch.offset;
      }
      try {
        byte[] body = segment.frames.read(offset, batch.length());
        if (!batch.isBody(body)) {
          throw new DamagedBatchException(
              segment.frames.path() + " has other bytes at " + offset + " than were written");
        }
        return body;
      } catch (ClosedChannelException e) {
        synchronized (this) {
          if (!batch.isSettled() && batch.segment == segment) {
            throw e;
          }
          // It was settled or moved to another segment meanwhile.
        }
      }
    }
  }

  /** Returns the bytes on disk. Call on the writing thread. */
  synchronized long bytes() {
    long bytes = 0;
    for (Segment segment : segments) {
      bytes += segment.bytes();
    }
    return bytes;
  }

  synchronized int batches() {
    return batches;
  }

  synchronized long batchBytes() {
    return batchBytes;
  }

  synchronized long spans() {
    return spans;
  }

  /**
   * Returns the share of the limits that batches of spans for a broker use, from 0 to 1: of bytes
   * or batches, the larger one.
   */
  synchronized double share(String broker, long maxBytes, int maxBatches) {
    Share share = shares.get(broker);
    return share == null
        ? 0
        : Math.max((double) share.bytes / maxBytes, (double) share.batches / maxBatches);
  }

  /** Returns the date of the oldest unsettled batch; without such a batch, the given date. */
  synchronized long oldestMillis(long otherwise) {
    for (Segment segment : segments) {
      SpooledBatch oldest = segment.oldest();
      if (oldest != null) {
        return oldest.createdMillis();
      }
    }
    return otherwise;
  }
}
