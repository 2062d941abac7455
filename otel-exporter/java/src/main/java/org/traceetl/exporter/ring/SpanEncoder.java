package org.traceetl.exporter.ring;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.Value;
import io.opentelemetry.api.common.ValueType;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * Encodes the body of a span's record into its own array, because the claim in the ring requires
 * the length. Used by one thread at a time. Allocates nothing, except for arrays and maps.
 */
final class SpanEncoder implements BiConsumer<AttributeKey<?>, Object> {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private static final int SPAN_ID = 16;
  private static final int PARENT_ID = 24;
  private static final int START = 32;
  private static final int DURATION = 40;
  private static final int KIND = 48;
  private static final int STATUS = 49;
  private static final int FLAGS = 50;
  private static final int LINKS = 51;
  private static final int ATTRIBUTES = 52;
  private static final int FIXED_BYTES = 56;

  private static final int LINK_BYTES = 24;
  private static final int MAX_LINKS = 128;

  private static final int HAS_THRESHOLD = 1;
  private static final int HAS_RANDOMNESS = 2;
  private static final int HAS_STATUS_MESSAGE = 4;
  private static final int HAS_EVENTS = 8;

  private static final byte STRING = 0;
  private static final byte FALSE = 1;
  private static final byte TRUE = 2;
  private static final byte INTEGER = 3;
  private static final byte DOUBLE = 4;
  private static final byte JSON = 5;
  private static final byte BASE64 = 6;

  /** Number of cached keys, a power of two. */
  private static final int KNOWN = 128;

  /** Most bytes of a cached key, a type and a number, with a margin. */
  private static final int MAX_KNOWN_BYTES = 24;

  /**
   * After this many consecutive values of a key without a number, lookups pause until the count
   * reaches a multiple of {@link #MISSES}. Sampling every n-th value could coincide with a pattern.
   */
  private static final int MOST_MISSED = 256;

  private static final int MISSES = 4096;

  private static final int RECENT_BITS = 8;
  private static final int MIN_RECENT_CHARS = 4;
  private static final int MIX = 0x9E37_79B9;

  private static final int MAX_VARINT_BYTES = 10;
  private static final int INITIAL_BYTES = 1024;

  private static final String HEX_DIGITS = "0123456789abcdef";

  private final Dictionary dictionary;
  private final int maxBytes;
  private final byte[] digits = new byte[2 * Hex.DIGITS_OF_LONG];
  private final StringBuilder json = new StringBuilder();

  /** By the hash of the key. */
  private final Known[] known = new Known[KNOWN];

  /** The attributes in the order of the last span, which is mostly that of the next span. */
  private final Known[] inOrder = new Known[KNOWN];

  private final String[] recentTexts = new String[1 << RECENT_BITS];
  private final int[] recentNumbers = new int[1 << RECENT_BITS];

  private String lastTraceId;
  private long traceIdHigh;
  private long traceIdLow;
  private String lastParentId;
  private long parentId;
  private TraceState lastState;
  private long threshold;
  private long randomness;

  private byte[] bytes = new byte[INITIAL_BYTES];
  private int position;
  private boolean overflowed;
  private int attributes;

  /**
   * @param dictionary null: all strings are inline
   * @param maxBytes of a body
   */
  SpanEncoder(Dictionary dictionary, int maxBytes) {
    this.dictionary = dictionary;
    this.maxBytes = maxBytes;
    Arrays.fill(known, Known.NONE);
    Arrays.fill(inOrder, Known.NONE);
  }

  /** Returns the array with the last result at its beginning. */
  byte[] bytes() {
    return bytes;
  }

  /** Returns the length of the span's body in bytes, or -1 if it exceeds the limit. */
  int encode(SpanData span) {
    begin();
    SpanContext context = span.getSpanContext();
    traceId(context.getTraceId());
    parentId(span.getParentSpanId());
    StatusData status = span.getStatus();
    long start = span.getStartEpochNanos();
    fixedFields(
        traceIdHigh,
        traceIdLow,
        spanId(context.getSpanId()),
        parentId,
        start,
        span.getEndEpochNanos(),
        span.getKind(),
        status.getStatusCode());
    int flags = texts(context.getTraceState(), span.getName(), status.getDescription());
    span.getAttributes().forEach(this);
    List<LinkData> links = span.getKind() == SpanKind.CONSUMER ? span.getLinks() : null;
    return end(flags, span.getEvents(), start, links);
  }

  /** Returns the length of the span's body in bytes, or -1 if it exceeds the limit. */
  int encode(EndedSpan span) {
    begin();
    long start = span.startEpochNanos();
    fixedFields(
        span.traceIdHigh(),
        span.traceIdLow(),
        span.spanId(),
        span.parentSpanId(),
        start,
        span.endEpochNanos(),
        span.kind(),
        span.statusCode());
    int flags = texts(span.traceState(), span.name(), span.statusDescription());
    AttributeList list = span.attributeList();
    if (list != null) {
      attributes(list);
    }
    List<LinkData> links = span.kind() == SpanKind.CONSUMER ? span.linkList() : null;
    return end(flags, span.eventList(), start, links);
  }

  /** Encodes attributes as {@link #accept} does, with fewer accesses to memory. */
  @SuppressWarnings("ReferenceEquality")
  private void attributes(AttributeList list) {
    AttributeKey<?>[] keys = list.keys();
    Object[] values = list.values();
    int size = list.size();
    byte[] out = bytes;
    int at = position;
    for (int i = 0; i < size; i++) {
      Known same = inOrder[i & KNOWN - 1];
      if (same.attribute == keys[i] && same.value == values[i] && out.length - at >= Long.BYTES) {
        LONG.set(out, at, same.encoded);
        at += same.bytes;
      } else {
        position = at;
        attributes = i + 1;
        attribute(same, keys[i], values[i]);
        out = bytes;
        at = position;
      }
    }
    position = at;
    attributes = size;
  }

  private void fixedFields(
      long high,
      long low,
      long id,
      long parent,
      long start,
      long end,
      SpanKind kind,
      StatusCode status) {
    byte[] out = bytes;
    LONG.set(out, 0, high);
    LONG.set(out, 8, low);
    LONG.set(out, SPAN_ID, id);
    LONG.set(out, PARENT_ID, parent);
    LONG.set(out, START, start);
    LONG.set(out, DURATION, Math.max(0, end - start));
    out[KIND] = number(kind);
    out[STATUS] = number(status);
    position = FIXED_BYTES;
  }

  /** Encodes the fields before the attributes, and returns the flags. */
  private int texts(TraceState state, String name, String message) {
    int flags = sampling(state);
    name(name);
    if (message != null && !message.isEmpty()) {
      flags |= HAS_STATUS_MESSAGE;
      value(message);
    }
    return flags;
  }

  /** Encodes what follows the attributes, and returns the result of the encoding. */
  private int end(int flagsBefore, List<EventData> events, long start, List<LinkData> links) {
    int flags = flagsBefore;
    int attributesOfSpan = attributes;
    if (events != null && !events.isEmpty()) {
      flags |= HAS_EVENTS;
      events(events, start);
    }
    int linksOfSpan = links == null ? 0 : links(links);
    bytes[FLAGS] = (byte) flags;
    bytes[LINKS] = (byte) linksOfSpan;
    INT.set(bytes, ATTRIBUTES, attributesOfSpan);
    return overflowed || position > maxBytes ? -1 : position;
  }

  /** Encodes as many attributes as fit, and returns their length in bytes. */
  int encodeWhatFits(Attributes all) {
    begin();
    all.forEach((key, value) -> {
      int before = position;
      accept(key, value);
      if (overflowed || position > maxBytes) {
        overflowed = false;
        position = before;
        attributes--;
      }
    });
    return position;
  }

  /** Returns the number of attributes encoded by {@link #encodeWhatFits}. */
  int attributes() {
    return attributes;
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // keys and many values are constants
  public void accept(AttributeKey<?> key, Object value) {
    Known same = inOrder[attributes++ & KNOWN - 1];
    int at = position;
    if (same.attribute == key && same.value == value && bytes.length - at >= Long.BYTES) {
      LONG.set(bytes, at, same.encoded);
      position = at + same.bytes;
    } else {
      attribute(same, key, value);
    }
  }

  /** A separate method, so that the caller is small enough to be inlined into the SDK's loop. */
  @SuppressWarnings("ReferenceEquality")
  private void attribute(Known expected, AttributeKey<?> key, Object value) {
    Known same = expected;
    if (same.attribute != key) {
      same = known(key);
      if (same == null) {
        text(key.getKey());
        value(value);
        return;
      }
    }
    if (!room(MAX_KNOWN_BYTES)) {
      return;
    }
    if (same.value == value) {
      put(same.encoded, same.bytes);
    } else if (value instanceof String) {
      string(same, (String) value);
    } else if (value instanceof Long) {
      long number = (Long) value;
      number(same.encodedInteger, same.keyBytes + 1, number << 1 ^ number >> 63);
    } else {
      put(same.encodedKey, same.keyBytes);
      rarer(value);
    }
  }

  /** Encodes a key and a value. Skips most lookups for keys whose values do not repeat. */
  private void string(Known of, String value) {
    int number = Dictionary.NONE;
    if ((of.missed & MISSES - 1) < MOST_MISSED) {
      number = recent(value);
      if (number == Dictionary.NONE) {
        number = remember(value, dictionary.value(value));
      }
    }
    // The type of a string is 0.
    if (number == Dictionary.NONE) {
      of.missed++;
      put(of.encodedKey, of.keyBytes + 1);
      text(value);
      return;
    }
    of.missed = 0;
    int start = position;
    long encoded = number(of.encodedKey, of.keyBytes + 1, (long) number << 1);
    int length = position - start;
    if (encoded != 0 && length <= Long.BYTES) {
      of.encoded = encoded;
      of.bytes = length;
      of.value = value;
    }
  }

  /**
   * Writes bytes, then a varint. The caller has reserved {@link #MAX_KNOWN_BYTES}.
   *
   * @param before first bytes, at most 5
   * @return all bytes; 0 if the varint is longer than 3 bytes
   */
  private long number(long before, int bytesBefore, long varint) {
    int shift = 8 * bytesBefore;
    if (varint >>> 7 == 0) {
      long encoded = before | varint << shift;
      put(encoded, bytesBefore + 1);
      return encoded;
    }
    if (varint >>> 14 == 0) {
      long encoded = before | (varint & 0x7F | 0x80 | varint >>> 7 << 8) << shift;
      put(encoded, bytesBefore + 2);
      return encoded;
    }
    if (varint >>> 21 == 0) {
      long encoded =
          before | (varint & 0x7F | 0x8080 | (varint & 0x3F80) << 1 | varint >>> 14 << 16) << shift;
      put(encoded, bytesBefore + 3);
      return encoded;
    }
    put(before, bytesBefore);
    longerVarint(varint);
    return 0;
  }

  private void put(long encoded, int count) {
    LONG.set(bytes, position, encoded);
    position += count;
  }

  /** Encodes a value of any type. */
  private void value(Object value) {
    if (value instanceof String) {
      type(STRING);
      value((String) value);
    } else if (value instanceof Long) {
      type(INTEGER);
      signed((Long) value);
    } else {
      rarer(value);
    }
  }

  private void rarer(Object value) {
    if (value instanceof Boolean) {
      type((Boolean) value ? TRUE : FALSE);
    } else if (value instanceof Double) {
      real((Double) value);
    } else if (value instanceof List) {
      array((List<?>) value);
    } else {
      other(value);
    }
  }

  private void begin() {
    position = 0;
    overflowed = false;
    attributes = 0;
  }

  @SuppressWarnings("ReferenceEquality")
  private int sampling(TraceState state) {
    if (state.isEmpty()) {
      return 0;
    }
    // The spans of a trace share their state, and a sampler's roots share one.
    if (state != lastState) {
      String member = state.get("ot");
      threshold = member == null ? 0 : Sampling.threshold(member);
      randomness = member == null ? -1 : Sampling.randomness(member);
      lastState = state;
    }
    int flags = 0;
    if (threshold > 0) {
      flags |= HAS_THRESHOLD;
      fixed(threshold);
    }
    if (randomness >= 0) {
      flags |= HAS_RANDOMNESS;
      fixed(randomness);
    }
    return flags;
  }

  private void events(List<EventData> events, long start) {
    int count = events.size();
    varint(count);
    for (int i = 0; i < count; i++) {
      EventData event = events.get(i);
      name(event.getName());
      signed(event.getEpochNanos() - start);
      Attributes ofEvent = event.getAttributes();
      varint(ofEvent.size());
      int before = attributes;
      ofEvent.forEach(this);
      if (attributes - before != ofEvent.size()) {
        throw new IllegalStateException("an event's attributes changed while they were written");
      }
    }
  }

  /** Encodes the first valid links, as many as fit, and returns their number. */
  private int links(List<LinkData> links) {
    int most = Math.min(MAX_LINKS, (maxBytes - position) / LINK_BYTES);
    int count = 0;
    for (int i = 0; i < links.size() && count < most; i++) {
      SpanContext to = links.get(i).getSpanContext();
      if (to.isValid()) {
        Ascii.copy(to.getTraceId(), 2 * Hex.DIGITS_OF_LONG, digits, 0);
        fixed(Hex.parse(digits, 0));
        fixed(Hex.parse(digits, Hex.DIGITS_OF_LONG));
        fixed(spanId(to.getSpanId()));
        count++;
      }
    }
    return count;
  }

  @SuppressWarnings("ReferenceEquality")
  private void traceId(String text) {
    // The spans of a trace share the first one's string.
    if (text != lastTraceId) {
      Ascii.copy(text, 2 * Hex.DIGITS_OF_LONG, digits, 0);
      traceIdHigh = Hex.parse(digits, 0);
      traceIdLow = Hex.parse(digits, Hex.DIGITS_OF_LONG);
      lastTraceId = text;
    }
  }

  @SuppressWarnings("ReferenceEquality")
  private void parentId(String text) {
    // Children of a span share its ID's string, and all roots share one.
    if (text != lastParentId) {
      parentId = spanId(text);
      lastParentId = text;
    }
  }

  private long spanId(String text) {
    Ascii.copy(text, Hex.DIGITS_OF_LONG, digits, 0);
    return Hex.parse(digits, 0);
  }

  /**
   * Returns the cache entry of a key, and expects it at this place in the next spans; null if the
   * key has no number.
   */
  @SuppressWarnings("ReferenceEquality")
  private Known known(AttributeKey<?> key) {
    String name = key.getKey();
    int slot = name.hashCode() & KNOWN - 1;
    Known same = known[slot];
    if (same.key != name && !name.equals(same.key)) {
      int number = dictionary == null ? Dictionary.NONE : dictionary.key(name);
      if (number == Dictionary.NONE) {
        return null;
      }
      same = new Known(name, (long) number << 1);
      known[slot] = same;
    }
    same.attribute = key;
    inOrder[attributes - 1 & KNOWN - 1] = same;
    return same;
  }

  private void name(String text) {
    if (dictionary == null) {
      text(text);
      return;
    }
    int number = recent(text);
    string(text, number != Dictionary.NONE ? number : remember(text, dictionary.name(text)));
  }

  private void value(String text) {
    string(text, dictionary == null ? Dictionary.NONE : dictionary.value(text));
  }

  /** Returns the number of a recent string without hashing it, or {@link Dictionary#NONE}. */
  private int recent(String text) {
    int slot = slot(text);
    return text.equals(recentTexts[slot]) ? recentNumbers[slot] : Dictionary.NONE;
  }

  private int remember(String text, int number) {
    if (number != Dictionary.NONE) {
      int slot = slot(text);
      recentTexts[slot] = text;
      recentNumbers[slot] = number;
    }
    return number;
  }

  /** Hashes the length and a few characters. */
  private static int slot(String text) {
    int length = text.length();
    if (length < MIN_RECENT_CHARS) {
      return 0;
    }
    int hash = 31 * length + text.charAt(length - 1);
    hash = 31 * hash + text.charAt(length - 2);
    hash = 31 * hash + text.charAt(length - (length >> 2));
    hash = 31 * hash + text.charAt(length >> 1);
    return hash * MIX >>> Integer.SIZE - RECENT_BITS;
  }

  private void string(String text, int number) {
    if (number != Dictionary.NONE) {
      varint((long) number << 1);
    } else {
      text(text);
    }
  }

  /** Writes an inline string, which is mostly ASCII. */
  private void text(String text) {
    int length = text.length();
    int bits = 0;
    for (int i = 0; i < length; i++) {
      bits |= text.charAt(i);
    }
    if (bits >= 0x80) {
      utf8(text);
    } else if (room(MAX_VARINT_BYTES + (long) length)) {
      varint((long) length << 1 | 1);
      Ascii.copy(text, length, bytes, position);
      position += length;
    }
  }

  /** Writes any text. */
  private void utf8(CharSequence text) {
    int length = Utf8Encoder.length(text);
    if (room(MAX_VARINT_BYTES + (long) length)) {
      varint((long) length << 1 | 1);
      position = Utf8Encoder.write(text, bytes, position);
    }
  }

  private void real(double value) {
    type(DOUBLE);
    fixed(Double.doubleToRawLongBits(value));
  }

  private void array(List<?> values) {
    json.setLength(0);
    json.append('[');
    for (int i = 0; i < values.size() && json.length() <= maxBytes; i++) {
      if (i > 0) {
        json.append(',');
      }
      Object value = values.get(i);
      if (value instanceof String) {
        quote((String) value);
      } else if (value instanceof Double && !Double.isFinite((Double) value)) {
        json.append('"').append((double) value).append('"');
      } else if (value instanceof Value) {
        nested((Value<?>) value);
      } else {
        json.append(value);
      }
    }
    json.append(']');
    type(JSON);
    utf8(json);
  }

  private void nested(Value<?> value) {
    ValueType type = value.getType();
    if (type == ValueType.STRING || type == ValueType.BYTES) {
      quote(value.asString());
    } else {
      json.append(type == ValueType.EMPTY ? "null" : value.asString());
    }
  }

  private void quote(String text) {
    json.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        json.append('\\').append(c);
      } else if (c < ' ') {
        json.append("\\u00").append(HEX_DIGITS.charAt(c >> 4)).append(HEX_DIGITS.charAt(c & 15));
      } else {
        json.append(c);
      }
    }
    json.append('"');
  }

  /** Encodes values of types that the API added after strings, numbers and their arrays. */
  private void other(Object value) {
    if (!(value instanceof Value)) {
      type(STRING);
      text(String.valueOf(value));
      return;
    }
    Value<?> any = (Value<?>) value;
    switch (any.getType()) {
      case STRING:
        type(STRING);
        value((String) any.getValue());
        break;
      case BOOLEAN:
        type((Boolean) any.getValue() ? TRUE : FALSE);
        break;
      case LONG:
        type(INTEGER);
        signed((Long) any.getValue());
        break;
      case DOUBLE:
        real((Double) any.getValue());
        break;
      case ARRAY:
      case KEY_VALUE_LIST:
        type(JSON);
        text(any.asString());
        break;
      case BYTES:
        type(BASE64);
        text(any.asString());
        break;
      default:
        type(STRING);
        text(any.asString());
    }
  }

  private void type(byte type) {
    if (room(1)) {
      bytes[position++] = type;
    }
  }

  private void fixed(long value) {
    if (room(Long.BYTES)) {
      LONG.set(bytes, position, value);
      position += Long.BYTES;
    }
  }

  /** Writes a zigzag varint: the sign is the lowest bit. */
  private void signed(long value) {
    varint(value << 1 ^ value >> 63);
  }

  private void varint(long value) {
    if (!room(MAX_VARINT_BYTES)) {
      return;
    }
    if ((value & ~0x7FL) == 0) {
      bytes[position++] = (byte) value;
    } else {
      longerVarint(value);
    }
  }

  private void longerVarint(long value) {
    byte[] out = bytes;
    int at = position;
    long rest = value;
    for (; (rest & ~0x7FL) != 0; rest >>>= 7) {
      out[at++] = (byte) (rest | 0x80);
    }
    out[at++] = (byte) rest;
    position = at;
  }

  /** Reserves {@code count} bytes; returns false if the span is too large. */
  private boolean room(long count) {
    return count <= bytes.length - position || grow(count);
  }

  private boolean grow(long count) {
    // A number of unknown length may be written after the last valid byte.
    long largest = maxBytes + 2L * MAX_KNOWN_BYTES;
    if (overflowed || position + count > largest) {
      overflowed = true;
      return false;
    }
    bytes =
        Arrays.copyOf(
            bytes, (int) Math.min(largest, Math.max(2L * bytes.length, position + count)));
    return true;
  }

  private static byte number(SpanKind kind) {
    switch (kind) {
      case INTERNAL:
        return 1;
      case SERVER:
        return 2;
      case CLIENT:
        return 3;
      case PRODUCER:
        return 4;
      case CONSUMER:
        return 5;
    }
    return 0;
  }

  private static byte number(StatusCode code) {
    switch (code) {
      case OK:
        return 1;
      case ERROR:
        return 2;
      default:
        return 0;
    }
  }

  /**
   * A key that has a number, and the last encoded attribute with it. If key and value are the same
   * objects again, the bytes are the same.
   */
  private static final class Known {
    static final Known NONE = new Known(null, 0);

    final String key;
    final long encodedKey;

    /** The key and the type of an integer. */
    final long encodedInteger;

    final int keyBytes;

    /** The last object of this key. */
    AttributeKey<?> attribute;

    /** The last value with a number; null if there is none. */
    Object value;

    long encoded;
    int bytes;

    /** Consecutive values without a number. */
    int missed;

    /**
     * @param reference to the key, below 2^28
     */
    Known(String key, long reference) {
      this.key = key;
      long rest = reference;
      long made = 0;
      int length = 0;
      for (; rest >= 0x80; rest >>>= 7) {
        made |= (rest & 0x7F | 0x80) << 8 * length++;
      }
      encodedKey = made | rest << 8 * length++;
      encodedInteger = encodedKey | (long) INTEGER << 8 * length;
      keyBytes = length;
    }
  }
}
