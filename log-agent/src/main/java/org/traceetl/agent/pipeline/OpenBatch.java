package org.traceetl.agent.pipeline;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.publish.Batch;
import org.traceetl.proto.SpanBatchWriter;

/** A batch being filled for one resource and queue. Reused; owned by the pipeline thread. */
final class OpenBatch {
  private final SpanBatchWriter writer = new SpanBatchWriter();
  private List<Share> shares = new ArrayList<>();
  private Resource resource;
  private int candidate;
  private long dueNanos;
  private int resourceBytes;

  void open(Resource resource, int candidate, long dueNanos) {
    this.resource = resource;
    this.candidate = candidate;
    this.dueNanos = dueNanos;
    writer.begin();
    resource.writeTo(writer);
    resourceBytes = writer.sizeBytes();
  }

  void add(SpanView span, Payload payload) {
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
          writer.intern(attributes.key(i), attributes.keyOffset(i), attributes.keyLength(i)),
          writer.intern(attributes.value(i), attributes.valueOffset(i), attributes.valueLength(i)));
    }
    if (span.statusMessageLength > 0) {
      writer.statusMessage(
          writer.intern(span.statusMessage, span.statusMessageOffset, span.statusMessageLength));
    }
    writer.endSpan();
    // Payloads come one after the other: only the last can be this one.
    if (shares.isEmpty() || shares.getLast().payload != payload) {
      payload.hold();
      shares.add(new Share(payload));
    }
    shares.getLast().spans++;
  }

  Resource resource() {
    return resource;
  }

  int candidate() {
    return candidate;
  }

  /** When it is closed at the latest. */
  long dueNanos() {
    return dueNanos;
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

  /** Ends this use: gives the outcome that settles the payloads with spans in it. */
  Batch.Outcome release() {
    List<Share> held = shares;
    shares = new ArrayList<>();
    resource = null;
    return new Batch.Outcome() {
      @Override
      public void confirmed() {
        held.forEach(share -> share.payload.release());
      }

      @Override
      public void refused() {
        held.forEach(share -> share.payload.refuse(share.spans));
      }

      @Override
      public void failed(String reason) {
        held.forEach(share -> share.payload.fail(reason));
      }
    };
  }

  /** The spans of one payload in this batch. */
  private static final class Share {
    final Payload payload;
    int spans;

    Share(Payload payload) {
      this.payload = payload;
    }
  }
}
