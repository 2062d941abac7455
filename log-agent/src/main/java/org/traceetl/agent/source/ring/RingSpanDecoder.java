package org.traceetl.agent.source.ring;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.LongAdder;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.KeySet;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.flow.WantedEvents;
import org.traceetl.agent.source.payload.Utf8Text;
import org.traceetl.agent.source.payload.ValueText;
import org.traceetl.proto.ring.RingDictionary;
import org.traceetl.proto.ring.RingLayout;
import org.traceetl.proto.ring.RingRecords;
import org.traceetl.proto.ring.RingSpanReader;

/**
 * Emits the spans of copied records to a sink. Strings are slices of the records or the dictionary;
 * other values are text in a reused array, as in the OTLP decoder. An error inside a span rejects
 * only that span. Spans cause no allocation, except doubles of more than 15 digits and strings that
 * are not UTF-8, which are repaired. One thread at a time.
 */
final class RingSpanDecoder {
  /** Most attributes of a span or a resource; further ones are left out. */
  static final int MAX_ATTRIBUTES = 128;

  /**
   * Most text of a payload's spans for each of its bytes, and in addition. A few bytes can refer to
   * long strings of the dictionary, which the next step would have to read.
   */
  private static final long MAX_TEXT_PER_BYTE = 256;

  private static final long MAX_TEXT_BESIDES = 1024 * 1024;

  private static final int CONSUMER = 5;
  static final int MAX_KIND = 5;
  static final int MAX_STATUS = 2;
  private static final long MAX_56_BITS = (1L << 56) - 1;
  private static final byte[] EMPTY = new byte[0];

  /** Integers below this, such as ports and status codes, have prepared text. */
  private static final int SMALL_INTEGERS = 10_000;

  private static final int SMALL_INTEGER_DIGITS = 4;
  private static final byte[] SMALL_INTEGER_TEXTS = new byte[SMALL_INTEGERS * SMALL_INTEGER_DIGITS];

  static {
    for (int i = 0; i < SMALL_INTEGERS; i++) {
      byte[] digits = Integer.toString(i).getBytes(StandardCharsets.US_ASCII);
      System.arraycopy(digits, 0, SMALL_INTEGER_TEXTS, i * SMALL_INTEGER_DIGITS, digits.length);
    }
  }

  private static final int SHAPE_BITS = 5;
  private static final int MIX = 0x9E37_79B9;

  private final LongAdder attributesLeftOut;
  private final RingRecords records = new RingRecords();
  private final RingSpanReader in = new RingSpanReader();
  private final ValueText text = new ValueText();
  // By the hash of the name; a span that is read again has another shape.
  private final ReusableSpan[] shapes = new ReusableSpan[1 << SHAPE_BITS];
  private final ReusableSpan[] firstShapes = new ReusableSpan[1 << SHAPE_BITS];
  // Of kinds of which additional attributes are read, by name and kind.
  private final ReusableSpan[] additionalShapes = new ReusableSpan[1 << SHAPE_BITS];

  // Array of the dictionary, whose strings were repaired when they were read.
  private byte[] dictionaryBytes = EMPTY;

  private WantedEvents wantedEvents = WantedEvents.NONE;
  private long textLeft;
  // Kind, status and duration of a span before its attributes are read.
  private final SpanView probe = new SpanView();

  // The current span.
  private SpanView span;
  private int leftOut;
  // Whether it may be read again with the attributes that are now skipped.
  private boolean first;

  // The current value.
  private byte[] valueBytes = EMPTY;
  private int valueOffset;
  private int valueLength;

  RingSpanDecoder(LongAdder attributesLeftOut) {
    this.attributesLeftOut = attributesLeftOut;
  }

  /** A ring's resource, read once and set with each payload. */
  static final class Resource {
    private final Attributes attributes = new Attributes();

    /** As in the ring, for readers that need the types of values. */
    final byte[] bytes;

    /** Number of attributes in the bytes. */
    final int attributeCount;

    private Resource(byte[] bytes, int attributeCount) {
      this.bytes = bytes;
      this.attributeCount = attributeCount;
    }

    /**
     * Reads the resource.
     *
     * @param attributeCount declared number of attributes
     * @return null if it is malformed
     */
    static Resource read(byte[] bytes, int attributeCount, RingDictionary.Strings none) {
      RingSpanReader in = new RingSpanReader();
      RingSpanDecoder decoder = new RingSpanDecoder(new LongAdder());
      Resource resource = new Resource(bytes, attributeCount);
      decoder.dictionaryBytes = none.bytes();
      in.resource(bytes, 0, bytes.length, attributeCount, none);
      while (in.nextAttribute() && resource.attributes.size() < MAX_ATTRIBUTES) {
        if (decoder.value(in)) {
          decoder.add(in, resource.attributes);
        }
      }
      return in.isBroken() ? null : resource;
    }
  }

  /**
   * Decodes {@code payload[0, length)}.
   *
   * @param strings entries of the dictionary, to which spans refer
   * @throws MalformedPayloadException if the bytes are not records; then no span was emitted
   */
  void decode(
      byte[] payload, int length, Resource resource, RingDictionary.Strings strings, SpanSink sink)
      throws MalformedPayloadException {
    if (!records.wrap(payload, length)) {
      throw new MalformedPayloadException("records of a ring changed while they were copied");
    }
    dictionaryBytes = strings.bytes();
    textLeft = MAX_TEXT_PER_BYTE * length + MAX_TEXT_BESIDES;
    try {
      sink.resource(resource.attributes);
      boolean readsFirst = sink.firstKeys() != null;
      wantedEvents = sink.wantedEvents();
      while (records.next()) {
        first = readsFirst;
        span(payload, strings, sink);
      }
    } finally {
      forget();
    }
  }

  private void span(byte[] payload, RingDictionary.Strings strings, SpanSink sink) {
    long textBefore = textLeft;
    leftOut = 0;
    String fault = read(payload, records.bodyOffset(), records.bodyEnd(), strings, sink);
    if (fault == null && !sink.span(span)) {
      textLeft = textBefore;
      first = false;
      span(payload, strings, sink);
      return;
    }
    if (fault != null) {
      sink.rejected(fault);
    }
    if (leftOut > 0) {
      attributesLeftOut.add(leftOut);
    }
  }

  /** Releases the references to the payload. */
  private void forget() {
    boolean _ = records.wrap(EMPTY, 0);
    in.forget();
    forget(shapes);
    forget(firstShapes);
    forget(additionalShapes);
    valueBytes = EMPTY;
    dictionaryBytes = EMPTY;
  }

  private static void forget(ReusableSpan[] shapes) {
    for (ReusableSpan shape : shapes) {
      if (shape != null) {
        shape.forget();
      }
    }
  }

  /** Reads a span into a view; returns the reason if it is rejected, else null. */
  private String read(
      byte[] bytes, int from, int to, RingDictionary.Strings strings, SpanSink sink) {
    RingSpanReader in = this.in;
    text.rewind(0);
    if (!in.span(bytes, from, to, strings)) {
      return "malformed_span";
    }
    if (first) {
      enumerations(in, probe);
      probe.durationNanos = in.durationNanos;
      first = !sink.needsAll(probe);
    }
    KeySet additional = first ? sink.additionalKeys(probe.kind) : null;
    ReusableSpan shape =
        additional == null
            ? shape(first ? firstShapes : shapes, 0, null)
            : shape(additionalShapes, probe.kind, additional);
    SpanView view = shape.view;
    span = view;
    view.dictionary = dictionaryBytes;
    view.traceIdHigh = in.traceIdHigh;
    view.traceIdLow = in.traceIdLow;
    view.spanId = in.spanId;
    view.parentSpanId = in.parentSpanId;
    enumerations(in, view);
    if (view.kind == CONSUMER) {
      links(in, view);
    }
    view.startUnixNanos = in.startUnixNanos;
    view.durationNanos = in.durationNanos;
    view.samplingThreshold = is56Bits(in.samplingThreshold) ? in.samplingThreshold : 0;
    view.randomness = is56Bits(in.randomness) ? in.randomness : -1;
    view.sizeBytes = RingLayout.RECORD_HEADER_BYTES + to - from;
    attributes(bytes, in, shape, first ? sink.firstKeys() : sink.wantedKeys(), additional);
    if (wantedEvents != WantedEvents.NONE) {
      events(in, view);
    }
    repair(in.name);
    view.name = in.name.bytes;
    view.nameOffset = in.name.offset;
    view.nameLength = in.name.length;
    repair(in.statusMessage);
    view.statusMessage = in.statusMessage.bytes;
    view.statusMessageOffset = in.statusMessage.offset;
    view.statusMessageLength = in.statusMessage.length;
    if (in.isBroken()) {
      return "malformed_span";
    }
    textLeft -=
        view.attributes.textBytes()
            + view.textNotWanted
            + view.events.textBytes()
            + view.nameLength
            + view.statusMessageLength;
    if (textLeft < 0) {
      return "too_much_text";
    }
    return invalid(in);
  }

  /** Returns the reason why a span's fixed fields are not valid; null if they are. */
  static String invalid(RingSpanReader in) {
    if ((in.traceIdHigh | in.traceIdLow) == 0) {
      return "invalid_trace_id";
    }
    if (in.spanId == 0) {
      return "invalid_span_id";
    }
    if (in.startUnixNanos <= 0) {
      return "invalid_start_time";
    }
    if (in.durationNanos < 0) {
      return "invalid_duration";
    }
    return null;
  }

  private static void enumerations(RingSpanReader in, SpanView view) {
    view.kind = in.kind <= MAX_KIND ? in.kind : 0;
    view.status = in.status <= MAX_STATUS ? in.status : 0;
  }

  private static void links(RingSpanReader in, SpanView view) {
    for (int link = 0; link < in.links; link++) {
      view.links.add(in.linkTraceIdHigh(link), in.linkTraceIdLow(link), in.linkSpanId(link));
    }
  }

  static boolean is56Bits(long value) {
    return value >= 0 && value <= MAX_56_BITS;
  }

  private void attributes(
      byte[] bytes, RingSpanReader in, ReusableSpan shape, KeySet wanted, KeySet additional) {
    SpanView view = shape.view;
    while (true) {
      shape.repeat(bytes, in);
      int from = in.position();
      if (!in.nextAttribute()) {
        return;
      }
      int to = in.position();
      boolean isNotWanted = wanted != null && !isIn(wanted, in.key);
      // Those skipped in a first reading count in the limit.
      int counted = view.attributes.size() + (first ? view.attributesNotWanted : 0);
      if (isNotWanted && !first) {
        shape.notWanted(bytes, from, to, 0);
      } else if (counted >= MAX_ATTRIBUTES || !value(in)) {
        leftOut++;
        shape.leftOut();
      } else if (isNotWanted && isIn(additional, in.key)) {
        add(in, view.additional);
        shape.additional(in.key.length + valueLength);
      } else if (isNotWanted) {
        repair(in.key);
        shape.notWanted(bytes, from, to, in.key.length + valueLength);
      } else {
        add(in, view.attributes);
        boolean fixed = valueBytes == dictionaryBytes || valueBytes == SMALL_INTEGER_TEXTS;
        shape.added(bytes, from, to, fixed && in.key.bytes == dictionaryBytes);
      }
    }
  }

  private static boolean isIn(KeySet keys, RingSpanReader.Slice key) {
    return keys != null && keys.contains(key.bytes, key.offset, key.length);
  }

  /** Returns the reusable span for the current name and a kind. */
  private ReusableSpan shape(ReusableSpan[] shapes, int kind, KeySet additional) {
    RingSpanReader.Slice name = in.name;
    int slot = name.bytes == dictionaryBytes ? name.offset * MIX >>> Integer.SIZE - SHAPE_BITS : 0;
    slot ^= kind;
    ReusableSpan shape = shapes[slot];
    if (shape == null) {
      shape = new ReusableSpan();
      shapes[slot] = shape;
    }
    shape.begin(additional);
    return shape;
  }

  private void events(RingSpanReader in, SpanView view) {
    while (in.nextEvent()) {
      RingSpanReader.Slice name = in.eventName;
      if (wantedEvents.contains(name.bytes, name.offset, name.length)) {
        repair(name);
        if (!view.events.add(name.bytes, name.offset, name.length)) {
          view.eventsLeftOut++;
        } else {
          eventAttributes(in, view);
        }
      }
    }
  }

  private void eventAttributes(RingSpanReader in, SpanView view) {
    while (in.nextAttribute()) {
      if (wantedEvents.containsAttribute(in.key.bytes, in.key.offset, in.key.length) && value(in)) {
        repair(in.key);
        view.events.addAttribute(
            in.key.bytes, in.key.offset, in.key.length, valueBytes, valueOffset, valueLength);
      }
    }
  }

  private void add(RingSpanReader in, Attributes into) {
    repair(in.key);
    into.add(in.key.bytes, in.key.offset, in.key.length, valueBytes, valueOffset, valueLength);
  }

  /** Reads the value as text; returns false if it is too long. */
  private boolean value(RingSpanReader in) {
    switch (in.valueType) {
      case RingLayout.VALUE_FALSE, RingLayout.VALUE_TRUE -> {
        begin();
        text.bool(in.valueType == RingLayout.VALUE_TRUE);
        end();
      }
      case RingLayout.VALUE_INTEGER -> integer(in.integer);
      case RingLayout.VALUE_DOUBLE -> {
        begin();
        text.real(in.real);
        end();
      }
      default -> {
        // Checked before the repair: thousands of attributes may refer to one string.
        if (in.text.length > ValueText.MAX_VALUE_BYTES) {
          return false;
        }
        repair(in.text);
        valueBytes = in.text.bytes;
        valueOffset = in.text.offset;
        valueLength = in.text.length;
      }
    }
    return valueLength <= ValueText.MAX_VALUE_BYTES;
  }

  private void integer(long value) {
    if (value >= 0 && value < SMALL_INTEGERS) {
      int number = (int) value;
      valueBytes = SMALL_INTEGER_TEXTS;
      valueOffset = number * SMALL_INTEGER_DIGITS;
      valueLength = number < 10 ? 1 : number < 100 ? 2 : number < 1000 ? 3 : 4;
    } else {
      begin();
      text.integer(value);
      end();
    }
  }

  private void begin() {
    valueOffset = text.position();
    text.begin();
  }

  private void end() {
    valueBytes = text.bytes();
    valueLength = text.position() - valueOffset;
  }

  private void repair(RingSpanReader.Slice slice) {
    if (slice.bytes != dictionaryBytes
        && !Utf8Text.isWellFormed(slice.bytes, slice.offset, slice.length)) {
      slice.bytes = Utf8Text.repaired(slice.bytes, slice.offset, slice.length);
      slice.offset = 0;
      slice.length = slice.bytes.length;
    }
  }
}
