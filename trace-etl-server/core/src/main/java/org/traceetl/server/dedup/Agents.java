package org.traceetl.server.dedup;

import java.util.Arrays;
import org.traceetl.server.series.HashIndex;
import org.traceetl.server.window.AcceptedBatches;

/**
 * Agents by ID, ordered by their last activity, each with the last sequences of its two newest
 * epochs.
 *
 * <p>An agent is a number. Its values are adjacent in one array:
 *
 * <pre>
 *   0  ID, two of them
 *   2  time of its last activity
 *   3  the caller's mark
 *   4  the newest epoch: number, highest sequence, length
 *   7  the epoch before: the same
 * </pre>
 *
 * <p>The length of an epoch is the number of sequences up to the highest one, all of which were
 * seen, at most {@value SeenRing#WIDTH}; no other sequences were seen. An epoch with gaps has a
 * {@link SeenRing} and the length {@link #GAPS}. The highest sequence of an epoch of which nothing
 * was seen is {@link #NONE}. The newest epoch has the number {@code agent * 2}, the one before
 * {@code agent * 2 + 1}.
 *
 * <p>One owner thread.
 */
final class Agents {
  static final int NONE = -1;

  /** Heap of an agent without gaps: ten longs, two references, two links, and its index entry. */
  static final int BYTES = 120;

  private static final int WIDTH = SeenRing.WIDTH;
  private static final int INITIAL = 64;

  /** The arrays grow by their length divided by this. */
  private static final int GROWTH = 8;

  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

  private static final int HIGH = 0;
  private static final int LOW = 1;
  private static final int HEARD = 2;
  private static final int MARK = 3;
  private static final int EPOCHS = 4;
  private static final int COLUMNS = 10;

  private static final int NUMBER = 0;
  private static final int HIGHEST = 1;
  private static final int LENGTH = 2;
  private static final int EPOCH_COLUMNS = 3;

  /** Instead of a length: the epoch has gaps. */
  private static final long GAPS = -1;

  private final HashIndex index = new HashIndex(INITIAL);
  private long[] values = new long[INITIAL * COLUMNS];

  /** By epoch; null for an epoch without gaps. */
  private SeenRing[] rings = new SeenRing[INITIAL * 2];

  /** A spare ring: gaps come and go with batches that overtake each other. */
  private SeenRing spare = new SeenRing();

  private int ringCount;

  // By agent: its neighbours in the order of activity
  private int[] earlier = new int[INITIAL];
  private int[] later = new int[INITIAL];
  private int first = NONE;
  private int last = NONE;

  /** Exceeds all numbers that are in use or free. */
  private int numbers;

  /** A free number; {@link #later} links to the next one. */
  private int free = NONE;

  int size() {
    return index.size();
  }

  /** Returns the approximate heap of the agents and their gaps. */
  long bytes() {
    return (long) index.size() * BYTES + (long) ringCount * SeenRing.BYTES;
  }

  /** Returns the agent with this ID, or {@link #NONE}. */
  int find(long high, long low) {
    int hash = hash(high, low);
    for (int slot = index.first(hash); index.isTaken(slot); slot = index.next(slot)) {
      if (index.hasHash(slot, hash)) {
        int agent = index.number(slot);
        int at = agent * COLUMNS;
        if (values[at + HIGH] == high && values[at + LOW] == low) {
          return agent;
        }
      }
    }
    return NONE;
  }

  private static int hash(long high, long low) {
    long hash = (high * MIX ^ low) * MIX;
    return (int) (hash >>> 32);
  }

  /** Adds an agent with a new ID, as the most recently active one. */
  int addLast(long high, long low, long heard) {
    int agent = add(high, low);
    values[agent * COLUMNS + HEARD] = heard;
    linkLast(agent);
    return agent;
  }

  /** Adds an agent with a new ID, as the least recently active one. */
  int addFirst(long high, long low, long heard) {
    int agent = add(high, low);
    values[agent * COLUMNS + HEARD] = heard;
    later[agent] = first;
    earlier[agent] = NONE;
    if (first == NONE) {
      last = agent;
    } else {
      earlier[first] = agent;
    }
    first = agent;
    return agent;
  }

  private int add(long high, long low) {
    int agent = free;
    if (agent == NONE) {
      agent = numbers++;
      if (agent == earlier.length) {
        grow();
      }
    } else {
      free = later[agent];
    }
    int at = agent * COLUMNS;
    values[at + HIGH] = high;
    values[at + LOW] = low;
    values[at + MARK] = NONE;
    begin(agent * 2, Long.MIN_VALUE);
    begin(agent * 2 + 1, Long.MIN_VALUE);
    index.add(hash(high, low), agent);
    return agent;
  }

  private void grow() {
    // Grows slowly: unused room is memory outside the limit.
    int capacity = earlier.length + earlier.length / GROWTH + INITIAL;
    values = Arrays.copyOf(values, capacity * COLUMNS);
    rings = Arrays.copyOf(rings, capacity * 2);
    earlier = Arrays.copyOf(earlier, capacity);
    later = Arrays.copyOf(later, capacity);
  }

  void remove(int agent) {
    int at = agent * COLUMNS;
    index.remove(hash(values[at + HIGH], values[at + LOW]), agent);
    unlink(agent);
    release(agent * 2);
    release(agent * 2 + 1);
    later[agent] = free;
    free = agent;
  }

  /** Makes an agent the most recently active one. */
  void hear(int agent, long heard) {
    values[agent * COLUMNS + HEARD] = heard;
    if (agent != last) {
      unlink(agent);
      linkLast(agent);
    }
  }

  private void linkLast(int agent) {
    earlier[agent] = last;
    later[agent] = NONE;
    if (last == NONE) {
      first = agent;
    } else {
      later[last] = agent;
    }
    last = agent;
  }

  private void unlink(int agent) {
    if (earlier[agent] == NONE) {
      first = later[agent];
    } else {
      later[earlier[agent]] = later[agent];
    }
    if (later[agent] == NONE) {
      last = earlier[agent];
    } else {
      earlier[later[agent]] = earlier[agent];
    }
  }

  /** Returns the least recently active agent, or {@link #NONE}. */
  int first() {
    return first;
  }

  /** Returns the most recently active agent, or {@link #NONE}. */
  int last() {
    return last;
  }

  /** Returns the agent that was active just before, or {@link #NONE}. */
  int earlier(int agent) {
    return earlier[agent];
  }

  long heard(int agent) {
    return values[agent * COLUMNS + HEARD];
  }

  long high(int agent) {
    return values[agent * COLUMNS + HIGH];
  }

  long low(int agent) {
    return values[agent * COLUMNS + LOW];
  }

  /** Returns the caller's mark of an agent, initially {@link #NONE}. */
  long mark(int agent) {
    return values[agent * COLUMNS + MARK];
  }

  void mark(int agent, long mark) {
    values[agent * COLUMNS + MARK] = mark;
  }

  /**
   * Returns the number of an agent's epoch, which may replace an older one; {@link #NONE} if it is
   * too old.
   */
  int epoch(int agent, long number) {
    int newest = agent * 2;
    int before = newest + 1;
    long newestNumber = values[place(newest) + NUMBER];
    if (number == newestNumber) {
      return newest;
    }
    if (number > newestNumber) {
      if (isUsed(newest)) {
        release(before);
        System.arraycopy(values, place(newest), values, place(before), EPOCH_COLUMNS);
        rings[before] = rings[newest];
        rings[newest] = null;
      }
      begin(newest, number);
      return newest;
    }
    if (!isUsed(before) || number > values[place(before) + NUMBER]) {
      begin(before, number);
    }
    return number == values[place(before) + NUMBER] ? before : NONE;
  }

  private static int place(int epoch) {
    return (epoch >> 1) * COLUMNS + EPOCHS + (epoch & 1) * EPOCH_COLUMNS;
  }

  private boolean isUsed(int epoch) {
    return values[place(epoch) + HIGHEST] != NONE;
  }

  private void begin(int epoch, long number) {
    release(epoch);
    int at = place(epoch);
    values[at + NUMBER] = number;
    values[at + HIGHEST] = NONE;
    values[at + LENGTH] = 0;
  }

  private void release(int epoch) {
    if (rings[epoch] != null) {
      spare = rings[epoch];
      rings[epoch] = null;
      ringCount--;
    }
  }

  /** Records a sequence; returns false if it was recorded before, or is too old. */
  boolean isFirst(int epoch, long sequence) {
    int at = place(epoch);
    long highest = values[at + HIGHEST];
    long length = values[at + LENGTH];
    if (sequence == highest + 1 && length != GAPS) {
      values[at + HIGHEST] = sequence;
      values[at + LENGTH] = Math.min(length + 1, WIDTH);
      return true;
    }
    if (sequence <= highest && isSeen(epoch, sequence, highest, length)) {
      return false;
    }
    note(epoch, sequence, sequence);
    return true;
  }

  private boolean isSeen(int epoch, long sequence, long highest, long length) {
    return sequence <= highest - WIDTH
        || (length == GAPS ? rings[epoch].isSeen(sequence) : sequence > highest - length);
  }

  /** Records a run of sequences, except those that are too old. */
  void note(int epoch, long from, long to) {
    int at = place(epoch);
    long highest = values[at + HIGHEST];
    if (to <= highest - WIDTH) {
      return;
    }
    if (rings[epoch] == null && !noteWithoutGap(at, from, to)) {
      scatter(epoch);
    }
    if (rings[epoch] != null) {
      noteInRing(epoch, highest, from, to);
    }
  }

  /** Records a run; returns false, without a change, if that would create a gap. */
  private boolean noteWithoutGap(int at, long from, long to) {
    long highest = values[at + HIGHEST];
    long lowest = highest - values[at + LENGTH] + 1;
    long begin = from;
    if (highest != NONE && from - 1 <= highest) {
      if (to < lowest - 1) {
        return false;
      }
      begin = Math.min(from, lowest);
    } else if (highest != NONE && highest > to - WIDTH) {
      return false;
    }
    long end = Math.max(to, highest);
    values[at + HIGHEST] = end;
    values[at + LENGTH] = Math.min(end - begin, WIDTH - 1) + 1;
    return true;
  }

  private void scatter(int epoch) {
    int at = place(epoch);
    long highest = values[at + HIGHEST];
    SeenRing ring = spare == null ? new SeenRing() : spare;
    spare = null;
    ring.fill(Math.max(0, highest - WIDTH + 1), highest, false);
    ring.fill(highest - values[at + LENGTH] + 1, highest, true);
    rings[epoch] = ring;
    ringCount++;
    values[at + LENGTH] = GAPS;
  }

  private void noteInRing(int epoch, long before, long from, long to) {
    SeenRing ring = rings[epoch];
    long highest = Math.max(before, to);
    long lowest = Math.max(0, highest - WIDTH + 1);
    if (to > before) {
      ring.fill(Math.max(before + 1, lowest), to, false);
      values[place(epoch) + HIGHEST] = to;
    }
    ring.fill(Math.max(from, lowest), to, true);
    // A gap may have been filled, or become too old, since the last check.
    if (from <= before || to / Long.SIZE != before / Long.SIZE) {
      gather(epoch, lowest, highest);
    }
  }

  /** Releases the ring if there is no gap any more. */
  private void gather(int epoch, long lowest, long highest) {
    int sequences = (int) (highest - lowest) + 1;
    int begin = rings[epoch].next(lowest, 0, sequences, true);
    if (rings[epoch].next(lowest, begin, sequences, false) == sequences) {
      values[place(epoch) + LENGTH] = sequences - begin;
      release(epoch);
    }
  }

  /** Adds the remembered sequences of an agent as runs, in order. */
  void remembered(int agent, AcceptedBatches.Builder runs) {
    remembered(agent, agent * 2 + 1, runs);
    remembered(agent, agent * 2, runs);
  }

  private void remembered(int agent, int epoch, AcceptedBatches.Builder runs) {
    if (!isUsed(epoch)) {
      return;
    }
    long number = values[place(epoch) + NUMBER];
    long highest = values[place(epoch) + HIGHEST];
    SeenRing ring = rings[epoch];
    if (ring == null) {
      long from = highest - values[place(epoch) + LENGTH] + 1;
      runs.add(high(agent), low(agent), number, from, highest);
      return;
    }
    long lowest = Math.max(0, highest - WIDTH + 1);
    int sequences = (int) (highest - lowest) + 1;
    int at = ring.next(lowest, 0, sequences, true);
    while (at < sequences) {
      int end = ring.next(lowest, at, sequences, false);
      runs.add(high(agent), low(agent), number, lowest + at, lowest + end - 1);
      at = ring.next(lowest, end, sequences, true);
    }
  }
}
