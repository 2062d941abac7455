package org.traceetl.server.features.index;

import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.HexFormat;
import org.traceetl.server.http.ParameterRefused;
import org.traceetl.server.window.TraceDocument;

/**
 * A position in the order of search results: the last document of a page.
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
   * Parses the result of {@link #toText}.
   *
   * @throws ParameterRefused if the text is not one
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
      // Reported below with the common message.
    }
    throw new ParameterRefused(
        "cursor: is not a cursor that a search has returned; omit it to begin with the"
            + " first page");
  }

  /** Returns an opaque text that is safe in a URL without escaping. */
  public String toText() {
    ByteBuffer bytes = ByteBuffer.allocate(BYTES);
    bytes.putLong(startUnixNanos).put(HEX.parseHex(traceId)).put(HEX.parseHex(spanId));
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes.array());
  }
}
