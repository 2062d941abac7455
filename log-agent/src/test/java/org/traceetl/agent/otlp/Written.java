package org.traceetl.agent.otlp;

import com.google.protobuf.InvalidProtocolBufferException;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What was written, as the generated classes read it. */
public final class Written implements OtlpWriter.Output {
  public final List<ExportTraceServiceRequest> requests = new ArrayList<>();
  public final List<Integer> spans = new ArrayList<>();
  public final List<OtlpWriter.LeftOut> leftOut = new ArrayList<>();

  /** Encodes a payload. */
  public static Written of(SpanEncoder encoder, byte[] payload) {
    Written written = new Written();
    OtlpWriter writer = new OtlpWriter(written);
    writer.payload(payload.length);
    encoder.encode(payload, payload.length, writer);
    writer.endPayload();
    writer.end();
    return written;
  }

  @Override
  public void request(byte[] bytes, int length, int count) {
    try {
      requests.add(ExportTraceServiceRequest.parseFrom(Arrays.copyOf(bytes, length)));
    } catch (InvalidProtocolBufferException e) {
      throw new AssertionError(e);
    }
    spans.add(count);
  }

  @Override
  public void leftOut(OtlpWriter.LeftOut reason) {
    leftOut.add(reason);
  }
}
