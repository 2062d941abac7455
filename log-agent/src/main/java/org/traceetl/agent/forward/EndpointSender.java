package org.traceetl.agent.forward;

import java.io.IOException;
import java.io.OutputStream;
import java.net.ConnectException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.ForwardConfig.Compression;
import org.traceetl.agent.config.ForwardConfig.Endpoint;
import org.traceetl.agent.forward.ForwardMetrics.Drop;
import org.traceetl.agent.forward.TraceClient.Answer;
import org.traceetl.common.BackOff;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.Reason;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;

/**
 * Sends the buffer's requests to one endpoint until it accepts them. A few are in flight at the
 * same time, so that a distant endpoint keeps up; after a failure only one, until it is answered. A
 * request that is always answered with a retryable status is dropped with its segment. The position
 * moves over a request when it and all earlier ones are accepted or refused, so a restart sends
 * some of them again, and loses none.
 */
final class EndpointSender implements SteppedTask {
  /** Most requests without an answer. */
  static final int MOST_IN_FLIGHT = 8;

  /** From this on no further request is read, so memory has this and one request. */
  static final int MOST_IN_FLIGHT_BYTES = 1024 * 1024;

  private static final Logger log = LoggerFactory.getLogger(EndpointSender.class);
  private static final long FIRST_RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long MAX_RETRY_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final int CODES_OF_A_CLASS = 100;
  private static final int SUCCESS = 2;

  /** The receiver is overloaded or absent. */
  private static final Set<Integer> RETRIED = Set.of(408, 429, 502, 503, 504);

  /** A request that was read. Its answer is null while it must be sent. */
  private static final class Attempt {
    private final ForwardBuffer.Read<Body> read;
    private CompletableFuture<Answer> answer;
    private boolean settled;

    Attempt(ForwardBuffer.Read<Body> read) {
      this.read = read;
    }
  }

  private final Endpoint endpoint;
  private final ForwardBuffer.Cursor cursor;
  private final TraceClient client;
  private final ForwardMetrics metrics;
  private final Clocks clocks;
  private final BackOff backOff;
  private final LogThrottle failureLog;
  private final LogThrottle refusalLog;
  private final SteppedThread thread;
  private final CountDownLatch idle = new CountDownLatch(1);

  // Null until the agent stops; returns whether the buffer gets no further request.
  private volatile BooleanSupplier draining;
  // Of the oldest request in flight; 0 without one.
  private volatile long oldestMillis;

  // Owned by the thread.
  private final Deque<Attempt> inFlight = new ArrayDeque<>();
  private long bytesInFlight;
  private int failures;
  private boolean isReported;
  private long pausedUntilNanos;

  EndpointSender(
      Endpoint endpoint,
      ForwardBuffer.Cursor cursor,
      TraceClient client,
      ForwardMetrics metrics,
      Clocks clocks,
      RandomGenerator random) {
    this.endpoint = endpoint;
    this.cursor = cursor;
    this.client = client;
    this.metrics = metrics;
    this.clocks = clocks;
    pausedUntilNanos = clocks.nanos();
    backOff = new BackOff(FIRST_RETRY_NANOS, MAX_RETRY_NANOS, random);
    failureLog = new LogThrottle(clocks.nanoClock());
    refusalLog = new LogThrottle(clocks.nanoClock());
    thread =
        SteppedThread.daemon(
            clocks, "forward-" + endpoint.name(), this, new LogThrottle(clocks.nanoClock()));
  }

  void start() {
    thread.start();
  }

  /** Call it after the buffer got a request. Safe for any thread. */
  void wake() {
    thread.wake();
  }

  /** Returns the age of the oldest request that is not accepted; 0 without one. */
  double oldestSeconds() {
    long millis = oldestMillis;
    return millis == 0 ? 0 : Math.max(0, clocks.millis() - millis) / 1_000.0;
  }

  double backlogBytes() {
    return cursor.backlogBytes();
  }

  /**
   * Begins to watch for the moment when all requests are accepted.
   *
   * @param complete returns whether the buffer gets no further request
   * @return open from that moment on
   */
  CountDownLatch drain(BooleanSupplier complete) {
    draining = complete;
    thread.wake();
    return idle;
  }

  /** Ends the thread; requests without an answer stay in the buffer. */
  void close() {
    thread.close();
    client.close();
  }

  @Override
  public long doWork() throws IOException {
    long now = clocks.nanos();
    // Read before the buffer, which gets the last request before this becomes true.
    BooleanSupplier complete = draining;
    boolean isComplete = complete != null && complete.getAsBoolean();
    settle(now);
    if (now - pausedUntilNanos >= 0) {
      sendAgain();
      sendMore();
    }
    oldestMillis = inFlight.isEmpty() ? 0 : inFlight.getFirst().read.request().millis();
    // A request that could not be sent has started a pause.
    if (now - pausedUntilNanos < 0) {
      return pausedUntilNanos - now;
    }
    if (inFlight.isEmpty()) {
      cursor.allDone();
      if (isComplete) {
        idle.countDown();
      }
    }
    return UNTIL_WOKEN;
  }

  @Override
  public void onEnd() throws IOException {
    settle(clocks.nanos());
    cursor.close();
  }

  /** Takes the answers, and moves the position over the oldest settled requests. */
  private void settle(long now) {
    for (Attempt attempt : inFlight) {
      if (!attempt.settled && attempt.answer != null && attempt.answer.isDone()) {
        try {
          settle(attempt, attempt.answer.join(), now);
        } catch (CompletionException e) {
          attempt.answer = null;
          fail(reason(e.getCause()), 0, now);
        }
      }
    }
    removeSettled();
  }

  private void removeSettled() {
    while (!inFlight.isEmpty() && inFlight.getFirst().settled) {
      Attempt attempt = inFlight.removeFirst();
      bytesInFlight -= attempt.read.body().length();
      cursor.done(attempt.read.end());
    }
  }

  private void settle(Attempt attempt, Answer answer, long now) {
    if (RETRIED.contains(answer.status())) {
      attempt.answer = null;
      fail("status " + answer.status(), answer.retryAfterMillis(), now);
      return;
    }
    attempt.settled = true;
    if (now - pausedUntilNanos >= 0) {
      // In a pause another request has just failed, so the endpoint is overloaded.
      failures = 0;
    }
    if (answer.status() / CODES_OF_A_CLASS == SUCCESS) {
      metrics.forwarded(endpoint.name(), attempt.read.request().length(), answer.rejectedSpans());
      if (isReported) {
        isReported = false;
        log.info("Endpoint {} accepts trace requests again", endpoint.name());
      }
      return;
    }
    metrics.dropped(endpoint.name(), Drop.REFUSED, 1);
    if (refusalLog.permits()) {
      log.warn(
          "Endpoint {} at {} refused a trace request, which is dropped: check its url and headers."
              + " status={} answer={}",
          endpoint.name(),
          endpoint.shownUrl(),
          answer.status(),
          answer.text());
    }
  }

  private static String reason(Throwable failure) {
    return switch (failure) {
      // The client's exceptions have no message.
      case ConnectException e -> "cannot connect";
      case TimeoutException e -> "the answer did not end in time";
      default -> Reason.of(failure);
    };
  }

  private void fail(String reason, long retryAfterMillis, long now) {
    metrics.retried(endpoint.name());
    if (now - pausedUntilNanos >= 0) {
      // Requests in flight at the same time fail together, and count once.
      failures++;
      pausedUntilNanos = now + backOff.nanos(failures);
    }
    long askedNanos = now + TimeUnit.MILLISECONDS.toNanos(retryAfterMillis);
    if (askedNanos - pausedUntilNanos > 0) {
      pausedUntilNanos = askedNanos;
    }
    if (failureLog.permits()) {
      isReported = true;
      log.warn(
          "Cannot forward traces to endpoint {} at {}: {}. Requests wait on disk, and the agent"
              + " retries",
          endpoint.name(),
          endpoint.shownUrl(),
          reason);
    }
  }

  private void sendAgain() {
    for (Attempt attempt : inFlight) {
      if (!attempt.settled && attempt.answer == null && mayStart()) {
        if (cursor.has(attempt.read.end())) {
          start(attempt);
        } else {
          attempt.settled = true;
          metrics.dropped(endpoint.name(), Drop.BUFFER_FULL, 1);
        }
      }
    }
    removeSettled();
  }

  private void sendMore() throws IOException {
    while (inFlight.size() < MOST_IN_FLIGHT && bytesInFlight < MOST_IN_FLIGHT_BYTES && mayStart()) {
      ForwardBuffer.Read<Body> read = cursor.read(_ -> new Body(endpoint.compression()));
      if (read == null) {
        return;
      }
      Attempt attempt = new Attempt(read);
      inFlight.addLast(attempt);
      bytesInFlight += read.body().length();
      start(attempt);
    }
  }

  private boolean mayStart() {
    return failures == 0
        || (clocks.nanos() - pausedUntilNanos >= 0
            && inFlight.stream().allMatch(each -> each.settled || each.answer == null));
  }

  private void start(Attempt attempt) {
    try {
      attempt.answer = client.send(attempt.read.request().format(), attempt.read.body().blocks);
      CompletableFuture<Answer> _ = attempt.answer.whenComplete((answer, failure) -> thread.wake());
    } catch (IOException | RuntimeException e) {
      fail(Reason.of(e), 0, clocks.nanos());
    }
  }

  /** A body, compressed if the endpoint is configured so. */
  private static final class Body extends OutputStream {
    private final Blocks blocks = new Blocks();
    private final OutputStream to;

    Body(Compression compression) throws IOException {
      to = compression == Compression.GZIP ? new FastGzip(blocks) : blocks;
    }

    @Override
    public void write(int value) throws IOException {
      to.write(value);
    }

    @Override
    public void write(byte[] from, int offset, int count) throws IOException {
      to.write(from, offset, count);
    }

    @Override
    public void close() throws IOException {
      to.close();
    }

    long length() {
      return blocks.length();
    }
  }

  private static final class FastGzip extends GZIPOutputStream {
    FastGzip(OutputStream to) throws IOException {
      super(to, 8 * 1024);
      def.setLevel(Deflater.BEST_SPEED);
    }
  }
}
