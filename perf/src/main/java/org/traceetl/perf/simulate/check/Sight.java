package org.traceetl.perf.simulate.check;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.traceetl.perf.simulate.world.Durable;
import org.traceetl.testkit.PageSample;

/**
 * Checks pages in OpenMetrics over a whole run: a series of a queue keeps its created time on each
 * server, unless rules may have ended it, and the books of each page balance.
 */
public final class Sight implements Durable {
  private static final List<String> BOOKED =
      List.of("recorded", "overflowed", "filtered", "duplicate", "rejected");

  /** Of the metrics of books, with what they count. */
  private static final Map<String, String> PREFIXES =
      Map.of("trace_etl_spans_", "spans", "trace_etl_edges_spans_", "half-edges");

  private static final String EDGES = "traces_service_graph_";
  private static final String CREATED = "_created";

  private final List<String> created;
  private final Predicate<String> mayEnd;
  private final Consumer<String> failures;

  /** The created time of each series of each queue, as the last page has it. */
  private final Map<String, Double> shown = new HashMap<>();

  /**
   * @param mayEnd whether rules may end a series of span metrics, by application
   */
  public Sight(Naming naming, Predicate<String> mayEnd, Consumer<String> failures) {
    created =
        List.of(
            naming.calls().replaceFirst("_total$", "_created"),
            naming.durations() + "_created",
            naming.sizes().replaceFirst("_total$", "_created"));
    this.mayEnd = mayEnd;
    this.failures = failures;
  }

  @Override
  public void write(DataOutputStream to) throws IOException {
    to.writeInt(shown.size());
    for (Map.Entry<String, Double> one : shown.entrySet()) {
      to.writeUTF(one.getKey());
      to.writeDouble(one.getValue());
    }
  }

  @Override
  public void read(DataInputStream from) throws IOException {
    for (int left = from.readInt(); left > 0; left--) {
      shown.put(from.readUTF(), from.readDouble());
    }
  }

  /** Reads a page of a server. */
  public void read(String server, List<PageSample> page) {
    Map<String, Double> books = new TreeMap<>();
    for (PageSample sample : page) {
      if (created.contains(sample.name())
          || sample.name().startsWith(EDGES) && sample.name().endsWith(CREATED)) {
        compareCreated(sample, server);
      } else {
        book(sample, books);
      }
    }
    books.forEach((book, difference) -> {
      if (difference != 0) {
        failures.accept(
            String.format(
                Locale.ROOT,
                "%s on %s: received minus recorded, overflowed, filtered, duplicate and rejected is"
                    + " %+.0f; must be 0",
                book,
                server,
                difference));
      }
    });
  }

  private void compareCreated(PageSample sample, String server) {
    Double before = shown.put(sample.series(), sample.value());
    boolean isFree = mayEnd.test(SeriesKey.of(sample.labels()).service());
    if (before != null && before != sample.value() && !isFree) {
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
    PREFIXES.forEach((prefix, what) -> {
      String book = what + " of application " + application;
      if (sample.name().equals(prefix + "received_total")) {
        books.merge(book, sample.value(), Double::sum);
      } else if (BOOKED.stream()
          .anyMatch(outcome -> sample.name().equals(prefix + outcome + "_total"))) {
        books.merge(book, -sample.value(), Double::sum);
      }
    });
  }
}
