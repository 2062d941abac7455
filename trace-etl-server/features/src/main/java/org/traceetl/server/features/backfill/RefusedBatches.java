package org.traceetl.server.features.backfill;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.traceetl.proto.Rejection;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.window.QueueId;

/**
 * Counts batches that are refused or repeated, values that measures leave out, and spans of which a
 * dimension was not sent. For one thread at a time.
 */
final class RefusedBatches extends SpanPipelineMetrics {
  private final Map<Rejection, Long> refused = new EnumMap<>(Rejection.class);
  private QueueId queue;
  private long offset;
  private String first;
  private long repeated;
  private long valuesLeftOut;
  private long spansNotSent;

  /** Begins the next message. */
  void next(QueueId of, long at) {
    queue = of;
    offset = at;
  }

  @Override
  public void rejected(int bytes, Rejection reason) {
    refused.merge(reason, 1L, Long::sum);
    if (first == null) {
      first = "message " + offset + " of queue " + queue;
    }
  }

  @Override
  public void duplicate(int bytes) {
    repeated++;
  }

  @Override
  public void measured(
      int recorded, int overflowed, int notNumbers, int negative, int tooLarge, int notSent) {
    valuesLeftOut += notNumbers + negative + tooLarge + notSent;
  }

  /** Returns the number of values that measures leave out: invalid ones, or not sent. */
  long valuesLeftOut() {
    return valuesLeftOut;
  }

  @Override
  public void notSent(int dimensions, int documents) {
    spansNotSent += dimensions;
  }

  /** Returns the number of counted spans of which a dimension was not sent. */
  long notSent() {
    return spansNotSent;
  }

  /** Returns the number of batches that were counted before. */
  long repeated() {
    return repeated;
  }

  /** Returns the number of refused batches. */
  long size() {
    return refused.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Returns the refused batches by reason, and the first of them; empty without one. */
  @Override
  public String toString() {
    return first == null
        ? ""
        : refused.entrySet().stream()
            .map(entry ->
                String.format(Locale.ROOT, "%d %s", entry.getValue(), entry.getKey().label()))
            .collect(Collectors.joining(", ", "", "; the first is " + first));
  }
}
