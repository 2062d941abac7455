package org.traceetl.server.features.deploys;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;

/** Makes windows of a queue by hand; all rows of a window are in one pane of 15 seconds. */
final class VersionQueue {
  static final long SCHEMA = 7;
  static final int BUCKETS = 3;

  private final QueueId queue;
  private final Map<List<String>, Integer> numbers = new HashMap<>();
  private final List<SeriesDefinition> created = new ArrayList<>();
  private int known;
  private final Map<Integer, long[]> rows = new LinkedHashMap<>();
  private final Map<Integer, Long> nanos = new HashMap<>();
  private int[] evicted = {};
  private final long schema;
  private long offset;

  VersionQueue(int id) {
    this(id, SCHEMA);
  }

  VersionQueue(int id, long schema) {
    queue = new QueueId("broker-a", id);
    this.schema = schema;
  }

  /**
   * Adds calls of a series.
   *
   * @param values of all dimensions: application, name, kind, status, and so on
   * @param micros mean duration
   * @param counts by bucket
   */
  VersionQueue count(List<String> values, long micros, long... counts) {
    int series =
        numbers.computeIfAbsent(
            values,
            absent -> {
              created.add(new SeriesDefinition(created.size(), 1, false, absent));
              return created.size() - 1;
            });
    rows.put(series, Arrays.copyOf(counts, BUCKETS));
    nanos.put(series, micros * 1_000 * Arrays.stream(counts).sum());
    return this;
  }

  /** Adds calls of {@code GET /} of shop with the version as a configured dimension. */
  VersionQueue calls(String version, long micros, long... counts) {
    return count(Arrays.asList("shop", "GET /", "2", "0", version), micros, counts);
  }

  VersionQueue failed(String version, long count) {
    return count(Arrays.asList("shop", "GET /", "2", "2", version), 1, count);
  }

  /** Ends all series with the open window. */
  VersionQueue evictAll() {
    evicted = IntStream.range(0, created.size()).toArray();
    numbers.clear();
    return this;
  }

  SealedWindow seal(long paneMillis) {
    int size = rows.size();
    int[] noExemplars = new int[size];
    Arrays.fill(noExemplars, -1);
    SealedWindow window =
        new SealedWindow(
            queue,
            offset,
            offset + 1,
            paneMillis,
            paneMillis + 15_000,
            List.copyOf(created.subList(known, created.size())),
            evicted,
            size,
            BUCKETS,
            rows.keySet().stream().mapToInt(i -> i).toArray(),
            rows.values().stream().flatMapToLong(Arrays::stream).toArray(),
            rows.keySet().stream().mapToLong(nanos::get).toArray(),
            noExemplars,
            new int[size],
            List.of(),
            List.of(),
            schema,
            new long[size],
            AcceptedBatches.NONE,
            NativeCounts.NONE,
            new WindowPanes(15_000, paneMillis, 0, List.of()),
            WindowCompleteness.NONE,
            SealedWindow.UNKNOWN_CLOSED,
            false,
            EdgeChange.NONE);
    offset++;
    known = created.size();
    rows.clear();
    evicted = new int[0];
    return window;
  }
}
