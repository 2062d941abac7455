package org.traceetl.server.ozhera.delta.series;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.traceetl.server.ozhera.SeriesLayout;
import org.traceetl.server.ozhera.SpanType;
import org.traceetl.server.ozhera.delta.series.LabelSet.Role;

/** The sums of a page over several queues, by labels. Not thread-safe. */
public final class AnswerSums {
  private static final int NANOS_PER_MILLI = 1_000_000;

  /** The numbers of one label set. */
  static final class Sums {
    private final LabelSet labels;

    /** Not cumulative; null if only failed spans are counted. */
    private final long[] buckets;

    private long spans;
    private long slow;
    private long failed;
    private long millis;
    private int nanos;

    private Sums(LabelSet labels) {
      this.labels = labels;
      buckets =
          labels.role() == Role.ERRORS ? null : new long[labels.type().boundsMillis().size() + 1];
    }

    LabelSet labels() {
      return labels;
    }

    long bucket(int bucket) {
      return buckets[bucket];
    }

    int buckets() {
      return buckets.length;
    }

    long spans() {
      return spans;
    }

    long succeeded() {
      return spans - failed;
    }

    long slow() {
      return slow;
    }

    long failed() {
      return failed;
    }

    long millis() {
      return millis;
    }

    int nanos() {
      return nanos;
    }

    private void add(Deltas deltas, int row, int outcome) {
      long added = 0;
      for (int bucket = 0; bucket < deltas.stride(); bucket++) {
        long count = deltas.count(row, bucket);
        added += count;
        if (buckets != null) {
          buckets[Math.min(bucket, buckets.length - 1)] += count;
        }
      }
      spans += added;
      if (outcome == SeriesLayout.SLOW) {
        slow += added;
      } else if (outcome == SeriesLayout.FAILED) {
        failed += added;
      }
      int rest = nanos + deltas.sumNanos(row);
      millis += deltas.sumMillis(row) + rest / NANOS_PER_MILLI;
      nanos = rest % NANOS_PER_MILLI;
    }
  }

  private final Map<LabelSet, Sums> byLabels = new HashMap<>();
  private final Map<SpanType, Map<Role, List<Sums>>> lists = new EnumMap<>(SpanType.class);
  private final Map<String, Long> received = new TreeMap<>();

  public void add(Deltas deltas) {
    for (int row = 0; row < deltas.rows(); row++) {
      DeltaSeries series = deltas.series(row);
      add(series.named(), deltas, row, series.outcome());
      add(series.errors(), deltas, row, series.outcome());
      add(series.unnamed(), deltas, row, series.outcome());
    }
    deltas
        .received()
        .forEach((application, spans) -> received.merge(application, spans, Long::sum));
  }

  private void add(LabelSet labels, Deltas deltas, int row, int outcome) {
    if (labels != null) {
      byLabels.computeIfAbsent(labels, this::make).add(deltas, row, outcome);
    }
  }

  private Sums make(LabelSet labels) {
    Sums made = new Sums(labels);
    lists
        .computeIfAbsent(labels.type(), absent -> new EnumMap<>(Role.class))
        .computeIfAbsent(labels.role(), absent -> new ArrayList<>())
        .add(made);
    return made;
  }

  /** In the order of their first occurrence. */
  List<Sums> of(SpanType type, Role role) {
    return lists.getOrDefault(type, Map.of()).getOrDefault(role, List.of());
  }

  /** Spans received, without duplicates, by application. */
  Map<String, Long> received() {
    return received;
  }
}
