package org.traceetl.perf.bench;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.traceetl.perf.bench.load.OtlpSender;
import org.traceetl.perf.bench.load.SeriesLoad;

/** Changes each series once a pane, in its first half, so that the spans' pane is known. */
final class PaneLoad implements AutoCloseable {
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(30);

  private final SeriesLoad series;
  private final OtlpSender sender;
  private final long paneMillis;
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final SentPanes sent;
  private Future<?> sending;

  /**
   * @param sender is closed with the load
   */
  PaneLoad(SeriesLoad series, OtlpSender sender, Duration pane) {
    this.series = series;
    this.sender = sender;
    paneMillis = pane.toMillis();
    sent = new SentPanes(pane);
  }

  /** Begins in the next pane. */
  void start() {
    long firstMillis = paneMillis + paneMillis / 4 - System.currentTimeMillis() % paneMillis;
    sending = timer.scheduleAtFixedRate(this::send, firstMillis, paneMillis, TimeUnit.MILLISECONDS);
  }

  /** Ends after the spans of the current pane. */
  void stop() throws IOException, InterruptedException {
    check();
    sending.cancel(false);
    timer.shutdown();
    if (!timer.awaitTermination(ANSWER_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new IOException("the last spans were not answered in time");
    }
  }

  /**
   * Sleeps until three quarters of a later pane are over: the samples of the pane before are then
   * sent.
   *
   * @throws IOException if spans were refused meanwhile
   */
  void sleep(int panes) throws IOException, InterruptedException {
    long now = System.currentTimeMillis();
    long end = (now / paneMillis + panes) * paneMillis + paneMillis * 3 / 4;
    Thread.sleep(Math.max(0, end - now));
    check();
  }

  private void check() throws IOException, InterruptedException {
    if (sending.isDone() && !sending.isCancelled()) {
      try {
        sending.get();
      } catch (ExecutionException e) {
        throw new IOException("the load ended early", e.getCause());
      }
    }
  }

  private void send() {
    long beginMillis = System.currentTimeMillis();
    List<SeriesLoad.Request> requests = series.next(beginMillis);
    CountDownLatch answered = new CountDownLatch(requests.size());
    AtomicReference<String> refusal = new AtomicReference<>();
    long spans = 0;
    for (SeriesLoad.Request request : requests) {
      spans += request.spans();
      sender.send(
          request.bytes(),
          answer -> {
            if (answer != null) {
              refusal.set(answer);
            }
            answered.countDown();
          });
    }
    try {
      if (!answered.await(ANSWER_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
        refusal.set("no answer within " + ANSWER_LIMIT);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    if (refusal.get() != null) {
      throw new IllegalStateException("the agent did not accept spans: " + refusal.get());
    }
    sent.add(beginMillis, System.currentTimeMillis(), spans);
  }

  /** Returns what was accepted so far. */
  SentPanes sent() {
    return sent;
  }

  @Override
  public void close() {
    timer.shutdownNow();
    sender.close();
  }
}
