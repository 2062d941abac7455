package org.traceetl.server.features.index;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.TraceDocument.Reason;

/** Documents and queries of tests. */
public final class Traces {
  public static final TraceQuery ALL = query(null, null, null);

  private Traces() {}

  /** A document whose IDs are made of the number. */
  public static TraceDocument document(long number, long startUnixNanos) {
    return document(number, startUnixNanos, "shop", "GET /cart", Reason.SLOW);
  }

  public static TraceDocument document(
      long number, long startUnixNanos, String application, String operation, Reason reason) {
    return document(
        number, startUnixNanos, application, operation, reason, Map.of("http.method", "GET"));
  }

  public static TraceDocument document(
      long number,
      long startUnixNanos,
      String application,
      String operation,
      Reason reason,
      Map<String, String> attributes) {
    return new TraceDocument(
        "00000000000000a5" + HexFormat.of().toHexDigits(number),
        HexFormat.of().toHexDigits(~number),
        application,
        operation,
        2,
        reason == Reason.ERROR ? 2 : 0,
        reason == Reason.ERROR ? "out of stock" : "",
        startUnixNanos,
        1_234_567_890L,
        reason,
        attributes);
  }

  public static TraceQuery query(String application, String operation, Reason reason) {
    return new TraceQuery(application, operation, reason, 0, Long.MAX_VALUE, 1000, null);
  }

  public static TraceQuery between(long fromUnixNanos, long toUnixNanos) {
    return new TraceQuery(null, null, null, fromUnixNanos, toUnixNanos, 1000, null);
  }

  public static TraceQuery pages(int limit, Cursor cursor) {
    return new TraceQuery(null, null, null, 0, Long.MAX_VALUE, limit, cursor);
  }

  /** Every document, page by page. */
  public static List<TraceDocument> all(TraceIndex index, int limit) throws IOException {
    return rest(index, limit, null);
  }

  public static List<TraceDocument> rest(TraceIndex index, int limit, Cursor cursor)
      throws IOException {
    List<TraceDocument> all = new ArrayList<>();
    TracePage page = index.search(pages(limit, cursor));
    all.addAll(page.documents());
    while (page.next() != null) {
      page = index.search(pages(limit, Cursor.parse(page.next().toText())));
      all.addAll(page.documents());
    }
    return all;
  }
}
