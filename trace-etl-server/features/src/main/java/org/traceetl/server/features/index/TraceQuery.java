package org.traceetl.server.features.index;

import org.traceetl.server.window.TraceDocument.Reason;

/**
 * Which documents to find; a null filter lets everything pass.
 *
 * @param application exact name, or null
 * @param operation exact span name, or null
 * @param reason why the document was kept, or null
 * @param fromUnixNanos earliest start, inclusive, nanoseconds since 1970; 0 for no beginning
 * @param toUnixNanos latest start, exclusive; {@link Long#MAX_VALUE} for no end
 * @param limit most documents on a page, 1 to {@value #MAX_LIMIT}
 * @param cursor {@link TracePage#next} of the page before, or null for the first one; the other
 *     fields must be those of that page's query
 */
public record TraceQuery(
    String application,
    String operation,
    Reason reason,
    long fromUnixNanos,
    long toUnixNanos,
    int limit,
    Cursor cursor) {

  /** Largest page. */
  public static final int MAX_LIMIT = 1000;

  /**
   * @throws IllegalArgumentException if the limit or the range is none
   */
  public TraceQuery {
    if (limit < 1 || limit > MAX_LIMIT) {
      throw new IllegalArgumentException(
          "limit = " + limit + ": must be between 1 and " + MAX_LIMIT);
    }
    if (fromUnixNanos < 0) {
      throw new IllegalArgumentException(
          "from = " + fromUnixNanos + " ns: must not be before 1970");
    }
    if (fromUnixNanos > toUnixNanos) {
      throw new IllegalArgumentException(
          "from = " + fromUnixNanos + " ns is after to = " + toUnixNanos + " ns");
    }
  }

  /** The same of another time and size. */
  TraceQuery with(long newFromUnixNanos, long newToUnixNanos, int newLimit) {
    return new TraceQuery(
        application, operation, reason, newFromUnixNanos, newToUnixNanos, newLimit, cursor);
  }
}
