package org.traceetl.server.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * A series of one side: the sum of the raw series that differ in ignored labels only. It has the
 * exact increase of each pane, without the extrapolation of {@code increase()}.
 */
final class CountedSeries {
  private record Life(long firstMillis, long lastMillis, boolean isNew) {}

  private final Panes panes;
  private final double[] increases;
  private final List<Life> lives = new ArrayList<>(1);
  private final BitSet restarts = new BitSet();

  CountedSeries(Panes panes) {
    this.panes = panes;
    increases = new double[panes.size()];
  }

  /**
   * Adds a raw series. A value below the one before it is a restart from 0.
   *
   * @param samples those of the panes; at least one
   * @param before value before the panes; NaN without one
   * @param countsFromZero whether a series without a value before counts from 0
   */
  void add(Samples samples, double before, boolean countsFromZero) {
    boolean isNew = Double.isNaN(before);
    double last = before;
    if (isNew) {
      last = countsFromZero ? 0 : samples.value(0);
    }
    long lastMillis = panes.startMillis();
    for (int i = 0; i < samples.size(); i++) {
      double value = samples.value(i);
      if (value < last) {
        restarted(lastMillis, samples.millis(i));
        last = 0;
      }
      increases[panes.indexOf(samples.millis(i))] += value - last;
      last = value;
      lastMillis = samples.millis(i);
    }
    lives.add(new Life(samples.millis(0), lastMillis, isNew));
  }

  /** Adds another series to a sum. */
  void add(CountedSeries other) {
    for (int i = 0; i < increases.length; i++) {
      increases[i] += other.increases[i];
    }
    restarts.or(other.restarts);
  }

  /**
   * Ends the reading. A raw series that begins after another one ended is a restart too: a program
   * may have another label after it, such as {@code collector_instance_id}.
   */
  void finish() {
    long[] ends = lives.stream().mapToLong(Life::lastMillis).sorted().toArray();
    for (Life life : lives) {
      int ended = Arrays.binarySearch(ends, life.firstMillis);
      int before = (ended < 0 ? -ended - 1 : ended) - 1;
      if (life.isNew && before >= 0) {
        restarted(ends[before], life.firstMillis);
      }
    }
    lives.clear();
  }

  private void restarted(long afterMillis, long beforeMillis) {
    restarts.set(panes.indexOf(afterMillis), panes.indexOf(beforeMillis) + 1);
  }

  /** Returns the increase of each pane, to read only. */
  double[] increases() {
    return increases;
  }

  /** Returns the increase of the range. */
  double total() {
    double total = 0;
    for (int i = panes.settle(); i < panes.settle() + panes.count(); i++) {
      total += increases[i];
    }
    return total;
  }

  /** Returns the panes with restarts, to read only. */
  BitSet restarts() {
    return restarts;
  }
}
