package org.traceetl.server.consume;

import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;
import org.traceetl.server.consume.broker.BrokerOffsets;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.ownership.RetrySchedule;
import org.traceetl.server.consume.queue.OwnedQueue;

/**
 * Commits the queues' kept offsets at the brokers, and reads the end of each queue. A broker that
 * does not answer delays this thread by a timeout, and neither the journal nor a worker; the thread
 * then pauses calls to it. A queue waits here at most once; its newest offset is committed.
 */
final class Committer implements SteppedTask {
  private static final Logger log = LoggerFactory.getLogger(Committer.class);
  private static final Visit LAST = new Visit(null, null);

  private record Visit(OwnedQueue queue, BrokerOffsets offsets) {}

  private final Queue<Visit> visits = new ConcurrentLinkedQueue<>();

  /** Members of {@link #visits}; bounds it. */
  private final Set<Visit> waiting = ConcurrentHashMap.newKeySet();

  private final Map<String, RetrySchedule> retries = new HashMap<>();
  private final SpanPipelineMetrics metrics;
  private final Clocks clocks;
  private final LogThrottle throttle;
  private final SteppedThread thread;
  private volatile boolean finishing;

  Committer(SpanPipelineMetrics metrics, Clocks clocks) {
    this.metrics = metrics;
    this.clocks = clocks;
    throttle = new LogThrottle(clocks.wall());
    thread = new SteppedThread(clocks, "trace-etl-committer", this, throttle);
  }

  SteppedThread thread() {
    return thread;
  }

  /**
   * Requests a commit of the queue's offset, if it is new, and a read of its end. Without the end,
   * a queue whose messages cannot be pulled would seem empty. Returns immediately.
   */
  void visit(OwnedQueue queue, BrokerOffsets offsets) {
    add(new Visit(queue, offsets));
  }

  /** Ends the thread after the waiting visits. */
  void finish() {
    finishing = true;
    add(LAST);
  }

  /** Ends the thread and interrupts its call; waiting offsets are not committed. */
  void close() {
    thread.abort();
  }

  private void add(Visit visit) {
    if (waiting.add(visit)) {
      visits.add(visit);
      thread.wake();
    }
  }

  /** Makes one visit. */
  @Override
  public long doWork() throws InterruptedException {
    Visit visit = visits.poll();
    if (visit == null) {
      return UNTIL_WOKEN;
    }
    if (visit == LAST) {
      return ENDED;
    }
    waiting.remove(visit); // before its offset is read: a later offset adds a visit
    String broker = visit.queue.messageQueue().getBrokerName();
    RetrySchedule retry = retries.computeIfAbsent(broker, name -> new RetrySchedule());
    if (finishing || retry.permits(clocks.nanos())) {
      make(visit, retry);
    }
    return 0;
  }

  private void make(Visit visit, RetrySchedule retry) throws InterruptedException {
    OwnedQueue queue = visit.queue;
    try {
      commit(queue, visit.offsets);
      if (!queue.isReleased()) {
        queue.endsAt(visit.offsets.max(queue.messageQueue()));
      }
      retry.succeeded();
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      if (thread.isClosed()) {
        return;
      }
      retry.failed(clocks.nanos());
      metrics.commitFailed(queue.id());
      if (throttle.permits()) {
        log.warn(
            "Could not commit offset {} of queue {}; the server retries with the next window",
            queue.keptTo(),
            queue.id(),
            e);
      }
    }
  }

  private static void commit(OwnedQueue queue, BrokerOffsets offsets) throws Exception {
    long kept = queue.keptTo();
    if (kept <= queue.committedTo()) {
      return;
    }
    // The next owner may have committed a higher offset, which must not be set back.
    if (!queue.isReleased() || offsets.committed(queue.messageQueue()) < kept) {
      offsets.commit(queue.messageQueue(), kept);
    }
    queue.committed(kept);
  }
}
