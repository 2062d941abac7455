package org.traceetl.server.features.index;

import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.HexFormat;
import org.traceetl.server.window.TraceDocument;

/**
 * A place in the order of search results: that of the last document on a page.
 *
 * @param startUnixNanos its start
 * @param traceId its trace ID, 32 hex digits
 * @param spanId its span ID, 16 hex digits
 */
public record Cursor(long startUnixNanos, String traceId, String spanId) {
  private static final HexFormat HEX = HexFormat.of();
  private static final int BYTES = Long.BYTES + 16 + 8;

  static Cursor of(TraceDocument last) {
    return new Cursor(last.startUnixNanos(), last.traceId(), last.spanId());
  }

  /**
   * Reads what {@link #toText} wrote.
   *
   * @throws IllegalArgumentException if the text is none of its
   */
  public static Cursor parse(String text) {
    try {
      byte[] bytes = Base64.getUrlDecoder().decode(text);
      if (bytes.length == BYTES && bytes[0] >= 0) {
        return new Cursor(
            ByteBuffer.wrap(bytes).getLong(),
            HEX.formatHex(bytes, Long.BYTES, BYTES - 8),
            HEX.formatHex(bytes, BYTES - 8, BYTES));
      }
    } catch (IllegalArgumentException e) {
      // Said below, for every reason alike.
    }
    throw new IllegalArgumentException(
        "cursor: is not a cursor that a search has returned; omit it to begin with the"
            + " first page");
  }

  /** Opaque to clients; safe in a URL without escaping. */
  public String toText() {
    ByteBuffer bytes = ByteBuffer.allocate(BYTES);
    bytes.putLong(startUnixNanos).put(HEX.parseHex(traceId)).put(HEX.parseHex(spanId));
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes.array());
  }
}
