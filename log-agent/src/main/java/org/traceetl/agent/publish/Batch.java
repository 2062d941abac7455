package org.traceetl.agent.publish;

import org.traceetl.agent.route.BrokerQueue;

/** A named, encoded batch on its way to its queue. Immutable; its body is not to be written to. */
public final class Batch {
  /** Told once what became of the batch, on the publisher's thread: it must not block. */
  public interface Outcome {
    /** The broker has it. */
    void confirmed();

    /** The broker will never take it. */
    void refused();

    /** It is given up. */
    void failed(String reason);
  }

  private final BrokerQueue queue;
  private final long sequence;
  private final byte[] body;
  private final int spans;
  private final Outcome outcome;

  /**
   * Takes over the body.
   *
   * @param sequence its number within the queue and the agent's epoch, from 0 without gaps
   */
  public Batch(BrokerQueue queue, long sequence, byte[] body, int spans, Outcome outcome) {
    this.queue = queue;
    this.sequence = sequence;
    this.body = body;
    this.spans = spans;
    this.outcome = outcome;
  }

  public BrokerQueue queue() {
    return queue;
  }

  public long sequence() {
    return sequence;
  }

  public byte[] body() {
    return body;
  }

  public int spans() {
    return spans;
  }

  Outcome outcome() {
    return outcome;
  }
}
