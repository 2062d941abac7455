package org.traceetl.standalone;

import com.google.common.collect.Lists;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Sends spans with the OpenTelemetry SDK for Java, or writes the spans that another SDK must send.
 */
final class OtlpSpans implements AutoCloseable {
  private static final JsonMapper JSON = new JsonMapper();

  private final SdkTracerProvider provider;
  private final Tracer tracer;

  private OtlpSpans(String service, SpanExporter exporter) {
    this(
        SdkTracerProvider.builder()
            .setResource(
                Resource.create(Attributes.of(AttributeKey.stringKey("service.name"), service)))
            .addSpanProcessor(new ExportOnFlush(exporter))
            .build());
  }

  private OtlpSpans(SdkTracerProvider provider) {
    this.provider = provider;
    tracer = provider.get("end-to-end");
  }

  /** Returns a sender with the provider's own processors. */
  static OtlpSpans of(SdkTracerProvider provider) {
    return new OtlpSpans(provider);
  }

  static OtlpSpans overGrpc(String service, int port) {
    return new OtlpSpans(
        service, OtlpGrpcSpanExporter.builder().setEndpoint("http://127.0.0.1:" + port).build());
  }

  static OtlpSpans overHttp(String service, int port) {
    return new OtlpSpans(
        service,
        OtlpHttpSpanExporter.builder()
            .setEndpoint("http://127.0.0.1:" + port + "/v1/traces")
            .setCompression("gzip")
            .build());
  }

  /** Sends all of {@link Expected#series}, each span a trace of its own. */
  void sendExpected() {
    for (Expected.Series series : Expected.series()) {
      for (long durationNanos : series.durationsNanos()) {
        send(series.name(), series.kind(), series.status(), durationNanos);
      }
    }
    flush();
  }

  /** Sends a span that ends about now. */
  String send(String name, SpanKind kind, StatusCode status, long durationNanos) {
    return send(name, kind, status, durationNanos, Attributes.empty());
  }

  String send(
      String name, SpanKind kind, StatusCode status, long durationNanos, Attributes attributes) {
    Instant now = Instant.now();
    long endNanos = now.getEpochSecond() * 1_000_000_000L + now.getNano();
    Span span =
        tracer
            .spanBuilder(name)
            .setNoParent()
            .setSpanKind(kind)
            .setAllAttributes(attributes)
            .setStartTimestamp(endNanos - durationNanos, TimeUnit.NANOSECONDS)
            .startSpan();
    if (status != StatusCode.UNSET) {
      span.setStatus(status);
    }
    span.end(endNanos, TimeUnit.NANOSECONDS);
    return span.getSpanContext().getTraceId();
  }

  /** Starts a span that is sent at the first flush after its end. */
  Span start(String name, SpanKind kind, Context parent) {
    return tracer.spanBuilder(name).setParent(parent).setSpanKind(kind).startSpan();
  }

  /** Sends a failed span that ends now, with exceptions and named events. */
  void sendFailed(String name, List<? extends Throwable> exceptions, String... events) {
    Span span = tracer.spanBuilder(name).setNoParent().setSpanKind(SpanKind.SERVER).startSpan();
    exceptions.forEach(span::recordException);
    for (String event : events) {
      span.addEvent(event);
    }
    span.setStatus(StatusCode.ERROR);
    span.end();
  }

  /** Waits until the agent has confirmed everything. */
  void flush() {
    if (!provider.forceFlush().join(60, TimeUnit.SECONDS).isSuccess()) {
      throw new IllegalStateException("the exporter reports a failure; see the log above");
    }
  }

  @Override
  public void close() {
    provider.close();
  }

  /**
   * Exports ended spans at a flush, and returns the exporter's result. The SDK's {@code
   * BatchSpanProcessor} does neither: a flush that follows another may get the finished result of
   * the first, and a failed export is only logged.
   */
  private static final class ExportOnFlush implements SpanProcessor {
    private static final int MAX_SPANS_PER_REQUEST = 512;

    private final SpanExporter exporter;
    private final List<SpanData> ended = new ArrayList<>();

    ExportOnFlush(SpanExporter exporter) {
      this.exporter = exporter;
    }

    @Override
    public void onStart(Context parent, ReadWriteSpan span) {}

    @Override
    public boolean isStartRequired() {
      return false;
    }

    @Override
    public void onEnd(ReadableSpan span) {
      ended.add(span.toSpanData());
    }

    @Override
    public boolean isEndRequired() {
      return true;
    }

    @Override
    public CompletableResultCode forceFlush() {
      // One at a time: the exporter refuses more than five concurrent exports.
      List<CompletableResultCode> results =
          Lists.partition(List.copyOf(ended), MAX_SPANS_PER_REQUEST).stream()
              .map(spans -> exporter.export(spans).join(60, TimeUnit.SECONDS))
              .toList();
      ended.clear();
      return CompletableResultCode.ofAll(results);
    }

    @Override
    public CompletableResultCode shutdown() {
      if (!ended.isEmpty()) {
        throw new IllegalStateException(ended.size() + " spans ended and were not flushed");
      }
      return exporter.shutdown();
    }
  }

  /** Returns {@link Expected#series} for the Python script. */
  static byte[] expectedAsJson() {
    ArrayNode all = JSON.createArrayNode();
    for (Expected.Series series : Expected.series()) {
      ObjectNode one =
          all.addObject()
              .put("name", series.name())
              .put("kind", series.kind().name())
              .put("status", series.status().name());
      ArrayNode durations = one.putArray("durationsNanos");
      series.durationsNanos().forEach(durations::add);
    }
    return JSON.writeValueAsBytes(all);
  }
}
