package org.traceetl.perf.bench.load;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.traceetl.proto.BatchAges;
import org.traceetl.proto.SpanBatchReader;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.consume.queue.FilledWindow;
import org.traceetl.server.consume.queue.QueueAggregator;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;

/**
 * Performs the work of one server worker, without RocketMQ. It records batches in the windows of
 * several queues. After a number of spans, it swaps, seals and returns all windows on the same
 * thread. It repeats the batches under new names, so that none counts as a duplicate.
 */
public final class RecordLoad {
  private static final long WINDOW_MILLIS = 1_000;
  private static final long PANE_MILLIS = 15_000;

  private final List<RenamedBatch> batches = new ArrayList<>();
  private final List<QueueAggregator> queueOf = new ArrayList<>();
  private final List<QueueAggregator> queues = new ArrayList<>();
  private final int[] spansOf;
  private final int spansPerWindow;
  private final int panes;
  private final BatchAges noAges = new BatchAges();
  private int next;
  private int owed;
  private int spansInWindow;
  private long nowMillis = 1_790_000_000_000L;
  private long sequence;
  private long offset;

  /**
   * @param messages the batches
   * @param dimensions of the series
   * @param histogram the kind of buckets
   * @param queues over which the batches are distributed in turn
   * @param spansPerWindow spans after which all windows are swapped
   * @param panes over which the batches of each queue are distributed in turn; 0: windows do not
   *     keep panes
   */
  public RecordLoad(
      List<byte[]> messages,
      List<SeriesConfig.Dimension> dimensions,
      HistogramConfig.Kind histogram,
      int queues,
      int spansPerWindow,
      int panes) {
    this.spansPerWindow = spansPerWindow;
    this.panes = panes;
    Aggregation aggregation =
        Aggregation.builder(() -> 1)
            .series(
                new SeriesConfig(
                    dimensions,
                    null,
                    10_000_000,
                    10_000_000,
                    1_000_000,
                    10_000_000,
                    4L << 30,
                    null,
                    null))
            .histogram(new HistogramConfig(null, histogram, null))
            .window(
                new WindowConfig(Duration.ofSeconds(15), Duration.ofMinutes(15), null, null, null))
            .unit(MetricsConfig.defaults().unit())
            .build();
    aggregation.panes(panes > 0);
    BatchDecoder decoder = aggregation.newDecoder();
    for (int queue = 0; queue < queues; queue++) {
      QueueAggregator aggregator =
          aggregation.newAggregator(
              new QueueId("broker", queue), decoder, new SpanPipelineMetrics());
      aggregator.beginAt(0);
      this.queues.add(aggregator);
    }
    SpanBatchReader reader = new SpanBatchReader();
    spansOf = new int[messages.size()];
    for (byte[] message : messages) {
      queueOf.add(this.queues.get(batches.size() % queues));
      reader.wrap(message, 0, message.length);
      spansOf[batches.size()] = reader.spanCount();
      batches.add(new RenamedBatch(message));
    }
  }

  /** Records whole batches of this many spans; surplus spans are subtracted from the next call. */
  public void record(int spans) {
    owed += spans;
    while (owed > 0) {
      long pane = panes == 0 ? 0 : next / queues.size() % panes;
      queueOf
          .get(next)
          .accept(
              batches.get(next).named(sequence++),
              nowMillis,
              nowMillis - pane * PANE_MILLIS,
              noAges);
      owed -= spansOf[next];
      spansInWindow += spansOf[next];
      next = (next + 1) % spansOf.length;
    }
    if (spansInWindow >= spansPerWindow) {
      swap();
      spansInWindow = 0;
    }
  }

  private void swap() {
    nowMillis += WINDOW_MILLIS;
    offset++;
    long recorded = 0;
    for (QueueAggregator queue : queues) {
      FilledWindow filled = queue.swap(offset, nowMillis);
      recorded += filled.seal().books().stream().mapToLong(Books::recorded).sum();
      filled.giveBack();
    }
    if (recorded != spansInWindow) {
      throw new IllegalStateException(
          "of " + spansInWindow + " spans in the windows " + recorded + " were recorded");
    }
  }
}
