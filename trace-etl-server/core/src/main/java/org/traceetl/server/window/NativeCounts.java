package org.traceetl.server.window;

import java.util.Arrays;

/**
 * Native histograms of the rows of a window: row i has the spans {@code counts[j]} in the bucket
 * {@code buckets[j]}, for j from {@link #begin} to {@link #end}; buckets rise and are numbers of
 * {@link NativeBuckets}. Immutable by contract: nobody writes to the arrays after the seal.
 *
 * @param ends by row: where its buckets end
 */
public record NativeCounts(int[] ends, int[] buckets, long[] counts) {
  /** None, whatever the rows. */
  public static final NativeCounts NONE = new NativeCounts(new int[0], new int[0], new long[0]);

  /** Whether no row has any. */
  public boolean isEmpty() {
    return buckets.length == 0;
  }

  /** Where a row's buckets begin. */
  public int begin(int row) {
    return row == 0 || ends.length == 0 ? 0 : ends[row - 1];
  }

  /** Where a row's buckets end. */
  public int end(int row) {
    return ends.length == 0 ? 0 : ends[row];
  }

  /** Collects them row by row. One thread at a time. */
  public static final class Builder {
    private static final int INITIAL_BUCKETS = 64;

    private final int[] ends;
    private int rows;
    private int[] buckets = new int[INITIAL_BUCKETS];
    private long[] counts = new long[INITIAL_BUCKETS];
    private int size;

    /**
     * @param rows that there will be
     */
    public Builder(int rows) {
      ends = new int[rows];
    }

    /** Adds a bucket to the row at hand, above those it has. */
    public void add(int bucket, long spans) {
      if (size == buckets.length) {
        buckets = Arrays.copyOf(buckets, size * 2);
        counts = Arrays.copyOf(counts, size * 2);
      }
      buckets[size] = bucket;
      counts[size++] = spans;
    }

    /** Ends the row at hand. */
    public void endRow() {
      ends[rows++] = size;
    }

    /** What was collected. */
    public NativeCounts build() {
      return new NativeCounts(ends, Arrays.copyOf(buckets, size), Arrays.copyOf(counts, size));
    }
  }
}
