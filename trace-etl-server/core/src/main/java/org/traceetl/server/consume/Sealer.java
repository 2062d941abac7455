package org.traceetl.server.consume;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.journal.Journal;
import org.traceetl.server.journal.NoAnswerException;
import org.traceetl.server.journal.QueueJournal;
import org.traceetl.server.journal.QueueJournal.Outcome;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * One queue's way to its journal, from the take to the release. A thread of its own takes the queue
 * over, brings its filled windows to the journal in the order they come (copy out, append, show,
 * give the metrics back, have the offset committed), keeps the lease alive between them, and writes
 * snapshots. So a broker that is away holds up its own queues and no others.
 *
 * <p>Nothing of a window is shown, and its offset is not committed, before the journal has kept it.
 * An append whose outcome is not known is tried again until it is: the queue's open window goes on
 * growing, and when the lease has run out, the queue is shown no more. When the journal says that
 * another owner has claimed the queue, or that a later version of the software has written what
 * this one cannot read, all that is under way is dropped: the next owner reads it again.
 *
 * <p>Concurrency: the worker that wants the queue asks by {@link #seal} and {@link #release}, which
 * return at once, and looks at {@link #takeRecovered} and {@link #ended}. The aggregator is the
 * worker's once it has taken it, and the sealer's before. The way in is bounded: of a queue at most
 * one window and one release are under way.
 */
final class Sealer implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(Sealer.class);
  private static final int CAPACITY = 2;

  /**
   * A queue that moves is told to its new owner and to its old one in the same second. This is how
   * long the old one is given to release it, from when it was assigned: claimed before, it would
   * have to stay out of sight for a lease.
   */
  private static final Duration COURTESY = Duration.ofSeconds(3);

  private static final long FIRST_RETRY_MILLIS = 100;
  private static final long LAST_RETRY_MILLIS = 5_000;
  private static final long SNAPSHOT_RETRY_MILLIS = 30_000;
  private static final long MAX_TEND_MILLIS = 1_000;

  /** The lease is renewed when so much of it is left, in parts of {@link #RENEWAL_OF}. */
  private static final int RENEWAL_AT = 2;

  private static final int RENEWAL_OF = 3;

  private sealed interface Task {}

  private record Seal(OwnedQueue queue, FilledWindow filled, LastMessages read, Runnable kept)
      implements Task {}

  private record Release() implements Task {}

  /**
   * What the worker goes on with.
   *
   * @param to offset after the last message that counts, or {@link BrokerOffsets#NONE}
   * @param lastMessages by which to find out whether the broker still has what counts
   */
  record Recovered(QueueAggregator aggregator, long to, LastMessages lastMessages) {}

  private final QueueId queue;
  private final BatchDecoder decoder;
  private final Sealers.Shared shared;
  private final Semaphore takes;
  private final BlockingQueue<Task> tasks = new ArrayBlockingQueue<>(CAPACITY);
  private final CountDownLatch releasing = new CountDownLatch(1);
  private final long tendMillis;
  private final long assignedNanos;
  private long nextRenewalNanos;
  private long nextSnapshotNanos;
  private long renewalRetryMillis = FIRST_RETRY_MILLIS;

  private final AtomicReference<Recovered> recovered = new AtomicReference<>();
  private volatile boolean ended;
  private volatile Unread unread = Unread.BEING_TAKEN;

  /**
   * @param decoder of the worker that will record
   * @param takes held while a queue is taken over
   */
  Sealer(QueueId queue, BatchDecoder decoder, Sealers.Shared shared, Semaphore takes) {
    this.queue = queue;
    this.decoder = decoder;
    this.shared = shared;
    this.takes = takes;
    assignedNanos = shared.clocks().nanos();
    nextRenewalNanos = assignedNanos;
    nextSnapshotNanos = assignedNanos;
    tendMillis = Math.clamp(shared.lease().toMillis() / 10, 1, MAX_TEND_MILLIS);
  }

  QueueId queue() {
    return queue;
  }

  /** What to go on with, told once; null while the queue is being taken over. */
  Recovered takeRecovered() {
    return recovered.getAndSet(null);
  }

  /** Why the queue is not recovered. */
  Unread unread() {
    return unread;
  }

  /** Whether it takes no more windows: released, or fenced by another owner. */
  boolean ended() {
    return ended;
  }

  /**
   * Takes a window to the journal.
   *
   * @param kept run when the journal has it, before the release. Must be quick
   */
  void seal(OwnedQueue owned, FilledWindow filled, Runnable kept) {
    tasks.add(new Seal(owned, filled, owned.lastMessages(), kept));
  }

  /** Ends it after the window under way; a take that is under way is given up. */
  void release() {
    if (releasing.getCount() > 0) {
      releasing.countDown();
      tasks.add(new Release());
    }
  }

  @Override
  public void run() {
    try {
      Journal.Taken taken = take();
      if (taken != null) {
        own(taken);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      ended = true;
    }
  }

  /** Null if the queue was released before it was taken. */
  private Journal.Taken take() throws InterruptedException {
    long retryMillis = FIRST_RETRY_MILLIS;
    do {
      takes.acquire();
      try {
        if (releasing.getCount() == 0) {
          return null;
        }
        long startNanos = shared.clocks().nanos();
        Journal.Taken taken =
            shared.journal().take(queue, courtesyLeft(startNanos), () -> releasing.getCount() > 0);
        if (taken != null) {
          shared.listener().taken(queue, shared.clocks().nanos() - startNanos);
        }
        return taken;
      } catch (IOException | RuntimeException e) {
        shared.listener().takeFailed(queue);
        String problem = "cannot be taken over: " + e.getMessage();
        unread = new Unread(problem, e instanceof NoAnswerException);
        if (shared.throttle().permits()) {
          log.error("Queue {} {}; trying again", queue, problem);
          log.debug("Its cause", e);
        }
      } finally {
        takes.release();
      }
      retryMillis = Math.min(retryMillis * 2, LAST_RETRY_MILLIS);
    } while (!releasing.await(retryMillis, TimeUnit.MILLISECONDS));
    return null;
  }

  private Duration courtesyLeft(long nowNanos) {
    Duration left = COURTESY.minusNanos(nowNanos - assignedNanos);
    return left.isNegative() ? Duration.ZERO : left;
  }

  private void own(Journal.Taken taken) throws InterruptedException {
    QueueJournal journal = taken.journal();
    boolean kept = false;
    try {
      if (releasing.getCount() > 0) {
        tellFollowers(f -> f.restored(queue, taken.image(), taken.showFromNanos()));
        showOn(journal);
        recovered.set(
            new Recovered(
                shared
                    .aggregation()
                    .newAggregator(queue, decoder, shared.listener(), taken.image()),
                taken.image().to(),
                taken.lastMessages()));
      }
      kept = untilReleased(journal);
    } finally {
      // First out of sight, then free for the next owner, which shows the queue at once.
      tellFollowers(f -> f.released(queue));
      Recovered untaken = takeRecovered();
      if (untaken != null) {
        untaken.aggregator.release();
      }
    }
    if (kept) {
      release(journal);
    } else {
      shared.listener().fenced(queue);
      log.warn("Queue {} is dropped: what was not kept is read again by its next owner", queue);
    }
  }

  /** False if the queue is not this owner's any more. */
  private boolean untilReleased(QueueJournal journal) throws InterruptedException {
    while (true) {
      Outcome outcome =
          switch (tasks.poll(tendMillis, TimeUnit.MILLISECONDS)) {
            case null -> tend(journal);
            case Seal seal -> keep(journal, seal);
            case Release() -> null;
          };
      if (outcome != Outcome.KEPT) {
        return outcome == null;
      }
    }
  }

  private Outcome keep(QueueJournal journal, Seal task) throws InterruptedException {
    FilledWindow filled = task.filled;
    long startNanos = shared.clocks().nanos();
    SealedWindow window = filled.seal();
    long sealedNanos = shared.clocks().nanos();
    shared.listener().sealed(queue, sealedNanos - startNanos);
    if (append(journal, window, task.read) == Outcome.FENCED) {
      return Outcome.FENCED;
    }
    shared.listener().appended(queue, shared.clocks().nanos() - sealedNanos);
    tellFollowers(f -> f.window(window));
    showOn(journal);
    filled.giveBack();
    task.queue.kept(filled.to());
    task.kept.run();
    return tasks.isEmpty() ? tend(journal) : Outcome.KEPT;
  }

  private Outcome append(QueueJournal journal, SealedWindow window, LastMessages read)
      throws InterruptedException {
    long retryMillis = FIRST_RETRY_MILLIS;
    while (true) {
      try {
        return journal.append(window, read);
      } catch (RuntimeException e) {
        // Trying again would not mend it; what the log has will.
        shared.listener().failed();
        log.error(
            "Window [{}, {}) of queue {} does not fit its journal: the queue is dropped and read"
                + " again",
            window.from(),
            window.to(),
            queue,
            e);
        return Outcome.FENCED;
      } catch (IOException e) {
        shared.listener().appendFailed(queue);
        if (shared.throttle().permits()) {
          log.error(
              "The journal did not take window [{}, {}) of queue {}; trying again",
              window.from(),
              window.to(),
              queue,
              e);
        }
      }
      shared.clocks().pause().nanos(TimeUnit.MILLISECONDS.toNanos(retryMillis));
      retryMillis = Math.min(retryMillis * 2, LAST_RETRY_MILLIS);
    }
  }

  /** What is to be done beside windows. */
  private Outcome tend(QueueJournal journal) throws InterruptedException {
    if (renewalDue(journal)) {
      return renew(journal);
    }
    boolean due = journal.snapshotDue() && shared.clocks().nanos() - nextSnapshotNanos >= 0;
    return due && shared.snapshots().tryAcquire() ? snapshot(journal) : Outcome.KEPT;
  }

  private boolean renewalDue(QueueJournal journal) {
    long nowNanos = shared.clocks().nanos();
    long leftNanos = journal.shownUntilNanos() - nowNanos;
    return leftNanos <= shared.lease().toNanos() / RENEWAL_OF * RENEWAL_AT
        && nowNanos - nextRenewalNanos >= 0;
  }

  private Outcome renew(QueueJournal journal) throws InterruptedException {
    try {
      Outcome outcome = journal.renew();
      if (outcome == Outcome.KEPT) {
        showOn(journal);
      }
      return outcome;
    } catch (IOException | RuntimeException e) {
      shared.listener().renewFailed(queue);
      if (shared.throttle().permits()) {
        log.error("The lease of queue {} is not renewed; trying again", queue, e);
      }
      nextRenewalNanos =
          shared.clocks().nanos() + TimeUnit.MILLISECONDS.toNanos(renewalRetryMillis);
      renewalRetryMillis = Math.min(renewalRetryMillis * 2, LAST_RETRY_MILLIS);
      return Outcome.KEPT;
    }
  }

  /** Holds the process's one snapshot at a time, and gives it back. */
  private Outcome snapshot(QueueJournal journal) throws InterruptedException {
    try {
      long startNanos = shared.clocks().nanos();
      Outcome outcome = journal.snapshot();
      if (outcome == Outcome.KEPT) {
        shared.listener().snapshotWritten(queue, shared.clocks().nanos() - startNanos);
        showOn(journal);
      }
      return outcome;
    } catch (IOException | RuntimeException e) {
      shared.listener().snapshotFailed(queue);
      if (shared.throttle().permits()) {
        log.error("No snapshot of queue {}: it takes longer to recover", queue, e);
      }
      nextSnapshotNanos =
          shared.clocks().nanos() + TimeUnit.MILLISECONDS.toNanos(SNAPSHOT_RETRY_MILLIS);
      return Outcome.KEPT;
    } finally {
      shared.snapshots().release();
    }
  }

  private void release(QueueJournal journal) throws InterruptedException {
    try {
      journal.release();
    } catch (IOException | RuntimeException e) {
      log.warn("Queue {} is released unsaid: its next owner waits out the lease", queue, e);
    }
  }

  private void showOn(QueueJournal journal) {
    renewalRetryMillis = FIRST_RETRY_MILLIS;
    tellFollowers(f -> f.shownUntil(queue, journal.shownUntilNanos()));
  }

  /** One follower's failure is not another one's. */
  private void tellFollowers(Consumer<WindowFollower> news) {
    for (WindowFollower follower : shared.followers()) {
      try {
        news.accept(follower);
      } catch (RuntimeException e) {
        shared.listener().failed();
        log.error("{} failed on news of queue {}", follower, queue, e);
      }
    }
  }
}
