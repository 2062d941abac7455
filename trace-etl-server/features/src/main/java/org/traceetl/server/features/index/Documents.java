package org.traceetl.server.features.index;

import java.util.Map;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.TraceDocument.Reason;

/** What every index does alike to a document. */
public final class Documents {
  private Documents() {}

  /** The document's name in the index. */
  public static String id(TraceDocument document) {
    return id(document.traceId(), document.spanId());
  }

  public static String id(Cursor cursor) {
    return id(cursor.traceId(), cursor.spanId());
  }

  private static String id(String traceId, String spanId) {
    return traceId + "-" + spanId;
  }

  /** The start as it is kept: at 1970 or later. */
  public static long startUnixNanos(TraceDocument document) {
    return Math.max(0, document.startUnixNanos());
  }

  /**
   * The reason of this label.
   *
   * @throws IllegalArgumentException if there is none
   */
  static Reason reason(String label) {
    for (Reason reason : Reason.values()) {
      if (reason.label().equals(label)) {
        return reason;
      }
    }
    throw new IllegalArgumentException("reason = " + label + ": is not a reason");
  }

  /** The text with each lone surrogate as U+FFFD: nothing else can be written in UTF-8. */
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

  /** The document's size on the heap, bytes, roughly and rather too much than too little. */
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
