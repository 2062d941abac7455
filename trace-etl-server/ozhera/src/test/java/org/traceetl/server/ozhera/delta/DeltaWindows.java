package org.traceetl.server.ozhera.delta;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.traceetl.server.ozhera.SpanType;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;

/** Makes sealed windows of profile ozhera by hand. */
public final class DeltaWindows {
  public static final QueueId QUEUE = new QueueId("broker-a", 3);
  public static final int STRIDE = 14;
  private static final long BEGAN_MILLIS = 1_700_000_000_000L;
  private static final int WINDOW_MILLIS = 15_000;

  /** When windows are sealed, unless they say it themselves. */
  public static final Instant SEALED = Instant.ofEpochMilli(BEGAN_MILLIS + WINDOW_MILLIS);

  private final QueueId queue;
  private final long from;
  private final long to;
  private final List<SeriesDefinition> created = new ArrayList<>();
  private final List<Integer> evicted = new ArrayList<>();
  private final List<Integer> series = new ArrayList<>();
  private final List<long[]> counts = new ArrayList<>();
  private final List<Long> durations = new ArrayList<>();
  private final List<Books> books = new ArrayList<>();
  private Instant sealed = SEALED;
  private long schema;

  private DeltaWindows(QueueId queue, long from, long to) {
    this.queue = queue;
    this.from = from;
    this.to = to;
  }

  public static DeltaWindows of(QueueId queue, long from, long to) {
    return new DeltaWindows(queue, from, to);
  }

  /**
   * @param dimensions server IP, environment, its ID, target, detail, error code
   */
  static SeriesDefinition definition(
      int number,
      SpanType type,
      int outcome,
      String application,
      String name,
      String... dimensions) {
    String[] values = new String[10];
    values[0] = application;
    values[1] = name;
    values[2] = Integer.toString(type.number());
    values[3] = Integer.toString(outcome);
    System.arraycopy(dimensions, 0, values, 4, dimensions.length);
    return new SeriesDefinition(number, BEGAN_MILLIS, false, Arrays.asList(values));
  }

  static SeriesDefinition overflow(int number, SpanType type, int outcome, String application) {
    SeriesDefinition plain = definition(number, type, outcome, application, null);
    return new SeriesDefinition(number, BEGAN_MILLIS, true, plain.values());
  }

  public DeltaWindows create(
      int number,
      SpanType type,
      int outcome,
      String application,
      String name,
      String... dimensions) {
    return create(definition(number, type, outcome, application, name, dimensions));
  }

  DeltaWindows create(SeriesDefinition definition) {
    created.add(definition);
    return this;
  }

  public DeltaWindows row(int number, long durationNanos, long... buckets) {
    series.add(number);
    durations.add(durationNanos);
    counts.add(Arrays.copyOf(buckets, STRIDE));
    return this;
  }

  DeltaWindows evict(int number) {
    evicted.add(number);
    return this;
  }

  public DeltaWindows books(String application, long received, long duplicate) {
    books.add(new Books(application, received, received - duplicate, 0, 0, duplicate, Map.of(), 0));
    return this;
  }

  DeltaWindows at(Instant when) {
    sealed = when;
    return this;
  }

  DeltaWindows schema(long other) {
    schema = other;
    return this;
  }

  public SealedWindow seal() {
    int rows = series.size();
    int[] exemplars = new int[rows];
    Arrays.fill(exemplars, -1);
    return new SealedWindow(
        queue,
        from,
        to,
        sealed.toEpochMilli() - WINDOW_MILLIS,
        sealed.toEpochMilli(),
        List.copyOf(created),
        evicted.stream().mapToInt(i -> i).toArray(),
        rows,
        STRIDE,
        series.stream().mapToInt(i -> i).toArray(),
        counts.stream().flatMapToLong(Arrays::stream).toArray(),
        durations.stream().mapToLong(i -> i).toArray(),
        exemplars,
        new int[rows],
        List.of(),
        List.copyOf(books),
        schema,
        new long[rows],
        AcceptedBatches.NONE,
        NativeCounts.NONE,
        WindowPanes.NONE,
        WindowCompleteness.NONE,
        SealedWindow.UNKNOWN_CLOSED,
        false,
        EdgeChange.NONE);
  }
}
