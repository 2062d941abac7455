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

  private static final long MAX_THRESHOLD = (1L << 56) - 1;

  /** Most bytes of a sample without its strings and numbers. */
  private static final int SAMPLE_BYTES = 96;

  private final SpanBatchWriter writer = new SpanBatchWriter();
  private RoutedResource resource;
  private int candidate;
  private int resourceBytes;
  private int resourceEntries;
  // Whether the writer has the demand of its groups.
  private boolean demanded;
  // Bytes and entries that samples added to the dictionary.
  private int sampleTextBytes;
  private int sampleEntries;
  private long lastEndNanos;

  /**
   * Starts a batch.
   *
   * @param sizes whether it has the sizes of its spans
   */
  void open(RoutedResource resource, int candidate, boolean sizes) {
    this.resource = resource;
    this.candidate = candidate;
    writer.begin();
    if (sizes) {
      writer.keepSizes();
    }
    demanded = false;
    sampleTextBytes = 0;
    sampleEntries = 0;
    lastEndNanos = 0;
    resource.writeTo(writer);
    resourceBytes = writer.sizeBytes();
    resourceEntries = writer.dictionarySize();
  }

  /**
   * Adds a whole span.
   *
   * @param sampled whether it is a member of the sample
   */
  void add(SpanView span, boolean sampled) {
    writer.source(span.dictionary);
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
    if (sampled) {
      writer.sampled();
    }
    writer.size(span.sizeBytes);
    endWhole(span);
  }

  private void endWhole(SpanView span) {
    attributes(span);
    if (span.statusMessageLength > 0) {
      writer.statusMessage(
          writer.intern(span.statusMessage, span.statusMessageOffset, span.statusMessageLength));
    }
    events(span.events);
    writer.endSpan();
  }

  /**
   * Adds a whole copy of the last span of a group, which counts nowhere.
   *
   * @param threshold the greater of the sample's and the span's
   * @param mostBytes of all samples
   * @return false if there is no room
   */
  boolean addSample(SpanView span, long threshold, long mostBytes) {
    long used = (long) writer.sampleBytes() + sampleTextBytes;
    if (Math.max(used, ENTRY_BYTES * sampleEntries) + mostSampleBytes(span) > mostBytes
        || writer.sampleCount() == Limits.MAX_SPANS
        || writer.sampleEventCount() > Limits.MAX_EVENTS - Limits.MAX_SPAN_EVENTS) {
      return false;
    }
    int before = writer.sizeBytes() - writer.sampleBytes();
    int entries = writer.dictionarySize();
    writer.startSample(
        span.traceIdHigh,
        span.traceIdLow,
        span.spanId,
        span.parentSpanId,
        writer.intern(span.name, span.nameOffset, span.nameLength),
        span.kind,
        span.status,
        span.startUnixNanos,
        span.durationNanos,
        threshold);
    endWhole(span);
    sampleTextBytes += writer.sizeBytes() - writer.sampleBytes() - before;
    sampleEntries += writer.dictionarySize() - entries;
    return true;
  }

  /** Returns an upper bound of the bytes that a sample adds, with the memory of its strings. */
  private static long mostSampleBytes(SpanView span) {
    SpanEvents events = span.events;
    int strings = 2 + 2 * span.attributes.size() + events.size() + 2 * events.attributes().size();
    return SAMPLE_BYTES
        + (long) ENTRY_BYTES * strings
        + span.nameLength
        + span.statusMessageLength
        + span.attributes.textBytes()
        + events.textBytes();
  }

  /**
   * Adds a measured span to the group of equal ones, without identity. It cannot become a document
   * or an exemplar.
   */
  void addUnremarkable(SpanView span) {
    writer.source(span.dictionary);
    writer.startGroupedSpan(
        writer.intern(span.name, span.nameOffset, span.nameLength),
        span.kind,
        span.status,
        span.durationNanos,
        span.samplingThreshold);
    writer.size(span.sizeBytes);
    attributes(span);
    events(span.events);
    writer.endSpan();
    trace(span);
  }

  /** Tells apart traces of sampled spans in groups. */
  private void trace(SpanView span) {
    if (span.samplingThreshold != 0) {
      writer.traceOfGrouped(span.traceIdHigh, span.traceIdLow);
    }
  }

  /**
   * Starts a span for the group of spans that are equal in what servers demand.
   *
   * @param onlyDemanded whether all its attributes are demanded
   * @return whether the batch has no such group yet
   */
  boolean startGrouped(SpanView span, DemandedDetail detail, boolean onlyDemanded) {
    writer.source(span.dictionary);
    writer.startGroupedSpan(
        writer.intern(span.name, span.nameOffset, span.nameLength),
        span.kind,
        span.status,
        span.durationNanos,
        span.samplingThreshold);
    writer.size(span.sizeBytes);
    Attributes attributes = span.attributes;
    // A whole span has no more.
    int size = Math.min(attributes.size(), Limits.MAX_ATTRIBUTES);
    for (int i = 0; i < size; i++) {
      if (onlyDemanded
          || detail.demands(attributes.key(i), attributes.keyOffset(i), attributes.keyLength(i))) {
        attribute(attributes, i);
      }
    }
    events(span.events);
    return writer.startsGroup();
  }

  /** Adds the span that {@link #startGrouped} started. */
  void addGrouped(SpanView span, DemandedDetail detail) {
    demand(detail);
    writer.endSpan();
    trace(span);
  }

  /**
   * Adds a span without events to this group, if the group has its name, kind, status, threshold
   * and attributes.
   *
   * @param group a possible number of a group
   * @return whether it was added
   */
  boolean addToGroup(int group, SpanView span, DemandedDetail detail) {
    writer.source(span.dictionary);
    if (!writer.isOfGroup(
        group, span.name, span.nameOffset, span.nameLength, span.kind, span.status)) {
      return false;
    }
    Attributes attributes = span.attributes;
    for (int i = 0; i < attributes.size(); i++) {
      if (!writer.isNextOfGroup(
          attributes.key(i),
          attributes.keyOffset(i),
          attributes.keyLength(i),
          attributes.value(i),
          attributes.valueOffset(i),
          attributes.valueLength(i))) {
        return false;
      }
    }
    if (!writer.addToGroup(span.durationNanos, span.samplingThreshold, span.sizeBytes)) {
      return false;
    }
    demand(detail);
    trace(span);
    return true;
  }

  /** Returns the number of the group that received the last span in a group. */
  int lastGroup() {
    return writer.lastGroup();
  }

  private void demand(DemandedDetail detail) {
    if (!demanded) {
      writer.demand(detail.version());
      writer.sampleThreshold(Math.min(detail.sampleThreshold(), MAX_THRESHOLD));
      for (byte[] key : detail.keys()) {
        writer.groupKey(writer.intern(key, 0, key.length));
      }
      demanded = true;
    }
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

  /**
   * Dates the span that was added.
   *
   * @param unixNanos its end if it may have waited for the agent, else the greatest number
   */
  void ended(long unixNanos) {
    lastEndNanos = Math.max(lastEndNanos, unixNanos);
  }

  /** Returns the latest of the dates of its spans, nanoseconds since 1970. */
  long lastEndNanos() {
    return lastEndNanos;
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

  /** Returns the bytes that the sample added to the finished message. */
  int sampleBytes() {
    return writer.sampleFieldBytes() + sampleTextBytes;
  }

  /**
   * Returns the bytes of the spans and their new strings, without samples. A string counts as at
   * least {@link #ENTRY_BYTES}, because its dictionary entry takes memory too.
   */
  int spanBytes() {
    return Math.max(
        writer.sizeBytes() - writer.sampleBytes() - resourceBytes - sampleTextBytes,
        ENTRY_BYTES * (writer.dictionarySize() - resourceEntries - sampleEntries));
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

  /** Releases the resource and the spans' dictionary. */
  void release() {
    resource = null;
    writer.source(null);
  }
}
