package org.traceetl.agent.source.ring;

import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.otlp.SpanEncoder;
import org.traceetl.agent.source.payload.PayloadArrays;
import org.traceetl.proto.ring.RingDictionary;

/**
 * Records of a ring on their way through the pipeline. Each ring reuses one payload: the source's
 * thread fills and offers it, the pipeline's thread decodes it and sets the outcome.
 */
final class RingPayload implements SpanDecoder, Completion {
  /** The state of the payload. */
  enum Outcome {
    /** It is not in progress. */
    NONE,
    UNDER_WAY,
    CONFIRMED,
    MALFORMED,
    FAILED
  }

  /** From this size on the source is woken: the ring fills faster than the source polls. */
  private static final int MUCH_BYTES = 256 * 1024;

  private final RingSpanDecoder decoder;
  private final RingSpanDecoder.Resource resource;
  private final PayloadArrays arrays;
  private final Runnable wake;
  // Written before the offer; the pipeline's queue publishes them.
  private RingDictionary.Strings strings;
  private RingPosition after;
  private volatile Outcome outcome = Outcome.NONE;

  /**
   * Whether the outcome wakes the source. Without it, the source reads at its next look; waking it
   * each time would make many small payloads.
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

  /** Fills the payload. Call this before the offer. */
  void set(RingDictionary.Strings strings, RingPosition after) {
    this.strings = strings;
    this.after = after;
    awaited = false;
    outcome = Outcome.UNDER_WAY;
  }

  /** Ends a refused offer. */
  void reset() {
    outcome = Outcome.NONE;
  }

  /** Returns whether nothing is in progress and the outcome was taken. */
  boolean isSettled() {
    return outcome == Outcome.NONE;
  }

  /** Returns the outcome; a final one is returned once. */
  Outcome takeOutcome() {
    Outcome now = outcome;
    if (now == Outcome.UNDER_WAY) {
      // If the outcome arrives between the two lines, the next look finds it.
      awaited = true;
    } else if (now != Outcome.NONE) {
      outcome = Outcome.NONE;
    }
    return now;
  }

  /** Returns the position after a confirmation. */
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

  /** Returns an encoder of the records that were set last; it stays valid after the next ones. */
  @Override
  public SpanEncoder encoder() {
    return new RingSpanEncoder(resource, strings);
  }

  /** Applications write while the agent is away. */
  @Override
  public boolean mayHaveWaited() {
    return true;
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
