package org.traceetl.agent.forward;

import java.util.concurrent.TimeUnit;
import org.traceetl.agent.flow.OtlpFormat;
import org.traceetl.agent.forward.ForwardMetrics.SpanOutcome;
import org.traceetl.agent.otlp.OtlpWriter;

/**
 * Encodes the spans of rings and trace logs, and collects those of several payloads in a request:
 * sources read often, and a request per read would cost an endpoint more than its spans. Owned by
 * the thread that writes the buffer.
 */
final class EncodedSpans implements OtlpWriter.Output {
  /** Longest time in memory after the first span. */
  private static final long MOST_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** Stores requests. */
  interface Store {
    /** Returns whether the request {@code bytes[0, length)} is in the buffer. */
    boolean store(byte[] bytes, int length, long millis, OtlpFormat format);
  }

  private final Store store;
  private final ForwardMetrics metrics;
  private final OtlpWriter writer = new OtlpWriter(this);
  private String source = "";
  private long millis;
  private long dueNanos;
  // Also read by the thread that drains.
  private volatile boolean isOpen;

  EncodedSpans(Store store, ForwardMetrics metrics) {
    this.store = store;
    this.metrics = metrics;
  }

  /** Adds the spans of a payload, and stores each request that has enough. */
  void add(QueuedRequest payload, long nowNanos) {
    if (!payload.source().equals(source)) {
      // Spans are counted by source.
      end();
      source = payload.source();
    }
    if (!isOpen) {
      begin(payload.millis(), nowNanos);
    }
    writer.payload(payload.length());
    try {
      payload.encoder().encode(payload.payload(), payload.length(), writer);
    } finally {
      writer.endPayload();
      isOpen = writer.hasSpans();
    }
  }

  private void begin(long startMillis, long nowNanos) {
    isOpen = true;
    millis = startMillis;
    dueNanos = nowNanos + MOST_NANOS;
  }

  /** Stores the open request if it is old enough; returns the time until then, if one is open. */
  long endDue(long nowNanos) {
    if (isOpen && dueNanos - nowNanos <= 0) {
      end();
    }
    return isOpen ? dueNanos - nowNanos : Long.MAX_VALUE;
  }

  /** Stores the open request. */
  void end() {
    writer.end();
    isOpen = false;
  }

  /** Returns whether spans are only in memory. Safe for any thread. */
  boolean isOpen() {
    return isOpen;
  }

  @Override
  public void request(byte[] bytes, int length, int spans) {
    boolean stored = store.store(bytes, length, millis, OtlpFormat.PROTOBUF);
    metrics.encoded(source, stored ? SpanOutcome.STORED : SpanOutcome.DISK_FAILED, spans);
  }

  @Override
  public void leftOut(OtlpWriter.LeftOut reason) {
    metrics.encoded(
        source,
        switch (reason) {
          case MALFORMED -> SpanOutcome.MALFORMED;
          case TOO_LARGE -> SpanOutcome.TOO_LARGE;
        },
        1);
  }
}
