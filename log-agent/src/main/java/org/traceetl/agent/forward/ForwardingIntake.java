package org.traceetl.agent.forward;

import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.OtlpFormat;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.otlp.SpanEncoder;

/**
 * Keeps the array of each payload until its outcome is known, and then hands over the confirmed
 * ones. Malformed and failed payloads are not forwarded. It never blocks: if the receiver has no
 * room, the array goes back at once.
 */
final class ForwardingIntake implements Intake {
  private final Intake intake;
  private final Predicate<QueuedRequest> receiver;
  private final LongSupplier millis;

  /**
   * @param receiver takes a request, whose array it gives back later, or returns false. If it
   *     throws, it has not taken the request
   */
  ForwardingIntake(Intake intake, Predicate<QueuedRequest> receiver, LongSupplier millis) {
    this.intake = intake;
    this.receiver = receiver;
    this.millis = millis;
  }

  @Override
  public Admission offer(
      String source, byte[] payload, int length, SpanDecoder decoder, Completion completion) {
    OtlpFormat format = decoder.otlpFormat();
    // Now, because the source may reuse its decoder after the outcome.
    SpanEncoder encoder = format == null ? decoder.encoder() : null;
    return intake.offer(
        source,
        payload,
        length,
        decoder,
        // An empty request has nothing to forward.
        format == null && encoder == null || length == 0
            ? completion
            : new Request(source, length, format, encoder, completion));
  }

  @Override
  public void reject(String source, String reason) {
    intake.reject(source, reason);
  }

  /** Confined to the pipeline thread. */
  private final class Request implements Completion {
    private final String source;
    private final int length;
    private final OtlpFormat format;
    private final SpanEncoder encoder;
    private final Completion completion;
    // Null until the pipeline has decoded it.
    private byte[] payload;

    Request(
        String source, int length, OtlpFormat format, SpanEncoder encoder, Completion completion) {
      this.source = source;
      this.length = length;
      this.format = format;
      this.encoder = encoder;
      this.completion = completion;
    }

    @Override
    public Checkpoint checkpoint() {
      return completion.checkpoint();
    }

    @Override
    public void released(byte[] decoded) {
      payload = decoded;
    }

    @Override
    public void confirmed(int accepted, int rejected, String reason) {
      try {
        if (payload != null) {
          handOver();
        }
      } finally {
        completion.confirmed(accepted, rejected, reason);
      }
    }

    private void handOver() {
      boolean taken = false;
      try {
        taken =
            receiver.test(
                new QueuedRequest(
                    source, payload, length, format, encoder, millis.getAsLong(), completion));
      } finally {
        if (!taken) {
          giveBack();
        }
      }
    }

    @Override
    public void malformed(String reason) {
      giveBack();
      completion.malformed(reason);
    }

    @Override
    public void failed(String reason) {
      giveBack();
      completion.failed(reason);
    }

    private void giveBack() {
      if (payload != null) {
        completion.released(payload);
      }
    }
  }
}
