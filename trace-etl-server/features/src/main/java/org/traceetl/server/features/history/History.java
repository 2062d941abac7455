package org.traceetl.server.features.history;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import org.traceetl.server.features.history.ApplicationMinutes.Application;
import org.traceetl.server.features.history.ApplicationMinutes.Name;
import org.traceetl.server.minutes.CountBounds;
import org.traceetl.server.minutes.LastHour;
import org.traceetl.server.minutes.MinuteColumns;
import org.traceetl.server.minutes.Quantiles;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * The last hour of the fleet by minute: calls of each application and operation, books, queues,
 * agents. Thread-safe: one thread adds, others read, and none waits longer than one window or one
 * answer takes. Each answer consists of whole windows of one version.
 *
 * <p>Calls belong to the minute in which their pane began. If their window does not know its panes,
 * they belong to the minute in which the window began. All other numbers belong to the minute in
 * which the window was sealed.
 *
 * <p>Bounded: a maximum number of applications and of operations. One without spans for an hour is
 * removed; those above the limit are added up as {@link Books#OTHER}.
 */
public final class History {
  /** Minutes in memory, including the current one and one more that has ended. */
  public static final int MINUTES = LastHour.MINUTES;

  /** Kind of {@link Books#OTHER}. */
  public static final String UNKNOWN_KIND = "SPAN_KIND_UNSPECIFIED";

  /** The numbers of an application. */
  public record Total(String application, Interval interval) {}

  /** The numbers of an operation. */
  public record OperationTotal(String operation, String kind, Interval interval) {}

  /**
   * Events of an objective.
   *
   * @param good how many are good; may have a fraction if spans are sampled
   */
  public record Events(long events, double good) {
    /** No events. */
    public static final Events NONE = new Events(0, 0);
  }

  /**
   * A minute.
   *
   * @param buckets calls by duration, one more than bounds; must not be written
   */
  public record Minute(Interval interval, long[] buckets) {}

  /** Calls and errors of the last {@value #MINUTES} completed minutes, oldest first. */
  public record Spark(long[] calls, long[] errors) {
    private Spark() {
      this(new long[MINUTES], new long[MINUTES]);
    }
  }

  /**
   * Books of some minutes.
   *
   * @param fleet all books, without a name
   * @param applications books of each application that has any, in no order
   */
  public record BooksOfFleet(Books fleet, List<Books> applications) {}

  /**
   * The agents of the last hour.
   *
   * @param leftOut whether there were more than the limit
   * @param agents the agents, the most silent first
   */
  public record AgentsOfFleet(boolean leftOut, List<RecentAgents.View> agents) {}

  /** Totals of the latest requests: others request them in another order, or the next ones. */
  private record Kept(String tag, int minutes, List<Total> totals) {}

  private final double[] boundsMillis;
  private final int maxApplications;
  private final LastHour hour;
  private final ApplicationMinutes applications;
  private final FleetBooks books;
  private final RecentAgents agents = new RecentAgents(RecentAgents.MAX);
  private final Map<QueueId, QueueHour> queues = new TreeMap<>();
  private final MinuteColumns columnsOfQueue = new MinuteColumns(1);

  /** Queues that are absent now: the numbers of a broker that returns are still known. */
  private Set<QueueId> gone = new HashSet<>();

  /** Prefix of each tag, because two processes count differently. */
  private final String process;

  private final AtomicLong version = new AtomicLong();
  private final AtomicReference<Kept> kept = new AtomicReference<>(new Kept("", 0, List.of()));
  private long sweptMinute;
  private long misdated;
  private long mergedSpans;
  private volatile boolean upToDate;

  /**
   * Creates an empty history.
   *
   * @param maxApplications maximum number of applications listed separately
   * @param maxOperations maximum number of operations of all applications, by name and kind, and of
   *     their objectives
   * @param boundsNanos upper bounds of a series' finite buckets, ascending
   */
  public History(
      int maxApplications,
      int maxOperations,
      long[] boundsNanos,
      InstantSource clock,
      RandomGenerator random) {
    process = HexFormat.of().toHexDigits(random.nextInt());
    this.maxApplications = maxApplications;
    hour = new LastHour(clock);
    boundsMillis = Quantiles.boundsMillis(boundsNanos);
    applications = new ApplicationMinutes(boundsNanos.length + 1, maxApplications, maxOperations);
    books = new FleetBooks(maxApplications);
  }

  /**
   * Adds a window.
   *
   * @param panes its calls
   * @param liveSeries series of its queue, by application
   */
  synchronized void add(
      SealedWindow window, List<PaneCalls> panes, Map<String, Integer> liveSeries) {
    long now = begin();
    boolean dated = true;
    for (PaneCalls pane : panes) {
      dated &= addCalls(pane, window, now);
    }
    misdated += dated ? 0 : 1;
    mergedSpans += window.panes().mergedSpans();
    long minute = LastHour.minute(window.sealedMillis());
    QueueHour queue = queue(window.queue());
    queue.come(window);
    gone.remove(window.queue());
    if (LastHour.isKept(minute, now)) {
      books.add(window, liveSeries, minute, now);
      queue.add(window.books(), minute, now, columnsOfQueue);
      agents.add(window, minute, now);
    }
  }

  /**
   * Adds the calls of a pane, at the time of its window if the pane is in the future. A pane has
   * the clock of the broker, a window that of a server: a wrong clock of a broker must not hide
   * calls.
   *
   * @return whether the pane is not in the future
   */
  private boolean addCalls(PaneCalls pane, SealedWindow window, long now) {
    if (add(pane.fromMillis(), pane.toMillis(), pane.calls(), now)) {
      return true;
    }
    add(window.openedMillis(), window.sealedMillis(), pane.calls(), now);
    return false;
  }

  /** Adds calls to the minute in which their interval begins. */
  synchronized void addCalls(long fromMillis, long toMillis, List<PaneCalls.OperationCalls> calls) {
    misdated += add(fromMillis, toMillis, calls, begin()) ? 0 : 1;
  }

  /** Returns false, and adds nothing, if the interval begins in the future. */
  private boolean add(
      long fromMillis, long toMillis, List<PaneCalls.OperationCalls> calls, long now) {
    long minute = LastHour.minute(fromMillis);
    if (LastHour.isFuture(minute, now)) {
      return false;
    }
    if (!calls.isEmpty()) {
      hour.observe(fromMillis, toMillis);
    }
    if (LastHour.isKept(minute, now)) {
      applications.add(calls, minute, now);
    }
    return true;
  }

  /** Sets the existing queues. */
  synchronized void setQueues(Collection<QueueId> present) {
    Set<QueueId> absent = new HashSet<>(queues.keySet());
    absent.removeAll(Set.copyOf(present));
    if (!absent.equals(gone) || !queues.keySet().containsAll(present)) {
      version.incrementAndGet();
      gone = absent;
      present.forEach(this::queue);
    }
  }

  private QueueHour queue(QueueId id) {
    return queues.computeIfAbsent(id, absent -> new QueueHour(maxApplications));
  }

  /** Begins a change of the history, and returns the current minute. */
  private long begin() {
    version.incrementAndGet();
    long now = hour.now();
    sweep(now);
    return now;
  }

  /** Removes old entries, once a minute. */
  private void sweep(long now) {
    if (now != sweptMinute) {
      sweptMinute = now;
      applications.sweep(now - MINUTES);
      books.sweep(now - MINUTES);
      agents.sweep(now - MINUTES);
      queues.values().forEach(queue -> queue.sweep(now));
    }
  }

  /**
   * Returns an application's last minutes, oldest first; the last one has not ended.
   *
   * @param count 1 to {@value #MINUTES}
   * @return empty if the application had no spans in the last hour
   */
  public List<Minute> minutes(String application, int count) {
    SpanSums[] tallies = new SpanSums[count];
    double variancePerCall;
    long now;
    synchronized (this) {
      now = hour.now();
      Application found = applications.get(application);
      if (found == null || found.minutes().endedBefore(now - MINUTES)) {
        return List.of();
      }
      read(found.minutes(), now, tallies);
      variancePerCall = variancePerCall(found, found.minutes(), now);
    }
    return minutes(tallies, variancePerCall, now);
  }

  /**
   * Returns the last minutes of an operation, oldest first; the last one has not ended.
   *
   * @param count 1 to {@value #MINUTES}
   * @return empty if it had no spans in the last hour
   */
  public List<Minute> minutes(String application, String operation, String kind, int count) {
    SpanSums[] tallies = new SpanSums[count];
    double variancePerCall;
    long now;
    synchronized (this) {
      now = hour.now();
      Application found = applications.get(application);
      MinuteColumns.Minutes its =
          found == null ? null : found.operations().get(new Name(operation, kind));
      if (its == null || its.endedBefore(now - MINUTES)) {
        return List.of();
      }
      read(its, now, tallies);
      variancePerCall = variancePerCall(found, its, now);
    }
    return minutes(tallies, variancePerCall, now);
  }

  private void read(MinuteColumns.Minutes of, long now, SpanSums[] tallies) {
    long from = now - tallies.length + 1;
    Arrays.setAll(tallies, i -> new SpanSums(boundsMillis.length + 1));
    applications.read(
        of,
        from,
        now,
        (minute, values) -> {
          long[] columns = tallies[(int) (minute - from)].columns();
          System.arraycopy(values, 0, columns, 0, columns.length);
        });
  }

  /** Returns the variance of a call in the last hour; 0 if all were counted. */
  private double variancePerCall(Application application, MinuteColumns.Minutes of, long now) {
    return applications.variancePerCall(application, of, now - MINUTES + 1, now);
  }

  private List<Minute> minutes(SpanSums[] tallies, double variancePerCall, long now) {
    List<Minute> minutes = new ArrayList<>(tallies.length);
    for (int i = 0; i < tallies.length; i++) {
      long minute = now - tallies.length + 1 + i;
      Interval interval = interval(minute, minute, tallies[i], variancePerCall, now);
      minutes.add(new Minute(interval, tallies[i].buckets()));
    }
    return minutes;
  }

  /**
   * Returns the numbers of each application in the last completed minutes, in no order. Must not be
   * written.
   *
   * @param count 1 to {@value #MINUTES} - 1
   */
  public List<Total> totals(int count) {
    String tag = tag();
    Kept last = kept.get();
    if (last.tag.equals(tag) && last.minutes == count) {
      return last.totals;
    }
    List<String> names;
    List<SpanSums> tallies;
    List<Double> variances;
    long now;
    synchronized (this) {
      // A newer tag is harmless: the answer is found to be out of date.
      tag = tag();
      now = hour.now();
      names = new ArrayList<>(applications.applications());
      tallies = new ArrayList<>(applications.applications());
      variances = new ArrayList<>(applications.applications());
      for (Application application : applications.all()) {
        if (!application.minutes().endedBefore(now - MINUTES)) {
          names.add(application.name());
          tallies.add(applications.sum(application.minutes(), now - count, now - 1));
          variances.add(variancePerCall(application, application.minutes(), now));
        }
      }
    }
    List<Total> totals = new ArrayList<>(names.size());
    for (int i = 0; i < names.size(); i++) {
      totals.add(
          new Total(
              names.get(i), interval(now - count, now - 1, tallies.get(i), variances.get(i), now)));
    }
    kept.set(new Kept(tag, count, totals));
    return totals;
  }

  /**
   * Returns the numbers of each operation of an application in the last completed minutes, in no
   * order.
   *
   * @param count 1 to {@value #MINUTES} - 1
   * @return null if the application had no spans in the last hour
   */
  public List<OperationTotal> operations(String application, int count) {
    List<Name> names;
    List<SpanSums> tallies;
    List<Double> variances;
    long now;
    synchronized (this) {
      now = hour.now();
      Application found = applications.get(application);
      if (found == null || found.minutes().endedBefore(now - MINUTES)) {
        return null;
      }
      names = new ArrayList<>(found.operations().size());
      tallies = new ArrayList<>(found.operations().size());
      variances = new ArrayList<>(found.operations().size());
      for (Map.Entry<Name, MinuteColumns.Minutes> operation : found.operations().entrySet()) {
        if (!operation.getValue().endedBefore(now - MINUTES)) {
          names.add(operation.getKey());
          tallies.add(applications.sum(operation.getValue(), now - count, now - 1));
          variances.add(variancePerCall(found, operation.getValue(), now));
        }
      }
    }
    List<OperationTotal> totals = new ArrayList<>(names.size());
    for (int i = 0; i < names.size(); i++) {
      Name name = names.get(i);
      Interval interval = interval(now - count, now - 1, tallies.get(i), variances.get(i), now);
      totals.add(new OperationTotal(name.operation(), name.kind(), interval));
    }
    return totals;
  }

  /**
   * Returns the events of each objective of an application in the last completed minutes, by name;
   * empty without any.
   *
   * @param count 1 to {@value #MINUTES} - 1
   */
  public synchronized Map<String, Events> objectives(String application, int count) {
    long now = hour.now();
    Application found = applications.get(application);
    Map<String, Events> events = new HashMap<>();
    if (found != null) {
      found
          .objectives()
          .forEach((name, minutes) -> {
            SpanSums sum = applications.sum(minutes, now - count, now - 1);
            // Millionths, as nanoseconds are those of a millisecond.
            events.put(name, new Events(sum.calls(), sum.durationMillis()));
          });
    }
    return events;
  }

  /** Returns how many milliseconds of the last completed minutes were observed. */
  long observedMillis(int count) {
    long now = hour.now();
    return hour.observedMillis(now - count, now - 1);
  }

  /** Returns the trend of each of these applications, in their order; zeros for an unknown one. */
  public List<Spark> sparks(List<String> names) {
    List<Spark> sparks = new ArrayList<>(names.size());
    synchronized (this) {
      long from = hour.now() - MINUTES;
      for (String name : names) {
        Spark spark = new Spark();
        sparks.add(spark);
        Application found = applications.get(name);
        if (found != null) {
          applications.read(
              found.minutes(),
              from,
              from + MINUTES - 1,
              (minute, values) -> {
                spark.calls[(int) (minute - from)] = values[SpanSums.CALLS];
                spark.errors[(int) (minute - from)] = values[SpanSums.ERRORS];
              });
        }
      }
    }
    return sparks;
  }

  /**
   * Returns the books of windows sealed in the last minutes, including the current one.
   *
   * @param count 1 to {@value #MINUTES}
   */
  public synchronized BooksOfFleet books(int count) {
    long now = hour.now();
    return new BooksOfFleet(
        books.fleet(now - count + 1, now + 1), books.applications(now - count + 1, now + 1));
  }

  /**
   * Returns what each application used, in no order.
   *
   * @param from the first minute since 1970
   * @param to the last one, inclusive
   */
  synchronized List<Usage> usage(long from, long to) {
    return books.usage(from, to);
  }

  /** Returns the current minute since 1970. */
  long minute() {
    return hour.now();
  }

  /** Returns the agents whose batches counted in the last hour. */
  public synchronized AgentsOfFleet agents() {
    long now = hour.now();
    long oldest = now - MINUTES + 1;
    return new AgentsOfFleet(agents.leftOut(oldest), agents.views(oldest, now + 1));
  }

  /** Returns the queues that have a journal, in order. */
  public synchronized List<QueueHour.View> queues() {
    long now = hour.now();
    long observed = hour.observedMillis(now - QueueHour.RATE_MINUTES, now - 1);
    // Spans that were all rejected are no calls: nothing was observed.
    boolean rejected = observed == 0;
    long from = now - QueueHour.RATE_MINUTES;
    long since = rejected ? from : hour.observedFrom(from);
    long rated = rejected ? QueueHour.RATE_MINUTES * LastHour.MINUTE_MILLIS : observed;
    List<QueueHour.View> views = new ArrayList<>(queues.size());
    queues.forEach((id, queue) -> {
      if (!gone.contains(id)) {
        views.add(queue.view(id, since, now, rated, columnsOfQueue));
      }
    });
    return views;
  }

  /** Returns the upper bounds of a minute's finite buckets in milliseconds, ascending. */
  public double[] boundsMillis() {
    return boundsMillis.clone();
  }

  /** Returns the windows that have a pane or begin in the future, which shows a wrong clock. */
  public synchronized long misdated() {
    return misdated;
  }

  /** For simulations: returns the spans added that count in a pane later than their own. */
  public synchronized long mergedSpans() {
    return mergedSpans;
  }

  /** Returns whether the journal was read to its end once; before that, counts are too low. */
  public boolean upToDate() {
    return upToDate;
  }

  void setUpToDate() {
    if (!upToDate) {
      upToDate = true;
      version.incrementAndGet();
    }
  }

  /**
   * Returns a tag that changes whenever an answer may change: with each window and each minute. If
   * it is taken before an answer, it may be older than the answer, never newer. Letters, digits and
   * dashes.
   */
  public String tag() {
    return process + "-" + version.get() + "-" + hour.now();
  }

  /** Returns the number of applications listed separately. */
  public synchronized int applications() {
    return applications.applications();
  }

  /** Returns the number of operations and objectives listed separately. */
  public synchronized int operations() {
    return applications.operations();
  }

  /** Returns how many times a window's events of an objective were left out for lack of room. */
  synchronized long leftOutObjectives() {
    return applications.leftOut();
  }

  /**
   * @param variancePerCall of a longer time
   */
  private Interval interval(long from, long to, SpanSums sums, double variancePerCall, long now) {
    return new Interval(
        from * LastHour.MINUTE_MILLIS,
        to < now,
        hour.observedMillis(from, to),
        sums.calls(),
        CountBounds.of(sums.calls(), variancePerCall),
        sums.errors(),
        sums.durationMillis(),
        sums.quantileMillis(boundsMillis, 0.5),
        sums.quantileMillis(boundsMillis, 0.95),
        sums.quantileMillis(boundsMillis, 0.99));
  }
}
