package org.traceetl.perf.simulate.check;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.traceetl.testkit.PageSample;

/**
 * What scrapers see over a whole run. The pages of one reading are of one instant. So two servers
 * never show one queue, a series of a queue never decreases on any server and keeps its created
 * time, no counter of a process decreases, and the books of each page balance.
 */
public final class Sight {
  private static final String QUEUE = "trace_etl_queue";
  private static final List<String> BOOKED =
      List.of("recorded", "overflowed", "filtered", "duplicate", "rejected");

  private final Naming naming;
  private final Consumer<String> failures;

  /** The newest value of each series of each queue, whoever showed it. */
  private final Map<String, Double> shown = new HashMap<>();

  /** By server: the newest values of its own counters. */
  private final Map<String, Map<String, Double>> own = new HashMap<>();

  public Sight(Naming naming, Consumer<String> failures) {
    this.naming = naming;
    this.failures = failures;
  }

  /**
   * Reads the pages of one instant.
   *
   * @param pages by the name of the process, which no other process had before
   */
  public void read(SortedMap<String, List<PageSample>> pages) {
    Map<String, String> owners = new TreeMap<>();
    own.keySet().retainAll(pages.keySet());
    pages.forEach((server, page) -> {
      Map<String, Double> before = own.computeIfAbsent(server, unused -> new HashMap<>());
      Map<String, Double> books = new TreeMap<>();
      for (PageSample sample : page) {
        String queue = sample.labels().get(QUEUE);
        if (sample.name().startsWith(naming.calls()) && queue != null) {
          String other = owners.putIfAbsent(queue, server);
          if (other != null && !other.equals(server)) {
            owners.put(queue, server);
            failures.accept("queue " + queue + " is shown by " + other + " and " + server);
          }
        }
        if (!isOfSpans(sample.name())) {
          if (isCounter(sample.name())) {
            never(sample, before, "decreased on " + server);
          }
          book(sample, books);
        } else if (sample.name().endsWith("_created")) {
          compareCreated(sample, server);
        } else if (isCounter(sample.name())) {
          never(sample, shown, "decreased, now on " + server);
        }
      }
      books.forEach((application, difference) -> {
        if (difference != 0) {
          failures.accept(
              String.format(
                  Locale.ROOT,
                  "the books of %s on %s differ: received %+.0f",
                  application,
                  server,
                  difference));
        }
      });
    });
  }

  private boolean isOfSpans(String name) {
    return name.startsWith(naming.calls()) || name.startsWith(naming.durations());
  }

  private static boolean isCounter(String name) {
    return name.endsWith("_total")
        || name.endsWith("_count")
        || name.endsWith("_sum")
        || name.endsWith("_bucket");
  }

  private void never(PageSample sample, Map<String, Double> values, String decreased) {
    Double before = values.put(sample.series(), sample.value());
    if (before != null && sample.value() < before) {
      failures.accept(
          String.format(
              Locale.ROOT,
              "%s %s: %s after %s",
              sample.series(),
              decreased,
              sample.value(),
              before));
    }
  }

  private void compareCreated(PageSample sample, String server) {
    Double before = shown.put(sample.series(), sample.value());
    if (before != null && before != sample.value()) {
      failures.accept(
          String.format(
              Locale.ROOT,
              "%s changed, now on %s: %s after %s",
              sample.series(),
              server,
              sample.value(),
              before));
    }
  }

  /** Adds what is received, and subtracts what became of it. */
  private static void book(PageSample sample, Map<String, Double> books) {
    String application = sample.labels().get("application");
    if (application == null) {
      return;
    }
    if (sample.name().equals("trace_etl_spans_received_total")) {
      books.merge(application, sample.value(), Double::sum);
    } else if (BOOKED.stream()
        .anyMatch(what -> sample.name().equals("trace_etl_spans_" + what + "_total"))) {
      books.merge(application, -sample.value(), Double::sum);
    }
  }
}
