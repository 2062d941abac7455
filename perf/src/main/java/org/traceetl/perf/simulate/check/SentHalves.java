package org.traceetl.perf.simulate.check;

import java.util.Comparator;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Compares the half-edges that brokers stored with the spans that agents accepted: each span of a
 * process boundary leaves one, once. A span whose sender gave up, or whose agent may not have known
 * the queues, may leave one or not.
 */
final class SentHalves {
  /** What equal half-edges share. */
  private record Kind(
      String application,
      int side,
      int connectionType,
      String peer,
      boolean failed,
      boolean waits,
      String values)
      implements Comparable<Kind> {
    private static final Comparator<Kind> ORDER =
        Comparator.comparing(Kind::application)
            .thenComparing(Kind::side)
            .thenComparing(Kind::connectionType)
            .thenComparing(Kind::peer)
            .thenComparing(Kind::failed)
            .thenComparing(Kind::waits)
            .thenComparing(Kind::values);

    static Kind of(HalfEdge half) {
      return new Kind(
          half.application(),
          half.side(),
          half.connectionType(),
          half.peer(),
          half.failed(),
          half.waits(),
          half.values());
    }

    @Override
    public int compareTo(Kind other) {
      return ORDER.compare(this, other);
    }
  }

  /** Sums over half-edges. */
  private static final class Sums {
    long count;
    long nanos;

    /** Of keys, checks and times of messages; overflows. */
    long keys;

    void add(HalfEdge half) {
      count++;
      nanos += half.durationNanos();
      keys += half.key() * (2L * half.check() + 1) + half.messageMicros();
    }

    boolean isWithin(Sums certain, Sums uncertain) {
      return count >= certain.count
          && count <= certain.count + uncertain.count
          && nanos >= certain.nanos
          && nanos <= certain.nanos + uncertain.nanos
          && (uncertain.count > 0 || keys == certain.keys);
    }
  }

  private static final class Total {
    final Sums certain = new Sums();
    final Sums uncertain = new Sums();
    final Sums stored = new Sums();
  }

  /** Since the last quiet point. */
  private final Map<Kind, Total> totals = new TreeMap<>();

  private Total total(HalfEdge half) {
    return totals.computeIfAbsent(Kind.of(half), absent -> new Total());
  }

  /**
   * Adds the half-edge of a span.
   *
   * @param certain whether the span counts, and its agent knew the queues
   */
  void sent(HalfEdge half, boolean certain) {
    Total total = total(half);
    (certain ? total.certain : total.uncertain).add(half);
  }

  /** Adds a half-edge that a broker stored for the first time. */
  void stored(HalfEdge half) {
    total(half).stored.add(half);
  }

  /** Compares at a time when no span is under way. */
  void compare(Consumer<String> differences) {
    totals.forEach((kind, total) -> {
      if (!total.stored.isWithin(total.certain, total.uncertain)) {
        differences.accept(
            String.format(
                Locale.ROOT,
                "%s: brokers have %d half-edges of %d ns instead of %d of %d ns, and %d of %d ns"
                    + " that are not certain",
                kind,
                total.stored.count,
                total.stored.nanos,
                total.certain.count,
                total.certain.nanos,
                total.uncertain.count,
                total.uncertain.nanos));
      }
    });
  }

  /** Begins the next comparison, after one without differences. */
  void settle() {
    totals.clear();
  }
}
