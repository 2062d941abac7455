package org.traceetl.server.edge;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.EdgeHead;

/**
 * The open half-edges of one queue with their heads. The owner of the queue joins halves, and
 * writes the net change of each window to the journal; readers apply the changes, and a later owner
 * continues with the same halves. If its dimensions are others, halves keep the values of those
 * that both have.
 *
 * <p>{@link Half#pane} is when the agent accepted the span, in milliseconds since 1970. One owner
 * thread.
 */
public final class OpenEdges {
  private final HalfTable table;
  private final EdgeHeads heads;
  private final List<String> dimensions;

  /**
   * @param capacity maximum number of open halves, 1 to {@link HalfTable#MAX_CAPACITY}
   * @param waitMillis stream time after which a half expires, at least 1
   * @param maxTextBytes longer names and values are cut
   * @param dimensions keys of the values of heads
   * @param seed of hashes, random
   * @throws IllegalArgumentException if capacity or waiting time is out of range
   */
  public OpenEdges(
      int capacity, long waitMillis, int maxTextBytes, List<String> dimensions, long seed) {
    table = new HalfTable(capacity, waitMillis, seed);
    heads = new EdgeHeads(EdgeHeads.MAX_BYTES, maxTextBytes, dimensions.size(), seed);
    this.dimensions = List.copyOf(dimensions);
  }

  /** Returns the heads. Their numbers are valid until the end of the window. */
  public EdgeHeads heads() {
    return heads;
  }

  /** As {@link HalfTable#streamMillis}. */
  public long streamMillis() {
    return table.streamMillis();
  }

  /** Returns the number of open halves, including callers that were paired. */
  public int open() {
    return table.open();
  }

  /** Returns the number of open halves of a side that were not paired. */
  public int waiting(int side) {
    return table.waiting(side);
  }

  /** As {@link HalfTable#advance}. */
  public void advance(long millis, Joins joins) {
    table.advance(millis, joins);
  }

  /** As {@link HalfTable#prepare}. */
  public int prepare(long[] keys, int[] checks, int from, int to) {
    return table.prepare(keys, checks, from, to);
  }

  /** As {@link HalfTable#offer}. */
  public Outcome offer(Half half, Joins joins) {
    return table.offer(half, joins);
  }

  /**
   * Returns what has changed since the last call, and begins a window. Numbers of heads may then
   * belong to others.
   */
  public EdgeChange endWindow() {
    Copy copy = new Copy();
    table.endWindow(copy);
    if (heads.isCrowded()) {
      removeUnusedHeads();
    }
    return copy.change();
  }

  /** Returns all open halves as the change of an empty table. */
  public EdgeChange all() {
    Copy copy = new Copy();
    table.visitOpen(copy);
    return copy.change();
  }

  /**
   * Applies the next change, between windows or before the first one.
   *
   * @throws InconsistentChangeException if it contradicts the open halves, which must then not be
   *     used any more
   */
  public void apply(EdgeChange change) {
    if (change.isNone()) {
      return;
    }
    table.advanced(change.streamMillis());
    for (int number : change.left()) {
      table.left(number);
    }
    for (int number : change.paired()) {
      table.paired(number);
    }
    int[] valueOf = dimensions.stream().mapToInt(change.dimensions()::indexOf).toArray();
    int[] numbers = new int[change.heads().size()];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = heads.find(change.heads().get(i), valueOf);
    }
    Half half = new Half();
    for (int i = 0; i < change.opened().length; i++) {
      half.set(
          change.keys()[i],
          change.checks()[i],
          change.sides()[i],
          numbers[change.headOf()[i]],
          change.durationsNanos()[i],
          change.committedMillis()[i],
          change.messageMicros()[i]);
      half.arrive(change.arrivalMillis()[i], change.hadPartner()[i]);
      table.opened(change.opened()[i], half);
    }
    if (heads.isCrowded()) {
      removeUnusedHeads();
    }
  }

  private void removeUnusedHeads() {
    BitSet used = new BitSet(heads.end());
    table.visitOpen(
        new TableChange() {
          @Override
          public void advanced(long streamMillis) {}

          @Override
          public void left(int number) {}

          @Override
          public void paired(int number) {}

          @Override
          public void opened(int number, Half half) {
            used.set(half.head());
          }
        });
    heads.keep(used);
  }

  /** Copies a change. */
  private final class Copy implements TableChange {
    private static final int NOT_COPIED = 0;
    private static final int INITIAL = 256;

    private long streamMillis;
    private int[] left = new int[INITIAL];
    private int leftCount;
    private int[] paired = new int[16];
    private int pairedCount;
    private final List<EdgeHead> copied = new ArrayList<>();

    /** By head: its index in {@link #copied} + 1. */
    private final int[] indexOf = new int[heads.end()];

    private int size;
    private int[] opened = new int[INITIAL];
    private int[] headOf = new int[INITIAL];
    private long[] keys = new long[INITIAL];
    private int[] checks = new int[INITIAL];
    private byte[] sides = new byte[INITIAL];
    private long[] durationsNanos = new long[INITIAL];
    private long[] committedMillis = new long[INITIAL];
    private long[] messageMicros = new long[INITIAL];
    private long[] arrivalMillis = new long[INITIAL];
    private boolean[] hadPartner = new boolean[INITIAL];

    @Override
    public void advanced(long millis) {
      streamMillis = millis;
    }

    @Override
    public void left(int number) {
      if (leftCount == left.length) {
        left = Arrays.copyOf(left, 2 * leftCount);
      }
      left[leftCount++] = number;
    }

    @Override
    public void paired(int number) {
      if (pairedCount == paired.length) {
        paired = Arrays.copyOf(paired, 2 * pairedCount);
      }
      paired[pairedCount++] = number;
    }

    @Override
    public void opened(int number, Half half) {
      if (size == opened.length) {
        resize(2 * size);
      }
      int head = half.head();
      if (indexOf[head] == NOT_COPIED) {
        copied.add(heads.copy(head));
        indexOf[head] = copied.size();
      }
      opened[size] = number;
      headOf[size] = indexOf[head] - 1;
      keys[size] = half.key();
      checks[size] = half.check();
      sides[size] = (byte) half.side();
      durationsNanos[size] = half.durationNanos();
      committedMillis[size] = half.pane();
      messageMicros[size] = half.messageMicros();
      arrivalMillis[size] = half.arrivalMillis();
      hadPartner[size] = half.isPaired();
      size++;
    }

    private void resize(int length) {
      opened = Arrays.copyOf(opened, length);
      headOf = Arrays.copyOf(headOf, length);
      keys = Arrays.copyOf(keys, length);
      checks = Arrays.copyOf(checks, length);
      sides = Arrays.copyOf(sides, length);
      durationsNanos = Arrays.copyOf(durationsNanos, length);
      committedMillis = Arrays.copyOf(committedMillis, length);
      messageMicros = Arrays.copyOf(messageMicros, length);
      arrivalMillis = Arrays.copyOf(arrivalMillis, length);
      hadPartner = Arrays.copyOf(hadPartner, length);
    }

    EdgeChange change() {
      resize(size);
      return new EdgeChange(
          streamMillis,
          Arrays.copyOf(left, leftCount),
          Arrays.copyOf(paired, pairedCount),
          opened,
          List.copyOf(copied),
          copied.isEmpty() ? List.of() : dimensions,
          headOf,
          keys,
          checks,
          sides,
          durationsNanos,
          committedMillis,
          messageMicros,
          arrivalMillis,
          hadPartner);
    }
  }
}
