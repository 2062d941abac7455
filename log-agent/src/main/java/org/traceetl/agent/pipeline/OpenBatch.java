package org.traceetl.agent.pipeline;

import java.util.Arrays;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.SpanEvents;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.proto.Limits;
import org.traceetl.proto.SpanBatchWriter;

/** A batch being filled for one resource and queue. Reused; owned by the pipeline thread. */
final class OpenBatch {
  private static final int ENTRY_BYTES = 10;

  private final SpanBatchWriter writer = new SpanBatchWriter();
  private RoutedResource resource;
  private int candidate;
  private int resourceBytes;
  private int resourceEntries;

  void open(RoutedResource resource, int candidate) {
    this.resource = resource;
    this.candidate = candidate;
    writer.begin();
    resource.writeTo(writer);
    resourceBytes = writer.sizeBytes();
    resourceEntries = writer.dictionarySize();
  }

  void add(SpanView span) {
    writer.startSpan(
        span.traceIdHigh,
        span.traceIdLow,
        span.spanId,
        span.parentSpanId,
        writer.intern(span.name, span.nameOffset, span.nameLength),
        span.kind,
        span.status,
        span.startUnixNanos,
        span.durationNanos,
        span.samplingThreshold);
    attributes(span);
    if (span.statusMessageLength > 0) {
      writer.statusMessage(
          writer.intern(span.statusMessage, span.statusMessageOffset, span.statusMessageLength));
    }
    events(span.events);
    writer.endSpan();
  }

  /**
   * Adds a span of which only count and duration matter, with the attributes that it still has: it
   * goes without identity into the group of those like it. It may be in no document then, nor be an
   * exemplar.
   */
  void addUnremarkable(SpanView span) {
    writer.startGroupedSpan(
        writer.intern(span.name, span.nameOffset, span.nameLength),
        span.kind,
        span.status,
        span.durationNanos,
        span.samplingThreshold);
    attributes(span);
    events(span.events);
    writer.endSpan();
  }

  private void events(SpanEvents events) {
    for (int event = 0; event < events.size(); event++) {
      int name =
          writer.intern(events.name(event), events.nameOffset(event), events.nameLength(event));
      if (!writer.event(name)) {
        throw new IllegalStateException("isFull leaves room for the events of a span");
      }
      Attributes attributes = events.attributes();
      for (int i = events.firstAttribute(event); i < events.firstAttribute(event + 1); i++) {
        writer.eventAttribute(
            writer.intern(attributes.key(i), attributes.keyOffset(i), attributes.keyLength(i)),
            writer.intern(
                attributes.value(i), attributes.valueOffset(i), attributes.valueLength(i)));
      }
    }
  }

  private void attributes(SpanView span) {
    Attributes attributes = span.attributes;
    for (int i = 0; i < attributes.size(); i++) {
      writer.attribute(
          attributes.key(i),
          attributes.keyOffset(i),
          attributes.keyLength(i),
          attributes.value(i),
          attributes.valueOffset(i),
          attributes.valueLength(i));
    }
  }

  RoutedResource resource() {
    return resource;
  }

  int candidate() {
    return candidate;
  }

  /** Spans in it, also those in groups. */
  int spans() {
    return writer.spanCount();
  }

  /**
   * Whether it has so many entries, or as many spans as a batch may have. A group is one entry,
   * whatever it holds: one more span in it costs a few bytes, which {@link #spanBytes} counts. Or
   * whether it may have no room for the events of one more span.
   */
  boolean isFull(int mostEntries) {
    int entries = writer.spanCount() - writer.groupedSpanCount() + writer.groupCount();
    return entries >= mostEntries
        || writer.spanCount() == Limits.MAX_SPANS
        || writer.eventCount() > Limits.MAX_EVENTS - Limits.MAX_SPAN_EVENTS;
  }

  /**
   * Bytes of the spans, with the strings they brought. A string counts for {@link #ENTRY_BYTES} at
   * least: what it is found by takes room too, which only the shortest ones do not make up for.
   */
  int spanBytes() {
    return Math.max(
        writer.sizeBytes() - resourceBytes,
        ENTRY_BYTES * (writer.dictionarySize() - resourceEntries));
  }

  /** Bytes it holds, filled or not. */
  long heldBytes() {
    return writer.heldBytes();
  }

  /** Makes the message. */
  byte[] finish(long agentHigh, long agentLow, long epoch, long sequence) {
    int length = writer.finish(agentHigh, agentLow, epoch, sequence);
    return Arrays.copyOf(writer.buffer(), length);
  }

  /** Ends this use. */
  void release() {
    resource = null;
  }
}
