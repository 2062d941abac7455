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
  private int[] documents = new int[INITIAL];
  private int[] exemplars = new int[INITIAL];
  private int[] exemplarBuckets = new int[INITIAL];
  private long[] carries = new long[INITIAL];

  /** Counts by bucket, to be added to the row's; null for most rows. */
  private long[][] spills = new long[INITIAL][];

  private int size;

  RowExtras(int stride) {
    this.stride = stride;
  }

  /** Returns a number for a row. */
  int open() {
    if (size == documents.length) {
      int capacity = size + size / 2;
      documents = Arrays.copyOf(documents, capacity);
      exemplars = Arrays.copyOf(exemplars, capacity);
      exemplarBuckets = Arrays.copyOf(exemplarBuckets, capacity);
      carries = Arrays.copyOf(carries, capacity);
      spills = Arrays.copyOf(spills, capacity);
    }
    documents[size] = 0;
    exemplars[size] = NO_EXEMPLAR;
    exemplarBuckets[size] = 0;
    carries[size] = 0;
    return size++;
  }

  int documents(int number) {
    return documents[number];
  }

  void addDocument(int number) {
    documents[number]++;
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

  void carry(int number, long fraction) {
    carries[number] = fraction;
  }

  void spill(int number, int bucket, long count) {
    if (spills[number] == null) {
      spills[number] = new long[stride];
    }
    spills[number][bucket] += count;
  }

  boolean hasSpilled(int number) {
    return spills[number] != null;
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

  void clear() {
    Arrays.fill(spills, 0, size, null);
    size = 0;
  }
}
