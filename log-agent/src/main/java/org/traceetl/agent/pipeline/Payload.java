package org.traceetl.agent.pipeline;

import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.SpanDecoder;

/**
 * An accepted payload until its outcome is known. The pipeline thread fills it in while it decodes;
 * its batches settle it on the publisher's thread. The count of what is open orders the two.
 */
final class Payload {
  private static final Logger log = LoggerFactory.getLogger(Payload.class);
  private static final int MAX_REASONS = 4;

  final String source;
  final SpanDecoder decoder;
  final int charge;
  private final Completion completion;
  private final Runnable released;
  // One for the decoding, one for each batch that holds spans of it.
  private final AtomicInteger open = new AtomicInteger(1);
  private final Set<String> reasons = new TreeSet<>();
  private byte[] bytes;
  private int accepted;
  private int rejected;
  private boolean malformed;
  // Owned by the publisher's thread.
  private int refused;
  private String failure;

  /**
   * @param charge bytes that it counts for while it is in flight
   * @param released run once, before the completion
   */
  Payload(
      String source,
      byte[] bytes,
      SpanDecoder decoder,
      Completion completion,
      int charge,
      Runnable released) {
    this.source = source;
    this.bytes = bytes;
    this.decoder = decoder;
    this.completion = completion;
    this.charge = charge;
    this.released = released;
  }

  /** The bytes, once: after the decoding they are only a burden. */
  byte[] takeBytes() {
    byte[] taken = bytes;
    bytes = null;
    return taken;
  }

  void accept() {
    accepted++;
  }

  void reject(String reason) {
    rejected++;
    if (reasons.size() < MAX_REASONS) {
      reasons.add(reason);
    }
  }

  /** Nothing of it can be read. */
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

  /** A further batch holds spans of it. */
  void hold() {
    open.incrementAndGet();
  }

  /** The broker will never take a batch, which holds this many spans of it. */
  void refuse(int spans) {
    refused += spans;
    release();
  }

  /** A batch was given up. */
  void fail(String reason) {
    failure = reason;
    release();
  }

  /** The decoding is over, or a batch is confirmed. */
  void release() {
    if (open.decrementAndGet() > 0) {
      return;
    }
    released.run();
    try {
      complete();
    } catch (RuntimeException e) {
      // A source's failure must not keep the other payloads of the batch from being settled.
      log.error("Source {} failed when it was told of a payload's outcome", source, e);
    }
  }

  private void complete() {
    if (refused > 0) {
      reasons.add("refused_by_broker");
    }
    String reason = String.join(", ", reasons);
    if (failure != null) {
      completion.failed(failure);
    } else if (malformed) {
      completion.malformed(reason);
    } else {
      completion.confirmed(accepted - refused, rejected + refused, reason);
    }
  }
}
