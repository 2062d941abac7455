package org.traceetl.server.features.backfill;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.SeriesDefinition;

/**
 * The counters of all series, which begin at 0 and go up with each pane. Samples are in the order
 * of time, then of labels:
 *
 * <ul>
 *   <li>0 in the middle of the first pane of a series, so that its first increase is visible, and
 *       no other backfill ends with a sample at this time;
 *   <li>the counter at the end of each pane with spans of the series;
 *   <li>the same counter again once a minute, so that receivers do not take the series for ended.
 * </ul>
 *
 * <p>A series without spans for the idle time ends; later spans begin it at 0 again. For one thread
 * at a time.
 */
final class Counters {
  private static final long REPEAT_MILLIS = 60_000;

  private final SampleFiles files;

  /** Null for files only. */
  private final SentSamples sent;

  private final int buckets;
  private final Totals zero;
  private final NativeTotals noNatives = new NativeTotals();
  private final long paneMillis;
  private final long idleMillis;
  private final long repeatedUntilMillis;
  private final Map<SeriesKey, Counter> live = new TreeMap<>();

  /** Numbers of series that have ended. */
  private final Deque<Integer> free = new ArrayDeque<>();

  private long series;
  private long spans;
  private long overflowSpans;
  private long lackingSpans;
  private long values;

  private static final class Counter {
    final SeriesDefinition definition;
    final long startMillis;
    final Totals totals;
    final NativeTotals natives = new NativeTotals();
    long changedMillis;
    long sampledMillis;

    Counter(SeriesDefinition definition, int stride) {
      this.definition = definition;
      startMillis = definition.createdMillis();
      totals = new Totals(stride);
    }
  }

  /**
   * @param sent null for files only
   * @param stride numbers of a series
   * @param buckets the first of them
   * @param idleMillis time without spans after which a series ends
   * @param repeatedUntilMillis until when counters are repeated, milliseconds since 1970
   */
  Counters(
      SampleFiles files,
      SentSamples sent,
      int stride,
      int buckets,
      long paneMillis,
      long idleMillis,
      long repeatedUntilMillis) {
    this.files = files;
    this.sent = sent;
    this.buckets = buckets;
    this.paneMillis = paneMillis;
    this.idleMillis = idleMillis;
    this.repeatedUntilMillis = repeatedUntilMillis;
    zero = new Totals(stride);
  }

  /**
   * Ends the next pane.
   *
   * @param endMillis its end, milliseconds since 1970
   * @param sums of the pane by series
   * @throws IOException if samples cannot be sent
   */
  void endPane(long endMillis, Map<SeriesKey, Totals> sums)
      throws IOException, InterruptedException {
    // Before the samples, so that a series that begins again has none at the time of its zero.
    for (Iterator<Map.Entry<SeriesKey, Counter>> all = live.entrySet().iterator();
        all.hasNext(); ) {
      Map.Entry<SeriesKey, Counter> each = all.next();
      if (endMillis - each.getValue().changedMillis >= idleMillis
          && !sums.containsKey(each.getKey())) {
        free.push(each.getValue().definition.series());
        all.remove();
      }
    }
    Map<SeriesKey, Totals> ordered = new TreeMap<>(sums);
    for (SeriesKey key : ordered.keySet()) {
      if (!live.containsKey(key)) {
        Counter counter = create(key, endMillis - paneMillis / 2);
        sample(key, counter, counter.startMillis, zero, noNatives);
      }
    }
    ordered.forEach((key, sum) -> add(key, sum, endMillis));
    for (Map.Entry<SeriesKey, Counter> each : live.entrySet()) {
      Counter counter = each.getValue();
      if (counter.changedMillis == endMillis
          || (endMillis <= repeatedUntilMillis
              && endMillis - counter.sampledMillis >= REPEAT_MILLIS)) {
        sample(each.getKey(), counter, endMillis, counter.totals, counter.natives);
        counter.sampledMillis = endMillis;
      }
    }
  }

  private Counter create(SeriesKey key, long startMillis) {
    int number = free.isEmpty() ? live.size() : free.pop();
    SeriesDefinition of = key.definition();
    Counter counter =
        new Counter(
            new SeriesDefinition(number, startMillis, of.overflow(), of.values()), zero.stride());
    live.put(key, counter);
    series++;
    return counter;
  }

  private void sample(
      SeriesKey key, Counter counter, long atMillis, Totals totals, NativeTotals natives)
      throws IOException, InterruptedException {
    files.sample(key, atMillis, totals);
    if (sent != null) {
      sent.sample(counter.definition, counter.startMillis, atMillis, totals, natives);
    }
  }

  private void add(SeriesKey key, Totals sum, long endMillis) {
    Counter counter = live.get(key);
    counter.totals.add(sum);
    counter.natives.add(0, sum.natives(), 0);
    counter.changedMillis = endMillis;
    if (key.isOfSpans()) {
      long more = sum.spans(buckets);
      spans += more;
      overflowSpans += key.isOverflow() ? more : 0;
      lackingSpans += key.lacksDimension() ? more : 0;
    } else if (key.definition().isOfMeasure()) {
      values += sum.spans(buckets);
    }
  }

  /** Returns the number of series; one that ended and began again counts twice. */
  long series() {
    return series;
  }

  long spans() {
    return spans;
  }

  /** Returns the number of values in measures. */
  long values() {
    return values;
  }

  /** Returns how many of the spans are in overflow series. */
  long overflowSpans() {
    return overflowSpans;
  }

  /** Returns how many of the spans have a dimension that agents did not send. */
  long lackingSpans() {
    return lackingSpans;
  }
}
