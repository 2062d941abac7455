package org.traceetl.perf.bench.load;

import com.google.protobuf.InvalidProtocolBufferException;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * A request of {@link OtlpExport} whose trace IDs can be replaced in place: the same spans can be
 * sent repeatedly without being repeats. Usually only the first ID is replaced.
 */
public final class RenumberedExport {
  private final byte[] request;
  private final ByteBuffer bytes;

  /** Offsets of the replaced trace IDs. */
  private final int[] traceIds;

  private final int spans;

  /**
   * Takes ownership of a request.
   *
   * @throws IllegalArgumentException if the request is invalid or has no span
   */
  public RenumberedExport(byte[] request) {
    this(request, false);
  }

  /**
   * Takes ownership of a request.
   *
   * @param all whether all trace IDs are replaced, so that spans of requests with the same number
   *     stay in one trace
   * @throws IllegalArgumentException if the request is invalid or has no span
   */
  RenumberedExport(byte[] request, boolean all) {
    ExportTraceServiceRequest parsed;
    try {
      parsed = ExportTraceServiceRequest.parseFrom(request);
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalArgumentException("not an OTLP trace request", e);
    }
    List<Span> inOrder =
        parsed.getResourceSpansList().stream()
            .map(ResourceSpans::getScopeSpansList)
            .flatMap(scopes -> scopes.stream().map(ScopeSpans::getSpansList).flatMap(List::stream))
            .toList();
    this.request = request;
    bytes = ByteBuffer.wrap(request);
    spans = inOrder.size();
    traceIds = new int[all ? spans : 1];
    int from = 0;
    for (int i = 0; i < traceIds.length; i++) {
      traceIds[i] = indexOf(request, inOrder.get(i).getTraceId().toByteArray(), from);
      from = traceIds[i] + 1;
    }
  }

  /** Returns the request for its n-th sending, n above 0. The array is reused. */
  public byte[] numbered(long n) {
    for (int at : traceIds) {
      bytes.putLong(at, n);
    }
    return request;
  }

  public int spans() {
    return spans;
  }

  public int bytes() {
    return request.length;
  }

  private static int indexOf(byte[] in, byte[] sought, int from) {
    int at = from;
    while (!Arrays.equals(in, at, at + sought.length, sought, 0, sought.length)) {
      at++;
    }
    return at;
  }
}
