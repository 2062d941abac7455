package org.traceetl.agent.publish;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Predicate;
import org.traceetl.agent.route.BrokerQueue;

/** A broker in memory that confirms, fails or keeps silent as told. */
public final class MemoryTransport implements Transport {
  /** What it does with an attempt. */
  public enum Mode {
    CONFIRM,
    UNREACHABLE,
    /** The batch is stored and the answer says otherwise, as after a timeout. */
    STORE_AND_TIME_OUT,
    /** Keeps the attempts until {@link #confirmHeld}. */
    HOLD
  }

  private final List<Batch> stored = new ArrayList<>();
  private final Deque<Runnable> held = new ArrayDeque<>();
  private Mode mode = Mode.CONFIRM;
  private Predicate<Batch> refused = batch -> false;
  private int attempts;

  public synchronized void mode(Mode now) {
    mode = now;
  }

  /** Refuses these for good, whatever it does with others. */
  public synchronized void refuse(Predicate<Batch> which) {
    refused = which;
  }

  @Override
  public synchronized void send(Batch batch, Answer answer) {
    attempts++;
    if (refused.test(batch)) {
      answer.refused("illegal message");
      return;
    }
    switch (mode) {
      case CONFIRM -> {
        stored.add(batch);
        answer.confirmed();
      }
      case UNREACHABLE -> answer.failed(Failure.CONNECT, "connection refused");
      case STORE_AND_TIME_OUT -> {
        stored.add(batch);
        answer.failed(Failure.TIMEOUT, "timed out");
      }
      case HOLD ->
          held.add(() -> {
            stored.add(batch);
            answer.confirmed();
          });
    }
  }

  /** Answers what was held. */
  public synchronized void confirmHeld() {
    while (!held.isEmpty()) {
      held.pop().run();
    }
  }

  /** What the broker has, repeats included. */
  public synchronized List<Batch> stored() {
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
  public void close() {}
}
