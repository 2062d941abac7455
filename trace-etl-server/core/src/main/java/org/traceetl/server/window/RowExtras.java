package org.traceetl.server.window;

import java.util.Arrays;

/**
 * Data that few rows of an open window have: documents, an exemplar, a carried fraction, counts
 * that exceed a row's ints. Such a row has a number here. Memory is reused for each window. Same
 * owner as the window.
 */
final class RowExtras {
  static final int NO_EXEMPLAR = -1;
  private static final int INITIAL = 16;

  private final int stride;

  /** Null for rows without documents. */
  private Remarkable[] remarkable = new Remarkable[INITIAL];

  private int[] exemplars = new int[INITIAL];
  private int[] exemplarBuckets = new int[INITIAL];
  private long[] carries = new long[INITIAL];

  /** The turn in which each carry was set: see {@link WindowRows#turn}; 0 if it was not. */
  private int[] carryTurns = new int[INITIAL];

  /** Counts by bucket, to be added to the row's; null for most rows. */
  private long[][] spills = new long[INITIAL][];

  private int size;

  /**
   * The slow or failed spans of a series and pane. Its documents refer to it, which stays right if
   * panes are merged.
   */
  static final class Remarkable {
    int kept;
    int heldBack;
  }

  RowExtras(int stride) {
    this.stride = stride;
  }

  /** Returns a number for a row. */
  int open() {
    if (size == remarkable.length) {
      int capacity = size + size / 2;
      remarkable = Arrays.copyOf(remarkable, capacity);
      exemplars = Arrays.copyOf(exemplars, capacity);
      exemplarBuckets = Arrays.copyOf(exemplarBuckets, capacity);
      carries = Arrays.copyOf(carries, capacity);
      carryTurns = Arrays.copyOf(carryTurns, capacity);
      spills = Arrays.copyOf(spills, capacity);
    }
    remarkable[size] = null;
    exemplars[size] = NO_EXEMPLAR;
    exemplarBuckets[size] = 0;
    carries[size] = 0;
    carryTurns[size] = 0;
    return size++;
  }

  int documents(int number) {
    return remarkable[number] == null ? 0 : remarkable[number].kept;
  }

  /** Counts a document that is kept; returns what it stands for. */
  Remarkable addDocument(int number) {
    if (remarkable[number] == null) {
      remarkable[number] = new Remarkable();
    }
    remarkable[number].kept++;
    return remarkable[number];
  }

  /** Counts a slow or failed span that is not kept. */
  void holdBack(int number) {
    if (remarkable[number] != null) {
      remarkable[number].heldBack++;
    }
  }

  /** Returns the index of the document that is the exemplar, or {@link #NO_EXEMPLAR}. */
  int exemplar(int number) {
    return exemplars[number];
  }

  int exemplarBucket(int number) {
    return exemplarBuckets[number];
  }

  void exemplar(int number, int document, int bucket) {
    exemplars[number] = document;
    exemplarBuckets[number] = bucket;
  }

  long carry(int number) {
    return carries[number];
  }

  void carry(int number, long fraction, int turn) {
    carries[number] = fraction;
    carryTurns[number] = turn;
  }

  /** Adds to a count, which saturates at {@code max}. */
  void spill(int number, int bucket, long count, long max) {
    if (spills[number] == null) {
      spills[number] = new long[stride];
    }
    spills[number][bucket] = Math.min(max, spills[number][bucket] + count);
  }

  /** Returns the sum of the spilled counts of a row's first buckets. */
  long spilled(int number, int buckets) {
    long sum = 0;
    for (int bucket = 0; spills[number] != null && bucket < buckets; bucket++) {
      sum += spills[number][bucket];
    }
    return sum;
  }

  /** Adds the spilled counts of a row to its counts. */
  void addSpilled(int number, long[] counts, int at) {
    long[] spilled = spills[number];
    if (spilled != null) {
      for (int bucket = 0; bucket < stride; bucket++) {
        counts[at + bucket] += spilled[bucket];
      }
    }
  }

  /**
   * Adds the extras of a series in another pane.
   *
   * @param isNewer whether that pane is newer, so that its exemplar is preferred, unless it alone
   *     is of an ordinary span
   */
  void addAll(int number, RowExtras other, int from, boolean isNewer) {
    if (other.exemplars[from] != NO_EXEMPLAR && isReplaced(number, other, from, isNewer)) {
      exemplar(number, other.exemplars[from], other.exemplarBuckets[from]);
    }
    if (remarkable[number] == null) {
      remarkable[number] = other.remarkable[from];
    }
    if (other.carryTurns[from] > carryTurns[number]) {
      carry(number, other.carries[from], other.carryTurns[from]);
    }
  }

  /** Returns whether a row's exemplar is replaced by one of another pane. */
  private boolean isReplaced(int number, RowExtras other, int from, boolean isNewer) {
    boolean isRemarkable = documents(number) > 0;
    boolean isOtherRemarkable = other.documents(from) > 0;
    return exemplars[number] == NO_EXEMPLAR
        || (isRemarkable == isOtherRemarkable ? isNewer : isOtherRemarkable);
  }

  void clear() {
    Arrays.fill(spills, 0, size, null);
    Arrays.fill(remarkable, 0, size, null);
    size = 0;
  }
}
