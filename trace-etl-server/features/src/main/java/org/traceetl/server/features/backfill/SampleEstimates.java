package org.traceetl.server.features.backfill;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.math.LongMath;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.common.message.MessageExt;
import org.traceetl.server.consume.queue.RetainedQueue;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.minutes.CountBounds;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowPanes;

/**
 * Estimates, by series, the spans of which agents did not send a dimension: from their sample,
 * whose spans have all attributes. Sampled spans count by their weight, and their variance as in
 * servers. Only series that are among the first ones are estimated, so that memory is bounded in a
 * range in which many series begin and end. For one thread at a time.
 */
final class SampleEstimates {
  /** Spans of a series that were counted, those that are estimated, and their variance. */
  private static final class Sums {
    private long exact;
    private long estimated;
    private long variance;
  }

  private final SpanNaming naming;
  private final long sinceMillis;
  private final long untilMillis;
  private final int maxSeries;
  private final Map<String, Sums> byLabels = new HashMap<>();

  /**
   * @param sinceMillis begin of the first pane that counts, milliseconds since 1970
   * @param untilMillis end of the last one
   * @param maxSeries maximum number of series, each about 500 bytes
   */
  SampleEstimates(SpanNaming naming, long sinceMillis, long untilMillis, int maxSeries) {
    this.naming = naming;
    this.sinceMillis = sinceMillis;
    this.untilMillis = untilMillis;
    this.maxSeries = maxSeries;
  }

  /** Adds the counts of a pane. */
  void addExact(Map<SeriesKey, Totals> pane) {
    pane.forEach((key, totals) -> {
      if (key.isOfSpans() && !key.lacksDimension()) {
        sums(new String(key.labels(), UTF_8)).exact += totals.spans(naming.buckets());
      }
    });
  }

  /** Returns the sums of a series; those that are left out get one that is forgotten. */
  private Sums sums(String labels) {
    Sums known = byLabels.get(labels);
    if (known != null || byLabels.size() >= maxSeries) {
      return known == null ? new Sums() : known;
    }
    Sums added = new Sums();
    byLabels.put(labels, added);
    return added;
  }

  /** Returns the estimates of series with sampled spans, the largest first. */
  List<BackfillResult.Estimate> estimates() {
    return byLabels.entrySet().stream()
        .filter(entry -> entry.getValue().estimated > 0)
        .map(entry -> estimate(entry.getKey(), entry.getValue()))
        .sorted(
            Comparator.comparingLong(BackfillResult.Estimate::estimated)
                .reversed()
                .thenComparing(BackfillResult.Estimate::labels))
        .toList();
  }

  private static BackfillResult.Estimate estimate(String labels, Sums of) {
    CountBounds bounds = CountBounds.of(of.estimated, (double) of.variance / of.estimated);
    return new BackfillResult.Estimate(
        labels,
        of.exact,
        of.estimated,
        bounds == null ? of.estimated : bounds.lower(),
        bounds == null ? of.estimated : bounds.upper());
  }

  /** The sample of one queue. */
  final class Queue {
    private final RetainedQueue sample;

    /** By number of the series; null for one that counts no spans. */
    private String[] labels = new String[64];

    private boolean[] isVariance = new boolean[labels.length];

    /**
     * @param sample made by {@link RetainedQueue#ofSample}
     */
    Queue(RetainedQueue sample) {
      this.sample = sample;
    }

    /** Takes the next message with spans of which a dimension was not sent. */
    void take(MessageExt message) {
      add(sample.take(message));
    }

    /** Adds the last window. */
    void end() {
      add(sample.end());
    }

    private void add(SealedWindow window) {
      if (window == null) {
        return;
      }
      window.created().forEach(this::create);
      WindowPanes panes = window.panes();
      panes.others().forEach(pane -> add(window, pane));
      if (window.rows() > 0) {
        add(window, panes.main(window));
      }
    }

    private void create(SeriesDefinition definition) {
      int series = definition.series();
      if (series >= labels.length) {
        labels = Arrays.copyOf(labels, Math.max(series + 1, 2 * labels.length));
        isVariance = Arrays.copyOf(isVariance, labels.length);
      }
      isVariance[series] = definition.isOfVariance();
      labels[series] =
          definition.isOfSpans() || isVariance[series]
              ? new String(naming.labels(definition, null), UTF_8)
              : null;
    }

    private void add(SealedWindow window, WindowPanes.Pane pane) {
      if (pane.startMillis() < sinceMillis || pane.startMillis() >= untilMillis) {
        return;
      }
      for (int row = 0; row < pane.rows().length; row++) {
        int series = window.series()[pane.rows()[row]];
        if (labels[series] == null) {
          continue;
        }
        int at = row * window.stride();
        long count = Arrays.stream(pane.counts(), at, at + window.buckets()).sum();
        Sums sums = sums(labels[series]);
        if (isVariance[series]) {
          sums.variance = LongMath.saturatedAdd(sums.variance, count);
        } else {
          sums.estimated += count;
        }
      }
    }
  }
}
