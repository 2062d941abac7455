package org.traceetl.server.telemetry;

import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowPanes;

/**
 * Counts by application the spans of owned queues whose pane an earlier window had closed. Of more
 * than {@link #MAX_APPLICATIONS}, the one without late spans for longest is removed. Thread-safe.
 */
public final class LateSpans implements WindowFollower {
  static final int MAX_APPLICATIONS = 10_000;

  private final boolean countsEvents;
  private final Map<QueueId, Queue> queues = new HashMap<>();

  /** Least recently counted first. */
  private final Map<String, Long> late = new LinkedHashMap<>(16, 0.75f, true);

  /**
   * @param countsEvents whether some series count events of spans or are of measures, which are
   *     left out
   */
  public LateSpans(boolean countsEvents) {
    this.countsEvents = countsEvents;
  }

  /** Registers the counter. */
  public void register(MetricRegistry registry) {
    registry.counter(
        "trace_etl_late_spans_total",
        "Spans that were counted after their pane was closed.",
        "application",
        this::counts);
  }

  private synchronized Map<String, Long> counts() {
    return Map.copyOf(late);
  }

  @Override
  public synchronized void restored(QueueId queue, QueueImage image, long showFromNanos) {
    Queue owned = new Queue(image.closedMillis());
    for (int series = 0; series < image.slots(); series++) {
      if (image.definition(series) != null) {
        owned.create(image.definition(series));
      }
    }
    queues.put(queue, owned);
  }

  @Override
  public synchronized void window(SealedWindow window) {
    queues
        .computeIfAbsent(window.queue(), queue -> new Queue(SealedWindow.UNKNOWN_CLOSED))
        .add(window);
  }

  @Override
  public synchronized void released(QueueId queue) {
    queues.remove(queue);
  }

  private void count(String application, long spans) {
    late.merge(application, spans, Long::sum);
    if (late.size() > MAX_APPLICATIONS) {
      Set<String> applications = late.keySet();
      applications.remove(applications.iterator().next());
    }
  }

  private final class Queue {
    private long closedMillis;

    /** By series; null for none and for series of events and measures. */
    private String[] applications = new String[64];

    Queue(long closedMillis) {
      this.closedMillis = closedMillis;
    }

    void create(SeriesDefinition definition) {
      int series = definition.series();
      if (series >= applications.length) {
        applications = Arrays.copyOf(applications, Math.max(series + 1, 2 * applications.length));
      }
      applications[series] =
          countsEvents && !definition.isOfSpans() ? null : definition.values().getFirst();
    }

    void add(SealedWindow window) {
      window.created().forEach(this::create);
      WindowPanes panes = window.panes();
      for (WindowPanes.Pane pane : panes.others()) {
        countIfLate(pane, window);
      }
      // The main pane is only copied out of the window if it is late.
      if (!panes.isEmpty() && panes.mainMillis() + panes.lengthMillis() <= closedMillis) {
        countIfLate(panes.main(window), window);
      }
      closedMillis = Math.max(closedMillis, window.closedMillis());
    }

    private void countIfLate(WindowPanes.Pane pane, SealedWindow window) {
      if (pane.startMillis() + window.panes().lengthMillis() > closedMillis) {
        return;
      }
      int stride = window.stride();
      for (int i = 0; i < pane.rows().length; i++) {
        int series = window.series()[pane.rows()[i]];
        if (series >= applications.length || applications[series] == null) {
          continue;
        }
        long spans = 0;
        for (int bucket = i * stride; bucket < i * stride + window.buckets(); bucket++) {
          spans += pane.counts()[bucket];
        }
        count(applications[series], spans);
      }
    }
  }
}
