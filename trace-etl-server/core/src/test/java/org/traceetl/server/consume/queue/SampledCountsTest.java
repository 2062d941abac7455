package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.minutes.CountBounds;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;

/**
 * Counts sampled spans in many simulated minutes, and checks how often the true number of calls is
 * within the bounds. Property {@code traceetl.sampled.runs} sets the number of minutes, {@code
 * traceetl.sampled.seed} repeats a run.
 */
class SampledCountsTest {
  private static final int RUNS = Integer.getInteger("traceetl.sampled.runs", 1_000);
  private static final int RUNS_OF_OWNER = 50;
  private static final int[] WEIGHTS = {2, 4, 10, 100};

  /** Traces of a minute, on a logarithmic scale. */
  private static final int MOST_TRACES = 2_000;

  /** Traces of the rest of the hour, which tells the variance of a call. */
  private static final int MOST_TRACES_OF_HOUR = 3_000;

  private static final int MINUTES = 60;

  /** How spans of a series are spread over traces. */
  private enum Traces {
    ONE_SPAN,
    ONE_TO_FIVE_SPANS,
    FIVE_SPANS,
    FIVE_SPANS_IN_GROUPS
  }

  /** Minutes in which the true count was within the bounds, and all. */
  private static final class Share {
    private int within;
    private int all;

    private void add(boolean isWithin) {
      within += isWithin ? 1 : 0;
      all++;
    }

    double percent() {
      return 100.0 * within / all;
    }

    @Override
    public String toString() {
      return String.format("%.1f %% of %d", percent(), all);
    }
  }

  private final long seed = Long.getLong("traceetl.sampled.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final Map<Traces, Share> shares = new TreeMap<>();
  private final Map<Traces, Map<Long, Share>> sharesByCount = new TreeMap<>();
  private QueueAggregator owner;
  private long offset;
  private final Map<Integer, SeriesDefinition> definitions = new HashMap<>();

  private void begin() {
    Aggregation aggregation =
        Aggregation.builder(() -> 1)
            .series(SeriesConfig.defaults())
            .histogram(new HistogramConfig(List.of(10.0)))
            .build();
    aggregation.variances(true);
    owner =
        aggregation.newAggregator(
            new QueueId("b", 0), aggregation.newDecoder(), new SpanPipelineMetrics());
    owner.beginAt(0);
    offset = 0;
    definitions.clear();
  }

  /** Lets an agent send the sampled spans of some traces; returns the number of all spans. */
  private long count(String name, int traces, int weight, Traces how) {
    long threshold = (1L << 56) - (1L << 56) / weight;
    BatchMessage batch = new BatchMessage("shop");
    long all = 0;
    for (int trace = 1; trace <= traces; trace++) {
      int spans =
          switch (how) {
            case ONE_SPAN -> 1;
            case ONE_TO_FIVE_SPANS -> 1 + random.nextInt(5);
            case FIVE_SPANS, FIVE_SPANS_IN_GROUPS -> 5;
          };
      all += spans;
      if (random.nextLong(1L << 56) < threshold) {
        continue;
      }
      batch.trace(trace);
      for (int i = 0; i < spans; i++) {
        if (how == Traces.FIVE_SPANS_IN_GROUPS) {
          batch.grouped(name, BatchMessage.CLIENT, BatchMessage.UNSET, 5, threshold);
        } else {
          batch.span(name, BatchMessage.CLIENT, BatchMessage.UNSET, 5, threshold);
        }
      }
    }
    owner.accept(batch.message(offset++), 1_000);
    return all;
  }

  /** Adds the counts of a window to those of spans and to those of variances, by name. */
  private void seal(Map<String, Long> counts, Map<String, Long> variances) {
    SealedWindow window = SealedWindows.seal(owner, offset, 1_000);
    window.created().forEach(definition -> definitions.put(definition.series(), definition));
    for (int row = 0; row < window.rows(); row++) {
      SeriesDefinition definition = definitions.get(window.series()[row]);
      long count = 0;
      for (int i = row * window.stride(); i < (row + 1) * window.stride(); i++) {
        count += window.counts()[i];
      }
      (definition.isOfVariance() ? variances : counts)
          .merge(definition.values().get(SeriesDefinition.SPAN_NAME), count, Long::sum);
    }
  }

  /** Returns a name without digits, which a template would join. */
  private static String name(int run) {
    return "" + (char) ('a' + run / 26) + (char) ('a' + run % 26);
  }

  private void run(int runs) {
    begin();
    int[] traces = new int[runs];
    int[] weights = new int[runs];
    Traces[] hows = new Traces[runs];
    Map<String, Long> counts = new HashMap<>();
    Map<String, Long> variances = new HashMap<>();
    for (int run = 0; run < runs; run++) {
      traces[run] = (int) Math.exp(random.nextDouble() * Math.log(MOST_TRACES));
      weights[run] = WEIGHTS[random.nextInt(WEIGHTS.length)];
      hows[run] = Traces.values()[random.nextInt(Traces.values().length)];
      int ofHour = Math.min(traces[run] * (MINUTES - 1), MOST_TRACES_OF_HOUR);
      count(name(run), ofHour, weights[run], hows[run]);
    }
    seal(counts, variances);
    Map<String, Long> countsOfMinute = new HashMap<>();
    Map<String, Long> variancesOfMinute = new HashMap<>();
    long[] truth = new long[runs];
    for (int run = 0; run < runs; run++) {
      truth[run] = count(name(run), traces[run], weights[run], hows[run]);
    }
    seal(countsOfMinute, variancesOfMinute);
    for (int run = 0; run < runs; run++) {
      String name = name(run);
      long count = countsOfMinute.getOrDefault(name, 0L);
      long ofHour = count + counts.getOrDefault(name, 0L);
      if (ofHour == 0) {
        // Without a sampled span in the hour, there is no series.
        continue;
      }
      double variance = variances.getOrDefault(name, 0L) + variancesOfMinute.getOrDefault(name, 0L);
      CountBounds bounds = CountBounds.of(count, variance / ofHour);
      boolean isWithin = bounds.lower() <= truth[run] && truth[run] <= bounds.upper();
      shares.computeIfAbsent(hows[run], how -> new Share()).add(isWithin);
      sharesByCount
          .computeIfAbsent(hows[run], how -> new TreeMap<>())
          .computeIfAbsent(decade(truth[run]), decade -> new Share())
          .add(isWithin);
    }
  }

  /** Returns the largest of 1, 3, 10, 30 and so on that is at most a count. */
  private static long decade(long count) {
    long decade = 1;
    while (decade * 10 <= count) {
      decade *= 10;
    }
    return decade * 3 <= count ? decade * 3 : decade;
  }

  @Test
  void boundsHoldForNineteenOfTwentyMinutes() {
    for (int run = 0; run < RUNS; run += RUNS_OF_OWNER) {
      run(Math.min(RUNS_OF_OWNER, RUNS - run));
    }
    StringBuilder told = new StringBuilder("seed " + seed);
    shares.forEach((how, share) -> {
      told.append("\n").append(how).append(": ").append(share);
      sharesByCount
          .get(how)
          .forEach((decade, each) ->
              told.append("\n  from ").append(decade).append(" calls: ").append(each));
    });
    Share total = new Share();
    shares
        .values()
        .forEach(share -> {
          total.within += share.within;
          total.all += share.all;
        });
    told.append("\nall: ").append(total);
    System.out.println(told);
    // Five standard deviations of a share of 95 % beside the tolerance.
    double tolerance = 1 + 5 * Math.sqrt(95.0 * 5 / total.all);
    assertThat(total.percent()).as(told.toString()).isBetween(95 - tolerance, 95 + tolerance);
  }
}
