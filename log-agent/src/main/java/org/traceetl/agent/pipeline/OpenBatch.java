package org.traceetl.agent.pipeline;

import java.util.Arrays;
import org.traceetl.agent.detail.DemandedDetail;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.SpanEvents;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.proto.Limits;
import org.traceetl.proto.SpanBatchWriter;

/** A reusable batch that is filled for one resource and queue. Confined to the pipeline thread. */
final class OpenBatch {
  private static final int ENTRY_BYTES = 10;

  private final SpanBatchWriter writer = new SpanBatchWriter();
  private RoutedResource resource;
  private int candidate;
  private int resourceBytes;
  private int resourceEntries;
  // Whether the writer has the demand of its groups.
  private boolean demanded;

  void open(RoutedResource resource, int candidate) {
    this.resource = resource;
    this.candidate = candidate;
    writer.begin();
    demanded = false;
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
   * Adds a measured span to the group of equal ones, without identity. It cannot become a document
   * or an exemplar.
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

  /**
   * Starts a span for the group of spans that are equal in what servers demand.
   *
   * @return whether the batch has no such group yet
   */
  boolean startGrouped(SpanView span, DemandedDetail detail) {
    writer.startGroupedSpan(
        writer.intern(span.name, span.nameOffset, span.nameLength),
        span.kind,
        span.status,
        span.durationNanos,
        span.samplingThreshold);
    Attributes attributes = span.attributes;
    // A whole span has no more.
    int size = Math.min(attributes.size(), Limits.MAX_ATTRIBUTES);
    for (int i = 0; i < size; i++) {
      if (detail.demands(attributes.key(i), attributes.keyOffset(i), attributes.keyLength(i))) {
        attribute(attributes, i);
      }
    }
    events(span.events);
    return writer.startsGroup();
  }

  /** Adds the span that {@link #startGrouped} started. */
  void addGrouped(DemandedDetail detail) {
    if (!demanded) {
      writer.demand(detail.version());
      for (byte[] key : detail.keys()) {
        writer.groupKey(writer.intern(key, 0, key.length));
      }
      demanded = true;
    }
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
      attribute(attributes, i);
    }
  }

  private void attribute(Attributes attributes, int i) {
    writer.attribute(
        attributes.key(i),
        attributes.keyOffset(i),
        attributes.keyLength(i),
        attributes.value(i),
        attributes.valueOffset(i),
        attributes.valueLength(i));
  }

  RoutedResource resource() {
    return resource;
  }

  int candidate() {
    return candidate;
  }

  /** Returns the number of spans, including those in groups. */
  int spans() {
    return writer.spanCount();
  }

  /**
   * Returns whether the batch has this many entries or the most spans, or may lack room for the
   * events of one more span. A group is one entry: one more span in it costs few bytes, which
   * {@link #spanBytes} counts.
   */
  boolean isFull(int mostEntries) {
    int entries = writer.spanCount() - writer.groupedSpanCount() + writer.groupCount();
    return entries >= mostEntries
        || writer.spanCount() == Limits.MAX_SPANS
        || writer.eventCount() > Limits.MAX_EVENTS - Limits.MAX_SPAN_EVENTS;
  }

  /**
   * Returns the bytes of the spans and their new strings. A string counts as at least {@link
   * #ENTRY_BYTES}, because its dictionary entry takes memory too.
   */
  int spanBytes() {
    return Math.max(
        writer.sizeBytes() - resourceBytes,
        ENTRY_BYTES * (writer.dictionarySize() - resourceEntries));
  }

  /** Returns the allocated bytes. */
  long heldBytes() {
    return writer.heldBytes();
  }

  /** Returns the encoded message. */
  byte[] finish(long agentHigh, long agentLow, long epoch, long sequence) {
    int length = writer.finish(agentHigh, agentLow, epoch, sequence);
    return Arrays.copyOf(writer.buffer(), length);
  }

  /** Releases the resource. */
  void release() {
    resource = null;
  }
}
