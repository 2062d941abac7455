package org.traceetl.perf.bench.load;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * Makes spans that change each series of a fixed set: of each at least one span, and of half of
 * them more. Durations are log-normal, so the buckets of series differ. The series have the
 * dimensions of {@link SpanStream#DIMENSIONS}. For one thread.
 */
public final class SeriesLoad {
  private static final int APPLICATIONS = 30;
  private static final int FAILED_IN = 20;
  private static final double MEDIAN_NANOS = 20e6;
  private static final List<String> METHODS = List.of("GET", "POST", "PUT", "DELETE");

  /**
   * One application's spans.
   *
   * @param bytes an OTLP request
   */
  public record Request(byte[] bytes, int spans) {}

  private final SplittableRandom random = new SplittableRandom(23);
  private final int operations;

  /**
   * @param series at least; rounded up to a multiple of 30 applications
   */
  public SeriesLoad(int series) {
    operations = Math.ceilDiv(series, APPLICATIONS);
  }

  /** Returns the number of series. */
  public int series() {
    return APPLICATIONS * operations;
  }

  /** Returns new spans of all series, which end at a time. */
  public List<Request> next(long endUnixMillis) {
    List<Request> requests = new ArrayList<>();
    for (int application = 0; application < APPLICATIONS; application++) {
      ScopeSpans.Builder scope = ScopeSpans.newBuilder();
      for (int operation = 0; operation < operations; operation++) {
        do {
          scope.addSpans(
              span(application, operation, TimeUnit.MILLISECONDS.toNanos(endUnixMillis)));
        } while (random.nextBoolean());
      }
      Resource.Builder resource =
          Resource.newBuilder()
              .addAttributes(OtlpExport.attribute("service.name", "application-" + application));
      requests.add(new Request(OtlpExport.request(resource, scope), scope.getSpansCount()));
    }
    return requests;
  }

  private Span span(int application, int operation, long endUnixNanos) {
    boolean failed = operation % FAILED_IN == FAILED_IN - 1;
    String method = METHODS.get(operation % METHODS.size());
    double nanos = MEDIAN_NANOS * Math.exp(random.nextGaussian());
    KeyValue ofMethod = OtlpExport.attribute("http.request.method", method);
    KeyValue ofCode = OtlpExport.attribute("http.response.status_code", failed ? "500" : "200");
    return Span.newBuilder()
        .setTraceId(id(2))
        .setSpanId(id(1))
        .setName(method + " /api/v1/app" + application + "/resource" + operation + "/{id}")
        .setKind(Span.SpanKind.SPAN_KIND_SERVER)
        .setStartTimeUnixNano(endUnixNanos - (long) nanos)
        .setEndTimeUnixNano(endUnixNanos)
        .setStatus(
            Status.newBuilder()
                .setCode(
                    failed
                        ? Status.StatusCode.STATUS_CODE_ERROR
                        : Status.StatusCode.STATUS_CODE_OK))
        .addAttributes(ofMethod)
        .addAttributes(ofCode)
        .build();
  }

  private ByteString id(int parts) {
    return OtlpExport.id(random.longs(parts).toArray());
  }
}
