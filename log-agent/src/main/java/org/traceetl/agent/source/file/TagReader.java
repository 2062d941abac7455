package org.traceetl.agent.source.file;

import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.proto.SpanId;
import org.traceetl.proto.TraceId;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonReadFeature;

/**
 * Reads the JSON fields of a line: references, and attributes, whose bytes are in this reader's
 * scratch array. Restores line ends, tabs and quotes that the writer escaped. One thread at a time.
 */
final class TagReader {
  private static final String KEY = "key";
  private static final String VALUE = "value";
  private static final String TAGS = "tags";
  private static final String TRACE_ID = "traceID";
  private static final String SPAN_ID = "spanID";
  private static final int ASCII_END = 0x80;

  // The writer cuts values after escaping them, so half an escape can be at their end.
  private final JsonFactory json =
      JsonFactory.builder()
          .enable(JsonReadFeature.ALLOW_BACKSLASH_ESCAPING_ANY_CHARACTER)
          .enable(JsonReadFeature.ALLOW_UNESCAPED_CONTROL_CHARS)
          .build();

  // The texts of a line, one after the other. Attributes refer to the array, so a full array is
  // replaced instead of grown.
  private byte[] scratch = new byte[64 * 1024];
  private int used;

  /** Discards the texts of the last line. */
  void reset() {
    used = 0;
  }

  /**
   * Adds the entries of {@code [{"key":…,"type":…,"value":…},…]}; returns false for other input.
   */
  boolean read(byte[] bytes, int offset, int end, Attributes to) {
    if (offset == end) {
      return true;
    }
    try (JsonParser parser = parser(bytes, offset, end)) {
      return parser.nextToken() == JsonToken.START_ARRAY && readArray(parser, to);
    } catch (JacksonException e) {
      return false;
    }
  }

  /** Adds the tags of {@code {"serviceName":…,"tags":[…]}}; returns false for other input. */
  boolean readResource(byte[] bytes, int offset, int end, Attributes to) {
    if (offset == end) {
      return true;
    }
    try (JsonParser parser = parser(bytes, offset, end)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return false;
      }
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        boolean isTags = parser.currentName().equals(TAGS);
        if (parser.nextToken() == JsonToken.START_ARRAY && isTags) {
          if (!readArray(parser, to)) {
            return false;
          }
        } else {
          parser.skipChildren();
        }
      }
      return parser.currentToken() == JsonToken.END_OBJECT;
    } catch (JacksonException e) {
      return false;
    }
  }

  /**
   * Reads {@code [{"traceID":…,"spanID":…,"refType":…},…]} into the span's parent and links. The
   * parent is the last reference. The writer puts a comma after each link, so a comma at the end
   * means that there is no parent.
   *
   * @param span has its trace ID
   */
  void readReferences(byte[] bytes, int offset, int end, SpanView span) {
    span.parentSpanId = 0;
    span.links.clear();
    // Most spans have no reference, or only the parent.
    if (end - offset <= 2) {
      return;
    }
    long traceIdHigh = 0;
    long traceIdLow = 0;
    long spanId = 0;
    try (JsonParser parser = parser(bytes, offset, end)) {
      if (parser.nextToken() != JsonToken.START_ARRAY) {
        return;
      }
      while (parser.nextToken() == JsonToken.START_OBJECT) {
        span.links.add(traceIdHigh, traceIdLow, spanId);
        traceIdHigh = 0;
        traceIdLow = 0;
        spanId = 0;
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
          String name = parser.currentName();
          if (parser.nextToken() != JsonToken.VALUE_STRING) {
            parser.skipChildren();
            continue;
          }
          int at = append(parser);
          int length = used - at;
          used = at;
          if (name.equals(TRACE_ID)) {
            boolean isId = length == TraceId.HEX_LENGTH && TraceId.isHex(scratch, at);
            traceIdHigh = isId ? SpanId.parseHex(scratch, at) : 0;
            traceIdLow = isId ? SpanId.parseHex(scratch, at + SpanId.HEX_LENGTH) : 0;
          } else if (name.equals(SPAN_ID)) {
            boolean isId = length == SpanId.HEX_LENGTH && SpanId.isHex(scratch, at);
            spanId = isId ? SpanId.parseHex(scratch, at) : 0;
          }
        }
      }
      if (traceIdHigh == span.traceIdHigh && traceIdLow == span.traceIdLow) {
        span.parentSpanId = spanId;
        return;
      }
    } catch (JacksonException e) {
      // A comma at the end, or no JSON from here on.
    }
    span.links.add(traceIdHigh, traceIdLow, spanId);
  }

  private JsonParser parser(byte[] bytes, int offset, int end) {
    return json.createParser(ObjectReadContext.empty(), bytes, offset, end - offset);
  }

  private boolean readArray(JsonParser parser, Attributes to) {
    while (parser.nextToken() == JsonToken.START_OBJECT) {
      readEntry(parser, to);
    }
    return parser.currentToken() == JsonToken.END_ARRAY;
  }

  private void readEntry(JsonParser parser, Attributes to) {
    byte[] keyBytes = null;
    int keyOffset = 0;
    int keyLength = 0;
    byte[] valueBytes = null;
    int valueOffset = 0;
    int valueLength = 0;
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String name = parser.currentName();
      JsonToken token = parser.nextToken();
      if (token.isStructStart() || token == JsonToken.VALUE_NULL) {
        parser.skipChildren();
      } else if (name.equals(KEY)) {
        keyOffset = append(parser);
        keyBytes = scratch;
        keyLength = used - keyOffset;
      } else if (name.equals(VALUE)) {
        valueOffset = append(parser);
        valueBytes = scratch;
        valueLength = unescape(valueOffset);
      }
    }
    if (keyBytes != null && valueBytes != null) {
      to.add(keyBytes, keyOffset, keyLength, valueBytes, valueOffset, valueLength);
    }
  }

  /** Appends the parser's text as UTF-8; returns where it starts. */
  private int append(JsonParser parser) {
    char[] text = parser.getStringCharacters();
    int from = parser.getStringOffset();
    int length = parser.getStringLength();
    int most = 3 * length;
    if (scratch.length - used < most) {
      scratch = new byte[Math.max(scratch.length, most)];
      used = 0;
    }
    int start = used;
    for (int i = from; i < from + length; i++) {
      char c = text[i];
      if (c < ASCII_END) {
        scratch[used++] = (byte) c;
      } else if (c < 0x800) {
        scratch[used++] = (byte) (0xc0 | (c >> 6));
        scratch[used++] = (byte) (0x80 | (c & 0x3f));
      } else if (Character.isHighSurrogate(c)
          && i + 1 < from + length
          && Character.isLowSurrogate(text[i + 1])) {
        int codePoint = Character.toCodePoint(c, text[++i]);
        scratch[used++] = (byte) (0xf0 | (codePoint >> 18));
        scratch[used++] = (byte) (0x80 | ((codePoint >> 12) & 0x3f));
        scratch[used++] = (byte) (0x80 | ((codePoint >> 6) & 0x3f));
        scratch[used++] = (byte) (0x80 | (codePoint & 0x3f));
      } else {
        // A surrogate without its other half, after a cut, is not a character.
        int unit = Character.isSurrogate(c) ? 0xfffd : c;
        scratch[used++] = (byte) (0xe0 | (unit >> 12));
        scratch[used++] = (byte) (0x80 | ((unit >> 6) & 0x3f));
        scratch[used++] = (byte) (0x80 | (unit & 0x3f));
      }
    }
    return start;
  }

  /** Restores {@code ##n ##r ##t ##' ##r'} in place from {@code start} on; returns the length. */
  private int unescape(int start) {
    int to = start;
    for (int from = start; from < used; from++) {
      byte b = scratch[from];
      if (b == '#' && from + 2 < used && scratch[from + 1] == '#') {
        byte what = scratch[from + 2];
        boolean quoted = what == 'r' && from + 3 < used && scratch[from + 3] == '\'';
        if (quoted) {
          scratch[to++] = '\\';
          scratch[to++] = '"';
          from += 3;
          continue;
        }
        byte plain =
            switch (what) {
              case 'n' -> '\n';
              case 'r' -> '\r';
              case 't' -> '\t';
              case '\'' -> '"';
              default -> 0;
            };
        if (plain != 0) {
          scratch[to++] = plain;
          from += 2;
          continue;
        }
      }
      scratch[to++] = b;
    }
    used = to;
    return to - start;
  }
}
