package org.traceetl.server.minutes;

import com.google.common.math.LongMath;
import java.util.Arrays;

/**
 * Numbers by minute, packed: of thousands of subjects, few columns are above 0 in most minutes, and
 * most numbers are small. Not thread-safe.
 *
 * <p>The minutes of a subject are in one array, oldest first:
 *
 * <pre>
 *   byte   lowest 8 bits of the minute
 *   short  number of following bytes
 *   for each column above 0, ascending: distance from the previous column, value; both as varints
 * </pre>
 */
public final class MinuteColumns {
  /** Minutes in memory: 60 that have ended, the current one, and one ahead of it. */
  private static final int KEPT = LastHour.MINUTES + 2;

  /** Maximum number in memory: their lowest 8 bits tell apart them and those that are outdated. */
  private static final int MAX_KEPT = 200;

  private static final int HEADER = 3;
  private static final int MINUTE_MASK = 0xff;
  private static final int MAX_VARINT = 10;

  /** Maximum number of columns: more might exceed the length field of a minute. */
  private static final int MAX_COLUMNS = 1_000;

  private static final int GROWTH = 8;
  private static final int VARINT_BITS = 7;
  private static final int VARINT_MORE = 0x80;

  private final int columns;
  private final int kept;
  private final long[] values;
  private final byte[] packed;

  /** Position after the latest varint. */
  private int next;

  /** The last hour of a subject. */
  public static final class Minutes {
    private byte[] bytes = new byte[0];
    private int size;

    /** Start of the newest minute. */
    private int last;

    /** Undefined without minutes. */
    private long newest;

    /** Returns whether all minutes began before the given one. */
    public boolean endedBefore(long minute) {
      return size == 0 || newest < minute;
    }

    private long minuteAt(int at) {
      return newest - (newest - bytes[at] & MINUTE_MASK);
    }

    private int length(int at) {
      return HEADER + ((bytes[at + 1] & 0xff) << Byte.SIZE | bytes[at + 2] & 0xff);
    }
  }

  /** Receives the numbers of a subject in a minute; valid during the call only. */
  public interface Reader {
    void minute(long minute, long[] values);
  }

  /**
   * @param columns columns of each minute, at most {@value #MAX_COLUMNS}
   */
  public MinuteColumns(int columns) {
    this(columns, KEPT);
  }

  /**
   * Creates columns of other intervals than minutes, which are numbered like them.
   *
   * @param columns columns of each interval, at most {@value #MAX_COLUMNS}
   * @param kept intervals in memory, including the current one and one ahead of it; at most {@value
   *     #MAX_KEPT}
   */
  public MinuteColumns(int columns, int kept) {
    if (columns > MAX_COLUMNS || kept > MAX_KEPT) {
      throw new IllegalArgumentException(
          columns
              + " columns of "
              + kept
              + " intervals are more than "
              + MAX_COLUMNS
              + " of "
              + MAX_KEPT);
    }
    this.columns = columns;
    this.kept = kept;
    values = new long[columns];
    packed = new byte[HEADER + columns * 2 * MAX_VARINT];
  }

  /**
   * Adds to a minute; sums that would overflow stay at the highest number.
   *
   * @param minute at most the number of kept ones - 2 before {@code now}, at most one after it
   * @param added numbers by column, not below 0
   */
  public void add(Minutes to, long minute, long[] added, long now) {
    if (to.size > 0 && to.newest > now + 1) {
      cutAfter(to, now + 1);
    }
    if (to.size == 0 || minute > to.newest) {
      append(to, minute, added);
      return;
    }
    int at = to.last;
    if (minute != to.newest) {
      at = 0;
      while (to.minuteAt(at) < minute) {
        at += to.length(at);
      }
    }
    int replaced = 0;
    System.arraycopy(added, 0, values, 0, columns);
    if (to.minuteAt(at) == minute) {
      replaced = to.length(at);
      addTo(values, to, at);
    }
    int length = pack(minute, values);
    int difference = length - replaced;
    grow(to, difference);
    int end = at + replaced;
    System.arraycopy(to.bytes, end, to.bytes, end + difference, to.size - end);
    System.arraycopy(packed, 0, to.bytes, at, length);
    to.size += difference;
    if (minute != to.newest) {
      to.last += difference;
    }
  }

  /** Removes minutes in the future after the clock was set back. */
  private static void cutAfter(Minutes to, long newest) {
    int end = 0;
    int last = 0;
    while (end < to.size && to.minuteAt(end) <= newest) {
      last = end;
      end += to.length(end);
    }
    if (end > 0) {
      to.newest = to.minuteAt(last);
    }
    to.last = last;
    to.size = end;
  }

  private void append(Minutes to, long minute, long[] added) {
    int outdated = 0;
    while (outdated < to.size && to.minuteAt(outdated) <= minute - kept) {
      outdated += to.length(outdated);
    }
    System.arraycopy(to.bytes, outdated, to.bytes, 0, to.size - outdated);
    to.size -= outdated;
    int length = pack(minute, added);
    grow(to, length);
    System.arraycopy(packed, 0, to.bytes, to.size, length);
    to.last = to.size;
    to.size += length;
    to.newest = minute;
  }

  private static void grow(Minutes of, int bytes) {
    int needed = of.size + bytes;
    if (needed > of.bytes.length) {
      of.bytes = Arrays.copyOf(of.bytes, needed + needed / GROWTH);
    }
  }

  /** Adds up a subject's minutes, both ends inclusive. */
  public void sum(Minutes of, long from, long to, long[] sum) {
    if (of.size == 0 || of.newest < from) {
      return;
    }
    for (int at = 0; at < of.size; at += of.length(at)) {
      long minute = of.minuteAt(at);
      if (minute >= from && minute <= to) {
        addTo(sum, of, at);
      }
    }
  }

  /** Passes on a subject's minutes, both ends inclusive, oldest first, without empty ones. */
  public void read(Minutes of, long from, long to, Reader reader) {
    if (of.size == 0 || of.newest < from) {
      return;
    }
    for (int at = 0; at < of.size; at += of.length(at)) {
      long minute = of.minuteAt(at);
      if (minute >= from && minute <= to) {
        Arrays.fill(values, 0);
        addTo(values, of, at);
        reader.minute(minute, values);
      }
    }
  }

  private void addTo(long[] sum, Minutes of, int at) {
    int end = at + of.length(at);
    next = at + HEADER;
    int column = 0;
    while (next < end) {
      column += (int) varint(of.bytes);
      sum[column] = LongMath.saturatedAdd(sum[column], varint(of.bytes));
    }
  }

  private long varint(byte[] bytes) {
    long value = 0;
    int shift = 0;
    byte part;
    do {
      part = bytes[next++];
      value |= (long) (part & VARINT_MORE - 1) << shift;
      shift += VARINT_BITS;
    } while (part < 0);
    return value;
  }

  /** Returns the length of what stands in {@link #packed}. */
  private int pack(long minute, long[] of) {
    int to = HEADER;
    int before = 0;
    for (int column = 0; column < columns; column++) {
      if (of[column] > 0) {
        to = pack(column - before, to);
        to = pack(of[column], to);
        before = column;
      }
    }
    packed[0] = (byte) minute;
    packed[1] = (byte) (to - HEADER >> Byte.SIZE);
    packed[2] = (byte) (to - HEADER);
    return to;
  }

  private int pack(long value, int at) {
    int to = at;
    long rest = value;
    while (rest >= VARINT_MORE) {
      packed[to++] = (byte) (rest | VARINT_MORE);
      rest >>>= VARINT_BITS;
    }
    packed[to++] = (byte) rest;
    return to;
  }
}
