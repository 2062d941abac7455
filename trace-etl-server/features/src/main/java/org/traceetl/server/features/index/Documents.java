package org.traceetl.server.features.index;

import java.util.Map;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.TraceDocument.Reason;

/** What all indexes do with a document. */
public final class Documents {
  private Documents() {}

  /** Returns the document's ID in the index. */
  public static String id(TraceDocument document) {
    return id(document.traceId(), document.spanId());
  }

  public static String id(Cursor cursor) {
    return id(cursor.traceId(), cursor.spanId());
  }

  private static String id(String traceId, String spanId) {
    return traceId + "-" + spanId;
  }

  /** Returns the stored start: not before 1970. */
  public static long startUnixNanos(TraceDocument document) {
    return Math.max(0, document.startUnixNanos());
  }

  /**
   * Returns the reason with this label.
   *
   * @throws IllegalArgumentException if no reason has it
   */
  static Reason reason(String label) {
    for (Reason reason : Reason.values()) {
      if (reason.label().equals(label)) {
        return reason;
      }
    }
    throw new IllegalArgumentException("reason = " + label + ": is not a reason");
  }

  /**
   * Returns the text with each lone surrogate replaced by U+FFFD, because UTF-8 cannot encode it.
   */
  public static String wellFormed(String text) {
    StringBuilder repaired = null;
    for (int i = 0; i < text.length(); i++) {
      char unit = text.charAt(i);
      if (!Character.isSurrogate(unit)) {
        continue;
      }
      if (Character.isHighSurrogate(unit)
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        i++;
        continue;
      }
      if (repaired == null) {
        repaired = new StringBuilder(text);
      }
      repaired.setCharAt(i, '\uFFFD');
    }
    return repaired == null ? text : repaired.toString();
  }

  /** Returns a pattern with {@code *} as Lucene and Elasticsearch write wildcards. */
  static String wildcard(String pattern) {
    return pattern.replace("\\", "\\\\").replace("?", "\\?");
  }

  /** Returns the document's approximate heap size in bytes, rather too large than too small. */
  public static long heapBytes(TraceDocument document) {
    long bytes =
        256
            + text(document.traceId())
            + text(document.spanId())
            + text(document.application())
            + text(document.operation())
            + text(document.statusMessage());
    for (Map.Entry<String, String> attribute : document.attributes().entrySet()) {
      bytes += 48 + text(attribute.getKey()) + text(attribute.getValue());
    }
    return bytes;
  }

  private static long text(String text) {
    return 48 + 2L * text.length();
  }
}
