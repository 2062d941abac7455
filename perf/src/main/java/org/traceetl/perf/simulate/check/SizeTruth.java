package org.traceetl.perf.simulate.check;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.traceetl.testkit.PageSample;

/**
 * The sums of spans' sizes that pages must show: the bytes of each span that an agent accepted
 * while it had a demand. The bytes of other spans may count or not.
 */
public final class SizeTruth {
  private final Map<SeriesKey, Total> series = new TreeMap<>();

  private static final class Total {
    long certainBytes;

    /** Those that may count as well. */
    long uncertainBytes;
  }

  /**
   * Adds a span.
   *
   * @param certain whether the span counts, and its agent was asked for sizes
   */
  public void add(SeriesKey key, long bytes, boolean certain) {
    Total total = series.computeIfAbsent(key, unused -> new Total());
    if (certain) {
      total.certainBytes += bytes;
    } else {
      total.uncertainBytes += bytes;
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
    // Of agents that follow no demand.
    shown.forEach((key, found) -> compare(key, new Total(), found, differences));
  }

  private static void compare(
      SeriesKey key, Total total, double shown, Consumer<String> differences) {
    long most = total.certainBytes + total.uncertainBytes;
    // A value that is not a number is not within them.
    if (!(shown >= total.certainBytes && shown <= most)) {
      differences.accept(
          total.uncertainBytes == 0
              ? String.format(Locale.ROOT, "%s: size %.0f instead of %d", key, shown, most)
              : String.format(
                  Locale.ROOT,
                  "%s: size %.0f instead of %d to %d",
                  key,
                  shown,
                  total.certainBytes,
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
      total.certainBytes = Math.round(shown.getOrDefault(key, 0.0));
      total.uncertainBytes = 0;
    });
  }

  /** Returns whether any size must be shown. */
  public boolean areKnown() {
    return series.values().stream().anyMatch(total -> total.certainBytes > 0);
  }

  private static Map<SeriesKey, Double> shown(Naming naming, Collection<List<PageSample>> pages) {
    Map<SeriesKey, Double> shown = new TreeMap<>();
    for (List<PageSample> page : pages) {
      for (PageSample sample : page) {
        if (sample.name().equals(naming.sizes())) {
          shown.merge(SeriesKey.of(sample.labels()), sample.value(), Double::sum);
        }
      }
    }
    return shown;
  }
}
