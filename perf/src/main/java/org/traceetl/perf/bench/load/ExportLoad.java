package org.traceetl.perf.bench.load;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/**
 * Sends requests of {@link SpanStream} as fast as they are answered, each as one that was never
 * sent before.
 */
public final class ExportLoad {
  /**
   * What was sent.
   *
   * @param requests taken
   * @param spans in them
   * @param bytes of them
   * @param refused requests that were not taken; none of their spans counts
   * @param refusal why the last of these was not taken, or empty
   */
  public record Sent(long requests, long spans, long bytes, long refused, String refusal) {}

  private final int mostUnanswered;
  private final BlockingQueue<RenumberedExport> unused;
  private final AtomicLong number = new AtomicLong();

  /**
   * @param requests more than are ever unanswered
   * @param mostUnanswered at the same time
   */
  public ExportLoad(Collection<RenumberedExport> requests, int mostUnanswered) {
    this.mostUnanswered = mostUnanswered;
    unused = new ArrayBlockingQueue<>(requests.size(), false, requests);
  }

  /** Requests of 30 applications with 50 operations each, of 256 to 1,024 spans. */
  public static List<RenumberedExport> realisticRequests(int count) {
    OtlpExport export = new OtlpExport();
    List<RenumberedExport> requests = new ArrayList<>(count);
    new SpanStream(7, 30, 50)
        .batches(count, 256, 1_024)
        .forEach(batch -> requests.add(new RenumberedExport(export.of(batch))));
    return requests;
  }

  /** Sends for so long, as fast as it is answered, and waits for the last answer. */
  public Sent send(OtlpSender sender, long nanos) throws InterruptedException {
    return send(sender, nanos, Double.POSITIVE_INFINITY);
  }

  /**
   * Sends for so long and waits for the last answer.
   *
   * @param spansPerSecond above 0; what slow answers delay is made up for
   */
  public Sent send(OtlpSender sender, long nanos, double spansPerSecond)
      throws InterruptedException {
    LongAdder requests = new LongAdder();
    LongAdder spans = new LongAdder();
    LongAdder bytes = new LongAdder();
    LongAdder refused = new LongAdder();
    AtomicReference<String> lastRefusal = new AtomicReference<>("");
    Semaphore unanswered = new Semaphore(mostUnanswered);
    long startNanos = System.nanoTime();
    double dueNanos = 0;
    while (System.nanoTime() - startNanos < nanos) {
      TimeUnit.NANOSECONDS.sleep((long) dueNanos - (System.nanoTime() - startNanos));
      unanswered.acquire();
      RenumberedExport request = unused.take();
      dueNanos += request.spans() * 1e9 / spansPerSecond;
      sender.send(
          request.numbered(number.incrementAndGet()),
          refusal -> {
            if (refusal == null) {
              requests.increment();
              spans.add(request.spans());
              bytes.add(request.bytes());
            } else {
              refused.increment();
              lastRefusal.set(refusal);
            }
            unused.add(request);
            unanswered.release();
          });
    }
    if (!unanswered.tryAcquire(mostUnanswered, 60, TimeUnit.SECONDS)) {
      throw new IllegalStateException("requests were not answered within 60 s");
    }
    return new Sent(requests.sum(), spans.sum(), bytes.sum(), refused.sum(), lastRefusal.get());
  }
}
