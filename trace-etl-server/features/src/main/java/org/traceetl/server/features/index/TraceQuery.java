package org.traceetl.server.features.index;

import java.util.List;
import org.traceetl.server.http.ParameterRefused;
import org.traceetl.server.window.TraceDocument.Reason;

/**
 * A search; a null filter matches everything.
 *
 * @param application exact name, or null
 * @param operation exact span name, or null
 * @param reason reason of the document, or null
 * @param fromUnixNanos earliest start, inclusive, nanoseconds since 1970; 0 for no limit
 * @param toUnixNanos latest start, exclusive; {@link Long#MAX_VALUE} for no limit
 * @param limit maximum number of documents on a page, 1 to {@value #MAX_LIMIT}
 * @param cursor {@link TracePage#next} of the previous page, or null for the first one; the other
 *     fields must equal those of that page's query
 * @param visible patterns of applications, with {@code *} for any text, of which one must match in
 *     addition; null for all applications
 */
public record TraceQuery(
    String application,
    String operation,
    Reason reason,
    long fromUnixNanos,
    long toUnixNanos,
    int limit,
    Cursor cursor,
    List<String> visible) {

  /** Largest page. */
  public static final int MAX_LIMIT = 1000;

  /** Creates a search in all applications. */
  public TraceQuery(
      String application,
      String operation,
      Reason reason,
      long fromUnixNanos,
      long toUnixNanos,
      int limit,
      Cursor cursor) {
    this(application, operation, reason, fromUnixNanos, toUnixNanos, limit, cursor, null);
  }

  /**
   * @throws ParameterRefused if the limit or the range is invalid
   */
  public TraceQuery {
    if (limit < 1 || limit > MAX_LIMIT) {
      throw new ParameterRefused("limit = " + limit + ": must be between 1 and " + MAX_LIMIT);
    }
    if (fromUnixNanos < 0) {
      throw new ParameterRefused("from = " + fromUnixNanos + " ns: must not be before 1970");
    }
    if (fromUnixNanos > toUnixNanos) {
      throw new ParameterRefused(
          "from = " + fromUnixNanos + " ns is after to = " + toUnixNanos + " ns");
    }
  }

  /** Returns the same query with another range and limit. */
  TraceQuery with(long newFromUnixNanos, long newToUnixNanos, int newLimit) {
    return new TraceQuery(
        application,
        operation,
        reason,
        newFromUnixNanos,
        newToUnixNanos,
        newLimit,
        cursor,
        visible);
  }
}
