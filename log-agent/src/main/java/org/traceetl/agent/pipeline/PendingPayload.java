package org.traceetl.agent.pipeline;

import java.net.InetAddress;
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
 * An accepted payload until its outcome is known. Once its decoding begins, it is confined to the
 * pipeline thread.
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
  private int grouped;
  private boolean malformed;

  /**
   * @param length bytes of the payload in the array
   * @param charge bytes it is charged while it is in flight
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

  /** Decodes the payload and releases its bytes. Call once. */
  void decode(SpanSink sink) throws MalformedPayloadException {
    byte[] taken = bytes;
    bytes = null;
    try {
      decoder.decode(taken, length, sink);
    } finally {
      tell(() -> completion.released(taken));
    }
  }

  /** Returns whether its spans may have waited for the agent. */
  boolean mayHaveWaited() {
    return decoder.mayHaveWaited();
  }

  /** Returns the address of its sender; null if it has none. */
  InetAddress sender() {
    return decoder.sender();
  }

  /** Counts a span that is in a batch. */
  void accept() {
    accepted++;
  }

  /** Counts a measured span, in addition to {@link #accept}. */
  void measure() {
    measured++;
  }

  /** Counts a span in a group by demand, in addition to {@link #accept}. */
  void group() {
    grouped++;
  }

  /** Counts a filtered span, which is not reported to the sender. */
  void filter() {
    filtered++;
  }

  /** Counts a rejected span. */
  void reject(String reason) {
    rejected++;
    if (reasons.size() < MAX_REASONS) {
      reasons.add(reason);
    }
  }

  /** Marks the payload as malformed; none of its spans is in a batch. */
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

  int grouped() {
    return grouped;
  }

  /** Returns why spans were rejected; empty if none were. */
  String reason() {
    return String.join(", ", reasons);
  }

  /** Returns the checkpoint to store with it; null for none. */
  Checkpoint checkpoint() {
    Checkpoint note = malformed ? null : completion.checkpoint();
    // A repeat of an empty request is harmless; a repeat of filtered spans would count them again.
    return note instanceof Checkpoint.Request && accepted + rejected + filtered == 0 ? null : note;
  }

  /** Reports to the source that the payload is in the spool, or is malformed. */
  void complete() {
    tell(() -> {
      if (malformed) {
        completion.malformed(reason());
      } else {
        completion.confirmed(accepted, rejected, reason());
      }
    });
  }

  /** Reports to the source that the payload could not be stored. */
  void fail(String why) {
    tell(() -> completion.failed(why));
  }

  private void tell(Runnable outcome) {
    try {
      outcome.run();
    } catch (RuntimeException e) {
      // Other payloads must be completed nevertheless.
      log.error("Source {} failed to process the outcome of a payload", source, e);
    }
  }
}
