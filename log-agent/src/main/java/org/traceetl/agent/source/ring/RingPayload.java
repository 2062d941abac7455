package org.traceetl.agent.source.ring;

import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.source.payload.PayloadArrays;
import org.traceetl.proto.ring.RingDictionary;

/**
 * Records of a ring on their way through the pipeline. A ring has one of it, used again and again:
 * the source's thread sets it and offers it, the pipeline's decodes it and leaves the outcome.
 */
final class RingPayload implements SpanDecoder, Completion {
  /** What became of it. */
  enum Outcome {
    /** It is not under way. */
    NONE,
    UNDER_WAY,
    CONFIRMED,
    MALFORMED,
    FAILED
  }

  /** After so many there is more at once: the ring is filled faster than it is looked at. */
  private static final int MUCH_BYTES = 256 * 1024;

  private final RingSpanDecoder decoder;
  private final RingSpanDecoder.Resource resource;
  private final PayloadArrays arrays;
  private final Runnable wake;
  // Written before it is offered; the queue hands them over.
  private RingDictionary.Strings strings;
  private RingPosition after;
  private volatile Outcome outcome = Outcome.NONE;

  /**
   * The source has no better time to look again than when this is settled. Otherwise it is not
   * woken, or it would go round for each few spans that were written meanwhile.
   */
  private volatile boolean awaited;

  /**
   * @param decoder of the pipeline's thread
   * @param wake wakes the source at an outcome that it awaits
   */
  RingPayload(
      RingSpanDecoder decoder,
      RingSpanDecoder.Resource resource,
      PayloadArrays arrays,
      Runnable wake) {
    this.decoder = decoder;
    this.resource = resource;
    this.arrays = arrays;
    this.wake = wake;
  }

  /** To be called before it is offered. */
  void set(RingDictionary.Strings strings, RingPosition after) {
    this.strings = strings;
    this.after = after;
    awaited = false;
    outcome = Outcome.UNDER_WAY;
  }

  /** It was not taken. */
  void reset() {
    outcome = Outcome.NONE;
  }

  /** Whether it is not under way, and its outcome was taken. */
  boolean isSettled() {
    return outcome == Outcome.NONE;
  }

  /** The outcome, once: after that it is not under way. */
  Outcome takeOutcome() {
    Outcome now = outcome;
    if (now == Outcome.UNDER_WAY) {
      // If it is settled between the two, the next look finds it.
      awaited = true;
    } else if (now != Outcome.NONE) {
      outcome = Outcome.NONE;
    }
    return now;
  }

  /** Where the ring is read on, if it is confirmed. */
  RingPosition after() {
    return after;
  }

  @Override
  public void decode(byte[] payload, int length, SpanSink sink) throws MalformedPayloadException {
    if (length >= MUCH_BYTES) {
      awaited = true;
    }
    decoder.decode(payload, length, resource, strings, sink);
  }

  @Override
  public Checkpoint checkpoint() {
    return after.checkpoint();
  }

  @Override
  public void released(byte[] payload) {
    arrays.give(payload);
  }

  @Override
  public void confirmed(int accepted, int rejected, String reason) {
    settle(Outcome.CONFIRMED);
  }

  @Override
  public void malformed(String reason) {
    settle(Outcome.MALFORMED);
  }

  @Override
  public void failed(String reason) {
    settle(Outcome.FAILED);
  }

  private void settle(Outcome now) {
    outcome = now;
    if (awaited) {
      wake.run();
    }
  }
}
