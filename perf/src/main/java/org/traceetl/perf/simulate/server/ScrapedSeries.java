package org.traceetl.perf.simulate.server;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** The series that any page of a run has shown, with what their names say. */
final class ScrapedSeries implements PageLines.Numbers {
  private static final String QUEUE = "trace_etl_queue=\"";
  private static final String OWN_QUEUE = "queue=\"";
  private static final String QUEUE_SERIES = "trace_etl_queue_series";
  private static final String APPLICATION = "service_name=\"";
  private static final String EDGES = "traces_service_graph_";

  /** Distinguishes queues of half-edges, which have owners of their own, from those of spans. */
  private static final String EDGE_QUEUE = "edges/";

  /** Instead of a queue's number. */
  static final int NO_QUEUE = -1;

  /** Instead of a group's number. */
  static final int NO_GROUP = -1;

  private static final Pattern BOUND = Pattern.compile("le=\"[^\"]*\",?");

  /**
   * A series.
   *
   * @param text as pages show it
   * @param queue number of its queue, or {@link #NO_QUEUE}
   * @param counted number of the queue of which it is the number of series, or {@link #NO_QUEUE}
   * @param own whether it is the server's own, so that each process counts from 0
   * @param ofTheJvm whether it is a measurement of the JVM, which differs between equal runs
   * @param counter whether it never decreases
   * @param bound of its values; null for none
   * @param group number of the samples that have its labels and so end together, or {@link
   *     #NO_GROUP} if rules may not end them
   */
  record Series(
      String text,
      int queue,
      int counted,
      boolean own,
      boolean ofTheJvm,
      boolean counter,
      Bound bound,
      int group) {
    boolean mayEnd() {
      return group != NO_GROUP;
    }
  }

  private final Map<String, Bound> bounds;
  private final Predicate<String> mayEnd;

  /** Metrics with a bound that no page has shown yet. */
  private final SortedSet<String> unseenBounds;

  private final Map<String, Integer> numbers = new HashMap<>();
  private final List<Series> all = new ArrayList<>();
  private final Map<String, Integer> queueNumbers = new HashMap<>();
  private final Map<String, Integer> groups = new HashMap<>();
  private final List<String> queues = new ArrayList<>();

  /**
   * @param bounds of servers' own metrics, by name
   * @param mayEnd whether rules may end a series of span metrics, by application
   */
  ScrapedSeries(Map<String, Bound> bounds, Predicate<String> mayEnd) {
    this.bounds = bounds;
    this.mayEnd = mayEnd;
    unseenBounds = new TreeSet<>(bounds.keySet());
  }

  SortedSet<String> unseenBounds() {
    return unseenBounds;
  }

  @Override
  public int of(String series) {
    Integer known = numbers.get(series);
    if (known != null) {
      return known;
    }
    numbers.put(series, all.size());
    all.add(described(series));
    return all.size() - 1;
  }

  Series get(int number) {
    return all.get(number);
  }

  int count() {
    return all.size();
  }

  int queueCount() {
    return queues.size();
  }

  String queue(int number) {
    return queues.get(number);
  }

  private Series described(String bytes) {
    String text = new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    int brace = text.indexOf('{');
    String metric = brace < 0 ? text : text.substring(0, brace);
    unseenBounds.remove(metric);
    boolean ofTheJvm = metric.startsWith("jvm_") || metric.startsWith("process_");
    boolean own = metric.startsWith("trace_etl_") || ofTheJvm;
    String queueName = own ? "" : label(text, QUEUE);
    int queue =
        queueName.isEmpty()
            ? NO_QUEUE
            : number((metric.startsWith(EDGES) ? EDGE_QUEUE : "") + queueName);
    return new Series(
        text,
        queue,
        metric.equals(QUEUE_SERIES) ? number(label(text, OWN_QUEUE)) : NO_QUEUE,
        own,
        ofTheJvm,
        isCounter(metric),
        bounds.get(metric),
        queue != NO_QUEUE && mayEnd.test(application(text))
            ? group(text.substring(brace))
            : NO_GROUP);
  }

  private int group(String labels) {
    String ofAll = BOUND.matcher(labels).replaceAll("").replace(",}", "}");
    return groups.computeIfAbsent(ofAll, absent -> groups.size());
  }

  /** Returns the application of a series of span metrics; empty for others. */
  static String application(String series) {
    return label(series, APPLICATION);
  }

  /** Returns the value of a label; empty without one. */
  private static String label(String series, String name) {
    int label = series.indexOf(name);
    int begin = label + name.length();
    return label < 0 ? "" : series.substring(begin, series.indexOf('"', begin));
  }

  private int number(String queue) {
    return queueNumbers.computeIfAbsent(
        queue,
        absent -> {
          queues.add(absent);
          return queues.size() - 1;
        });
  }

  private static boolean isCounter(String metric) {
    return metric.endsWith("_total")
        || metric.endsWith("_count")
        || metric.endsWith("_sum")
        || metric.endsWith("_bucket");
  }
}
