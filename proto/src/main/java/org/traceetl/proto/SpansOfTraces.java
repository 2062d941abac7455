package org.traceetl.proto;

import java.security.SecureRandom;
import java.util.Arrays;

/**
 * Counts the sampled spans of a batch by series or group, and by trace. Spans of one trace are
 * sampled together, so their number is less certain than that of as many traces. Traces differ by
 * 64 bits of a hash. After {@value #MAX_TAKEN} traces of series it forgets them: spans of a trace
 * are usually close together, and a batch with more memory is not reused. Allocates only to grow.
 * For one thread at a time.
 */
public final class SpansOfTraces {
  // So that senders cannot prepare collisions.
  private static final long SEED = new SecureRandom().nextLong();

  private static final int INITIAL_PLACES = 64;
  private static final int MAX_TAKEN = 4_096;

  /** Bits of a number of spans: more than {@link Limits#MAX_SPANS}. */
  private static final int SPAN_BITS = 17;

  private static final int SPANS = (1 << SPAN_BITS) - 1;
  private static final int MAX_BATCH = -1 >>> SPAN_BITS;

  /** By place: hash of trace and series. At most half of the places are used. */
  private long[] hashes = {};

  /** By place: number of the batch, then of its spans. It is free if the batch is another one. */
  private int[] spans = {};

  private int batch = 1;
  private int taken;

  /** Returns the bytes of the arrays, which never shrink. */
  long heldBytes() {
    return (long) (Long.BYTES + Integer.BYTES) * hashes.length;
  }

  /** Forgets all traces. */
  public void nextBatch() {
    if (taken == 0) {
      return;
    }
    taken = 0;
    if (batch == MAX_BATCH) {
      Arrays.fill(spans, 0);
      batch = 0;
    }
    batch++;
  }

  /**
   * Counts a span.
   *
   * @param series its series or group
   * @return number of its trace's spans in the series before it; 0 without a trace ID
   */
  public int add(int series, long traceIdHigh, long traceIdLow) {
    if ((traceIdHigh | traceIdLow) == 0) {
      return 0;
    }
    if (taken < MAX_TAKEN && 2 * taken == hashes.length) {
      grow();
    }
    long hash = hash(SEED, series, traceIdHigh, traceIdLow);
    int place = find(hash);
    if (!isTaken(place)) {
      if (taken == MAX_TAKEN) {
        nextBatch();
        place = find(hash);
      }
      take(place, hash, 0);
      taken++;
    }
    return spans[place]++ & SPANS;
  }

  /** Returns a hash; without the seed, its collisions are unknown. */
  static long hash(long seed, int series, long traceIdHigh, long traceIdLow) {
    long ofTrace = mix(traceIdHigh ^ seed, traceIdLow ^ Long.rotateLeft(seed, 32));
    return mix(ofTrace ^ seed, series ^ 0x9E37_79B9_7F4A_7C15L);
  }

  /** Returns both halves of the product. */
  private static long mix(long one, long other) {
    return Math.multiplyHigh(one, other) ^ one * other;
  }

  /** Returns the place of a hash, or the free one where it belongs. */
  private int find(long hash) {
    int place = (int) hash & hashes.length - 1;
    while (isTaken(place) && hashes[place] != hash) {
      place = place + 1 & hashes.length - 1;
    }
    return place;
  }

  private boolean isTaken(int place) {
    return spans[place] >>> SPAN_BITS == batch;
  }

  private void take(int place, long hash, int ofTrace) {
    hashes[place] = hash;
    spans[place] = batch << SPAN_BITS | ofTrace;
  }

  private void grow() {
    long[] hashesBefore = hashes;
    int[] spansBefore = spans;
    int capacity = Math.max(INITIAL_PLACES, 2 * hashes.length);
    hashes = new long[capacity];
    spans = new int[capacity];
    for (int place = 0; place < hashesBefore.length; place++) {
      if (spansBefore[place] >>> SPAN_BITS == batch) {
        take(find(hashesBefore[place]), hashesBefore[place], spansBefore[place] & SPANS);
      }
    }
  }
}
