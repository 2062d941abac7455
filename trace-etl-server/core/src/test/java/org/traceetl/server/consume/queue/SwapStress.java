package org.traceetl.server.consume.queue;

import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.stream.LongStream;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJJ_Result;
import org.traceetl.proto.BatchAges;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.WindowPanes;

/**
 * The worker records and swaps while the sealer seals and returns windows. Each batch must count in
 * one window, windows must follow one another without a gap, and the last one must end at the
 * queue's end. The second batch must count in its pane, and both others in theirs.
 */
@JCStressTest
@Outcome(id = "3, 3, 3", expect = Expect.ACCEPTABLE, desc = "Each batch in one window.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Counts lost or doubled, or a gap between windows.")
@State
public class SwapStress {
  private static final Aggregation AGGREGATION =
      Aggregation.builder(() -> 1)
          .series(new SeriesConfig(null, null, 10_000_000, null, null, null, null, null, null))
          .histogram(new HistogramConfig(List.of(1.0)))
          .documents(new DocumentsConfig(null, null, null, 0, 0, 0))
          .build();

  static {
    AGGREGATION.panes(true);
  }

  private static final BatchAges AGES = new BatchAges();
  private static final long PANE_MILLIS = 15_000;
  private static final byte[][] MESSAGES = {
    new BatchMessage("shop").span("GET /", 1).message(0),
    new BatchMessage("shop").span("GET /", 1).message(1),
    new BatchMessage("shop").span("GET /", 1).message(2)
  };

  private final QueueAggregator aggregator =
      AGGREGATION.newAggregator(
          new QueueId("broker", 0), AGGREGATION.newDecoder(), new SpanPipelineMetrics());
  private final BlockingQueue<FilledWindow> filled = new ArrayBlockingQueue<>(MESSAGES.length);

  // Owned by the sealer, then by the arbiter.
  private long spans;
  private long recorded;
  private long end;

  public SwapStress() {
    aggregator.beginAt(0);
  }

  @Actor
  public void worker() {
    for (int offset = 0; offset < MESSAGES.length; offset++) {
      aggregator.accept(MESSAGES[offset], 1, offset % 2 * PANE_MILLIS, AGES);
      FilledWindow window = aggregator.swap(offset + 1, 1);
      if (window != null) {
        filled.add(window);
      }
    }
  }

  @Actor
  public void sealer() {
    for (int i = 0; i < MESSAGES.length; i++) {
      sealOne();
    }
  }

  /** Seals the remaining windows after both actors. */
  @Arbiter
  public void rest(JJJ_Result result) {
    while (sealOne()) {
      // Continue sealing.
    }
    FilledWindow last = aggregator.swap(MESSAGES.length, 1);
    if (last != null) {
      filled.add(last);
      sealOne();
    }
    aggregator.release();
    result.r1 = spans;
    result.r2 = recorded;
    result.r3 = end;
  }

  private boolean sealOne() {
    FilledWindow window = filled.poll();
    if (window == null) {
      return false;
    }
    SealedWindow sealed = window.seal();
    for (long count : sealed.counts()) {
      spans += count;
    }
    for (WindowPanes.Pane pane : sealed.panes().others()) {
      // Only the second batch's, because the first pane is the main one of two of equal size.
      boolean isExact =
          pane.startMillis() == PANE_MILLIS && LongStream.of(pane.counts()).sum() == 1;
      spans = isExact ? spans : Long.MIN_VALUE;
    }
    recorded += sealed.books().stream().mapToLong(books -> books.recorded()).sum();
    end = sealed.from() == end ? sealed.to() : -1;
    window.giveBack();
    return true;
  }
}
