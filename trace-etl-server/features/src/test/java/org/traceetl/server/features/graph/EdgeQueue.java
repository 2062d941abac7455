package org.traceetl.server.features.graph;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.traceetl.server.edge.EdgeMeasure;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;

/** Makes the windows of a queue of half-edges by hand. */
final class EdgeQueue {
  static final long PANE_MILLIS = 15_000;

  private final QueueId queue;
  private final long schema;
  private final int stride;

  /** By values: the number of a live series. */
  private final Map<List<String>, Integer> numbers = new HashMap<>();

  private final List<SeriesDefinition> created = new ArrayList<>();

  /** How many of them earlier windows created. */
  private int known;

  /** Of the open window, by series. */
  private final Map<Integer, long[]> rows = new LinkedHashMap<>();

  private int[] evicted = {};
  private long offset;
  private List<String> dimensions = List.of();

  EdgeQueue(QueueId queue, long schema, int stride) {
    this.queue = queue;
    this.schema = schema;
    this.stride = stride;
  }

  /** Sets the values of dimensions of the client, then of the server, of the next series. */
  EdgeQueue with(String... values) {
    dimensions = Arrays.asList(values);
    return this;
  }

  /**
   * Adds requests to a series.
   *
   * @param server null for the overflow series of the client
   * @param type null for a call
   * @param counts by bucket; missing ones are 0
   */
  EdgeQueue count(String client, String server, String type, EdgeMeasure measure, long... counts) {
    String kind = Integer.toString(measure.kind());
    List<String> values = new ArrayList<>(Arrays.asList(client, server, kind, "0", type));
    values.addAll(dimensions);
    rows.put(numbers.computeIfAbsent(values, this::create), Arrays.copyOf(counts, stride));
    return this;
  }

  private int create(List<String> values) {
    int number = created.size();
    boolean overflow = values.get(SeriesDefinition.SPAN_NAME) == null;
    created.add(new SeriesDefinition(number, 1, overflow, values));
    return number;
  }

  /** Adds calls with a duration in the second bucket at the client, in the first at the server. */
  EdgeQueue call(String client, String server, long requests, long failed) {
    if (failed > 0) {
      count(client, server, null, EdgeMeasure.FAILED, failed);
    }
    return count(client, server, null, EdgeMeasure.REQUESTS, requests)
        .count(client, server, null, EdgeMeasure.CLIENT, 0, requests)
        .count(client, server, null, EdgeMeasure.SERVER, requests)
        .count(client, server, null, EdgeMeasure.LATENCY, 0, requests);
  }

  /** Adds requests of callers that send no spans, with a duration in the last bucket. */
  EdgeQueue ofUser(String server, long requests) {
    return count("user", server, "virtual_node", EdgeMeasure.REQUESTS, requests)
        .count("user", server, "virtual_node", EdgeMeasure.SERVER, 0, 0, requests);
  }

  /** Adds requests to a server that sends no spans, with a duration in the second bucket. */
  EdgeQueue toNode(String client, String server, String type, long requests) {
    return count(client, server, type, EdgeMeasure.REQUESTS, requests)
        .count(client, server, type, EdgeMeasure.CLIENT, 0, requests);
  }

  /** Ends all series with the open window. */
  EdgeQueue evictAll() {
    evicted = IntStream.range(0, created.size()).toArray();
    numbers.clear();
    return this;
  }

  /** Ends the window: all is in the pane that begins then. */
  SealedWindow seal(long paneMillis) {
    return seal(paneMillis, paneMillis);
  }

  /**
   * Ends the window: half of each number is in an earlier pane, unless both are the same.
   *
   * @param openedMillis when the window opens; its main pane begins then
   */
  SealedWindow seal(long earlierMillis, long openedMillis) {
    int size = rows.size();
    long[] counts = rows.values().stream().flatMapToLong(Arrays::stream).toArray();
    List<WindowPanes.Pane> others =
        earlierMillis == openedMillis
            ? List.of()
            : List.of(
                new WindowPanes.Pane(
                    earlierMillis,
                    IntStream.range(0, size).toArray(),
                    Arrays.stream(counts).map(count -> count / 2).toArray(),
                    new long[size],
                    NativeCounts.NONE));
    int[] noExemplars = new int[size];
    Arrays.fill(noExemplars, -1);
    SealedWindow window =
        new SealedWindow(
            queue,
            offset,
            offset + 1,
            openedMillis,
            openedMillis + PANE_MILLIS,
            List.copyOf(created.subList(known, created.size())),
            evicted,
            size,
            stride,
            rows.keySet().stream().mapToInt(i -> i).toArray(),
            counts,
            new long[size],
            noExemplars,
            new int[size],
            List.of(),
            List.of(),
            schema,
            new long[size],
            AcceptedBatches.NONE,
            NativeCounts.NONE,
            new WindowPanes(PANE_MILLIS, openedMillis, 0, others),
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
