package org.traceetl.agent.pipeline;

import java.util.Arrays;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.proto.SpanBatchWriter;

/** A batch being filled for one resource and queue. Reused; owned by the pipeline thread. */
final class OpenBatch {
  private final SpanBatchWriter writer = new SpanBatchWriter();
  private Resource resource;
  private int candidate;
  private int resourceBytes;

  void open(Resource resource, int candidate) {
    this.resource = resource;
    this.candidate = candidate;
    writer.begin();
    resource.writeTo(writer);
    resourceBytes = writer.sizeBytes();
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
    if (span.statusMessageLength > 0) {
      writer.statusMessage(
          writer.intern(span.statusMessage, span.statusMessageOffset, span.statusMessageLength));
    }
    writer.endSpan();
  }

  Resource resource() {
    return resource;
  }

  int candidate() {
    return candidate;
  }

  int spans() {
    return writer.spanCount();
  }

  /** Bytes of the spans, with the strings they brought. */
  int spanBytes() {
    return writer.sizeBytes() - resourceBytes;
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
