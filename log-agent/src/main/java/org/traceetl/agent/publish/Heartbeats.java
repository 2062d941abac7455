package org.traceetl.agent.publish;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.proto.Heartbeat;

/**
 * Sends heartbeats to the queues in use that get no batches, so that servers know that no batch of
 * this agent is missing there. A queue is in use from its first message until it had no batch for
 * {@link #SILENCE_NANOS}; then it gets a goodbye. Only heartbeats name the host, so a queue with
 * batches gets one after its first batch, and seldom later. A heartbeat that fails is not repeated,
 * because the next one replaces it. Confined to the publisher thread.
 */
final class Heartbeats {
  /** Time without a message after which a queue in use gets a heartbeat. */
  static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(15);

  /** Time without a heartbeat after which a queue with batches gets one. */
  static final long NAME_NANOS = TimeUnit.MINUTES.toNanos(5);

  /** Time without a batch after which a queue is not in use. */
  static final long SILENCE_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** Longest wait for an answer when the agent stops. */
  private static final long ANSWER_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final class Use {
    long batchNanos;
    long messageNanos;
    long heartbeatNanos;

    /** Whether the broker has confirmed a batch: servers ignore heartbeats of unknown agents. */
    boolean isKnown;

    Use(long nowNanos) {
      heartbeatNanos = nowNanos - NAME_NANOS;
    }

    boolean isSilent(long nowNanos) {
      return nowNanos - batchNanos >= SILENCE_NANOS;
    }

    boolean isDue(long nowNanos) {
      return nowNanos - messageNanos >= INTERVAL_NANOS
          || isKnown && nowNanos - heartbeatNanos >= NAME_NANOS;
    }
  }

  private final byte[] alive;
  private final byte[] goodbye;
  private final Transport transport;
  private final Predicate<BrokerQueue> staysInUse;
  private final Function<BrokerQueue, Supplier<String>> ages;
  private final PublishMetrics metrics;
  private final Executor publisherThread;
  private final Map<BrokerQueue, Use> inUse = new HashMap<>();
  private long permittedUntilNanos;
  private long lastNanos;
  private int unanswered;

  /**
   * Creates heartbeats that are not permitted yet.
   *
   * @param self heartbeat of this run
   * @param staysInUse whether a queue stays in use although it gets no batches
   * @param ages of a message without batches to a queue, as {@link Transport#send} takes them
   */
  Heartbeats(
      Heartbeat self,
      Transport transport,
      Predicate<BrokerQueue> staysInUse,
      Function<BrokerQueue, Supplier<String>> ages,
      PublishMetrics metrics,
      Executor publisherThread,
      long nowNanos) {
    this.transport = transport;
    this.staysInUse = staysInUse;
    this.ages = ages;
    this.metrics = metrics;
    this.publisherThread = publisherThread;
    alive = self.encode();
    goodbye = self.asGoodbye().encode();
    permittedUntilNanos = nowNanos;
  }

  /** Permits heartbeats until the given time. */
  void until(long nanos) {
    permittedUntilNanos = nanos;
  }

  /** Records that a message with batches is sent to the queue. */
  void sent(BrokerQueue queue, long nowNanos) {
    Use use = inUse.computeIfAbsent(queue, first -> new Use(nowNanos));
    use.batchNanos = nowNanos;
    use.messageNanos = nowNanos;
  }

  /** Records that the broker has confirmed a message with batches. */
  void confirmed(BrokerQueue queue) {
    Use use = inUse.get(queue);
    if (use != null) {
      use.isKnown = true;
    }
  }

  /** Returns whether servers wait for this agent in the queue, when they have read all messages. */
  boolean isKnown(BrokerQueue queue) {
    Use use = inUse.get(queue);
    return use != null && use.isKnown;
  }

  /** Sends the heartbeats and goodbyes that are due. */
  void check(long nowNanos) {
    inUse.forEach((queue, use) -> {
      if (staysInUse.test(queue)) {
        use.batchNanos = nowNanos;
      }
      if (isPermitted(nowNanos) && !use.isSilent(nowNanos) && use.isDue(nowNanos)) {
        use.messageNanos = nowNanos;
        use.heartbeatNanos = nowNanos;
        send(queue, alive, nowNanos);
      }
    });
    leave((queue, use) -> use.isSilent(nowNanos), nowNanos);
  }

  private boolean isPermitted(long nowNanos) {
    return nowNanos - permittedUntilNanos < 0;
  }

  /** Sends a goodbye to each queue that does not stay in use. */
  void leaveIdle(long nowNanos) {
    leave((queue, use) -> !staysInUse.test(queue), nowNanos);
  }

  private void leave(BiPredicate<BrokerQueue, Use> which, long nowNanos) {
    inUse
        .entrySet()
        .removeIf(entry -> {
          boolean leaves = which.test(entry.getKey(), entry.getValue());
          if (leaves && isPermitted(nowNanos)) {
            send(entry.getKey(), goodbye, nowNanos);
          }
          return leaves;
        });
  }

  /** Returns whether the broker may still answer a heartbeat. */
  boolean awaitsAnswer(long nowNanos) {
    return unanswered > 0 && nowNanos - lastNanos < ANSWER_NANOS;
  }

  private void send(BrokerQueue queue, byte[] message, long nowNanos) {
    lastNanos = nowNanos;
    unanswered++;
    Transport.Answer answer = answer();
    try {
      transport.send(queue, message, ages.apply(queue), answer);
    } catch (RuntimeException e) {
      // A transport must not throw; if it does for one queue, the other queues still send.
      answer.failed(Transport.Failure.CLIENT, e.toString());
    }
  }

  private Transport.Answer answer() {
    return new Transport.Answer() {
      @Override
      public void confirmed() {
        metrics.heartbeatsPublished.inc();
        ended();
      }

      @Override
      public void failed(Transport.Failure failure, String detail) {
        ended();
      }

      @Override
      public void refused(String detail) {
        ended();
      }

      private void ended() {
        publisherThread.execute(() -> unanswered--);
      }
    };
  }
}
