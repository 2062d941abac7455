package org.traceetl.server.journal.format;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.traceetl.proto.Limits;
import org.traceetl.server.edge.Half;
import org.traceetl.server.edge.HalfTable;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.EdgeHead;

/**
 * The format of a change of open half-edges, in the types of {@link RecordWriter}: an extension of
 * {@link WindowFormat}, and all open halves in a {@link SnapshotFormat}. Its texts are numbered
 * separately from those of the record.
 *
 * <pre>
 *   unsigned  stream time, at least 1
 *   unsigned  halves that left n, n times, ascending: unsigned  number - number before - 1
 *   unsigned  callers that were paired n, n times, ascending: as above
 *   unsigned  heads n, n times:
 *     text      application
 *     octet     connection type &lt;&lt; 1 | failed
 *     text      peer
 *     unsigned  sampling threshold
 *   unsigned  opened halves n, n times in the order of their arrival:
 *     unsigned  zig-zag of (number - number before - 1) &lt;&lt; 3 | had partner &lt;&lt; 2 | side - 1
 *     fixed     key
 *     octet     check, two of them, the high one first
 *     unsigned  index of its head
 *     unsigned  duration, nanoseconds
 *     unsigned  arrival - arrival before
 *     signed    committed - committed before; of the first half, committed - stream time
 *   of each producer and consumer that opened, in the same order:
 *     unsigned  time of the message, microseconds since 1970; 0 if unknown
 *   if the owner has dimensions of edges, and there are heads:
 *     unsigned  dimensions n, 1 to 64, n times: text  key
 *     of each head, in the same order, n times: text  value; empty for none
 * </pre>
 *
 * <p>The number before the first one is -1, the arrival before it 0. Other times are milliseconds
 * since 1970. A half takes about 20 bytes, at most {@value #MAX_HALF_BYTES}. Readers skip bytes
 * after it, and changes of older servers end before the times of messages, or before the
 * dimensions.
 *
 * <p>A decoded change equals the encoded one, with its numbers in ascending order. Whatever the
 * bytes are, applying it fails only if it contradicts the open halves.
 */
final class EdgeChangeFormat {
  /** ID of the extension. */
  static final long ID = 3;

  static final int MAX_CONNECTION_TYPE = 3;
  static final int MAX_CHECK = 0xFFFF;

  /** More than any server may have. */
  static final int MAX_DIMENSIONS = 64;

  static final long MAX_THRESHOLD = (1L << 56) - 1;

  /** Numbers of 4 bytes for the place, 4 for the head, 9, 9, 10 and 8 for duration and times. */
  static final int MAX_HALF_BYTES = Long.BYTES + 2 + 4 + 4 + 9 + 9 + 10 + 8;

  private static final int MIN_HALF_BYTES = Long.BYTES + 2 + 5;
  private static final int MIN_HEAD_BYTES = 4;
  private static final int HAD_PARTNER = 4;
  private static final int SIDE = 3;
  private static final int HALF_FLAGS = 3;

  private EdgeChangeFormat() {}

  /**
   * Writes a change for which the {@link EdgeInvariants} hold.
   *
   * @throws IllegalArgumentException if a number is repeated
   */
  static void write(EdgeChange change, RecordWriter out) {
    out.unsigned(change.streamMillis());
    writeNumbers(change.left(), out);
    writeNumbers(change.paired(), out);
    out.unsigned(change.heads().size());
    for (EdgeHead head : change.heads()) {
      out.text(head.application());
      out.octet(head.connectionType() << 1 | (head.failed() ? 1 : 0));
      out.text(head.peer());
      out.unsigned(head.samplingThreshold());
    }
    writeOpened(change, out);
    if (!change.dimensions().isEmpty()) {
      out.unsigned(change.dimensions().size());
      change.dimensions().forEach(out::text);
      change.heads().forEach(head -> head.values().forEach(out::text));
    }
  }

  private static void writeNumbers(int[] numbers, RecordWriter out) {
    int[] ascending = numbers.clone();
    Arrays.sort(ascending);
    out.unsigned(ascending.length);
    int before = -1;
    for (int number : ascending) {
      if (number <= before) {
        throw new IllegalArgumentException("half " + number + " leaves or is paired twice");
      }
      out.unsigned(number - before - 1L);
      before = number;
    }
  }

  private static void writeOpened(EdgeChange change, RecordWriter out) {
    out.unsigned(change.opened().length);
    int number = -1;
    long arrivalMillis = 0;
    long committedMillis = change.streamMillis();
    for (int half = 0; half < change.opened().length; half++) {
      long step = change.opened()[half] - number - 1L;
      out.unsigned(
          (step << 1 ^ step >> (Long.SIZE - 1)) << HALF_FLAGS
              | (change.hadPartner()[half] ? HAD_PARTNER : 0)
              | change.sides()[half] - Half.CLIENT);
      out.fixed(change.keys()[half]);
      out.octet(change.checks()[half] >>> Byte.SIZE);
      out.octet(change.checks()[half]);
      out.unsigned(change.headOf()[half]);
      out.unsigned(change.durationsNanos()[half]);
      out.unsigned(change.arrivalMillis()[half] - arrivalMillis);
      // May overflow; the reader reverses that.
      out.signed(change.committedMillis()[half] - committedMillis);
      number = change.opened()[half];
      arrivalMillis = change.arrivalMillis()[half];
      committedMillis = change.committedMillis()[half];
    }
    for (int half = 0; half < change.opened().length; half++) {
      if (change.sides()[half] >= Half.PRODUCER) {
        out.unsigned(change.messageMicros()[half]);
      }
    }
  }

  static EdgeChange read(RecordReader in) throws MalformedRecordException {
    long streamMillis = in.amount("time of half-edges");
    if (streamMillis == 0) {
      throw in.malformed("has half-edges without a time");
    }
    int[] left = readNumbers(in, "halves that left");
    int[] paired = readNumbers(in, "paired halves");
    List<EdgeHead> heads = readHeads(in);
    Opened opened = new Opened(in, streamMillis, heads.size());
    List<String> dimensions = readDimensions(in);
    return new EdgeChange(
        streamMillis,
        left,
        paired,
        opened.numbers,
        dimensions.isEmpty() ? heads : withValues(heads, dimensions.size(), in),
        dimensions,
        opened.headOf,
        opened.keys,
        opened.checks,
        opened.sides,
        opened.durationsNanos,
        opened.committedMillis,
        opened.messageMicros,
        opened.arrivalMillis,
        opened.hadPartner);
  }

  private static int[] readNumbers(RecordReader in, String what) throws MalformedRecordException {
    int[] numbers = new int[in.count(1, what)];
    int before = -1;
    for (int i = 0; i < numbers.length; i++) {
      before += 1 + (int) in.upTo(HalfTable.MAX_CAPACITY - 2L - before, "step of " + what);
      numbers[i] = before;
    }
    return numbers;
  }

  private static List<EdgeHead> readHeads(RecordReader in) throws MalformedRecordException {
    int count = in.count(MIN_HEAD_BYTES, "heads of half-edges");
    List<EdgeHead> heads = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      String application = in.text("application");
      int kind = in.octet();
      if (kind > (MAX_CONNECTION_TYPE << 1 | 1)) {
        throw in.malformed("has a half-edge of connection type " + (kind >>> 1));
      }
      heads.add(
          new EdgeHead(
              application,
              (kind & 1) != 0,
              kind >>> 1,
              in.text("peer"),
              in.upTo(MAX_THRESHOLD, "sampling threshold")));
    }
    return List.copyOf(heads);
  }

  private static List<String> readDimensions(RecordReader in) throws MalformedRecordException {
    int count = in.left() == 0 ? 0 : (int) in.upTo(MAX_DIMENSIONS, "dimensions");
    List<String> dimensions = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      dimensions.add(in.text("key of a dimension"));
    }
    return List.copyOf(dimensions);
  }

  private static List<EdgeHead> withValues(List<EdgeHead> heads, int dimensions, RecordReader in)
      throws MalformedRecordException {
    List<EdgeHead> withValues = new ArrayList<>(heads.size());
    for (EdgeHead head : heads) {
      List<String> values = new ArrayList<>(dimensions);
      for (int i = 0; i < dimensions; i++) {
        values.add(in.text("value of a dimension"));
      }
      withValues.add(head.withValues(List.copyOf(values)));
    }
    return List.copyOf(withValues);
  }

  /** The decoded halves that opened. */
  private static final class Opened {
    private final int[] numbers;
    private final int[] headOf;
    private final long[] keys;
    private final int[] checks;
    private final byte[] sides;
    private final long[] durationsNanos;
    private final long[] committedMillis;
    private final long[] messageMicros;
    private final long[] arrivalMillis;
    private final boolean[] hadPartner;

    Opened(RecordReader in, long streamMillis, int heads) throws MalformedRecordException {
      int count = in.count(MIN_HALF_BYTES, "open half-edges");
      numbers = new int[count];
      headOf = new int[count];
      keys = new long[count];
      checks = new int[count];
      sides = new byte[count];
      durationsNanos = new long[count];
      committedMillis = new long[count];
      messageMicros = new long[count];
      arrivalMillis = new long[count];
      hadPartner = new boolean[count];
      int number = -1;
      long arrived = 0;
      long committed = streamMillis;
      for (int half = 0; half < count; half++) {
        long place = in.upTo(16L * HalfTable.MAX_CAPACITY, "step of half-edges");
        number = number(in, number, place >>> HALF_FLAGS);
        numbers[half] = number;
        hadPartner[half] = (place & HAD_PARTNER) != 0;
        sides[half] = (byte) (Half.CLIENT + (place & SIDE));
        keys[half] = in.fixed();
        checks[half] = in.octet() << Byte.SIZE | in.octet();
        headOf[half] = (int) in.upTo(heads - 1L, "head of a half-edge");
        durationsNanos[half] = in.amount("duration of a half-edge");
        arrived += in.upTo(streamMillis - arrived, "step of arrivals");
        arrivalMillis[half] = arrived;
        committed += in.signed();
        committedMillis[half] = committed;
      }
      for (int half = 0; half < count && in.left() > 0; half++) {
        if (sides[half] >= Half.PRODUCER) {
          messageMicros[half] = in.upTo(Limits.MAX_MESSAGE_MICROS, "time of a message");
        }
      }
    }

    private static int number(RecordReader in, int before, long zigZag)
        throws MalformedRecordException {
      long number = before + 1L + (zigZag >>> 1 ^ -(zigZag & 1));
      if (number < 0 || number >= HalfTable.MAX_CAPACITY) {
        throw in.malformed("has half-edge " + number + ": must be below " + HalfTable.MAX_CAPACITY);
      }
      return (int) number;
    }
  }
}
