package org.traceetl.server.window;

import java.util.Arrays;

/**
 * Native histograms of the rows of a window. Row i has the spans {@code counts[j]} in the bucket
 * {@code buckets[j]}, for j from {@link #begin} to {@link #end}. Buckets ascend and are numbers of
 * {@link NativeBuckets}. Immutable by contract: the arrays must not be modified after the seal.
 *
 * @param ends by row: end of its buckets
 */
public record NativeCounts(int[] ends, int[] buckets, long[] counts) {
  /** No histograms, for any number of rows. */
  public static final NativeCounts NONE = new NativeCounts(new int[0], new int[0], new long[0]);

  /** Returns whether all rows are without buckets. */
  public boolean isEmpty() {
    return buckets.length == 0;
  }

  /** Returns the start of a row's buckets. */
  public int begin(int row) {
    return row == 0 || ends.length == 0 ? 0 : ends[row - 1];
  }

  /** Returns the end of a row's buckets. */
  public int end(int row) {
    return ends.length == 0 ? 0 : ends[row];
  }

  /** Collects the histograms row by row. For one thread at a time. */
  public static final class Builder {
    private static final int INITIAL_BUCKETS = 64;

    private final int[] ends;
    private int rows;
    private int[] buckets = new int[INITIAL_BUCKETS];
    private long[] counts = new long[INITIAL_BUCKETS];
    private int size;

    /**
     * @param rows number of rows
     */
    public Builder(int rows) {
      ends = new int[rows];
    }

    /** Adds a bucket to the current row, above its other buckets. */
    public void add(int bucket, long spans) {
      if (size == buckets.length) {
        buckets = Arrays.copyOf(buckets, size * 2);
        counts = Arrays.copyOf(counts, size * 2);
      }
      buckets[size] = bucket;
      counts[size++] = spans;
    }

    /** Ends the current row. */
    public void endRow() {
      ends[rows++] = size;
    }

    /** Returns the collected histograms. */
    public NativeCounts build() {
      return new NativeCounts(ends, Arrays.copyOf(buckets, size), Arrays.copyOf(counts, size));
    }
  }
}
