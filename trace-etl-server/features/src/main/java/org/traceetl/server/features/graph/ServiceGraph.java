package org.traceetl.server.features.graph;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.traceetl.server.edge.EdgeMeasure;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.fleet.FleetFollower;
import org.traceetl.server.minutes.LastHour;
import org.traceetl.server.minutes.MinuteColumns;
import org.traceetl.server.minutes.Quantiles;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.WindowPanes;

/**
 * The edges of the fleet in the last hour by minute: the sum of all queues of half-edges.
 * Thread-safe: one thread adds, others read, and none waits longer than one window or one answer
 * takes. Each answer consists of whole windows of one version.
 *
 * <p>Requests belong to the minute in which their pane began. If their window does not know its
 * panes, they belong to the minute in which the window began.
 *
 * <p>Bounded: see {@link Edges}.
 */
final class ServiceGraph implements FleetFollower.Sink {
  /**
   * The graph of some minutes. Must not be written.
   *
   * @param fromMillis begin of the first minute, milliseconds since 1970
   * @param toMillis end of the last one
   * @param observedMillis part of these minutes after the first requests of the fleet
   * @param boundsMillis upper bounds of the finite buckets
   * @param edges all edges with requests, in no order
   * @param services applications that sent spans of edges, or unpaired ones, by name
   */
  record View(
      long fromMillis,
      long toMillis,
      long observedMillis,
      double[] boundsMillis,
      List<EdgeTotal> edges,
      Map<String, ServiceTotal> services) {
    private static final double MILLIS_PER_SECOND = 1e3;

    /** Returns a count divided by the time observed; 0 if nothing was observed. */
    double perSecond(long count) {
      return observedMillis == 0 ? 0 : count / (observedMillis / MILLIS_PER_SECOND);
    }
  }

  /** The view of the latest request: others request another part of it. */
  private record Kept(String tag, int minutes, View view) {
    private static final Kept NONE = new Kept("", 0, null);
  }

  private final long schema;
  private final int buckets;
  private final double[] boundsMillis;
  private final LastHour hour;
  private final Edges edges;
  private final MinuteColumns columns;
  private final Map<QueueId, QueueEdges> queues = new HashMap<>();

  /** Prefix of each tag, because two processes count differently. */
  private final String process;

  private final AtomicLong version = new AtomicLong();

  /** One view is computed at a time: a view of many edges takes memory. */
  private final Object computing = new Object();

  /** Guarded by {@link #computing}. */
  private Kept kept = Kept.NONE;

  private long sweptMinute;
  private long misdated;
  private long unknownRows;
  private volatile boolean upToDate;

  /**
   * Creates an empty graph.
   *
   * @param maxEdges maximum number of edges listed separately
   * @param boundsNanos upper bounds of a series' finite buckets, ascending
   * @param schema schema of series with these buckets
   */
  ServiceGraph(
      int maxEdges, long[] boundsNanos, long schema, InstantSource clock, RandomGenerator random) {
    process = HexFormat.of().toHexDigits(random.nextInt());
    this.schema = schema;
    buckets = boundsNanos.length + 1;
    boundsMillis = Quantiles.boundsMillis(boundsNanos);
    hour = new LastHour(clock);
    edges = new Edges(maxEdges);
    columns = new MinuteColumns(EdgeSums.columns(buckets));
  }

  @Override
  public synchronized void series(QueueId queue, QueueImage image) {
    edges(queue).replace(image);
  }

  private QueueEdges edges(QueueId queue) {
    return queues.computeIfAbsent(queue, absent -> new QueueEdges(edges, buckets));
  }

  @Override
  public synchronized void window(SealedWindow window) {
    version.incrementAndGet();
    long now = hour.now();
    sweep(now);
    QueueEdges queue = edges(window.queue());
    window.created().forEach(queue::create);
    unknownRows += queue.unknownRows(window);
    WindowPanes panes = window.panes();
    boolean dated = true;
    for (WindowPanes.Pane pane : panes.others()) {
      dated &= add(pane, window, queue, now);
    }
    dated &= add(panes.main(window), window, queue, now);
    misdated += dated ? 0 : 1;
    for (int series : window.evicted()) {
      queue.evict(series);
    }
  }

  /**
   * Adds the requests of a pane, at the time of its window if the pane is in the future: a wrong
   * clock of a broker must not hide requests.
   *
   * @return whether the pane is not in the future
   */
  private boolean add(WindowPanes.Pane pane, SealedWindow window, QueueEdges queue, long now) {
    WindowPanes panes = window.panes();
    boolean dated =
        !panes.isEmpty() && !LastHour.isFuture(LastHour.minute(pane.startMillis()), now);
    long fromMillis = dated ? pane.startMillis() : window.openedMillis();
    long toMillis = dated ? fromMillis + panes.lengthMillis() : window.sealedMillis();
    long minute = LastHour.minute(fromMillis);
    boolean bucketsKnown = window.schema() == schema && window.buckets() == buckets;
    Map<Edge, EdgeSums> sums = queue.sums(pane, window, bucketsKnown);
    if (!sums.isEmpty() && !LastHour.isFuture(minute, now)) {
      hour.observe(fromMillis, toMillis);
    }
    if (LastHour.isKept(minute, now)) {
      sums.forEach((edge, its) -> columns.add(edge.minutes, minute, its.columns(), now));
    }
    return dated || panes.isEmpty() && !LastHour.isFuture(minute, now);
  }

  /** Removes old entries, once a minute. */
  private void sweep(long now) {
    if (now != sweptMinute) {
      sweptMinute = now;
      edges.sweep(now - LastHour.MINUTES);
    }
  }

  /**
   * Returns the graph of the last completed minutes.
   *
   * @param count 1 to {@value LastHour#MINUTES} - 1
   */
  View view(int count) {
    synchronized (computing) {
      if (!kept.tag.equals(tag()) || kept.minutes != count) {
        kept = Kept.NONE; // Its memory is free for the next one.
        kept = compute(count);
      }
      return kept.view;
    }
  }

  private Kept compute(int count) {
    String tag;
    List<EdgeName> names = new ArrayList<>();
    List<EdgeSums> sums = new ArrayList<>();
    long now;
    synchronized (this) {
      // A newer tag is harmless: the answer is found to be out of date.
      tag = tag();
      now = hour.now();
      for (Edge edge : edges.all()) {
        if (!edge.minutes.endedBefore(now - count)) {
          EdgeSums its = new EdgeSums(buckets);
          columns.sum(edge.minutes, now - count, now - 1, its.columns());
          names.add(edge.name);
          sums.add(its);
        }
      }
    }
    return new Kept(
        tag,
        count,
        new View(
            (now - count) * LastHour.MINUTE_MILLIS,
            now * LastHour.MINUTE_MILLIS,
            hour.observedMillis(now - count, now - 1),
            boundsMillis,
            totals(names, sums),
            services(names, sums)));
  }

  /**
   * Returns how the requests of an application grew in some minutes, against all earlier ones of
   * the last hour.
   *
   * @param client exact name
   * @param fromMinute the first minute
   * @param toMinute the minute after the last one; minutes that are not over or no longer in memory
   *     are left out
   */
  synchronized Growth growth(String client, long fromMinute, long toMinute) {
    long now = hour.now();
    long oldest = hour.observedFrom(now - LastHour.MINUTES + 1);
    long from = Math.max(fromMinute, oldest);
    long to = Math.max(from, Math.min(toMinute, now));
    long observedMillis = hour.observedMillis(from, to - 1);
    long baselineMillis = hour.observedMillis(oldest, from - 1);
    EdgeSums load = new EdgeSums(buckets);
    EdgeSums baselineLoad = new EdgeSums(buckets);
    List<Growth.Callee> callees = new ArrayList<>();
    for (Edge edge : edges.all()) {
      if (client.equals(edge.name.server())) {
        columns.sum(edge.minutes, from, to - 1, load.columns());
        columns.sum(edge.minutes, oldest, from - 1, baselineLoad.columns());
      }
      if (client.equals(edge.name.client())) {
        Growth.Callee callee =
            new Growth.Callee(edge.name, new EdgeSums(buckets), new EdgeSums(buckets));
        columns.sum(edge.minutes, from, to - 1, callee.sums().columns());
        columns.sum(edge.minutes, oldest, from - 1, callee.baseline().columns());
        callees.add(callee);
      }
    }
    return new Growth(
        from * LastHour.MINUTE_MILLIS,
        to * LastHour.MINUTE_MILLIS,
        oldest * LastHour.MINUTE_MILLIS,
        observedMillis,
        baselineMillis,
        Growth.load(load, baselineLoad, observedMillis, baselineMillis),
        callees);
  }

  /** Returns the begin of the current minute, in milliseconds since 1970. */
  long nowMillis() {
    return hour.now() * LastHour.MINUTE_MILLIS;
  }

  /** Returns the upper bounds of the finite buckets, which must not be written. */
  double[] boundsMillis() {
    return boundsMillis;
  }

  private List<EdgeTotal> totals(List<EdgeName> names, List<EdgeSums> sums) {
    List<EdgeTotal> totals = new ArrayList<>(names.size());
    for (int i = 0; i < names.size(); i++) {
      if (sums.get(i).count(EdgeMeasure.REQUESTS) > 0) {
        totals.add(EdgeTotal.of(names.get(i), sums.get(i), boundsMillis));
      }
    }
    return totals;
  }

  private static Map<String, ServiceTotal> services(List<EdgeName> names, List<EdgeSums> sums) {
    Map<String, ServiceTotal> services = new HashMap<>();
    for (int i = 0; i < names.size(); i++) {
      EdgeName name = names.get(i);
      EdgeSums its = sums.get(i);
      ServiceTotal paired = new ServiceTotal(its.pairs(), 0, 0);
      long unpairedClients = its.count(EdgeMeasure.UNPAIRED_CLIENT);
      long unpairedServers = its.count(EdgeMeasure.UNPAIRED_SERVER);
      if (its.count(EdgeMeasure.CLIENT) > 0) {
        services.merge(name.client(), paired, ServiceTotal::plus);
      }
      if (unpairedClients + unpairedServers != 0) {
        services.merge(
            name.client(),
            new ServiceTotal(0, unpairedClients, unpairedServers),
            ServiceTotal::plus);
      }
      if (!name.isRest() && its.count(EdgeMeasure.SERVER) > 0) {
        services.merge(name.server(), paired, ServiceTotal::plus);
      }
    }
    return services;
  }

  @Override
  public void upToDate() {
    if (!upToDate) {
      upToDate = true;
      version.incrementAndGet();
    }
  }

  /** Returns whether the journal was read to its end once; before that, counts are too low. */
  boolean isUpToDate() {
    return upToDate;
  }

  /**
   * Returns a tag that changes whenever an answer may change: with each window and each minute. If
   * it is taken before an answer, it may be older than the answer, never newer. Letters, digits and
   * dashes.
   */
  String tag() {
    return process + "-" + version.get() + "-" + hour.now();
  }

  /** Returns the number of edges listed separately. */
  synchronized int size() {
    return edges.size();
  }

  /** Returns how many edges of a queue were added up with others, because of the limit. */
  synchronized long merged() {
    return edges.merged();
  }

  /** Returns the rows of windows left out because their series or its measure is unknown. */
  synchronized long unknownRows() {
    return unknownRows;
  }

  /** Returns the windows that have a pane or begin in the future, which shows a wrong clock. */
  synchronized long misdated() {
    return misdated;
  }
}
