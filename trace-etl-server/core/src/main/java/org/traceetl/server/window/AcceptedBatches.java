package org.traceetl.server.window;

import java.util.Arrays;

/**
 * The names of the batches that count in a window, as runs of consecutive sequences. A run has
 * {@value #COLUMNS} longs: agent (two), epoch, first and last sequence. Runs are sorted by agent
 * (unsigned), epoch (signed) and sequence; no two runs are adjacent. Immutable by contract: the
 * array must not be modified after the seal.
 */
public record AcceptedBatches(long[] runs) {
  /** Longs of a run. */
  public static final int COLUMNS = 5;

  /** No batches. */
  public static final AcceptedBatches NONE = new AcceptedBatches(new long[0]);

  /** Returns the number of runs. */
  public int size() {
    return runs.length / COLUMNS;
  }

  public long agentHigh(int run) {
    return runs[run * COLUMNS];
  }

  public long agentLow(int run) {
    return runs[run * COLUMNS + 1];
  }

  public long epoch(int run) {
    return runs[run * COLUMNS + 2];
  }

  /** Returns the run's first sequence. */
  public long first(int run) {
    return runs[run * COLUMNS + 3];
  }

  /** Returns the run's last sequence, included. */
  public long last(int run) {
    return runs[run * COLUMNS + 4];
  }

  /** Returns whether a run is after the one before it and not adjacent to it. */
  public boolean isAfterPrevious(int run) {
    int order = Long.compareUnsigned(agentHigh(run - 1), agentHigh(run));
    order = order != 0 ? order : Long.compareUnsigned(agentLow(run - 1), agentLow(run));
    order = order != 0 ? order : Long.compare(epoch(run - 1), epoch(run));
    return order < 0 || order == 0 && last(run - 1) < first(run) - 1;
  }

  /** A run, for sorting. */
  private record Run(long agentHigh, long agentLow, long epoch, long first, long last)
      implements Comparable<Run> {
    @Override
    public int compareTo(Run other) {
      int order = Long.compareUnsigned(agentHigh, other.agentHigh);
      order = order != 0 ? order : Long.compareUnsigned(agentLow, other.agentLow);
      order = order != 0 ? order : Long.compare(epoch, other.epoch);
      return order != 0 ? order : Long.compare(first, other.first);
    }

    boolean touches(Run before) {
      return agentHigh == before.agentHigh
          && agentLow == before.agentLow
          && epoch == before.epoch
          && first - 1 <= before.last;
    }
  }

  /** Collects names in any order. Its memory is reused. For one thread at a time. */
  public static final class Builder {
    private static final int MIN_RUNS = 16;

    private long[] runs;
    private int size;

    /**
     * @param expected number of runs for which it initially has room
     */
    public Builder(int expected) {
      runs = new long[Math.max(MIN_RUNS, expected) * COLUMNS];
    }

    private Builder(long[] runs, int size) {
      this.runs = runs;
      this.size = size;
    }

    /**
     * Adds a run of sequences, at or above 0.
     *
     * @return its number, until the next {@link #take} or {@link #merge}
     */
    public int add(long agentHigh, long agentLow, long epoch, long first, long last) {
      int at = size * COLUMNS;
      if (at == runs.length) {
        runs = Arrays.copyOf(runs, Math.max(at * 2, MIN_RUNS * COLUMNS));
      }
      runs[at] = agentHigh;
      runs[at + 1] = agentLow;
      runs[at + 2] = epoch;
      runs[at + 3] = first;
      runs[at + 4] = last;
      return size++;
    }

    /** Appends a sequence to a run of its epoch that ends just before it; else returns false. */
    public boolean extend(int run, long epoch, long sequence) {
      int at = run * COLUMNS;
      if (runs[at + 2] != epoch || runs[at + 4] != sequence - 1) {
        return false;
      }
      runs[at + 4] = sequence;
      return true;
    }

    /** Returns whether one more run would make the memory grow. */
    public boolean isFull() {
      return size * COLUMNS == runs.length;
    }

    /** Doubles the memory if most of it is used. */
    public void reserve() {
      if (size * COLUMNS > runs.length / 4 * 3) {
        runs = Arrays.copyOf(runs, runs.length * 2);
      }
    }

    /** Sorts the runs and joins adjacent ones; invalidates the numbers of runs. */
    public void merge() {
      Run[] sorted = new Run[size];
      for (int run = 0; run < size; run++) {
        int at = run * COLUMNS;
        sorted[run] = new Run(runs[at], runs[at + 1], runs[at + 2], runs[at + 3], runs[at + 4]);
      }
      Arrays.sort(sorted);
      size = 0;
      Run before = null;
      for (Run run : sorted) {
        if (before != null && run.touches(before)) {
          int last = size * COLUMNS - 1;
          runs[last] = Math.max(runs[last], run.last);
          before = new Run(run.agentHigh, run.agentLow, run.epoch, run.first, runs[last]);
        } else {
          add(run.agentHigh, run.agentLow, run.epoch, run.first, run.last);
          before = run;
        }
      }
    }

    /** Returns a copy of what was added since the last call, for {@link #take} on any thread. */
    public Builder takeUnsorted() {
      Builder taken = new Builder(Arrays.copyOf(runs, size * COLUMNS), size);
      size = 0;
      return taken;
    }

    /** Returns what was added since the last call. */
    public AcceptedBatches take() {
      if (size == 0) {
        return NONE;
      }
      merge();
      AcceptedBatches taken = new AcceptedBatches(Arrays.copyOf(runs, size * COLUMNS));
      size = 0;
      return taken;
    }
  }
}
