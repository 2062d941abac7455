package org.traceetl.perf.simulate.check;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.traceetl.testkit.PageSample;

/**
 * The sums of a counter that pages must show beside the calls of each series, such as the spans'
 * sizes: what spans add that certainly count in it. What other spans add may count or not.
 */
public final class CounterTruth {
  private final String name;
  private final Function<Naming, String> metric;
  private final Map<SeriesKey, Total> series = new TreeMap<>();

  private static final class Total {
    long certain;

    /** What may count as well. */
    long uncertain;
  }

  /**
   * @param name for differences
   * @param metric name of the counter
   */
  public CounterTruth(String name, Function<Naming, String> metric) {
    this.name = name;
    this.metric = metric;
  }

  /**
   * Adds a span.
   *
   * @param more what it adds to the counter
   * @param certain whether the span counts, and programs had to count this of it
   */
  public void add(SeriesKey key, long more, boolean certain) {
    Total total = series.computeIfAbsent(key, unused -> new Total());
    if (certain) {
      total.certain += more;
    } else {
      total.uncertain += more;
    }
  }

  /** Compares the pages of all servers, read at one time, with what must be shown. */
  public void compare(
      Naming naming, Collection<List<PageSample>> pages, Consumer<String> differences) {
    Map<SeriesKey, Double> shown = shown(naming, pages);
    series.forEach((key, total) -> {
      Double found = shown.remove(key);
      compare(key, total, found == null ? 0 : found, differences);
    });
    // Of spans that were not added.
    shown.forEach((key, found) -> compare(key, new Total(), found, differences));
  }

  private void compare(SeriesKey key, Total total, double shown, Consumer<String> differences) {
    long most = total.certain + total.uncertain;
    // A value that is not a number is not within them.
    if (!(shown >= total.certain && shown <= most)) {
      differences.accept(
          total.uncertain == 0
              ? String.format(Locale.ROOT, "%s: %s %.0f instead of %d", key, name, shown, most)
              : String.format(
                  Locale.ROOT,
                  "%s: %s %.0f instead of %d to %d",
                  key,
                  name,
                  shown,
                  total.certain,
                  most));
    }
  }

  /**
   * Takes what is shown as certain, after a comparison without differences.
   *
   * @param pages of all servers, at a time when the calls of all spans are shown
   */
  public void settle(Naming naming, Collection<List<PageSample>> pages) {
    Map<SeriesKey, Double> shown = shown(naming, pages);
    series.forEach((key, total) -> {
      total.certain = Math.round(shown.getOrDefault(key, 0.0));
      total.uncertain = 0;
    });
  }

  /** Returns whether anything must be shown. */
  public boolean areKnown() {
    return series.values().stream().anyMatch(total -> total.certain > 0);
  }

  private Map<SeriesKey, Double> shown(Naming naming, Collection<List<PageSample>> pages) {
    Map<SeriesKey, Double> shown = new TreeMap<>();
    for (List<PageSample> page : pages) {
      for (PageSample sample : page) {
        if (sample.name().equals(metric.apply(naming))) {
          shown.merge(SeriesKey.of(sample.labels()), sample.value(), Double::sum);
        }
      }
    }
    return shown;
  }
}
