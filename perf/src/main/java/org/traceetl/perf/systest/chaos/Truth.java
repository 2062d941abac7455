package org.traceetl.perf.systest.chaos;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The expected counts: every accepted span counts once. Thread-safe. */
final class Truth {
  private final Map<SeriesKey, Total> series = new TreeMap<>();
  private final Set<String> documents = new HashSet<>();
  private long spans;

  /** The spans of a series and the sum of their durations. */
  record Total(long spans, long nanos) {
    Total plus(SentSpan span) {
      return new Total(spans + 1, Math.addExact(nanos, span.durationNanos()));
    }
  }

  synchronized void add(List<SentSpan> sent) {
    for (SentSpan span : sent) {
      series.merge(
          span.series(), new Total(1, span.durationNanos()), (total, one) -> total.plus(span));
      if (span.isKept()) {
        documents.add(span.documentId());
      }
    }
    spans += sent.size();
  }

  synchronized long spans() {
    return spans;
  }

  synchronized Map<SeriesKey, Total> series() {
    return new TreeMap<>(series);
  }

  /** Returns the names of the documents of slow and failed spans. */
  synchronized Set<String> documents() {
    return new HashSet<>(documents);
  }
}
