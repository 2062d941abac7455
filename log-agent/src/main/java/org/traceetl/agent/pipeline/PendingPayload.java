package org.traceetl.agent.pipeline;

import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.flow.SpanSink;

/**
 * An accepted payload until its outcome is known. From the moment it is decoded the pipeline's
 * thread owns it.
 */
final class PendingPayload {
  private static final Logger log = LoggerFactory.getLogger(PendingPayload.class);
  private static final int MAX_REASONS = 4;

  final String source;
  final int charge;
  private final SpanDecoder decoder;
  private final Completion completion;
  private final Set<String> reasons = new TreeSet<>();
  private byte[] bytes;
  private final int length;
  private int accepted;
  private int rejected;
  private int filtered;
  private int measured;
  private boolean malformed;

  /**
   * @param length of the bytes that are the payload
   * @param charge bytes that it counts for while it is in flight
   */
  PendingPayload(
      String source,
      byte[] bytes,
      int length,
      SpanDecoder decoder,
      Completion completion,
      int charge) {
    this.source = source;
    this.bytes = bytes;
    this.length = length;
    this.decoder = decoder;
    this.completion = completion;
    this.charge = charge;
  }

  /** Decodes it, once, and lets go of its bytes: after that they are only a burden. */
  void decode(SpanSink sink) throws MalformedPayloadException {
    byte[] taken = bytes;
    bytes = null;
    try {
      decoder.decode(taken, length, sink);
    } finally {
      tell(() -> completion.released(taken));
    }
  }

  /** A span of it is in a batch. */
  void accept() {
    accepted++;
  }

  /** A span of it is in a batch by its count and duration alone: one of those accepted. */
  void measure() {
    measured++;
  }

  /** A span of it is not wanted: nothing that its sender should hear of. */
  void filter() {
    filtered++;
  }

  /** A span of it cannot be accepted. */
  void reject(String reason) {
    rejected++;
    if (reasons.size() < MAX_REASONS) {
      reasons.add(reason);
    }
  }

  /** It cannot be read, and no span of it is in a batch. */
  void malformed(String reason) {
    malformed = true;
    reasons.add(reason);
  }

  int accepted() {
    return accepted;
  }

  int rejected() {
    return rejected;
  }

  int filtered() {
    return filtered;
  }

  int measured() {
    return measured;
  }

  /** Why spans were rejected; empty when none were. */
  String reason() {
    return String.join(", ", reasons);
  }

  /** What is to be kept with it; null for nothing. */
  Checkpoint checkpoint() {
    Checkpoint note = malformed ? null : completion.checkpoint();
    // A repeat of nothing does no harm; one of spans not wanted would count them again.
    return note instanceof Checkpoint.Request && accepted + rejected + filtered == 0 ? null : note;
  }

  /** It is in the spool, or will never be. */
  void complete() {
    tell(() -> {
      if (malformed) {
        completion.malformed(reason());
      } else {
        completion.confirmed(accepted, rejected, reason());
      }
    });
  }

  /** It could not be kept. */
  void fail(String why) {
    tell(() -> completion.failed(why));
  }

  private void tell(Runnable outcome) {
    try {
      outcome.run();
    } catch (RuntimeException e) {
      // A source's failure must not keep the other payloads from being settled.
      log.error("Source {} failed to process the outcome of a payload", source, e);
    }
  }
}
