package org.traceetl.perf.bench.load;

import com.google.protobuf.InvalidProtocolBufferException;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import java.nio.ByteBuffer;

/**
 * A request of {@link OtlpExport} whose first trace ID can be replaced in place: the same spans can
 * be sent repeatedly without being repeats.
 */
public final class RenumberedExport {
  private final byte[] request;
  private final ByteBuffer traceId;
  private final int spans;

  /**
   * Takes ownership of a request.
   *
   * @throws IllegalArgumentException if the request is invalid or has no span
   */
  public RenumberedExport(byte[] request) {
    ExportTraceServiceRequest parsed;
    try {
      parsed = ExportTraceServiceRequest.parseFrom(request);
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalArgumentException("not an OTLP trace request", e);
    }
    byte[] first =
        parsed.getResourceSpans(0).getScopeSpans(0).getSpans(0).getTraceId().toByteArray();
    this.request = request;
    traceId = ByteBuffer.wrap(request, indexOf(request, first), Long.BYTES).slice();
    spans =
        parsed.getResourceSpansList().stream()
            .map(ResourceSpans::getScopeSpansList)
            .flatMap(scopes -> scopes.stream().map(ScopeSpans::getSpansCount))
            .mapToInt(count -> count)
            .sum();
  }

  /** Returns the request for its n-th sending, n above 0. The array is reused. */
  public byte[] numbered(long n) {
    traceId.putLong(0, n);
    return request;
  }

  public int spans() {
    return spans;
  }

  public int bytes() {
    return request.length;
  }

  private static int indexOf(byte[] in, byte[] sought) {
    int at = 0;
    while (!ByteBuffer.wrap(in, at, sought.length).equals(ByteBuffer.wrap(sought))) {
      at++;
    }
    return at;
  }
}
