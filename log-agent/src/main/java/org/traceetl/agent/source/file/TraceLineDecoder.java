package org.traceetl.agent.source.file;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Arrays;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.proto.SpanId;
import org.traceetl.proto.TraceId;

/**
 * Reads one line of a trace log. A line is {@code <time> ||| } (earlier {@code <time> | }, or
 * nothing) and twelve fields, each followed by {@code " ### "}: start (ns since 1970), duration
 * (ns), ip, application, span name, status, trace ID, span ID, tags, events, resource, references.
 * The last four are JSON. One thread at a time, because it reuses its buffers.
 */
final class TraceLineDecoder {
  /** Rejection reasons; they are metric labels. */
  static final String BAD_FIELDS = "bad_fields";

  static final String BAD_NUMBER = "bad_number";
  static final String BAD_ID = "bad_id";
  static final String BAD_TAGS = "bad_tags";

  private static final byte[] SEPARATOR = " ### ".getBytes(US_ASCII);
  private static final byte[] PREFIX_END = " ||| ".getBytes(US_ASCII);
  private static final byte[] FORMER_PREFIX_END = " | ".getBytes(US_ASCII);
  private static final byte[] SERVICE_NAME = "service.name".getBytes(US_ASCII);
  private static final byte[] IP = "ip".getBytes(US_ASCII);
  private static final byte[] SPAN_KIND = "span.kind".getBytes(US_ASCII);
  private static final byte[] ERROR = "error".getBytes(US_ASCII);
  private static final byte[] TRUE = "true".getBytes(US_ASCII);
  private static final byte[] STATUS_ERROR = "ERROR".getBytes(US_ASCII);
  private static final byte[] STATUS_OK = "OK".getBytes(US_ASCII);
  // Indexes are the numbers of the kinds in OTLP.
  private static final byte[][] KINDS = {
    "unspecified".getBytes(US_ASCII),
    "internal".getBytes(US_ASCII),
    "server".getBytes(US_ASCII),
    "client".getBytes(US_ASCII),
    "producer".getBytes(US_ASCII),
    "consumer".getBytes(US_ASCII)
  };
  private static final int INTERNAL = 1;
  private static final int CONSUMER = 5;

  private static final int START = 0;
  private static final int DURATION = 1;
  private static final int HOST_IP = 2;
  private static final int APPLICATION = 3;
  private static final int NAME = 4;
  private static final int STATUS = 5;
  private static final int TRACE_ID = 6;
  private static final int SPAN_ID = 7;
  private static final int TAGS = 8;
  private static final int RESOURCE = 10;
  private static final int REFERENCES = 11;
  private static final int FIELDS = 12;

  private final int[] starts = new int[FIELDS];
  private final int[] ends = new int[FIELDS];
  private final TagReader tags = new TagReader();
  private final SpanView span = new SpanView();
  private final Attributes resource = new Attributes();
  // The bytes of the line from which the current resource was read.
  private byte[] resourceSource = new byte[0];

  /** Forgets the resource: another decoder may have changed the sink's resource. */
  void startPayload() {
    resourceSource = new byte[0];
  }

  /**
   * Reads the line and emits its span.
   *
   * @param end of the line, without its line end
   * @return null, or the reason if the line contains no span
   */
  String decode(byte[] bytes, int offset, int end, SpanSink sink) {
    if (!split(bytes, offset, end)) {
      return BAD_FIELDS;
    }
    long start = number(bytes, START);
    long duration = number(bytes, DURATION);
    if (start < 0 || duration < 0) {
      return BAD_NUMBER;
    }
    if (!isId(bytes, TRACE_ID, TraceId.HEX_LENGTH) || !isId(bytes, SPAN_ID, SpanId.HEX_LENGTH)) {
      return BAD_ID;
    }
    tags.reset();
    span.attributes.clear();
    if (!tags.read(bytes, starts[TAGS], ends[TAGS], span.attributes)) {
      return BAD_TAGS;
    }
    span.traceIdHigh = SpanId.parseHex(bytes, starts[TRACE_ID]);
    span.traceIdLow = SpanId.parseHex(bytes, starts[TRACE_ID] + SpanId.HEX_LENGTH);
    span.spanId = SpanId.parseHex(bytes, starts[SPAN_ID]);
    span.name = bytes;
    span.nameOffset = starts[NAME];
    span.nameLength = ends[NAME] - starts[NAME];
    span.kind = kind();
    tags.readReferences(bytes, starts[REFERENCES], ends[REFERENCES], span);
    if (span.kind != CONSUMER) {
      span.links.clear();
    }
    span.status = status(bytes);
    span.startUnixNanos = start;
    span.durationNanos = duration;
    span.sizeBytes = end - offset;
    resource(bytes, sink);
    sink.span(span);
    return null;
  }

  private boolean split(byte[] bytes, int offset, int end) {
    int at = beginning(bytes, offset, end);
    for (int field = 0; field < FIELDS; field++) {
      int separator = indexOf(SEPARATOR, bytes, at, end);
      if (separator < 0) {
        // A writer that strips line ends leaves " ###" after the last field, or nothing.
        if (field < FIELDS - 1) {
          return false;
        }
        separator = endOfLast(bytes, at, end);
      }
      starts[field] = at;
      ends[field] = separator;
      at = Math.min(separator + SEPARATOR.length, end);
    }
    return true;
  }

  /** Returns the start of the first field: after the time, if the line has one. */
  private static int beginning(byte[] bytes, int offset, int end) {
    int prefixEnd = indexOf(PREFIX_END, bytes, offset, end);
    if (prefixEnd >= 0) {
      return prefixEnd + PREFIX_END.length;
    }
    int first = indexOf(SEPARATOR, bytes, offset, end);
    int formerEnd = indexOf(FORMER_PREFIX_END, bytes, offset, first < 0 ? end : first);
    return formerEnd < 0 ? offset : formerEnd + FORMER_PREFIX_END.length;
  }

  private static int endOfLast(byte[] bytes, int at, int end) {
    int stripped = SEPARATOR.length - 1;
    boolean separated =
        end - at >= stripped && Arrays.equals(bytes, end - stripped, end, SEPARATOR, 0, stripped);
    return separated ? end - stripped : end;
  }

  private static int indexOf(byte[] sought, byte[] bytes, int from, int end) {
    int last = end - sought.length;
    for (int i = from; i <= last; i++) {
      // The second byte is rarer than the first one, a space.
      if (bytes[i + 1] == sought[1]
          && Arrays.equals(bytes, i, i + sought.length, sought, 0, sought.length)) {
        return i;
      }
    }
    return -1;
  }

  /** Reads a number from 0 on; returns a negative one if it is malformed or too large. */
  private long number(byte[] bytes, int field) {
    int length = ends[field] - starts[field];
    if (length < 1 || length > 19) {
      return -1;
    }
    // A 19-digit number above the range overflows once, to a negative number.
    long value = 0;
    for (int i = starts[field]; i < ends[field]; i++) {
      int digit = bytes[i] - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      value = 10 * value + digit;
    }
    return value;
  }

  private boolean isId(byte[] bytes, int field, int length) {
    if (ends[field] - starts[field] != length) {
      return false;
    }
    long bits = 0;
    for (int at = starts[field]; at < ends[field]; at += SpanId.HEX_LENGTH) {
      if (!SpanId.isHex(bytes, at)) {
        return false;
      }
      bits |= SpanId.parseHex(bytes, at);
    }
    return bits != 0;
  }

  private int kind() {
    int at = span.attributes.find(SPAN_KIND);
    for (int kind = 0; at >= 0 && kind < KINDS.length; kind++) {
      if (valueEqualsIgnoringCase(at, KINDS[kind])) {
        return kind;
      }
    }
    return INTERNAL;
  }

  private int status(byte[] bytes) {
    int at = span.attributes.find(ERROR);
    if ((at >= 0 && valueEqualsIgnoringCase(at, TRUE))
        || fieldEquals(bytes, STATUS, STATUS_ERROR)) {
      return 2;
    }
    return fieldEquals(bytes, STATUS, STATUS_OK) ? 1 : 0;
  }

  private boolean fieldEquals(byte[] bytes, int field, byte[] text) {
    return Arrays.equals(bytes, starts[field], ends[field], text, 0, text.length);
  }

  private boolean valueEqualsIgnoringCase(int at, byte[] lowerCase) {
    if (span.attributes.valueLength(at) != lowerCase.length) {
      return false;
    }
    byte[] value = span.attributes.value(at);
    int offset = span.attributes.valueOffset(at);
    for (int i = 0; i < lowerCase.length; i++) {
      if ((value[offset + i] | 0x20) != lowerCase[i]) {
        return false;
      }
    }
    return true;
  }

  /**
   * Sets the sink's resource if it differs from the last line's. If its JSON is malformed (the
   * writer does not escape it), the resource consists of the line's application and ip, and the
   * span counts.
   */
  private void resource(byte[] bytes, SpanSink sink) {
    // The span's own fields are between the two parts, so each part is compared.
    int hostLength = ends[APPLICATION] - starts[HOST_IP];
    int jsonLength = ends[RESOURCE] - starts[RESOURCE];
    boolean same =
        resourceSource.length == hostLength + jsonLength
            && Arrays.equals(
                resourceSource, 0, hostLength, bytes, starts[HOST_IP], ends[APPLICATION])
            && Arrays.equals(
                resourceSource,
                hostLength,
                resourceSource.length,
                bytes,
                starts[RESOURCE],
                ends[RESOURCE]);
    if (same) {
      return;
    }
    resourceSource = Arrays.copyOf(resourceSource, hostLength + jsonLength);
    System.arraycopy(bytes, starts[HOST_IP], resourceSource, 0, hostLength);
    System.arraycopy(bytes, starts[RESOURCE], resourceSource, hostLength, jsonLength);
    resource.clear();
    if (!tags.readResource(bytes, starts[RESOURCE], ends[RESOURCE], resource)) {
      resource.clear();
    }
    addField(bytes, APPLICATION, SERVICE_NAME);
    addField(bytes, HOST_IP, IP);
    sink.resource(resource);
  }

  private void addField(byte[] bytes, int field, byte[] key) {
    int length = ends[field] - starts[field];
    if (length > 0 && resource.find(key) < 0) {
      resource.add(key, 0, key.length, bytes, starts[field], length);
    }
  }
}
