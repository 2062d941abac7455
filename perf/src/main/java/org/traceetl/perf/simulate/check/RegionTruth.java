package org.traceetl.perf.simulate.check;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.traceetl.testkit.PageSample;

/**
 * The spans by region that pages may show while rules add this dimension to some applications: at
 * most those that were sent with it. A span that counts in the series of another region exceeds
 * them, although the sum over all regions is right.
 */
public final class RegionTruth {
  private final Predicate<String> hasRules;

  /** Spans that were sent, by series with a region. */
  private final Map<SeriesKey, Long> sent = new TreeMap<>();

  private boolean areCounted;

  /**
   * @param hasRules whether rules may add the dimension to an application
   */
  public RegionTruth(Predicate<String> hasRules) {
    this.hasRules = hasRules;
  }

  /** Adds a span, which counts or may count. */
  public void add(SeriesKey key) {
    sent.merge(key, 1L, Long::sum);
  }

  /** Compares the pages of all servers, and what ended, with what they may show. */
  public void compare(
      Naming naming, Collection<List<PageSample>> pages, Consumer<String> differences) {
    Map<SeriesKey, Double> shown = new TreeMap<>();
    for (List<PageSample> page : pages) {
      for (PageSample sample : page) {
        SeriesKey key = SeriesKey.of(sample.labels());
        if (sample.name().equals(naming.calls()) && !key.region().isEmpty()) {
          shown.merge(key, sample.value(), Double::sum);
        }
      }
    }
    areCounted |= !shown.isEmpty();
    shown.forEach((key, calls) -> {
      long most = hasRules.test(key.service()) ? sent.getOrDefault(key, 0L) : 0;
      // A value that is not a number is above it.
      if (!(calls <= most)) {
        differences.accept(
            String.format(Locale.ROOT, "%s: calls %.0f instead of at most %d", key, calls, most));
      }
    });
  }

  /** Returns whether any page has shown a region. */
  public boolean areCounted() {
    return areCounted;
  }
}
