package org.traceetl.server.features.deploys;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.traceetl.server.journal.FleetWindows;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.minutes.MinuteColumns;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowPanes;

/**
 * Requests of each version of the fleet's applications in slots of 30 seconds of stream time, and
 * the deploys of the last hour. Deploys are a function of the slots, so that each server that read
 * the same windows lists the same. Thread-safe.
 *
 * <p>Bounded: a maximum number of operations of versions, {@value #MAX_VERSIONS} versions of an
 * application, {@value #MAX_DEPLOYS} deploys of an answer. What is above the first two is left out
 * and counted. Versions without calls for 85 minutes are removed.
 */
final class Versions implements FleetWindows.Listener {
  /** Deploys of an answer, the newest ones. */
  static final int MAX_DEPLOYS = 200;

  static final int MAX_VERSIONS = 8;

  /** The current slot and the one before may still get calls. */
  private static final int OPEN = 2;

  /** Slots before the current one that are in memory. */
  private static final int BEFORE = Timeline.SLOTS + OPEN;

  private record Kept(String tag, List<Deploy> deploys) {}

  private final SeriesVersions.Reader reader;
  private final int buckets;
  private final int maxOperations;
  private final long schema;
  private final BooleanSupplier upToDate;
  private final InstantSource clock;
  private final String process;
  private final MinuteColumns columns;
  private final long[] added;

  /** Bounded by the number of queues that ever existed. */
  private final Map<QueueId, SeriesVersions> queues = new HashMap<>();

  private final Map<String, Map<String, Map<Operation, VersionCalls>>> applications =
      new TreeMap<>();

  private int operations;
  private long leftOut;
  private long sweptSlot;
  private Kept kept = new Kept("", List.of());

  /**
   * @param buckets of a series by the configuration
   * @param schema of series with these buckets
   * @param upToDate whether the newest windows of each queue were received
   */
  Versions(
      SeriesVersions.Reader reader,
      int maxOperations,
      int buckets,
      long schema,
      BooleanSupplier upToDate,
      InstantSource clock,
      RandomGenerator random) {
    this.reader = reader;
    this.maxOperations = maxOperations;
    this.buckets = buckets;
    this.schema = schema;
    this.upToDate = upToDate;
    this.clock = clock;
    process = HexFormat.of().toHexDigits(random.nextInt());
    added = new long[Calls.BUCKETS + buckets];
    columns = new MinuteColumns(added.length, BEFORE + 2);
  }

  @Override
  public synchronized void series(QueueId queue, QueueImage image) {
    queue(queue).replace(image);
  }

  private SeriesVersions queue(QueueId id) {
    return queues.computeIfAbsent(id, absent -> new SeriesVersions(reader));
  }

  @Override
  public synchronized void window(SealedWindow window) {
    long now = slot(clock.millis());
    sweep(now);
    SeriesVersions series = queue(window.queue());
    for (SeriesDefinition created : window.created()) {
      if (window.schema() == schema) {
        series.create(created);
      } else {
        // The version may be in another column of another configuration, or in none.
        series.evict(created.series());
      }
    }
    WindowPanes panes = window.panes();
    for (WindowPanes.Pane pane : panes.others()) {
      add(pane, pane.startMillis(), window, series, now);
    }
    add(
        panes.main(window),
        panes.isEmpty() ? window.openedMillis() : panes.mainMillis(),
        window,
        series,
        now);
    for (int evicted : window.evicted()) {
      series.evict(evicted);
    }
  }

  private static long slot(long millis) {
    return Math.floorDiv(millis, Timeline.SLOT_MILLIS);
  }

  private void add(
      WindowPanes.Pane pane, long millis, SealedWindow window, SeriesVersions series, long now) {
    long slot = slot(millis);
    if (slot < now - BEFORE || slot > now + 1) {
      return;
    }
    for (int i = 0; i < pane.rows().length; i++) {
      int number = window.series()[pane.rows()[i]];
      VersionCalls found = series.calls(number);
      if (found == null) {
        continue;
      }
      VersionCalls calls = keep(found);
      if (calls == null) {
        leftOut++;
        continue;
      }
      series.set(number, calls);
      read(pane, i, window, series.isFailed(number));
      columns.add(calls.slots, slot, added, now);
    }
  }

  /** Fills {@link #added}. */
  private void read(WindowPanes.Pane pane, int row, SealedWindow window, boolean failed) {
    Arrays.fill(added, 0);
    boolean isKnown = window.schema() == schema && window.buckets() == buckets;
    long all = 0;
    for (int bucket = 0; bucket < window.buckets(); bucket++) {
      long count = Math.max(0, pane.counts()[row * window.stride() + bucket]);
      all += count;
      if (isKnown && !failed) {
        added[Calls.BUCKETS + bucket] = count;
      }
    }
    added[Calls.ALL] = all;
    added[Calls.FAILED] = failed ? all : 0;
    added[Calls.NANOS] = failed ? 0 : Math.max(0, pane.durationNanos()[row]);
  }

  /** Returns the kept calls of the same version and operation; null if there is no room. */
  private VersionCalls keep(VersionCalls calls) {
    Map<String, Map<Operation, VersionCalls>> versions =
        applications.getOrDefault(calls.application, Map.of());
    Map<Operation, VersionCalls> its = versions.get(calls.version);
    VersionCalls known = its == null ? null : its.get(calls.operation);
    if (known != null) {
      return known;
    }
    if (operations == maxOperations || its == null && versions.size() == MAX_VERSIONS) {
      return null;
    }
    operations++;
    applications
        .computeIfAbsent(calls.application, absent -> new HashMap<>())
        .computeIfAbsent(calls.version, absent -> new HashMap<>())
        .put(calls.operation, calls);
    return calls;
  }

  /** Removes what had no calls for long, once a slot. */
  private void sweep(long now) {
    if (now == sweptSlot) {
      return;
    }
    sweptSlot = now;
    for (Map<String, Map<Operation, VersionCalls>> versions : applications.values()) {
      for (Map<Operation, VersionCalls> its : versions.values()) {
        Iterator<VersionCalls> all = its.values().iterator();
        while (all.hasNext()) {
          if (all.next().slots.endedBefore(now - BEFORE)) {
            all.remove();
            operations--;
          }
        }
      }
      versions.values().removeIf(Map::isEmpty);
    }
    applications.values().removeIf(Map::isEmpty);
  }

  /** Returns the newest deploys of the last hour; none before they are up to date. */
  List<Deploy> deploys() {
    return deploys(any -> true);
  }

  /**
   * Returns the newest deploys of the last hour of some applications, the newest first; none before
   * they are up to date.
   */
  List<Deploy> deploys(Predicate<String> application) {
    return all().stream()
        .filter(deploy -> application.test(deploy.application()))
        .limit(MAX_DEPLOYS)
        .toList();
  }

  private synchronized List<Deploy> all() {
    String tag = tag();
    if (!tag.equals(kept.tag)) {
      kept = new Kept(tag, isUpToDate() ? compute() : List.of());
    }
    return kept.deploys;
  }

  private List<Deploy> compute() {
    List<Deploy> deploys = new ArrayList<>();
    long now = slot(clock.millis());
    applications.forEach((name, versions) -> {
      if (versions.size() > 1) {
        Timeline timeline = new Timeline(name, now - OPEN);
        versions.forEach((version, its) -> timeline.add(version, slots(its, timeline)));
        deploys.addAll(timeline.deploys());
      }
    });
    deploys.sort(
        Comparator.comparingLong(Deploy::fromMillis)
            .reversed()
            .thenComparing(Deploy::application)
            .thenComparing(Deploy::version));
    return List.copyOf(deploys);
  }

  private Map<Operation, long[][]> slots(
      Map<Operation, VersionCalls> operations, Timeline timeline) {
    Map<Operation, long[][]> slots = new HashMap<>();
    operations.forEach((operation, calls) -> {
      long[][] its = new long[Timeline.SLOTS][];
      columns.read(
          calls.slots,
          timeline.first(),
          timeline.last(),
          (slot, values) -> its[(int) (slot - timeline.first())] = values.clone());
      slots.put(operation, its);
    });
    return slots;
  }

  /** Returns whether the newest windows of each queue were received. */
  boolean isUpToDate() {
    return upToDate.getAsBoolean();
  }

  /** Returns a tag that changes whenever deploys do: with each slot. Letters, digits and dashes. */
  String tag() {
    return process + "-" + slot(clock.millis()) + "-" + (isUpToDate() ? 1 : 0);
  }

  /** Returns the number of operations of versions in memory. */
  synchronized int operations() {
    return operations;
  }

  /** Returns the rows of windows that were left out, because of a limit. */
  synchronized long leftOut() {
    return leftOut;
  }
}
