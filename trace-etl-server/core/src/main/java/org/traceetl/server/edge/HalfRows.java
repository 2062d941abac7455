package org.traceetl.server.edge;

/**
 * Memory of halves by number. A row is {@value #COLUMNS} longs:
 *
 * <pre>
 *   0  key
 *   1  head &lt;&lt; 32 | check &lt;&lt; 16 | flag | side
 *   2  neighbours among the waiting consumers of the key, a ring
 *   3  arrival, milliseconds since 1970
 *   4  duration, nanoseconds
 *   5  pane
 *   6  time of the message
 *   7  place in the order of arrival
 * </pre>
 *
 * <p>Rows are in blocks of {@value #BLOCK_ROWS}, so that growth copies nothing. Neighbours are the
 * number before in the high half of a long, and the number after in the low half. One owner thread.
 */
final class HalfRows {
  /** Instead of a number. */
  static final int NONE = -1;

  /** The caller was paired. */
  private static final int PAIRED = 1 << 3;

  private static final int BLOCK_BITS = 10;
  private static final int BLOCK_ROWS = 1 << BLOCK_BITS;

  private static final int KEY = 0;
  private static final int HEAD = 1;
  private static final int OF_KEY = 2;
  private static final int ARRIVAL = 3;
  private static final int DURATION = 4;
  private static final int PANE = 5;
  private static final int MESSAGE = 6;
  private static final int PLACE = 7;
  private static final int COLUMNS = 8;

  private static final int SIDE = 7;
  private static final int CHECK_SHIFT = 16;
  private static final int HEAD_SHIFT = 32;

  private static final long LOW_HALF = 0xFFFF_FFFFL;

  private final long[][] blocks;
  private int size;

  /**
   * @param capacity maximum number of rows; 8 bytes are allocated for {@value #BLOCK_ROWS} of them
   */
  HalfRows(int capacity) {
    blocks = new long[(capacity - 1 >>> BLOCK_BITS) + 1][];
  }

  /** Returns the number of rows; higher numbers have none. */
  int size() {
    return size;
  }

  /** Adds a row for the lowest number without one, and returns it. */
  int add() {
    int block = size >>> BLOCK_BITS;
    if (blocks[block] == null) {
      blocks[block] = new long[BLOCK_ROWS * COLUMNS];
    }
    return size++;
  }

  private long[] block(int number) {
    return blocks[number >>> BLOCK_BITS];
  }

  private static int at(int number) {
    return (number & BLOCK_ROWS - 1) * COLUMNS;
  }

  /** Writes a half, without its place and the neighbours of its key. */
  void write(int number, Half half) {
    long[] block = block(number);
    int at = at(number);
    block[at + KEY] = half.key();
    int low = half.check() << CHECK_SHIFT | (half.isPaired() ? PAIRED : 0) | half.side();
    block[at + HEAD] = (long) half.head() << HEAD_SHIFT | low & LOW_HALF;
    block[at + ARRIVAL] = half.arrivalMillis();
    block[at + DURATION] = half.durationNanos();
    block[at + PANE] = half.pane();
    block[at + MESSAGE] = half.messageMicros();
  }

  void read(int number, Half to) {
    long[] block = block(number);
    int at = at(number);
    int low = (int) block[at + HEAD];
    to.set(
        block[at + KEY],
        low >>> CHECK_SHIFT,
        low & SIDE,
        (int) (block[at + HEAD] >>> HEAD_SHIFT),
        block[at + DURATION],
        block[at + PANE],
        block[at + MESSAGE]);
    to.arrive(block[at + ARRIVAL], (low & PAIRED) != 0);
  }

  /**
   * Reads both ends of a row, so that it is in the processor's caches. The number must have a row.
   */
  long touch(int number) {
    long[] block = block(number);
    int at = at(number);
    return block[at] ^ block[at + COLUMNS - 1];
  }

  boolean hasKey(int number, long key, int check) {
    long[] block = block(number);
    int at = at(number);
    return block[at + KEY] == key && ((int) block[at + HEAD] >>> CHECK_SHIFT) == check;
  }

  long key(int number) {
    return block(number)[at(number) + KEY];
  }

  int check(int number) {
    return (int) block(number)[at(number) + HEAD] >>> CHECK_SHIFT;
  }

  int side(int number) {
    return (int) block(number)[at(number) + HEAD] & SIDE;
  }

  long arrivalMillis(int number) {
    return block(number)[at(number) + ARRIVAL];
  }

  boolean isPaired(int number) {
    return (block(number)[at(number) + HEAD] & PAIRED) != 0;
  }

  /** Sets that the caller was paired. */
  void setPaired(int number) {
    block(number)[at(number) + HEAD] |= PAIRED;
  }

  int place(int number) {
    return (int) block(number)[at(number) + PLACE];
  }

  void setPlace(int number, int place) {
    block(number)[at(number) + PLACE] = place;
  }

  int beforeOfKey(int number) {
    return (int) (block(number)[at(number) + OF_KEY] >>> 32);
  }

  int afterOfKey(int number) {
    return (int) block(number)[at(number) + OF_KEY];
  }

  /** Makes two consumers, or one with itself, neighbours in the ring of their key. */
  void joinOfKey(int before, int after) {
    setAfter(block(before), at(before) + OF_KEY, after);
    setBefore(block(after), at(after) + OF_KEY, before);
  }

  private static void setAfter(long[] links, int at, int after) {
    links[at] = links[at] & ~LOW_HALF | after & LOW_HALF;
  }

  private static void setBefore(long[] links, int at, int before) {
    links[at] = (long) before << 32 | links[at] & LOW_HALF;
  }
}
