package org.traceetl.server.window;

import java.util.Arrays;

/**
 * The names of the batches that count in a window, as runs of consecutive sequences: {@value
 * #COLUMNS} longs a run: agent (two), epoch, first and last sequence. Sorted by agent and epoch, as
 * unsigned and signed numbers, then by sequence; no two runs touch. Immutable by contract: nobody
 * writes to the array after the seal.
 */
public record AcceptedBatches(long[] runs) {
  /** Longs of a run. */
  public static final int COLUMNS = 5;

  /** No batches. */
  public static final AcceptedBatches NONE = new AcceptedBatches(new long[0]);

  /** Number of runs. */
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

  /** The run's first sequence. */
  public long first(int run) {
    return runs[run * COLUMNS + 3];
  }

  /** The run's last sequence, included. */
  public long last(int run) {
    return runs[run * COLUMNS + 4];
  }

  /** One run, to be sorted. */
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

  /** Collects names in any order. Its memory stays from window to window. One thread at a time. */
  public static final class Builder {
    private static final int MIN_RUNS = 16;

    private long[] runs;
    private int size;

    /**
     * @param expected runs that it has room for without growing
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

    /** Adds a sequence to a run that is of its epoch and ends just before it; else false. */
    public boolean extend(int run, long epoch, long sequence) {
      int at = run * COLUMNS;
      if (runs[at + 2] != epoch || runs[at + 4] != sequence - 1) {
        return false;
      }
      runs[at + 4] = sequence;
      return true;
    }

    /** Whether one more run would make the memory grow. */
    public boolean isFull() {
      return size * COLUMNS == runs.length;
    }

    /** Makes room for as many runs again where most of it is taken. */
    public void reserve() {
      if (size * COLUMNS > runs.length / 4 * 3) {
        runs = Arrays.copyOf(runs, runs.length * 2);
      }
    }

    /** Sorts the runs and joins those that touch: numbers of runs are void. */
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

    /** What was added since the last call, for another thread to {@link #take}. Only copies. */
    public Builder takeUnsorted() {
      Builder taken = new Builder(Arrays.copyOf(runs, size * COLUMNS), size);
      size = 0;
      return taken;
    }

    /** What was added since the last call. */
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
