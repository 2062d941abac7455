package org.traceetl.server.queues;

import java.io.IOException;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.Reason;
import org.traceetl.common.SteppedThread;
import org.traceetl.server.component.Component;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.rocketmq.Endpoint;
import org.traceetl.server.window.QueueId;

/**
 * Watches the ends and owners of the fleet's queues. One thread reads from the brokers; other
 * threads read its latest result, without waiting.
 */
public final class QueueWatch implements Component {
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final Logger log = LoggerFactory.getLogger(QueueWatch.class);

  /** The brokers of RocketMQ. */
  private record RocketMqBrokers(BrokerLogs logs, String topic) implements Brokers {
    @Override
    public Set<QueueId> queues() throws IOException, InterruptedException {
      return logs.readableSpanQueues();
    }

    @Override
    public long end(QueueId queue) throws IOException, InterruptedException {
      return logs.open(topic, queue).end();
    }

    @Override
    public Collection<String> members() throws IOException, InterruptedException {
      return logs.members();
    }
  }

  /** The brokers. */
  interface Brokers {
    /** Returns all queues of the span topic. */
    Set<QueueId> queues() throws IOException, InterruptedException;

    /** Returns the offset after a queue's newest message. */
    long end(QueueId queue) throws IOException, InterruptedException;

    /** Returns the names of the clients in the consumer group. */
    Collection<String> members() throws IOException, InterruptedException;
  }

  /**
   * The result of the last look. Immutable.
   *
   * @param ends offset after the newest message of each queue; absent if unknown
   * @param owners the member to which the consumer group assigns each queue; absent if unknown
   * @param silent queues whose broker did not return their end
   */
  public record Seen(Map<QueueId, Long> ends, Map<QueueId, Endpoint> owners, Set<QueueId> silent) {
    public Seen {
      ends = Collections.unmodifiableMap(new TreeMap<>(ends));
      owners = Collections.unmodifiableMap(new TreeMap<>(owners));
      silent = Set.copyOf(silent);
    }
  }

  private final Brokers brokers;
  private final LogThrottle throttle;
  private final SteppedThread thread;
  private volatile Seen seen = new Seen(Map.of(), Map.of(), Set.of());

  /**
   * @param topic of the spans
   */
  public QueueWatch(BrokerLogs logs, String topic, Clocks clocks) {
    this(new RocketMqBrokers(logs, topic), clocks);
  }

  QueueWatch(Brokers brokers, Clocks clocks) {
    this.brokers = brokers;
    throttle = new LogThrottle(clocks.wall());
    thread = SteppedThread.daemon(clocks, "trace-etl-queues", this::look, throttle);
  }

  @Override
  public void start(Endpoint here) {
    thread.start();
  }

  /** Returns the result of the last look. */
  public Seen seen() {
    return seen;
  }

  @Override
  public boolean healthy() {
    return thread.alive();
  }

  @Override
  public void close() {
    thread.close();
  }

  /** Looks at the brokers once. Called by the thread, and by tests. */
  long look() throws InterruptedException {
    try {
      Set<QueueId> queues = new TreeSet<>(brokers.queues());
      Set<QueueId> silent = new TreeSet<>();
      Map<QueueId, Long> ends = ends(queues, silent);
      Map<QueueId, Endpoint> owners = Map.of();
      try {
        owners = QueueOwners.of(brokers.members(), queues);
      } catch (IOException e) {
        tell("Could not read the members of the consumer group", e);
      }
      seen = new Seen(ends, owners, silent);
    } catch (IOException e) {
      // The previous result is outdated.
      Set<QueueId> silent = new TreeSet<>(seen.ends().keySet());
      silent.addAll(seen.silent());
      seen = new Seen(Map.of(), Map.of(), silent);
      tell("Could not read the queues of the topic", e);
    }
    return LOOK_NANOS;
  }

  /**
   * @param silent receives the queues whose end is unknown
   */
  private Map<QueueId, Long> ends(Set<QueueId> queues, Set<QueueId> silent)
      throws InterruptedException {
    Map<QueueId, Long> ends = new TreeMap<>();
    Set<String> silentBrokers = new HashSet<>();
    for (QueueId queue : queues) {
      if (silentBrokers.contains(queue.broker()) || thread.isClosed()) {
        // Waits only once for a broker that does not answer.
        silent.add(queue);
        continue;
      }
      try {
        long end = brokers.end(queue);
        if (end != JournalLog.NONE) {
          ends.put(queue, end);
        }
      } catch (IOException e) {
        silent.add(queue);
        silentBrokers.add(queue.broker());
        tell("Could not read the end of queue " + queue, e);
      }
    }
    return ends;
  }

  private void tell(String what, IOException why) {
    if (throttle.permits()) {
      log.info("{}: {}; the server retries", what, Reason.of(why));
    }
  }
}
