package org.traceetl.perf.simulate.check;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.HexFormat;
import java.util.Map;
import org.traceetl.server.window.TraceDocument;

/**
 * What the index has of a span. The IDs of sent spans are checksums of their content, so that each
 * document shows whether it was sent.
 *
 * @param kind as in OTLP, 0 to 5
 * @param status as in OTLP, 0 to 2
 * @param reason why the index has it: {@code error}, {@code slow} or {@code exemplar}
 */
public record Document(
    String application,
    String operation,
    int kind,
    int status,
    long startUnixNanos,
    long durationNanos,
    String reason) {
  /** Key of an attribute that no series needs; each span has the {@link #path} of its ID. */
  public static final String PATH = "url.path";

  private static final int PATH_DIGITS = 8;
  private static final long MIX = 0x9E3779B97F4A7C15L;

  /** Returns the ID of a span with this content. */
  public static long spanId(
      long traceIdLow,
      String application,
      String operation,
      int kind,
      int status,
      long startUnixNanos,
      long durationNanos) {
    long id = mixed(traceIdLow ^ application.hashCode());
    id = mixed(id ^ operation.hashCode());
    id = mixed(id ^ 8L * kind + status);
    return mixed(mixed(id ^ startUnixNanos) ^ durationNanos) | 1;
  }

  /** Returns the value of {@link #PATH} of a span. */
  public static String path(long spanId) {
    return HexFormat.of().toHexDigits(spanId).substring(0, PATH_DIGITS);
  }

  /** Returns whether a document has the path of its span. */
  public static boolean hasPath(TraceDocument stored) {
    return stored.spanId().substring(0, PATH_DIGITS).equals(stored.attributes().get(PATH));
  }

  void write(DataOutputStream to) throws IOException {
    to.writeUTF(application);
    to.writeUTF(operation);
    to.writeInt(kind);
    to.writeInt(status);
    to.writeLong(startUnixNanos);
    to.writeLong(durationNanos);
    to.writeUTF(reason);
  }

  static Document read(DataInputStream from) throws IOException {
    return new Document(
        from.readUTF(),
        from.readUTF(),
        from.readInt(),
        from.readInt(),
        from.readLong(),
        from.readLong(),
        from.readUTF());
  }

  /** Writes documents by ID. */
  public static void write(Map<String, Document> documents, DataOutputStream to)
      throws IOException {
    to.writeInt(documents.size());
    for (Map.Entry<String, Document> document : documents.entrySet()) {
      to.writeUTF(document.getKey());
      document.getValue().write(to);
    }
  }

  /** Reads documents by ID. */
  public static void read(DataInputStream from, Map<String, Document> documents)
      throws IOException {
    for (int left = from.readInt(); left > 0; left--) {
      documents.put(from.readUTF(), read(from));
    }
  }

  private static long mixed(long bits) {
    long mixed = bits * MIX;
    return mixed ^ mixed >>> 32;
  }

  /**
   * Returns whether a span was sent with this content.
   *
   * @param id trace ID and span ID in hexadecimal digits, with a hyphen between them
   */
  boolean wasSentAs(String id) {
    long traceIdLow = Long.parseUnsignedLong(id, 16, 32, 16);
    return Long.parseUnsignedLong(id, 33, 49, 16)
        == spanId(traceIdLow, application, operation, kind, status, startUnixNanos, durationNanos);
  }
}
