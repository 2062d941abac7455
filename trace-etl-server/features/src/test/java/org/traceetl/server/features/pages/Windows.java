package org.traceetl.server.features.pages;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;

/** Makes sealed windows by hand. */
final class Windows {
  static final QueueId QUEUE = new QueueId("broker-a", 3);
  static final long CREATED_MILLIS = 1_700_000_000_123L;

  private final QueueId queue;
  private final int stride;
  private final List<SeriesDefinition> created = new ArrayList<>();
  private final List<Integer> evicted = new ArrayList<>();
  private final List<Integer> series = new ArrayList<>();
  private final List<long[]> counts = new ArrayList<>();
  private final List<Long> durations = new ArrayList<>();
  private final List<Integer> exemplars = new ArrayList<>();
  private final List<Integer> exemplarBuckets = new ArrayList<>();
  private final List<TraceDocument> documents = new ArrayList<>();
  private final List<Map<Integer, Long>> natives = new ArrayList<>();
  private long afterMillis;
  private boolean hasSizes;

  private Windows(QueueId queue, int stride) {
    this.queue = queue;
    this.stride = stride;
  }

  static Windows of(QueueId queue, int stride) {
    return new Windows(queue, stride);
  }

  static SeriesDefinition definition(int series, String... values) {
    return new SeriesDefinition(series, CREATED_MILLIS, false, Arrays.asList(values));
  }

  static SeriesDefinition overflow(int series, String application) {
    return new SeriesDefinition(
        series, CREATED_MILLIS, true, Arrays.asList(application, null, null, null));
  }

  Windows create(int number, String... values) {
    return create(definition(number, values));
  }

  Windows create(SeriesDefinition definition) {
    created.add(definition);
    return this;
  }

  Windows row(int number, long durationNanos, long... buckets) {
    series.add(number);
    durations.add(durationNanos);
    counts.add(Arrays.copyOf(buckets, stride));
    exemplars.add(-1);
    exemplarBuckets.add(0);
    natives.add(Map.of());
    return this;
  }

  /** Makes the last number of each row the size of its spans. */
  Windows sizes() {
    hasSizes = true;
    return this;
  }

  /** Gives the last row native buckets, by their number. */
  Windows natives(Map<Integer, Long> buckets) {
    natives.set(natives.size() - 1, buckets);
    return this;
  }

  /** Gives the last row an exemplar. */
  Windows exemplar(int bucket, String traceId, String spanId, long durationNanos) {
    return exemplar(bucket, traceId, spanId, 1_700_000_001_000_000_000L, durationNanos);
  }

  Windows exemplar(
      int bucket, String traceId, String spanId, long startUnixNanos, long durationNanos) {
    exemplars.set(exemplars.size() - 1, documents.size());
    exemplarBuckets.set(exemplarBuckets.size() - 1, bucket);
    documents.add(
        new TraceDocument(
            traceId,
            spanId,
            "application",
            "operation",
            2,
            0,
            null,
            startUnixNanos,
            durationNanos,
            TraceDocument.Reason.EXEMPLAR,
            Map.of()));
    return this;
  }

  Windows evict(int number) {
    evicted.add(number);
    return this;
  }

  /** Moves the window by that much. */
  Windows after(long millis) {
    afterMillis = millis;
    return this;
  }

  private NativeCounts natives() {
    NativeCounts.Builder built = new NativeCounts.Builder(natives.size());
    for (Map<Integer, Long> row : natives) {
      new TreeMap<>(row).forEach(built::add);
      built.endRow();
    }
    return built.build();
  }

  SealedWindow seal() {
    return new SealedWindow(
        queue,
        0,
        1,
        CREATED_MILLIS + afterMillis,
        CREATED_MILLIS + afterMillis + 15_000,
        List.copyOf(created),
        evicted.stream().mapToInt(i -> i).toArray(),
        series.size(),
        stride,
        series.stream().mapToInt(i -> i).toArray(),
        counts.stream().flatMapToLong(Arrays::stream).toArray(),
        durations.stream().mapToLong(i -> i).toArray(),
        exemplars.stream().mapToInt(i -> i).toArray(),
        exemplarBuckets.stream().mapToInt(i -> i).toArray(),
        List.copyOf(documents),
        List.of(),
        0,
        new long[series.size()],
        AcceptedBatches.NONE,
        natives(),
        WindowPanes.NONE,
        WindowCompleteness.NONE,
        SealedWindow.UNKNOWN_CLOSED,
        hasSizes,
        EdgeChange.NONE);
  }
}
