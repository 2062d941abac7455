package org.traceetl.proto;

import java.util.Objects;

/**
 * Reads one message of Apache OzHera's topic, a {@code TSpanData}, in place: no object, no {@code
 * String}; arrays are reused for all messages.
 *
 * <p>Call {@link #read}; if it returns {@link Rejection#NONE}, the other methods are valid. No
 * field is required: a missing text has length 0, a missing number is 0. Fields may have any order.
 * Unknown fields and those that OzHera's metrics do not use (events, links, the parent) are
 * skipped. A message can neither cause an exception nor a larger allocation than {@link Limits} and
 * its own length justify. Texts are not checked to be UTF-8; one longer than {@link
 * Limits#MAX_STRING_BYTES} is cut.
 *
 * <p>It refuses every message that {@link SpanBatchReader} accepts: field 1 is a text here and a
 * required number there.
 *
 * <p>Not thread-safe: one owner, who must not change the message's bytes while reading.
 */
public final class OzheraSpanReader {
  // Fields of TSpanData
  private static final int TRACE_ID = 1;
  private static final int SPAN_ID = 2;
  private static final int RESOURCE = 6;
  private static final int NAME = 8;
  private static final int KIND = 9;
  private static final int START = 10;
  private static final int ATTRIBUTES = 11;
  private static final int STATUS = 14;
  private static final int END = 15;
  private static final int EXTRA = 20;

  private static final int READ =
      1 << TRACE_ID
          | 1 << SPAN_ID
          | 1 << RESOURCE
          | 1 << NAME
          | 1 << KIND
          | 1 << START
          | 1 << ATTRIBUTES
          | 1 << STATUS
          | 1 << END
          | 1 << EXTRA;

  // Fields of TExtra
  private static final int IP = 1;
  private static final int HOSTNAME = 2;
  private static final int SERVICE_NAME = 3;

  /** Field of TResource. */
  private static final int RESOURCE_ATTRIBUTES = 1;

  private final CompactInput input = new CompactInput();
  private final OzheraAttributes attributes;
  private final OzheraAttributes resource;

  private long traceId;
  private long spanId;
  private long name;
  private int kind;
  private int status;
  private long startUnixNanos;
  private long endUnixNanos;
  private long ip;
  private long hostname;
  private long serviceName;

  public OzheraSpanReader() {
    this(true);
  }

  /**
   * @param expectsUsual false to read all attributes by the general path, which also reads other
   *     encodings than OzHera's own
   */
  OzheraSpanReader(boolean expectsUsual) {
    attributes = new OzheraAttributes(expectsUsual);
    resource = new OzheraAttributes(expectsUsual);
  }

  /**
   * Reads a message.
   *
   * @return {@link Rejection#NONE}, or why the message is refused
   * @throws IndexOutOfBoundsException if {@code [offset, offset + length)} is not inside the array
   */
  public Rejection read(byte[] buffer, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, buffer.length);
    input.wrap(buffer, offset, length);
    attributes.clear();
    resource.clear();
    traceId = 0;
    spanId = 0;
    name = 0;
    kind = 0;
    status = 0;
    startUnixNanos = 0;
    endUnixNanos = 0;
    ip = 0;
    hostname = 0;
    serviceName = 0;
    if (length > Limits.MAX_MESSAGE_BYTES) {
      input.refuse(Rejection.TOO_LARGE);
    } else {
      readSpan();
    }
    return input.rejection();
  }

  private void readSpan() {
    int seen = 0;
    input.fieldsAfter(0);
    while (input.readFieldHeader()) {
      int id = input.fieldId();
      if (id < TRACE_ID || id > EXTRA || (READ & 1 << id) == 0) {
        input.skipField();
        continue;
      }
      seen = input.seenOnce(seen, id);
      switch (id) {
        case TRACE_ID -> traceId = input.readText();
        case SPAN_ID -> spanId = input.readText();
        case RESOURCE -> readResource();
        case NAME -> name = input.readText();
        case KIND -> kind = input.readI32();
        case START -> startUnixNanos = input.readI64();
        case ATTRIBUTES -> attributes.read(input);
        case STATUS -> status = input.readI32();
        case END -> endUnixNanos = input.readI64();
        default -> readExtra();
      }
    }
    if (input.position() != input.limit()) {
      input.refuse(Rejection.MALFORMED);
    }
  }

  private void readResource() {
    int seen = 0;
    input.enterStruct();
    while (input.readFieldHeader()) {
      if (input.fieldId() == RESOURCE_ATTRIBUTES) {
        seen = input.seenOnce(seen, RESOURCE_ATTRIBUTES);
        resource.read(input);
      } else {
        input.skipField();
      }
    }
    input.fieldsAfter(RESOURCE);
  }

  private void readExtra() {
    int seen = 0;
    input.enterStruct();
    while (input.readFieldHeader()) {
      int id = input.fieldId();
      if (id < IP || id > SERVICE_NAME) {
        input.skipField();
        continue;
      }
      seen = input.seenOnce(seen, id);
      long text = input.readText();
      switch (id) {
        case IP -> ip = text;
        case HOSTNAME -> hostname = text;
        default -> serviceName = text;
      }
    }
    input.fieldsAfter(EXTRA);
  }

  /** Returns the array given to {@link #read}. */
  public byte[] buffer() {
    return input.bytes();
  }

  /** Returns half of the ID; both are 0 if its text is not 32 hexadecimal digits. */
  public long traceIdHigh() {
    return isTraceId() ? SpanId.parseHex(buffer(), CompactInput.textOffset(traceId)) : 0;
  }

  /** Returns half of the ID; both are 0 if its text is not 32 hexadecimal digits. */
  public long traceIdLow() {
    return isTraceId()
        ? SpanId.parseHex(buffer(), CompactInput.textOffset(traceId) + SpanId.HEX_LENGTH)
        : 0;
  }

  private boolean isTraceId() {
    return CompactInput.textLength(traceId) == TraceId.HEX_LENGTH
        && TraceId.isHex(buffer(), CompactInput.textOffset(traceId));
  }

  /** Returns the ID; 0 if its text is not 16 hexadecimal digits. */
  public long spanId() {
    int offset = CompactInput.textOffset(spanId);
    boolean isId =
        CompactInput.textLength(spanId) == SpanId.HEX_LENGTH && SpanId.isHex(buffer(), offset);
    return isId ? SpanId.parseHex(buffer(), offset) : 0;
  }

  /** Returns the start of the name in {@link #buffer}. */
  public int nameOffset() {
    return CompactInput.textOffset(name);
  }

  /** Returns the length of the name, bytes. */
  public int nameLength() {
    return CompactInput.textLength(name);
  }

  /** Returns the kind as in OTLP, 0 to 5; 0 if it is missing or unknown. */
  public int kind() {
    // OzHera's numbers are OTLP's.
    return kind >= 0 && kind <= Compact.MAX_KIND ? kind : 0;
  }

  /** Returns the status as in OTLP, 0 to 2; 0 if it is missing or unknown. */
  public int status() {
    return switch (status) {
      case 1 -> 1; // OK
      case 3 -> 2; // ERROR
      default -> 0;
    };
  }

  /** Returns the start, which is not checked. */
  public long startUnixNanos() {
    return startUnixNanos;
  }

  /** Returns the end, which is not checked. */
  public long endUnixNanos() {
    return endUnixNanos;
  }

  /** Returns the time from start to end; 0 if the end is before the start. */
  public long durationNanos() {
    if (endUnixNanos <= startUnixNanos) {
      return 0;
    }
    long nanos = endUnixNanos - startUnixNanos;
    return nanos < 0 ? Long.MAX_VALUE : nanos;
  }

  public OzheraAttributes attributes() {
    return attributes;
  }

  public OzheraAttributes resourceAttributes() {
    return resource;
  }

  /** Returns the start of the host's address in {@link #buffer}. */
  public int ipOffset() {
    return CompactInput.textOffset(ip);
  }

  /** Returns the length of the host's address, bytes. */
  public int ipLength() {
    return CompactInput.textLength(ip);
  }

  /** Returns the start of the host's name in {@link #buffer}. */
  public int hostnameOffset() {
    return CompactInput.textOffset(hostname);
  }

  /** Returns the length of the host's name, bytes. */
  public int hostnameLength() {
    return CompactInput.textLength(hostname);
  }

  /** Returns the start of the application's name in {@link #buffer}. */
  public int serviceNameOffset() {
    return CompactInput.textOffset(serviceName);
  }

  /** Returns the length of the application's name, bytes. */
  public int serviceNameLength() {
    return CompactInput.textLength(serviceName);
  }
}
