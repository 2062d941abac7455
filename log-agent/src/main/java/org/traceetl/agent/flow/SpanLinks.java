package org.traceetl.agent.flow;

import java.util.Arrays;

/** The distinct links of a span to other spans. Mutable and reused by its decoder. */
public final class SpanLinks {
  /** Most links of a span, as in OpenTelemetry's SDKs; further ones are left out. */
  public static final int MAX = 128;

  private static final int NUMBERS = 3;

  /** By link: both halves of the trace ID, span ID. */
  private long[] ids = new long[NUMBERS * 4];

  private int size;

  /** Removes the links. */
  public void clear() {
    size = 0;
  }

  /** Adds a link, unless it has an ID of 0, is there already, or there are {@link #MAX}. */
  public void add(long traceIdHigh, long traceIdLow, long spanId) {
    boolean isValid = (traceIdHigh | traceIdLow) != 0 && spanId != 0;
    if (!isValid || size == MAX || contains(traceIdHigh, traceIdLow, spanId)) {
      return;
    }
    int at = NUMBERS * size;
    if (at == ids.length) {
      ids = Arrays.copyOf(ids, 2 * at);
    }
    ids[at] = traceIdHigh;
    ids[at + 1] = traceIdLow;
    ids[at + 2] = spanId;
    size++;
  }

  private boolean contains(long traceIdHigh, long traceIdLow, long spanId) {
    for (int link = 0; link < size; link++) {
      if (spanId(link) == spanId
          && traceIdLow(link) == traceIdLow
          && traceIdHigh(link) == traceIdHigh) {
        return true;
      }
    }
    return false;
  }

  public int size() {
    return size;
  }

  public long traceIdHigh(int link) {
    return ids[NUMBERS * link];
  }

  public long traceIdLow(int link) {
    return ids[NUMBERS * link + 1];
  }

  public long spanId(int link) {
    return ids[NUMBERS * link + 2];
  }
}
