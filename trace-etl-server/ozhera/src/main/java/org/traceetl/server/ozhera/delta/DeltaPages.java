package org.traceetl.server.ozhera.delta;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.server.component.Background;
import org.traceetl.server.expose.FoldThread;
import org.traceetl.server.expose.Lease;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.ozhera.OzheraConfig;
import org.traceetl.server.ozhera.delta.positions.BrokerRetries;
import org.traceetl.server.ozhera.delta.positions.ScraperPositions;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Delivers each window of each queue once to each scraper, added up since the scraper's last
 * answer. The fold thread owns all sums and positions ({@link DeltaFold}, {@link ScraperSessions});
 * this class sends it messages through one bounded queue. The thread of a request writes the answer
 * from immutable sums.
 *
 * <p>A scraper's position in a queue moves when three conditions hold: its answer was written to
 * the last byte without an error, it was written in time, and the leases of all its queues were
 * valid just before the last bytes. Otherwise the position stays, and the next answer contains the
 * same windows. Each moved position is stored at the queue's broker. The queue's next owner starts
 * there and reads the windows between the position and the queue's end from the journal. An answer
 * leaves out queues whose lease has expired.
 *
 * <p>Before an owner releases a queue, it waits for the outcome of answers whose last bytes are
 * being written, and until the broker has the positions, for at most {@value #RELEASE_MILLIS} ms.
 * So windows are neither lost nor delivered twice when a queue moves between two running servers.
 * The outcome of bytes that the kernel has taken cannot be known, and a position is stored after
 * the bytes. Therefore
 *
 * <ul>
 *   <li>a window is lost to a scraper that dies, or gives up, after the kernel has taken all bytes,
 *       and to one that was away for longer than the next owner reads back;
 *   <li>a window is delivered twice if, between the last byte of an answer and the stored position,
 *       this process dies, pauses for longer than its lease, or gets no answer from the broker;
 *   <li>a window is delivered twice if a scraper takes longer than {@value #RELEASE_MILLIS} ms for
 *       the last bytes while a queue of the answer is released, or if it resets the connection
 *       after it has all bytes but before the write has returned.
 * </ul>
 *
 * <p>Only configured scrapers receive windows and have positions. A queue's owner stores their
 * positions when it takes the queue over, before their first scrape: each scraper receives all
 * counts from then on. {@link #look} serves all other readers and changes nothing.
 */
public final class DeltaPages implements WindowFollower, Background {
  private static final Logger log = LoggerFactory.getLogger(DeltaPages.class);

  /**
   * How long a release waits until positions are stored. Well below the time that the queue's next
   * owner waits for the release: an owner that claims the queue before must hide it from all
   * scrapers until this server's lease has expired.
   */
  private static final long RELEASE_MILLIS = 1_500;

  /** How long an answer waits for the permission to end, if the fold thread is behind. */
  private static final long COMMIT_MILLIS = 10_000;

  /** How long a request waits for positions, and for the end of the previous answer. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final int stride;
  private final OzheraConfig config;
  private final LongSupplier nanoClock;
  private final LogThrottle throttle;
  private final BrokerRetries retries;
  private final PositionWriter writer;
  private final PositionFinder finder;
  private final DeltaFold fold;
  private final FoldThread<DeltaMessage> thread;

  /** Leases of the queues that were restored and are not released. */
  private final Map<QueueId, Lease> leases = new ConcurrentHashMap<>();

  /**
   * @param positions called by threads of this object
   * @param writtenNanos receives, on the fold thread, the duration of each delivered answer
   */
  public DeltaPages(
      DeltaOptions options, ScraperPositions positions, LongConsumer writtenNanos, Clocks clocks) {
    stride = options.stride();
    config = options.config();
    nanoClock = clocks.nanoClock();
    throttle = new LogThrottle(clocks.wall());
    retries = new BrokerRetries(nanoClock, throttle);
    writer = new PositionWriter(positions, retries, clocks, throttle);
    finder =
        new PositionFinder(
            positions, options.lookBack(), writer, retries, this::found, clocks, throttle);
    fold = new DeltaFold(options, finder, writer, writtenNanos, clocks);
    thread = new FoldThread<>(fold, clocks);
  }

  @Override
  public void start() {
    thread.start();
    writer.start();
    finder.start();
  }

  /** Does one step of each thread, in place of started threads; returns the messages applied. */
  int doWork() throws InterruptedException {
    writer.doWork();
    finder.doWork();
    return thread.doWork();
  }

  @Override
  public boolean alive() {
    return !thread.ended() && writer.alive() && finder.alive();
  }

  /**
   * Passes the window to the fold thread. Waits while the thread's queue is full: the journal has
   * the window already, so dropping it would make the sums wrong.
   *
   * @throws IllegalArgumentException if the window's buckets are not the configured ones
   * @throws IllegalStateException after {@link #close}, or if the fold thread has ended
   */
  @Override
  public void window(SealedWindow window) {
    if (window.rows() > 0 && window.stride() != stride) {
      throw new IllegalArgumentException(
          "window of queue "
              + window.queue()
              + " from offset "
              + window.from()
              + " has "
              + window.stride()
              + " buckets: must have "
              + stride);
    }
    thread.put(new DeltaMessage.Fold(window));
  }

  @Override
  public void restored(QueueId queue, QueueImage image, long showFromNanos) {
    Lease lease = new Lease(showFromNanos);
    leases.put(queue, lease);
    thread.put(new DeltaMessage.Restore(queue, image, lease));
  }

  @Override
  public void shownUntil(QueueId queue, long nanos) {
    Lease lease = leases.get(queue);
    if (lease != null) {
      lease.extend(nanos);
    }
  }

  /** Waits, for a bounded time, until the broker has the positions of scrapers in the queue. */
  @Override
  public void released(QueueId queue) {
    Lease lease = leases.remove(queue);
    if (lease != null) {
      lease.end();
    }
    var done = new CompletableFuture<Void>();
    thread.put(new DeltaMessage.Release(queue, done));
    try {
      done.get(RELEASE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      if (throttle.permits()) {
        log.warn(
            "Queue {} is released before its broker has the places of all scrapers: its next owner"
                + " may deliver their last windows twice",
            queue);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      throw thread.endedException();
    } finally {
      // From here on no position in the queue may be stored.
      done.cancel(false);
    }
  }

  /**
   * Returns the windows that a scraper has not received, added up. The caller must {@link #settle}
   * the answer in every case.
   *
   * @param address address of the scraper, which shows that two scrapers share an identity
   * @param most how long the scraper waits for the whole answer
   * @throws ScraperRefused if the scraper is not configured, or must try again later
   * @throws TimeoutException if the fold thread is behind
   * @throws IllegalStateException if the fold thread has ended
   */
  public Answer take(String identity, String address, Duration most)
      throws ScraperRefused, TimeoutException, InterruptedException {
    if (!config.scrapers().contains(identity)) {
      throw ScraperRefused.notConfigured(
          "scraper "
              + identity
              + " is not one of trace-etl.ozhera.scrapers: add it there on all servers. To read the"
              + " newest windows by hand, omit parameter scraper");
    }
    long nowNanos = nanoClock.getAsLong();
    var answer = new CompletableFuture<Answer>();
    DeltaMessage.Take take =
        new DeltaMessage.Take(
            identity,
            address,
            nowNanos + most.toNanos(),
            nowNanos + Math.min(PATIENCE_NANOS, most.toNanos() / 4),
            answer);
    ask(take, most);
    try {
      return answer.get(most.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof ScraperRefused refused) {
        throw refused;
      }
      throw thread.endedException();
    } finally {
      answer.cancel(false);
    }
  }

  /**
   * Returns the newest window of each queue. It changes nothing, and must not be settled.
   *
   * @throws TimeoutException if the fold thread is behind
   * @throws IllegalStateException if the fold thread has ended
   */
  public Answer look(Duration most) throws TimeoutException, InterruptedException {
    var answer = new CompletableFuture<Answer>();
    ask(new DeltaMessage.Look(nanoClock.getAsLong() + most.toNanos(), answer), most);
    try {
      return answer.get(most.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw thread.endedException();
    }
  }

  private void ask(DeltaMessage message, Duration most)
      throws TimeoutException, InterruptedException {
    if (!thread.offer(message, most.toNanos())) {
      throw new TimeoutException("the fold thread is overloaded: its queue is full");
    }
  }

  /**
   * Asks, just before the last bytes of an answer, for the permission to write them.
   *
   * @return false if the answer must fail: it took too long, or another server may deliver the same
   *     windows
   */
  public boolean commit(Answer answer) throws InterruptedException {
    var permitted = new CompletableFuture<Boolean>();
    thread.put(new DeltaMessage.Commit(answer, permitted));
    try {
      return permitted.get(COMMIT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      return false;
    }
  }

  /**
   * Ends an answer.
   *
   * @param written whether all bytes were written without an error
   */
  public void settle(Answer answer, boolean written) {
    boolean inTime = !answer.expired(nanoClock.getAsLong());
    try {
      thread.put(new DeltaMessage.Settle(answer, written && inTime));
    } catch (IllegalStateException e) {
      log.debug("An answer ended after the fold thread", e);
    }
  }

  /** Waits until all earlier windows and requests are applied and counted in {@link #totals}. */
  public void await(Duration most) throws TimeoutException, InterruptedException {
    var done = new CompletableFuture<Void>();
    ask(new DeltaMessage.Barrier(done), most);
    try {
      done.get(most.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw thread.endedException();
    }
  }

  public DeltaTotals totals() {
    return fold.totals();
  }

  /** Returns the failed broker calls that load or store positions. */
  public long placeFailures() {
    return retries.failures();
  }

  /** Applies the messages that wait. */
  @Override
  public void close() {
    thread.close();
    finder.close();
    writer.close();
  }

  private void found(PositionFinder.Found found) {
    try {
      thread.put(new DeltaMessage.Located(found));
    } catch (IllegalStateException e) {
      log.debug("A scraper's position was found after the end of the fold thread", e);
    }
  }
}
