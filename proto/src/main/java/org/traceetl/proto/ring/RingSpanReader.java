package org.traceetl.proto.ring;

/**
 * Reads a span, or a resource's attributes, in place: first the fixed fields, then the attributes,
 * then the events. The links can be read at any time. Strings are slices of the bytes or of the
 * dictionary; those of the bytes may not be UTF-8. A value that exceeds the bytes ends the reading
 * and sets {@link #isBroken}. Allocates nothing; not thread-safe.
 */
public final class RingSpanReader {
  private static final byte[] EMPTY = new byte[0];

  /** A string: a range of an array. */
  public static final class Slice {
    public byte[] bytes = EMPTY;
    public int offset;
    public int length;

    private void clear() {
      set(EMPTY, 0, 0);
    }

    private void set(byte[] bytes, int offset, int length) {
      // The array is mostly the same, and a store would cost more than the comparison.
      if (this.bytes != bytes) {
        this.bytes = bytes;
      }
      this.offset = offset;
      this.length = length;
    }
  }

  public long traceIdHigh;
  public long traceIdLow;
  public long spanId;
  public long parentSpanId;
  public long startUnixNanos;
  public long durationNanos;
  public int kind;
  public int status;

  /** Below 2^56; 0 for none. */
  public long samplingThreshold;

  /** Below 2^56; -1 for none. */
  public long randomness;

  /** Number of links, 0 to 255. */
  public int links;

  public final Slice name = new Slice();

  /** Length 0 if there is none. */
  public final Slice statusMessage = new Slice();

  public final Slice key = new Slice();

  /** Of the current attribute: one of {@link RingLayout}'s. */
  public int valueType;

  /** Of an attribute whose value is a string, JSON or base64. */
  public final Slice text = new Slice();

  /** Of an attribute whose value is an integer. */
  public long integer;

  /** Of an attribute whose value is a double. */
  public double real;

  public final Slice eventName = new Slice();

  /** Time from the span's start to the event, nanoseconds. */
  public long eventOffsetNanos;

  private RingDictionary.Strings strings;
  private byte[] bytes = EMPTY;
  private int at;
  private int end;
  private long attributesLeft;
  private long eventsLeft;
  private boolean hasEvents;
  private boolean broken;

  /**
   * Starts with a span.
   *
   * @param strings entries of the dictionary, to which numbers refer
   * @return false if the span is malformed
   */
  public boolean span(byte[] bytes, int from, int to, RingDictionary.Strings strings) {
    begin(bytes, from, to, strings);
    name.clear();
    statusMessage.clear();
    if (to - from < RingLayout.SPAN_FIXED_BYTES) {
      broken = true;
      return false;
    }
    traceIdHigh = LittleEndian.getLong(bytes, from + RingLayout.TRACE_ID_HIGH_OFFSET);
    traceIdLow = LittleEndian.getLong(bytes, from + RingLayout.TRACE_ID_LOW_OFFSET);
    spanId = LittleEndian.getLong(bytes, from + RingLayout.SPAN_ID_OFFSET);
    parentSpanId = LittleEndian.getLong(bytes, from + RingLayout.PARENT_SPAN_ID_OFFSET);
    startUnixNanos = LittleEndian.getLong(bytes, from + RingLayout.START_OFFSET);
    durationNanos = LittleEndian.getLong(bytes, from + RingLayout.DURATION_OFFSET);
    kind = bytes[from + RingLayout.KIND_OFFSET] & 0xff;
    status = bytes[from + RingLayout.STATUS_OFFSET] & 0xff;
    int flags = bytes[from + RingLayout.FLAGS_OFFSET];
    attributesLeft =
        Integer.toUnsignedLong(LittleEndian.getInt(bytes, from + RingLayout.ATTRIBUTES_OFFSET));
    at = from + RingLayout.SPAN_FIXED_BYTES;
    links = bytes[from + RingLayout.LINKS_OFFSET] & 0xff;
    end = to - links * RingLayout.LINK_BYTES;
    if (end < at) {
      broken = true;
      return false;
    }
    samplingThreshold = (flags & RingLayout.FLAG_THRESHOLD) == 0 ? 0 : fixed64();
    randomness = (flags & RingLayout.FLAG_RANDOMNESS) == 0 ? -1 : fixed64();
    string(name);
    if ((flags & RingLayout.FLAG_STATUS_MESSAGE) != 0) {
      string(statusMessage);
    }
    hasEvents = (flags & RingLayout.FLAG_EVENTS) != 0;
    return !broken;
  }

  /**
   * Starts with a resource, which has only attributes.
   *
   * @param attributes their number
   */
  public void resource(
      byte[] bytes, int from, int to, int attributes, RingDictionary.Strings strings) {
    begin(bytes, from, to, strings);
    at = from;
    attributesLeft = Integer.toUnsignedLong(attributes);
  }

  private void begin(byte[] bytes, int from, int to, RingDictionary.Strings strings) {
    this.bytes = bytes;
    this.strings = strings;
    at = from;
    end = to;
    links = 0;
    attributesLeft = 0;
    eventsLeft = -1;
    hasEvents = false;
    broken = false;
  }

  /** Releases the references to all arrays. */
  public void forget() {
    begin(EMPTY, 0, 0, null);
    name.clear();
    statusMessage.clear();
    key.clear();
    text.clear();
    eventName.clear();
  }

  /**
   * Moves to the next attribute of the span or the current event. Returns false after the last one,
   * or if {@link #isBroken}.
   */
  public boolean nextAttribute() {
    if (attributesLeft == 0 || broken) {
      return false;
    }
    attributesLeft--;
    string(key);
    valueType = at < end ? bytes[at++] : -1;
    switch (valueType) {
      case RingLayout.VALUE_STRING, RingLayout.VALUE_JSON, RingLayout.VALUE_BASE64 -> string(text);
      case RingLayout.VALUE_FALSE, RingLayout.VALUE_TRUE -> {}
      case RingLayout.VALUE_INTEGER -> integer = zigzag();
      case RingLayout.VALUE_DOUBLE -> real = Double.longBitsToDouble(fixed64());
      default -> broken = true;
    }
    return !broken;
  }

  /** Returns the start of the next attribute that {@link #attributesLeft} counts. */
  public int position() {
    return at;
  }

  /** Returns the end of the bytes of the span, without its links, or of the resource. */
  public int end() {
    return end;
  }

  /** Returns the declared attributes of the span or the current event that were not read yet. */
  public long attributesLeft() {
    return broken ? 0 : attributesLeft;
  }

  /**
   * Continues after attributes that the caller has read.
   *
   * @param position between {@link #position} and {@link #end}
   * @param attributes their number, at most {@link #attributesLeft}
   */
  public void skip(int position, int attributes) {
    at = position;
    attributesLeft -= attributes;
  }

  /**
   * Moves to the next event, past unread attributes. Returns false after the last one, or if {@link
   * #isBroken}.
   */
  public boolean nextEvent() {
    while (nextAttribute()) {
      // Moves past the attribute.
    }
    if (hasEvents && eventsLeft < 0 && !broken) {
      eventsLeft = varint();
      broken |= eventsLeft < 0;
    }
    if (eventsLeft <= 0 || broken) {
      return false;
    }
    eventsLeft--;
    string(eventName);
    eventOffsetNanos = zigzag();
    attributesLeft = varint();
    broken |= attributesLeft < 0;
    return !broken;
  }

  /**
   * Returns the high half of the trace ID of a link.
   *
   * @param link from 0 to {@link #links} - 1
   */
  public long linkTraceIdHigh(int link) {
    return LittleEndian.getLong(bytes, linkOffset(link));
  }

  /** Returns the low half of the trace ID of a link; see {@link #linkTraceIdHigh}. */
  public long linkTraceIdLow(int link) {
    return LittleEndian.getLong(bytes, linkOffset(link) + 8);
  }

  /** Returns the span ID of a link; see {@link #linkTraceIdHigh}. */
  public long linkSpanId(int link) {
    return LittleEndian.getLong(bytes, linkOffset(link) + 16);
  }

  private int linkOffset(int link) {
    return end + RingLayout.LINK_BYTES * link;
  }

  /** Returns whether an error was found; values read before it are valid. */
  public boolean isBroken() {
    return broken;
  }

  private long fixed64() {
    if (end - at < Long.BYTES) {
      broken = true;
      return 0;
    }
    long value = LittleEndian.getLong(bytes, at);
    at += Long.BYTES;
    return value;
  }

  private long zigzag() {
    long value = varint();
    return value >>> 1 ^ -(value & 1);
  }

  private long varint() {
    int from = at;
    if (from < end) {
      byte first = bytes[from];
      if (first >= 0) {
        at = from + 1;
        return first;
      }
    }
    return longerVarint();
  }

  /** A separate method, so that the common case above can be inlined. */
  private long longerVarint() {
    long value = 0;
    for (int shift = 0; shift < Long.SIZE && at < end; shift += 7) {
      byte b = bytes[at++];
      value |= (long) (b & 0x7f) << shift;
      if (b >= 0) {
        return value;
      }
    }
    broken = true;
    return 0;
  }

  private void string(Slice to) {
    long reference = varint();
    long half = reference >>> 1;
    if ((reference & 1) == 0) {
      if (half < strings.size() && !broken) {
        to.set(strings.bytes(), strings.offset((int) half), strings.length((int) half));
      } else {
        broken = true;
      }
    } else if (half <= end - at) {
      to.set(bytes, at, (int) half);
      at += (int) half;
    } else {
      broken = true;
    }
  }
}
