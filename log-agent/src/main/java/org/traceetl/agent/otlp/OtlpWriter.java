package org.traceetl.agent.otlp;

import com.google.common.base.Utf8;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes spans as {@code ExportTraceServiceRequest} in protobuf, into one reused array. A request
 * is passed on when it has {@link #USUAL_BYTES}, or at {@link #end}.
 *
 * <p>A span is written in one go: {@link #span}, its other fields, {@link #endSpan}. Texts that are
 * not UTF-8 are repaired, because a receiver would refuse the whole request. Not thread-safe.
 */
public final class OtlpWriter {
  /** Receives what is written. */
  public interface Output {
    /**
     * Receives a request: {@code bytes[0, length)}, valid during the call.
     *
     * @param spans number of its spans
     */
    void request(byte[] bytes, int length, int spans);

    /** Counts a span that is in no request. */
    void leftOut(LeftOut reason);
  }

  /** Why a span is in no request. */
  public enum LeftOut {
    /** The source's bytes are no valid span. */
    MALFORMED,
    /** The span, or those of its payload together, are too large. */
    TOO_LARGE
  }

  /** A request of this size gets no further span. */
  public static final int USUAL_BYTES = 1024 * 1024;

  /** Most bytes of a request. */
  public static final int MOST_BYTES = 4 * USUAL_BYTES;

  /** Most heap in use: the array and, while it grows, a former one. */
  public static final int HEAP_BYTES = MOST_BYTES + MOST_BYTES / 2;

  private static final int FIRST_BYTES = 64 * 1024;

  /**
   * Most bytes written for each byte of a payload, and in addition. A few bytes of a ring can refer
   * to long strings of its dictionary.
   */
  private static final long MOST_PER_BYTE = 256;

  /** Left for the lengths of the two messages around a span, which are written last. */
  private static final int CLOSING_BYTES = 2 * Integer.BYTES;

  private static final Runnable NO_ATTRIBUTES = () -> {};

  private static final int VARINT = 0;
  private static final int FIXED_64 = 1;
  private static final int BYTES = 2;

  // Field numbers of opentelemetry-proto.
  private static final int REQUEST_RESOURCE_SPANS = 1;
  private static final int RESOURCE_SPANS_RESOURCE = 1;
  private static final int RESOURCE_SPANS_SCOPE_SPANS = 2;
  private static final int RESOURCE_ATTRIBUTES = 1;
  private static final int SCOPE_SPANS_SPANS = 2;
  private static final int SPAN_TRACE_ID = 1;
  private static final int SPAN_SPAN_ID = 2;
  private static final int SPAN_TRACE_STATE = 3;
  private static final int SPAN_PARENT_SPAN_ID = 4;
  private static final int SPAN_NAME = 5;
  private static final int SPAN_KIND = 6;
  private static final int SPAN_START = 7;
  private static final int SPAN_END = 8;
  private static final int SPAN_ATTRIBUTES = 9;
  private static final int SPAN_EVENTS = 11;
  private static final int SPAN_LINKS = 13;
  private static final int SPAN_STATUS = 15;
  private static final int EVENT_TIME = 1;
  private static final int EVENT_NAME = 2;
  private static final int EVENT_ATTRIBUTES = 3;
  private static final int LINK_TRACE_ID = 1;
  private static final int LINK_SPAN_ID = 2;
  private static final int STATUS_MESSAGE = 2;
  private static final int STATUS_CODE = 3;
  private static final int KEY = 1;
  private static final int VALUE = 2;
  private static final int VALUE_STRING = 1;
  private static final int VALUE_BOOL = 2;
  private static final int VALUE_INTEGER = 3;
  private static final int VALUE_DOUBLE = 4;
  private static final int VALUE_BYTES = 7;

  private final Output output;
  private byte[] bytes = new byte[FIRST_BYTES];
  private int position;
  private int limit = MOST_BYTES;
  private boolean overflowed;
  private int spans;
  private long left;

  private Runnable resource = NO_ATTRIBUTES;
  private boolean resourceIsTooLarge;
  // Start of the open message's content; 0 if no resource is open.
  private int resourceSpans;
  private int scopeSpans;

  // The current span. Before it began, its request ended at the first position.
  private boolean inSpan;
  private int before;
  private boolean opensResource;
  private int span;
  private int event;
  private int attributesField;
  private int attribute;
  private int value;

  public OtlpWriter(Output output) {
    this.output = output;
  }

  /**
   * Begins a payload.
   *
   * @param length bytes of it, which limit what is written of it
   */
  public void payload(int length) {
    left = MOST_PER_BYTE * length + USUAL_BYTES;
  }

  /**
   * Ends a payload. Its spans stay in the request, except one that is not complete; nothing else of
   * it is referenced.
   */
  public void endPayload() {
    if (inSpan) {
      abandonSpan(LeftOut.MALFORMED);
    }
    resource(NO_ATTRIBUTES);
  }

  /**
   * Sets the resource of the next spans.
   *
   * @param attributes writes its attributes; called for each request, until the resource is
   *     replaced. If it does not fit once, it is not called again, and its spans are left out
   */
  public void resource(Runnable attributes) {
    closeResource();
    resource = attributes;
    resourceIsTooLarge = false;
  }

  /** Begins a span; a parent of 0 is none. */
  public void span(long traceIdHigh, long traceIdLow, long spanId, long parentSpanId) {
    inSpan = true;
    before = position;
    limit = (int) Math.min(MOST_BYTES - CLOSING_BYTES, before + Math.max(0, left));
    overflowed = left <= 0 || resourceIsTooLarge;
    opensResource = resourceSpans == 0 && !overflowed;
    if (opensResource) {
      resourceSpans = begin(REQUEST_RESOURCE_SPANS);
      int written = begin(RESOURCE_SPANS_RESOURCE);
      attributesField = RESOURCE_ATTRIBUTES;
      resource.run();
      resourceIsTooLarge = overflowed;
      end(written);
      scopeSpans = begin(RESOURCE_SPANS_SCOPE_SPANS);
    }
    span = begin(SCOPE_SPANS_SPANS);
    attributesField = SPAN_ATTRIBUTES;
    traceId(SPAN_TRACE_ID, traceIdHigh, traceIdLow);
    spanId(SPAN_SPAN_ID, spanId);
    if (parentSpanId != 0) {
      spanId(SPAN_PARENT_SPAN_ID, parentSpanId);
    }
  }

  /** Returns whether the current span is too large, so that nothing more of it is written. */
  public boolean isFull() {
    return overflowed;
  }

  /** Returns whether there is room for these bytes of the current span. If not, it is full. */
  public boolean hasRoom(int count) {
    if (count > limit - position) {
      overflowed = true;
    }
    return !overflowed;
  }

  /** Writes the kind, as in OTLP, and the times in nanoseconds; the end is at least the start. */
  public void kindAndTimes(int kind, long startUnixNanos, long durationNanos) {
    tag(SPAN_KIND, VARINT);
    varint(kind);
    fixed64(SPAN_START, startUnixNanos);
    // An unsigned number in OTLP.
    fixed64(SPAN_END, startUnixNanos + durationNanos);
  }

  public void name(byte[] text, int offset, int length) {
    text(SPAN_NAME, text, offset, length);
  }

  /**
   * Writes the tracestate's member {@code ot}.
   *
   * @param threshold below 2^56; 0 for none
   * @param randomness below 2^56; negative for none
   */
  public void sampling(long threshold, long randomness) {
    if (!overflowed && (threshold != 0 || randomness >= 0)) {
      String state =
          "ot="
              + (threshold == 0 ? "" : "th:" + hex56(threshold).replaceAll("0+$", ""))
              + (threshold == 0 || randomness < 0 ? "" : ";")
              + (randomness < 0 ? "" : "rv:" + hex56(randomness));
      byte[] text = state.getBytes(StandardCharsets.US_ASCII);
      text(SPAN_TRACE_STATE, text, 0, text.length);
    }
  }

  private static String hex56(long value) {
    return String.format("%014x", value);
  }

  /** Writes the status, as in OTLP. */
  public void status(int code, byte[] message, int offset, int length) {
    int status = begin(SPAN_STATUS);
    if (length > 0) {
      text(STATUS_MESSAGE, message, offset, length);
    }
    tag(STATUS_CODE, VARINT);
    varint(code);
    end(status);
  }

  public void link(long traceIdHigh, long traceIdLow, long spanId) {
    int link = begin(SPAN_LINKS);
    traceId(LINK_TRACE_ID, traceIdHigh, traceIdLow);
    spanId(LINK_SPAN_ID, spanId);
    end(link);
  }

  /** Begins an event, whose attributes follow. */
  public void event(long unixNanos, byte[] name, int offset, int length) {
    event = begin(SPAN_EVENTS);
    fixed64(EVENT_TIME, unixNanos);
    text(EVENT_NAME, name, offset, length);
    attributesField = EVENT_ATTRIBUTES;
  }

  public void endEvent() {
    end(event);
    attributesField = SPAN_ATTRIBUTES;
  }

  /** Begins an attribute of the resource, span or event; exactly one value follows. */
  public void key(byte[] key, int offset, int length) {
    attribute = begin(attributesField);
    text(KEY, key, offset, length);
    value = begin(VALUE);
  }

  public void value(byte[] text, int offset, int length) {
    text(VALUE_STRING, text, offset, length);
    endAttribute();
  }

  public void value(boolean bool) {
    tag(VALUE_BOOL, VARINT);
    varint(bool ? 1 : 0);
    endAttribute();
  }

  public void value(long integer) {
    tag(VALUE_INTEGER, VARINT);
    varint(integer);
    endAttribute();
  }

  public void value(double real) {
    fixed64(VALUE_DOUBLE, Double.doubleToRawLongBits(real));
    endAttribute();
  }

  public void value(byte[] binary) {
    int at = begin(VALUE_BYTES);
    put(binary, 0, binary.length);
    end(at);
    endAttribute();
  }

  private void endAttribute() {
    end(value);
    end(attribute);
  }

  /** Completes the span. If it is too large, it is left out. */
  public void endSpan() {
    end(span);
    if (overflowed) {
      abandonSpan(LeftOut.TOO_LARGE);
      return;
    }
    inSpan = false;
    left -= position - before;
    spans++;
    if (position >= USUAL_BYTES) {
      end();
    }
  }

  /** Leaves out the span that was begun last and not completed. Its bytes are charged. */
  public void abandonSpan(LeftOut reason) {
    inSpan = false;
    left -= position - before;
    position = before;
    overflowed = false;
    if (opensResource) {
      resourceSpans = 0;
    }
    output.leftOut(reason);
  }

  /** Counts a span that was not begun. */
  public void leftOut(LeftOut reason) {
    output.leftOut(reason);
  }

  /** Returns whether spans wait for {@link #end}. */
  public boolean hasSpans() {
    return spans > 0;
  }

  /** Passes on the spans since the last request, if there are any. */
  public void end() {
    closeResource();
    if (spans > 0) {
      int length = position;
      int count = spans;
      position = 0;
      spans = 0;
      output.request(bytes, length, count);
    }
  }

  private void closeResource() {
    if (resourceSpans > 0) {
      limit = MOST_BYTES;
      end(scopeSpans);
      end(resourceSpans);
      resourceSpans = 0;
    }
  }

  /** Begins a field that is a message or bytes; returns where its content begins. */
  private int begin(int field) {
    tag(field, BYTES);
    // For its length; most are below 128.
    put(0);
    return position;
  }

  private void end(int from) {
    if (overflowed) {
      return;
    }
    int length = position - from;
    int more = varintBytes(length) - 1;
    if (more > 0 && room(more)) {
      System.arraycopy(bytes, from, bytes, from + more, length);
    }
    if (!overflowed) {
      position = from - 1;
      varint(length);
      position += length;
    }
  }

  private static int varintBytes(int value) {
    return (Math.max(1, Integer.SIZE - Integer.numberOfLeadingZeros(value)) + 6) / 7;
  }

  private void tag(int field, int type) {
    // All field numbers are below 16.
    put(field << 3 | type);
  }

  private void traceId(int field, long high, long low) {
    tag(field, BYTES);
    put(2 * Long.BYTES);
    bigEndian(high);
    bigEndian(low);
  }

  private void spanId(int field, long id) {
    tag(field, BYTES);
    put(Long.BYTES);
    bigEndian(id);
  }

  private void bigEndian(long value) {
    for (int shift = Long.SIZE - Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
      put((int) (value >>> shift));
    }
  }

  private void fixed64(int field, long value) {
    tag(field, FIXED_64);
    for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
      put((int) (value >>> shift));
    }
  }

  private void varint(long value) {
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      put((int) rest | 0x80);
      rest >>>= 7;
    }
    put((int) rest);
  }

  private void text(int field, byte[] text, int offset, int length) {
    if (!hasRoom(length)) {
      return;
    }
    if (Utf8.isWellFormed(text, offset, length)) {
      tag(field, BYTES);
      varint(length);
      put(text, offset, length);
    } else {
      byte[] repaired =
          new String(text, offset, length, StandardCharsets.UTF_8).getBytes(StandardCharsets.UTF_8);
      text(field, repaired, 0, repaired.length);
    }
  }

  private void put(int value) {
    if (room(1)) {
      bytes[position++] = (byte) value;
    }
  }

  private void put(byte[] from, int offset, int length) {
    if (room(length)) {
      System.arraycopy(from, offset, bytes, position, length);
      position += length;
    }
  }

  private boolean room(int count) {
    if (!hasRoom(count)) {
      return false;
    }
    if (position + count > bytes.length) {
      bytes =
          Arrays.copyOf(bytes, Math.min(MOST_BYTES, Math.max(position + count, 2 * bytes.length)));
    }
    return true;
  }
}
