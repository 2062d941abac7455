package org.traceetl.server.consume;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;

/**
 * The thread that tells the brokers how far their queues are kept, and asks how far they go. A
 * broker that does not answer holds up this thread for a timeout, and neither the journal nor any
 * worker; then it is left alone for a pause. A queue waits here at most once, and what is committed
 * is the newest offset it has by then.
 */
final class Committer implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(Committer.class);
  private static final Visit LAST = new Visit(null, null);

  private record Visit(OwnedQueue queue, BrokerOffsets offsets) {}

  private final BlockingQueue<Visit> visits = new LinkedBlockingQueue<>();

  /** Those in {@link #visits}, which bounds it. */
  private final Set<Visit> waiting = ConcurrentHashMap.newKeySet();

  private final Map<String, BackOff> backOffs = new HashMap<>();
  private final PipelineMetrics listener;
  private final Clocks clocks;
  private final LogThrottle throttle;
  private volatile boolean finishing;
  private volatile boolean closed;

  Committer(PipelineMetrics listener, Clocks clocks) {
    this.listener = listener;
    this.clocks = clocks;
    throttle = new LogThrottle(clocks.wall());
  }

  /**
   * Has the queue's offset committed, if it has a new one, and its end found out: a queue whose
   * messages do not come would else seem to have none. Returns at once.
   */
  void visit(OwnedQueue queue, BrokerOffsets offsets) {
    add(new Visit(queue, offsets));
  }

  /** Ends the thread after what is under way. */
  void finish() {
    finishing = true;
    add(LAST);
  }

  /** Ends the thread, which may be interrupted to that end; what waits is not committed. */
  void close() {
    closed = true; // RocketMQ's client may swallow the interruption
    add(LAST);
  }

  private void add(Visit visit) {
    if (waiting.add(visit)) {
      visits.add(visit);
    }
  }

  @Override
  public void run() {
    try {
      for (Visit visit = visits.take(); visit != LAST; visit = visits.take()) {
        waiting.remove(visit); // before its offset is read: a later one comes with a visit
        String broker = visit.queue.messageQueue().getBrokerName();
        BackOff backOff = backOffs.computeIfAbsent(broker, name -> new BackOff());
        if (!closed && (finishing || backOff.permits(clocks.nanos()))) {
          make(visit, backOff);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void make(Visit visit, BackOff backOff) throws InterruptedException {
    OwnedQueue queue = visit.queue;
    try {
      commit(queue, visit.offsets);
      if (!queue.isReleased()) {
        queue.endsAt(visit.offsets.max(queue.messageQueue()));
      }
      backOff.succeeded();
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      if (closed) {
        return;
      }
      backOff.failed(clocks.nanos());
      listener.commitFailed(queue.id());
      if (throttle.permits()) {
        log.warn(
            "Offset {} of queue {} may not be committed; trying again with its next window",
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
    // Its next owner may have come further: its offset must not be set back.
    if (!queue.isReleased() || offsets.committed(queue.messageQueue()) < kept) {
      offsets.commit(queue.messageQueue(), kept);
    }
    queue.committed(kept);
  }
}
