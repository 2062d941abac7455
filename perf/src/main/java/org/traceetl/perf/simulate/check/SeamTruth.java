package org.traceetl.perf.simulate.check;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.traceetl.testkit.PageSample;

/**
 * Compares the spans with a region that a backfill until the switch of rules and live series have
 * together with those that were sent: each span once, in its minute.
 */
public final class SeamTruth {
  private static final long MINUTE_MILLIS = TimeUnit.MINUTES.toMillis(1);
  private static final long MILLIS_PER_SECOND = 1_000;
  private static final String CALLS = Naming.OTEL.calls() + "{";
  private static final String BACKFILLED = "backfill_" + CALLS;

  /** Of a series: spans that were sent, and those that may count as well. */
  private static final class Sent {
    long certain;
    long uncertain;
  }

  private final String application;
  private final boolean isWhole;
  private final Map<SeriesKey, Sent> sent = new TreeMap<>();
  private final PaneTruth minutes;
  private final Map<SeriesKey, TreeMap<Long, Long>> live = new TreeMap<>();
  private final Map<SeriesKey, TreeMap<Long, Long>> backfilled = new TreeMap<>();

  /**
   * @param isWhole whether its agent sends the region of all spans; if not, some spans may lack it
   * @param startMillis when the run starts, without spans
   */
  public SeamTruth(String application, boolean isWhole, long startMillis) {
    this.application = application;
    this.isWhole = isWhole;
    minutes = new PaneTruth(startMillis);
  }

  /** Adds a span with a region of the application. */
  public void add(SeriesKey key, boolean certain, PaneTruth.Accepted when) {
    if (!key.service().equals(application) || key.region().isEmpty()) {
      return;
    }
    Sent of = sent.computeIfAbsent(key, absent -> new Sent());
    of.certain += certain ? 1 : 0;
    of.uncertain += certain ? 0 : 1;
    if (certain) {
      minutes.add(key.region(), when);
    } else {
      minutes.uncertain(key.region());
    }
  }

  /**
   * Adds an increase of a live series at the end of a pane.
   *
   * @param series its name and labels
   */
  public void live(String series, long atMillis, double more) {
    if (series.startsWith(CALLS)) {
      add(series, atMillis, more, live);
    }
  }

  /**
   * Takes the samples of a backfill.
   *
   * @param lines of its files, in the order of time
   */
  public void backfilled(Collection<String> lines) {
    Map<String, Double> last = new HashMap<>();
    for (String line : lines) {
      if (line.startsWith(BACKFILLED)) {
        int end = line.lastIndexOf('}') + 1;
        String[] numbers = line.substring(end + 1).split(" ", -1);
        double value = Double.parseDouble(numbers[0]);
        long atMillis = Math.round(Double.parseDouble(numbers[1]) * MILLIS_PER_SECOND);
        String series = line.substring(0, end);
        double before = last.getOrDefault(series, 0.0);
        add(series, atMillis, value < before ? value : value - before, backfilled);
        last.put(series, value);
      }
    }
  }

  private void add(
      String series, long atMillis, double more, Map<SeriesKey, TreeMap<Long, Long>> to) {
    SeriesKey key = SeriesKey.of(PageSample.of(series + " 0").getFirst().labels());
    if (more > 0 && key.service().equals(application) && !key.region().isEmpty()) {
      // A sample at the end of a minute has the last pane of this minute.
      long minute = Math.floorDiv(atMillis - 1, MINUTE_MILLIS) * MINUTE_MILLIS;
      to.computeIfAbsent(key, absent -> new TreeMap<>()).merge(minute, Math.round(more), Long::sum);
    }
  }

  /**
   * Compares what both have, once live series have all that was sent.
   *
   * @param slackMillis by which spans may count too early or too late
   * @return a line with the number of series with too few or too many spans, and of wrong minutes
   */
  public String compare(long nowMillis, long slackMillis, Consumer<String> differences) {
    TreeSet<SeriesKey> keys = new TreeSet<>(sent.keySet());
    keys.addAll(live.keySet());
    keys.addAll(backfilled.keySet());
    int gaps = 0;
    int overlaps = 0;
    for (SeriesKey key : keys) {
      Sent of = sent.getOrDefault(key, new Sent());
      long found = sum(live, key) + sum(backfilled, key);
      boolean isGap = isWhole && found < of.certain;
      boolean isOverlap = found > of.certain + of.uncertain;
      gaps += isGap ? 1 : 0;
      overlaps += isOverlap ? 1 : 0;
      if (isGap || isOverlap) {
        differences.accept(
            String.format(
                Locale.ROOT,
                "%s: %d spans backfilled and %d live instead of %d to %d",
                key,
                sum(backfilled, key),
                sum(live, key),
                of.certain,
                of.certain + of.uncertain));
      }
    }
    int[] wrong = {0};
    if (isWhole) {
      minutes.compare(
          "backfill and live series",
          nowMillis,
          slackMillis,
          key -> minutes(key.application()),
          difference -> {
            wrong[0]++;
            differences.accept(difference);
          });
    }
    long both = keys.stream().mapToLong(key -> sum(backfilled, key)).sum();
    if (both == 0) {
      differences.accept("the backfill has no span with a region");
    }
    return String.format(
        Locale.ROOT,
        "gaps=%d overlaps=%d wrong=%d series=%d backfilled=%d live=%d",
        gaps,
        overlaps,
        wrong[0],
        keys.size(),
        both,
        keys.stream().mapToLong(key -> sum(live, key)).sum());
  }

  private static long sum(Map<SeriesKey, TreeMap<Long, Long>> of, SeriesKey key) {
    return of.getOrDefault(key, new TreeMap<>()).values().stream().mapToLong(Long::longValue).sum();
  }

  private List<HistorySums.Minute> minutes(String region) {
    Map<Long, Long> calls =
        Stream.of(live, backfilled)
            .flatMap(each -> each.entrySet().stream())
            .filter(each -> each.getKey().region().equals(region))
            .flatMap(each -> each.getValue().entrySet().stream())
            .collect(
                Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue, Long::sum, TreeMap::new));
    return calls.entrySet().stream()
        .map(each ->
            new HistorySums.Minute(each.getKey(), new HistorySums.Sums(each.getValue(), 0, 0)))
        .toList();
  }
}
