package org.traceetl.server.features.history;

import java.util.List;

/**
 * The calls of a window that belong to one interval of time.
 *
 * @param fromMillis begin of the interval, milliseconds since 1970
 * @param toMillis its end
 * @param calls one entry for each operation with calls
 */
record PaneCalls(long fromMillis, long toMillis, List<OperationCalls> calls) {
  /** The calls of one operation. */
  record OperationCalls(Operation operation, SpanSums sums) {}
}
