package org.traceetl.agent.publish;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Predicate;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.spool.SpooledBatch;

/** A broker in memory that confirms, fails or does not answer. */
public class MemoryTransport implements Transport {
  /** The result of an attempt. */
  public enum Mode {
    CONFIRM,
    UNREACHABLE,
    /** Stores the batch, but reports a failure, as after a timeout. */
    STORE_AND_TIME_OUT,
    /** Stores the batch on one host only. */
    STORE_WITHOUT_REPLICA,
    /** Holds the attempts until {@link #confirmHeld}. */
    HOLD
  }

  /** A stored message. */
  public record Stored(BrokerQueue queue, long epoch, long sequence, int spans, byte[] body) {
    static Stored of(SpooledBatch batch) {
      return new Stored(
          batch.queue(), batch.agent().epoch(), batch.sequence(), batch.spans(), batch.body());
    }
  }

  private final List<Stored> stored = new ArrayList<>();
  private final Deque<Runnable> held = new ArrayDeque<>();
  private Mode mode = Mode.CONFIRM;
  private Predicate<SpooledBatch> refused = batch -> false;
  private String awayBroker = "";
  private String throwingBroker = "";
  private int attempts;

  public synchronized void mode(Mode now) {
    mode = now;
  }

  /** Makes this broker unreachable. */
  public synchronized void away(String broker) {
    awayBroker = broker;
  }

  /** Makes attempts to reach this broker throw. */
  public synchronized void throwing(String broker) {
    throwingBroker = broker;
  }

  /** Refuses these batches permanently. */
  public synchronized void refuse(Predicate<SpooledBatch> which) {
    refused = which;
  }

  @Override
  public synchronized void send(SpooledBatch batch, Answer answer) {
    attempts++;
    if (throwingBroker.equals(batch.queue().broker())) {
      throw new IllegalStateException("a fault of the transport");
    }
    if (awayBroker.equals(batch.queue().broker())) {
      answer.failed(Failure.CONNECT, "connection refused");
      return;
    }
    if (refused.test(batch)) {
      answer.refused("illegal message");
      return;
    }
    switch (mode) {
      case CONFIRM -> {
        stored.add(Stored.of(batch));
        answer.confirmed();
      }
      case UNREACHABLE -> answer.failed(Failure.CONNECT, "connection refused");
      case STORE_AND_TIME_OUT -> {
        stored.add(Stored.of(batch));
        answer.failed(Failure.TIMEOUT, "timed out");
      }
      case STORE_WITHOUT_REPLICA -> {
        stored.add(Stored.of(batch));
        answer.failed(Failure.FLUSH_SLAVE_TIMEOUT, "no replica confirmed it");
      }
      case HOLD -> {
        Stored message = Stored.of(batch);
        held.add(() -> {
          stored.add(message);
          answer.confirmed();
        });
      }
    }
  }

  /** Returns the number of attempts that wait for {@link #confirmHeld}. */
  public synchronized int held() {
    return held.size();
  }

  public synchronized void confirmHeld() {
    while (!held.isEmpty()) {
      held.pop().run();
    }
  }

  /** Returns the stored messages, including repeats. */
  public synchronized List<Stored> stored() {
    return List.copyOf(stored);
  }

  public synchronized int attempts() {
    return attempts;
  }

  @Override
  public List<BrokerQueue> queues() throws IOException {
    throw new IOException("not asked in these tests");
  }

  @Override
  public DecisionsWatch.Newest newest(String topic, DecisionsWatch.Place known) {
    return new DecisionsWatch.Newest(DecisionsWatch.Place.NONE, List.of());
  }

  @Override
  public void close() {}
}
