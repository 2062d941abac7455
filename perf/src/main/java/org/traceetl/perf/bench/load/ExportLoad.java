package org.traceetl.perf.bench.load;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/** Sends requests of {@link SpanStream} as fast as they are answered, each with a new identity. */
public final class ExportLoad {
  /**
   * The requests sent.
   *
   * @param requests accepted requests
   * @param spans in accepted requests
   * @param bytes of accepted requests
   * @param refused requests that were refused; their spans do not count
   * @param refusal why the last of these was refused, or empty
   */
  public record Sent(long requests, long spans, long bytes, long refused, String refusal) {}

  /** Applications of the realistic requests. */
  static final int APPLICATIONS = 30;

  private final int mostUnanswered;
  private final BlockingQueue<RenumberedExport> unused;

  /** The number of requests. */
  private final int cycle;

  private final boolean linked;
  private final AtomicLong number = new AtomicLong();

  /**
   * @param requests more than {@code mostUnanswered}
   * @param mostUnanswered maximum requests under way
   */
  public ExportLoad(Collection<RenumberedExport> requests, int mostUnanswered) {
    this(requests, mostUnanswered, false);
  }

  private ExportLoad(Collection<RenumberedExport> requests, int mostUnanswered, boolean linked) {
    this.mostUnanswered = mostUnanswered;
    this.linked = linked;
    cycle = requests.size();
    unused = new ArrayBlockingQueue<>(cycle, false, requests);
  }

  /**
   * Returns a load of requests whose spans call each other. It sends all of them before it repeats
   * one, and ends when each was sent equally often.
   */
  public static ExportLoad linked(LinkedExports requests, int mostUnanswered) {
    return new ExportLoad(requests.exports(), mostUnanswered, true);
  }

  /** Returns requests of 30 applications with 50 operations each, of 256 to 1,024 spans. */
  public static List<RenumberedExport> realisticRequests(int count) {
    return realisticRequests(count, SpanStream.FAILED_PERCENT);
  }

  /** Returns the same requests with another share of failed spans, in percent. */
  public static List<RenumberedExport> realisticRequests(int count, int failedPercent) {
    return realistic(count, failedPercent).stream().map(RenumberedExport::new).toList();
  }

  static List<byte[]> realistic(int count, int failedPercent) {
    OtlpExport export = new OtlpExport();
    return new SpanStream(7, APPLICATIONS, 50, SpanStream.ATTRIBUTES, failedPercent)
        .batches(count, 256, 1_024).stream().map(export::of).toList();
  }

  /** Returns a load of these requests that closes the sender at its end. */
  public Load to(OtlpSender sender) {
    return new Load() {
      @Override
      public Sent send(long nanos, double spansPerSecond) throws InterruptedException {
        return ExportLoad.this.send(sender, nanos, spansPerSecond);
      }

      @Override
      public void close() {
        sender.close();
      }
    };
  }

  /**
   * Sends for a duration, or until the end of a cycle if the requests are linked, and waits for the
   * last answer.
   *
   * @param spansPerSecond above 0; the load catches up after slow answers
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
    long n = 0;
    for (long started = 0;
        System.nanoTime() - startNanos < nanos || linked && started % cycle != 0;
        started++) {
      if (!linked) {
        n = number.incrementAndGet();
      } else if (started % cycle == 0) {
        awaitAnswers(unanswered);
        unanswered.release(mostUnanswered);
        n = number.incrementAndGet();
      }
      TimeUnit.NANOSECONDS.sleep((long) dueNanos - (System.nanoTime() - startNanos));
      unanswered.acquire();
      RenumberedExport request = unused.take();
      dueNanos += request.spans() * 1e9 / spansPerSecond;
      sender.send(
          request.numbered(n),
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
    awaitAnswers(unanswered);
    return new Sent(requests.sum(), spans.sum(), bytes.sum(), refused.sum(), lastRefusal.get());
  }

  private void awaitAnswers(Semaphore unanswered) throws InterruptedException {
    if (!unanswered.tryAcquire(mostUnanswered, 60, TimeUnit.SECONDS)) {
      throw new IllegalStateException("requests were not answered within 60 s");
    }
  }
}
