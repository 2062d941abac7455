package org.traceetl.agent.source.otlp;

import static org.traceetl.agent.source.otlp.ProtobufCursor.FIXED64;
import static org.traceetl.agent.source.otlp.ProtobufCursor.LENGTH_DELIMITED;
import static org.traceetl.agent.source.otlp.ProtobufCursor.VARINT;
import static org.traceetl.agent.source.otlp.ProtobufCursor.littleEndian;
import static org.traceetl.agent.source.otlp.ProtobufCursor.tagOf;

import java.util.concurrent.atomic.LongAdder;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.KeySet;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.OtlpFormat;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.flow.WantedEvents;
import org.traceetl.agent.source.payload.Utf8Text;
import org.traceetl.agent.source.payload.ValueText;

/**
 * Decodes the protobuf bytes of an {@code ExportTraceServiceRequest} in place.
 *
 * <p>A first pass checks the framing down to the spans' lengths, and the complete resources. If
 * that pass fails, the payload is malformed and nothing is emitted. An error inside a span rejects
 * only that span.
 *
 * <p>Strings are slices of the payload. Other values are text in a reused array, as OpenTelemetry
 * writes them for protocols without types: numbers and booleans as in JSON, bytes in base64, arrays
 * and maps as JSON. Spans cause no allocation, except doubles of more than 15 digits and strings
 * that are not UTF-8, which are repaired.
 */
public final class OtlpProtobufDecoder implements SpanDecoder {
  /** Most attributes of a span or a resource; further ones are left out. */
  static final int MAX_ATTRIBUTES = 128;

  /** Deepest nesting of arrays and maps in a value; deeper attributes are left out. */
  static final int MAX_VALUE_DEPTH = 8;

  private static final int REQUEST_RESOURCE_SPANS = tagOf(1, LENGTH_DELIMITED);
  private static final int RESOURCE_SPANS_RESOURCE = tagOf(1, LENGTH_DELIMITED);
  private static final int RESOURCE_SPANS_SCOPE_SPANS = tagOf(2, LENGTH_DELIMITED);
  private static final int RESOURCE_ATTRIBUTES = tagOf(1, LENGTH_DELIMITED);
  private static final int SCOPE_SPANS_SPANS = tagOf(2, LENGTH_DELIMITED);

  private static final int SPAN_TRACE_ID = tagOf(1, LENGTH_DELIMITED);
  private static final int SPAN_SPAN_ID = tagOf(2, LENGTH_DELIMITED);
  private static final int SPAN_TRACE_STATE = tagOf(3, LENGTH_DELIMITED);
  private static final int SPAN_PARENT_SPAN_ID = tagOf(4, LENGTH_DELIMITED);
  private static final int SPAN_NAME = tagOf(5, LENGTH_DELIMITED);
  private static final int SPAN_KIND = tagOf(6, VARINT);
  private static final int SPAN_START = tagOf(7, FIXED64);
  private static final int SPAN_END = tagOf(8, FIXED64);
  private static final int SPAN_ATTRIBUTES = tagOf(9, LENGTH_DELIMITED);
  private static final int SPAN_EVENTS = tagOf(11, LENGTH_DELIMITED);
  private static final int SPAN_LINKS = tagOf(13, LENGTH_DELIMITED);
  private static final int SPAN_STATUS = tagOf(15, LENGTH_DELIMITED);
  private static final int STATUS_MESSAGE = tagOf(2, LENGTH_DELIMITED);
  private static final int STATUS_CODE = tagOf(3, VARINT);

  private static final int EVENT_NAME = tagOf(2, LENGTH_DELIMITED);
  private static final int EVENT_ATTRIBUTES = tagOf(3, LENGTH_DELIMITED);

  private static final int LINK_TRACE_ID = tagOf(1, LENGTH_DELIMITED);
  private static final int LINK_SPAN_ID = tagOf(2, LENGTH_DELIMITED);

  private static final int KEY_VALUE_KEY = tagOf(1, LENGTH_DELIMITED);
  private static final int KEY_VALUE_VALUE = tagOf(2, LENGTH_DELIMITED);
  private static final int VALUE_STRING = tagOf(1, LENGTH_DELIMITED);
  private static final int VALUE_BOOL = tagOf(2, VARINT);
  private static final int VALUE_INT = tagOf(3, VARINT);
  private static final int VALUE_DOUBLE = tagOf(4, FIXED64);
  private static final int VALUE_ARRAY = tagOf(5, LENGTH_DELIMITED);
  private static final int VALUE_MAP = tagOf(6, LENGTH_DELIMITED);
  private static final int VALUE_BYTES = tagOf(7, LENGTH_DELIMITED);
  private static final int LIST_VALUES = tagOf(1, LENGTH_DELIMITED);

  private static final int ID_FIELD_BYTES = 2 + Long.BYTES;
  private static final int TRACE_ID_FIELD_BYTES = 2 + 2 * Long.BYTES;
  private static final int KIND_AND_TIMES_BYTES = 2 + 2 * (1 + Long.BYTES);

  /** Trace ID, two span IDs, and tag and length of a name. */
  private static final int USUAL_BYTES = TRACE_ID_FIELD_BYTES + 2 * ID_FIELD_BYTES + 2;

  private static final int UNSPECIFIED = 0;
  private static final int CONSUMER = 5;
  private static final int MAX_KIND = CONSUMER;
  private static final int MAX_STATUS = 2;
  private static final byte[] EMPTY = new byte[0];

  private final LongAdder attributesLeftOut;
  private final ProtobufCursor in = new ProtobufCursor();
  private final ValueText text = new ValueText();
  private final Attributes resource = new Attributes();
  private final SpanView span = new SpanView();
  // Text of the resource's values is below this position; spans reuse the rest of the array.
  private int spanTextStart;
  private int leftOut;
  // Of the current span.
  private long endUnixNanos;
  // Keys of the span attributes to decode; null for all.
  private KeySet wanted;
  // Keys of attributes to read in addition to the wanted ones in a first reading; null for none.
  private KeySet additional;
  // Keys to read first of spans of the resource; null if there is no first reading.
  private KeySet firstKeys;
  // Whether the span may be read again with the attributes that are now skipped.
  private boolean first;
  private WantedEvents wantedEvents = WantedEvents.NONE;
  // The current event.
  private final Attributes eventAttributes = new Attributes();

  // The slice read last.
  private byte[] sliceBytes = EMPTY;
  private int sliceOffset;
  private int sliceLength;

  /** Creates a decoder with metrics of its own. */
  public OtlpProtobufDecoder() {
    this(new LongAdder());
  }

  OtlpProtobufDecoder(LongAdder attributesLeftOut) {
    this.attributesLeftOut = attributesLeftOut;
  }

  /** Returns the attributes left out so far because they were too many, too deep or too long. */
  public long droppedAttributes() {
    return attributesLeftOut.sum();
  }

  @Override
  public OtlpFormat otlpFormat() {
    return OtlpFormat.PROTOBUF;
  }

  @Override
  public void decode(byte[] payload, int end, SpanSink sink) throws MalformedPayloadException {
    try {
      in.reset(payload);
      checkFrames(end);
      in.reset(payload);
      leftOut = 0;
      while (in.position < end) {
        int tag = in.tag(end);
        if (tag == REQUEST_RESOURCE_SPANS) {
          resourceSpans(in.enter(end), sink);
        } else {
          in.skip(tag, end);
        }
      }
      if (leftOut > 0) {
        attributesLeftOut.add(leftOut);
      }
    } finally {
      forget();
    }
  }

  /** Releases the references to the payload, which would otherwise live until the next one. */
  private void forget() {
    in.reset(EMPTY);
    sliceBytes = EMPTY;
    resource.forget();
    span.attributes.forget();
    span.additional.forget();
    span.events.forget();
    eventAttributes.forget();
    span.name = EMPTY;
    span.statusMessage = EMPTY;
    wanted = null;
    firstKeys = null;
    first = false;
  }

  private void checkFrames(int end) throws MalformedPayloadException {
    while (in.position < end && !in.broken) {
      int tag = in.tag(end);
      if (tag != REQUEST_RESOURCE_SPANS) {
        in.skip(tag, end);
        continue;
      }
      int resourceSpansEnd = in.enter(end);
      resource.clear();
      text.rewind(0);
      while (in.position < resourceSpansEnd) {
        int inner = in.tag(resourceSpansEnd);
        if (inner == RESOURCE_SPANS_RESOURCE) {
          resource(in.enter(resourceSpansEnd));
        } else if (inner == RESOURCE_SPANS_SCOPE_SPANS) {
          int scopeSpansEnd = in.enter(resourceSpansEnd);
          while (in.position < scopeSpansEnd) {
            in.loadAhead(scopeSpansEnd);
            in.skip(in.tag(scopeSpansEnd), scopeSpansEnd);
          }
        } else {
          in.skip(inner, resourceSpansEnd);
        }
      }
    }
    if (in.broken) {
      throw new MalformedPayloadException(
          "not an OTLP trace request: its protobuf is truncated or damaged");
    }
  }

  private void resourceSpans(int end, SpanSink sink) {
    int start = in.position;
    resource.clear();
    text.rewind(0);
    // The resource may follow its spans.
    while (in.position < end) {
      int tag = in.tag(end);
      if (tag == RESOURCE_SPANS_RESOURCE) {
        resource(in.enter(end));
      } else {
        in.skip(tag, end);
      }
    }
    spanTextStart = text.position();
    sink.resource(resource);
    firstKeys = sink.firstKeys();
    wantedEvents = sink.wantedEvents();
    in.position = start;
    while (in.position < end) {
      int tag = in.tag(end);
      if (tag == RESOURCE_SPANS_SCOPE_SPANS) {
        scopeSpans(in.enter(end), sink);
      } else {
        in.skip(tag, end);
      }
    }
  }

  private void resource(int end) {
    while (in.position < end) {
      int tag = in.tag(end);
      if (tag == RESOURCE_ATTRIBUTES) {
        attribute(in.enter(end), resource);
      } else {
        in.skip(tag, end);
      }
    }
  }

  private void scopeSpans(int end, SpanSink sink) {
    while (in.position < end) {
      int tag = in.tag(end);
      if (tag == SCOPE_SPANS_SPANS) {
        first = firstKeys != null;
        span(in.enter(end), sink);
      } else {
        in.skip(tag, end);
      }
    }
  }

  private void span(int end, SpanSink sink) {
    int start = in.position;
    int leftOutBefore = leftOut;
    String fault = read(end, sink);
    if (fault != null) {
      sink.rejected(fault);
    } else if (!sink.span(span)) {
      in.position = start;
      leftOut = leftOutBefore;
      first = false;
      span(end, sink);
    }
  }

  /** Reads a span into the view; returns the reason if it is rejected, else null. */
  private String read(int end, SpanSink sink) {
    text.rewind(spanTextStart);
    wanted = first ? firstKeys : sink.wantedKeys();
    SpanView view = span;
    view.traceIdHigh = 0;
    view.traceIdLow = 0;
    view.spanId = 0;
    view.parentSpanId = 0;
    view.kind = 0;
    view.status = 0;
    view.startUnixNanos = 0;
    view.samplingThreshold = 0;
    view.randomness = -1;
    view.sizeBytes = end - in.position;
    view.name = EMPTY;
    view.nameOffset = 0;
    view.nameLength = 0;
    view.statusMessage = EMPTY;
    view.statusMessageOffset = 0;
    view.statusMessageLength = 0;
    view.attributes.clear();
    view.additional.clear();
    view.attributesNotWanted = 0;
    view.textNotWanted = 0;
    view.events.clear();
    view.eventsLeftOut = 0;
    view.links.clear();
    endUnixNanos = 0;
    boolean parentIsId = true;
    usualFields(end, sink);
    additional = first ? sink.additionalKeys(view.kind) : null;
    while (plainAttributes(end) < end) {
      int tag = in.tag(end);
      if (tag == SPAN_ATTRIBUTES) {
        attribute(in.enter(end), view.attributes);
      } else if (tag == SPAN_TRACE_ID) {
        int idEnd = in.enter(end);
        boolean isId = idEnd - in.position == 16;
        view.traceIdHigh = isId ? in.bigEndian(in.position) : 0;
        view.traceIdLow = isId ? in.bigEndian(in.position + 8) : 0;
        in.position = idEnd;
      } else if (tag == SPAN_SPAN_ID) {
        int idEnd = in.enter(end);
        view.spanId = idEnd - in.position == 8 ? in.bigEndian(in.position) : 0;
        in.position = idEnd;
      } else if (tag == SPAN_PARENT_SPAN_ID) {
        int idEnd = in.enter(end);
        int length = idEnd - in.position;
        parentIsId = length == 8 || length == 0;
        view.parentSpanId = length == 8 ? in.bigEndian(in.position) : 0;
        in.position = idEnd;
      } else if (tag == SPAN_NAME) {
        string(end);
        view.name = sliceBytes;
        view.nameOffset = sliceOffset;
        view.nameLength = sliceLength;
      } else if (tag == SPAN_KIND) {
        view.kind = enumeration(end, MAX_KIND);
      } else if (tag == SPAN_START) {
        view.startUnixNanos = in.fixed64(end);
      } else if (tag == SPAN_END) {
        endUnixNanos = in.fixed64(end);
        readAllIfNeeded(sink);
      } else if (tag == SPAN_STATUS) {
        status(in.enter(end));
      } else if (tag == SPAN_EVENTS && wantedEvents != WantedEvents.NONE) {
        event(in.enter(end));
      } else if (tag == SPAN_LINKS && (view.kind == CONSUMER || view.kind == UNSPECIFIED)) {
        link(in.enter(end));
      } else if (tag == SPAN_TRACE_STATE) {
        int stateEnd = in.enter(end);
        TraceState.read(in.bytes, in.position, stateEnd, view);
        in.position = stateEnd;
      } else {
        in.skip(tag, end);
      }
    }
    if (in.broken) {
      in.broken = false;
      return "malformed_span";
    }
    if ((view.traceIdHigh | view.traceIdLow) == 0) {
      return "invalid_trace_id";
    }
    if (view.spanId == 0) {
      return "invalid_span_id";
    }
    if (!parentIsId) {
      return "invalid_parent_span_id";
    }
    if (view.startUnixNanos <= 0) {
      return "invalid_start_time";
    }
    // An unsigned field: from 2^63 on it is not a time, and the difference would overflow.
    if (endUnixNanos < 0) {
      return "invalid_end_time";
    }
    if (view.kind != CONSUMER) {
      view.links.clear(); // They preceded the kind.
    }
    view.durationNanos = Math.max(0, endUnixNanos - view.startUnixNanos);
    return null;
  }

  /**
   * Reads the fields before the attributes as far as they have the order and lengths that exporters
   * write. Stops before the first other field.
   */
  private void usualFields(int end, SpanSink sink) {
    byte[] bytes = in.bytes;
    int at = in.position;
    if (end - at < USUAL_BYTES
        || !in.isField(at, SPAN_TRACE_ID, 2 * Long.BYTES)
        || !in.isField(at + TRACE_ID_FIELD_BYTES, SPAN_SPAN_ID, Long.BYTES)) {
      return;
    }
    span.traceIdHigh = in.bigEndian(at + 2);
    span.traceIdLow = in.bigEndian(at + 2 + Long.BYTES);
    at += TRACE_ID_FIELD_BYTES;
    span.spanId = in.bigEndian(at + 2);
    at += ID_FIELD_BYTES;
    if (in.isField(at, SPAN_PARENT_SPAN_ID, Long.BYTES)) {
      span.parentSpanId = in.bigEndian(at + 2);
      at += ID_FIELD_BYTES;
    }
    int name = at + 2;
    int kind = name + bytes[at + 1];
    if (bytes[at] == SPAN_NAME
        && kind >= name
        && end - kind >= KIND_AND_TIMES_BYTES
        && bytes[kind] == SPAN_KIND
        && bytes[kind + 1] >= 0
        && bytes[kind + 2] == SPAN_START
        && bytes[kind + 3 + Long.BYTES] == SPAN_END
        && Utf8Text.isAscii(bytes, name, kind)) {
      span.name = bytes;
      span.nameOffset = name;
      span.nameLength = kind - name;
      span.kind = bytes[kind + 1] <= MAX_KIND ? bytes[kind + 1] : 0;
      span.startUnixNanos = littleEndian(bytes, kind + 3);
      endUnixNanos = littleEndian(bytes, kind + 4 + Long.BYTES);
      readAllIfNeeded(sink);
      at = kind + KIND_AND_TIMES_BYTES;
    }
    in.position = at;
  }

  /** Ends a first reading before it skips attributes if the span's duration shows the need. */
  private void readAllIfNeeded(SpanSink sink) {
    if (first && span.attributesNotWanted == 0 && span.startUnixNanos > 0) {
      span.durationNanos = Math.max(0, endUnixNanos - span.startUnixNanos);
      if (sink.needsAll(span)) {
        first = false;
        wanted = sink.wantedKeys();
      }
    }
  }

  private int plainAttributes(int end) {
    int most = MAX_ATTRIBUTES - skippedFirst();
    in.position =
        PlainAttributes.read(in.bytes, in.position, end, span, wanted, additional, first, most);
    return in.position;
  }

  /** Reads an event if its name is configured. The name may follow the attributes. */
  private void event(int end) {
    int start = in.position;
    find(EVENT_NAME, end);
    if (in.broken || !wantedEvents.contains(sliceBytes, sliceOffset, sliceLength)) {
      return;
    }
    if (!span.events.add(sliceBytes, sliceOffset, sliceLength)) {
      span.eventsLeftOut++;
      return;
    }
    in.position = start;
    while (in.position < end) {
      int tag = in.tag(end);
      if (tag == EVENT_ATTRIBUTES) {
        eventAttribute(in.enter(end));
      } else {
        in.skip(tag, end);
      }
    }
  }

  /** Reads an attribute if its key is needed; other values, such as stack traces, are skipped. */
  private void eventAttribute(int end) {
    int start = in.position;
    find(KEY_VALUE_KEY, end);
    if (in.broken || !wantedEvents.containsAttribute(sliceBytes, sliceOffset, sliceLength)) {
      return;
    }
    in.position = start;
    eventAttributes.clear();
    attribute(end, eventAttributes);
    if (eventAttributes.size() > 0) {
      span.events.addAttribute(
          eventAttributes.key(0),
          eventAttributes.keyOffset(0),
          eventAttributes.keyLength(0),
          eventAttributes.value(0),
          eventAttributes.valueOffset(0),
          eventAttributes.valueLength(0));
    }
  }

  /** Reads the last string of a field into the slice; without one, the slice is empty. */
  private void find(int field, int end) {
    sliceBytes = EMPTY;
    sliceOffset = 0;
    sliceLength = 0;
    while (in.position < end) {
      int tag = in.tag(end);
      if (tag == field) {
        string(end);
      } else {
        in.skip(tag, end);
      }
    }
  }

  /** Reads a link; one with invalid IDs is left out. */
  private void link(int end) {
    long traceIdHigh = 0;
    long traceIdLow = 0;
    long spanId = 0;
    while (in.position < end) {
      int tag = in.tag(end);
      if (tag == LINK_TRACE_ID) {
        int idEnd = in.enter(end);
        boolean isId = idEnd - in.position == 16;
        traceIdHigh = isId ? in.bigEndian(in.position) : 0;
        traceIdLow = isId ? in.bigEndian(in.position + 8) : 0;
        in.position = idEnd;
      } else if (tag == LINK_SPAN_ID) {
        int idEnd = in.enter(end);
        spanId = idEnd - in.position == 8 ? in.bigEndian(in.position) : 0;
        in.position = idEnd;
      } else {
        in.skip(tag, end);
      }
    }
    span.links.add(traceIdHigh, traceIdLow, spanId);
  }

  private void status(int end) {
    while (in.position < end) {
      int tag = in.tag(end);
      if (tag == STATUS_MESSAGE) {
        string(end);
        span.statusMessage = sliceBytes;
        span.statusMessageOffset = sliceOffset;
        span.statusMessageLength = sliceLength;
      } else if (tag == STATUS_CODE) {
        span.status = enumeration(end, MAX_STATUS);
      } else {
        in.skip(tag, end);
      }
    }
  }

  /** Unknown values count as unspecified. */
  private int enumeration(int end, int max) {
    long value = in.varint(end);
    return value >= 0 && value <= max ? (int) value : 0;
  }

  /** Returns the skipped attributes of a first reading, which count in the limit. */
  private int skippedFirst() {
    return first ? span.attributesNotWanted : 0;
  }

  private void attribute(int end, Attributes into) {
    byte[] key = EMPTY;
    int keyOffset = 0;
    int keyLength = 0;
    byte[] value = EMPTY;
    int valueOffset = 0;
    int valueLength = 0;
    int textStart = text.position();
    boolean whole = true;
    while (in.position < end) {
      int tag = in.tag(end);
      if (tag == KEY_VALUE_KEY) {
        string(end);
        key = sliceBytes;
        keyOffset = sliceOffset;
        keyLength = sliceLength;
      } else if (tag == KEY_VALUE_VALUE) {
        whole = value(in.enter(end));
        value = sliceBytes;
        valueOffset = sliceOffset;
        valueLength = sliceLength;
      } else {
        in.skip(tag, end);
      }
    }
    if (in.broken) {
      return;
    }
    boolean ofSpan = into == span.attributes;
    boolean fits = whole && into.size() + (ofSpan ? skippedFirst() : 0) < MAX_ATTRIBUTES;
    if (wanted != null
        && ofSpan
        && !wanted.contains(key, keyOffset, keyLength)
        && (fits || !first)) {
      if (first && additional != null && additional.contains(key, keyOffset, keyLength)) {
        span.additional.add(key, keyOffset, keyLength, value, valueOffset, valueLength);
      } else {
        text.rewind(textStart);
      }
      span.attributesNotWanted++;
      span.textNotWanted += keyLength + valueLength;
    } else if (fits) {
      into.add(key, keyOffset, keyLength, value, valueOffset, valueLength);
    } else {
      text.rewind(textStart);
      leftOut++;
    }
  }

  /** Reads an {@code AnyValue} into the slice; returns false if it is too deep or too long. */
  private boolean value(int end) {
    sliceBytes = EMPTY;
    sliceOffset = 0;
    sliceLength = 0;
    boolean whole = true;
    while (in.position < end) {
      int tag = in.tag(end);
      if (tag == VALUE_STRING) {
        string(end);
        continue;
      }
      int start = text.position();
      text.begin();
      if (tag == VALUE_BYTES) {
        int bytesEnd = in.enter(end);
        text.base64(in.bytes, in.position, bytesEnd);
        in.position = bytesEnd;
      } else if (!scalar(tag, end)) {
        if (tag != VALUE_ARRAY && tag != VALUE_MAP) {
          in.skip(tag, end);
          continue;
        }
        whole = list(tag, end, 1);
      }
      whole &= !text.overflowed();
      sliceBytes = text.bytes();
      sliceOffset = start;
      sliceLength = text.position() - start;
    }
    return whole;
  }

  /** Writes the value as text if it is a boolean or a number. */
  private boolean scalar(int tag, int end) {
    if (tag == VALUE_BOOL) {
      text.bool(in.varint(end) != 0);
    } else if (tag == VALUE_INT) {
      text.integer(in.varint(end));
    } else if (tag == VALUE_DOUBLE) {
      text.real(Double.longBitsToDouble(in.fixed64(end)));
    } else {
      return false;
    }
    return true;
  }

  /** Writes an {@code ArrayValue} or {@code KeyValueList} as JSON; returns false if too deep. */
  private boolean list(int listTag, int enclosingEnd, int depth) {
    int end = in.enter(enclosingEnd);
    if (depth > MAX_VALUE_DEPTH) {
      in.position = end;
      return false;
    }
    boolean map = listTag == VALUE_MAP;
    boolean whole = true;
    boolean first = true;
    text.put(map ? '{' : '[');
    while (in.position < end) {
      int tag = in.tag(end);
      if (tag != LIST_VALUES) {
        in.skip(tag, end);
        continue;
      }
      if (!first) {
        text.put(',');
      }
      first = false;
      int elementEnd = in.enter(end);
      whole &= map ? member(elementEnd, depth) : element(elementEnd, depth);
    }
    text.put(map ? '}' : ']');
    return whole;
  }

  /** Writes a {@code KeyValue} as a JSON member. */
  private boolean member(int end, int depth) {
    int keyStart = end;
    int keyEnd = end;
    int valueStart = end;
    int valueEnd = end;
    while (in.position < end) {
      int tag = in.tag(end);
      if (tag == KEY_VALUE_KEY) {
        keyEnd = in.enter(end);
        keyStart = in.position;
        in.position = keyEnd;
      } else if (tag == KEY_VALUE_VALUE) {
        valueEnd = in.enter(end);
        valueStart = in.position;
        in.position = valueEnd;
      } else {
        in.skip(tag, end);
      }
    }
    in.position = keyStart;
    quoted(keyEnd);
    text.put(':');
    in.position = valueStart;
    boolean whole = element(valueEnd, depth);
    in.position = end;
    return whole;
  }

  /** Writes an {@code AnyValue} as JSON. */
  private boolean element(int end, int depth) {
    boolean whole = true;
    int start = text.position();
    while (in.position < end) {
      int tag = in.tag(end);
      // If several alternatives are set, the last one counts.
      text.rewind(start);
      if (tag == VALUE_STRING) {
        quoted(in.enter(end));
      } else if (tag == VALUE_BYTES) {
        int bytesEnd = in.enter(end);
        text.put('"');
        text.base64(in.bytes, in.position, bytesEnd);
        text.put('"');
        in.position = bytesEnd;
      } else if (tag == VALUE_DOUBLE) {
        jsonReal(Double.longBitsToDouble(in.fixed64(end)));
      } else if (tag == VALUE_ARRAY || tag == VALUE_MAP) {
        whole = list(tag, end, depth + 1);
      } else if (!scalar(tag, end)) {
        in.skip(tag, end);
      }
    }
    if (text.position() == start) {
      text.put('n');
      text.put('u');
      text.put('l');
      text.put('l');
    }
    return whole;
  }

  /** Writes a finite double as a JSON number, any other one as a string. */
  private void jsonReal(double value) {
    boolean finite = Double.isFinite(value);
    if (!finite) {
      text.put('"');
    }
    text.real(value);
    if (!finite) {
      text.put('"');
    }
  }

  private void quoted(int end) {
    int length = end - in.position;
    if (Utf8Text.isWellFormed(in.bytes, in.position, length)) {
      text.quoted(in.bytes, in.position, end);
    } else {
      byte[] repaired = Utf8Text.repaired(in.bytes, in.position, length);
      text.quoted(repaired, 0, repaired.length);
    }
    in.position = end;
  }

  /** Reads a length and its UTF-8 bytes into the slice. */
  private void string(int enclosingEnd) {
    int end = in.enter(enclosingEnd);
    sliceBytes = in.bytes;
    sliceOffset = in.position;
    sliceLength = end - in.position;
    if (!Utf8Text.isWellFormed(sliceBytes, sliceOffset, sliceLength)) {
      sliceBytes = Utf8Text.repaired(sliceBytes, sliceOffset, sliceLength);
      sliceOffset = 0;
      sliceLength = sliceBytes.length;
    }
    in.position = end;
  }
}
