package org.traceetl.perf.bench.overhead.app;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.traceetl.exporter.RingSpanProcessor;
import org.traceetl.exporter.TraceEtlTracerProvider;
import org.traceetl.perf.bench.process.CpuClock;

/**
 * Passes batches of ended spans to an exporter, one after another. It answers {@code batches N}
 * with the wall and CPU time of N batches, without that of creating spans.
 */
final class BatchApp {
  private static final int SPANS = 512;
  private static final long EXPORT_SECONDS = 30;

  private static final AttributeKey<String> METHOD = AttributeKey.stringKey("http.request.method");
  private static final AttributeKey<String> ROUTE = AttributeKey.stringKey("http.route");
  private static final AttributeKey<String> PATH = AttributeKey.stringKey("url.path");
  private static final AttributeKey<String> SCHEME = AttributeKey.stringKey("url.scheme");
  private static final AttributeKey<String> ADDRESS = AttributeKey.stringKey("server.address");
  private static final AttributeKey<Long> PORT = AttributeKey.longKey("server.port");
  private static final AttributeKey<Long> STATUS =
      AttributeKey.longKey("http.response.status_code");
  private static final AttributeKey<String> AGENT = AttributeKey.stringKey("user_agent.original");

  private static final Resource RESOURCE =
      Resource.getDefault().toBuilder().put("service.name", "batch-java").build();

  private final Exporter exporter;
  private int number;

  private BatchApp(Exporter exporter) {
    this.exporter = exporter;
  }

  /**
   * Runs until its input ends.
   *
   * @param arguments {@code ring}, {@code own-ring}, or {@code otlp}, which is configured by the
   *     environment
   */
  public static void main(String... arguments) throws Exception {
    BatchApp app =
        new BatchApp(
            switch (arguments[0]) {
              case "ring" -> new OfSdk(ring());
              case "own-ring" -> new OfProvider();
              default -> new OfSdk(otlp());
            });
    System.out.println("ready=1");
    BufferedReader requests =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    String request;
    while ((request = requests.readLine()) != null) {
      System.out.println(app.run(Integer.parseInt(request.split(" ")[1])));
    }
  }

  /** Spans that are created first, and exported in the measured time. */
  private interface Exporter {
    Tracer tracer();

    void add(Span started);

    /** Exports the added spans. Returns whether they were accepted. */
    boolean export();
  }

  @FunctionalInterface
  private interface Export {
    /** Returns whether the batch was accepted. */
    boolean batch(List<ReadableSpan> spans);
  }

  /** Returns the exporter of an application that the environment configures. */
  private static Export otlp() {
    AtomicReference<SpanExporter> exporter = new AtomicReference<>();
    AutoConfiguredOpenTelemetrySdk.builder()
        .addSpanExporterCustomizer((made, config) -> {
          exporter.set(made);
          return made;
        })
        .build();
    return spans -> {
      // As the SDK's batch processor does.
      List<SpanData> batch = new ArrayList<>(spans.size());
      spans.forEach(span -> batch.add(span.toSpanData()));
      return exporter.get().export(batch).join(EXPORT_SECONDS, TimeUnit.SECONDS).isSuccess();
    };
  }

  private static Export ring() {
    RingSpanProcessor processor =
        RingSpanProcessor.builder()
            .setDirectory(Path.of(System.getenv("OTEL_EXPORTER_TRACE_ETL_DIRECTORY")))
            .setResource(RESOURCE)
            .build();
    return spans -> {
      spans.forEach(processor::onEnd);
      return true;
    };
  }

  /** Creates spans just before their export, as in an application; the time excludes creation. */
  private String run(int count) {
    CpuClock cpu = new CpuClock(0);
    long cpuNanos = 0;
    long wallNanos = 0;
    int failed = 0;
    for (int i = 0; i < count; i++) {
      create();
      long cpuBefore = cpu.nanos();
      long startNanos = System.nanoTime();
      if (!exporter.export()) {
        failed++;
      }
      wallNanos += System.nanoTime() - startNanos;
      cpuNanos += cpu.nanos() - cpuBefore;
    }
    return "wall=%d cpu=%d spans=%d failed=%d"
        .formatted(wallNanos, cpuNanos, count * SPANS, failed);
  }

  private void create() {
    for (int i = 0; i < SPANS; i++) {
      number++;
      String route = "/api/v1/resource-" + number % 20 + "/{id}";
      exporter.add(
          exporter
              .tracer()
              .spanBuilder("GET " + route)
              .setNoParent()
              .setSpanKind(SpanKind.SERVER)
              .setAllAttributes(
                  Attributes.of(
                      METHOD,
                      "GET",
                      ROUTE,
                      route,
                      PATH,
                      route.replace("{id}", "" + number),
                      SCHEME,
                      "https",
                      ADDRESS,
                      "shop.example.com",
                      PORT,
                      443L))
              .setAttribute(STATUS, number % 50 == 0 ? 500L : 200L)
              .setAttribute(AGENT, "Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0")
              .startSpan());
    }
  }

  /** Ended spans of the SDK, passed to what exports them. */
  private static final class OfSdk implements Exporter {
    private final Export export;
    private final List<ReadableSpan> ended = new ArrayList<>();
    private final Tracer tracer =
        SdkTracerProvider.builder()
            .setResource(RESOURCE)
            .addSpanProcessor(new Collecting(ended))
            .build()
            .get("batch");

    private OfSdk(Export export) {
      this.export = export;
    }

    @Override
    public Tracer tracer() {
      return tracer;
    }

    @Override
    public void add(Span started) {
      started.end();
    }

    @Override
    public boolean export() {
      boolean accepted = export.batch(ended);
      ended.clear();
      return accepted;
    }
  }

  /**
   * Started spans of the exporter's own provider, which {@code end} exports. They get their end's
   * time, because the SDK's spans read the clock before they are exported.
   */
  private static final class OfProvider implements Exporter {
    private final List<Span> started = new ArrayList<>();
    private final Tracer tracer =
        TraceEtlTracerProvider.builder().setResource(RESOURCE).build().get("batch");

    @Override
    public Tracer tracer() {
      return tracer;
    }

    @Override
    public void add(Span span) {
      started.add(span);
    }

    @Override
    public boolean export() {
      long nowMillis = System.currentTimeMillis();
      started.forEach(span -> span.end(nowMillis, TimeUnit.MILLISECONDS));
      started.clear();
      return true;
    }
  }

  /** Collects ended spans. */
  private record Collecting(List<ReadableSpan> ended) implements SpanProcessor {
    @Override
    public void onStart(Context parent, ReadWriteSpan span) {}

    @Override
    public boolean isStartRequired() {
      return false;
    }

    @Override
    public void onEnd(ReadableSpan span) {
      ended.add(span);
    }

    @Override
    public boolean isEndRequired() {
      return true;
    }
  }
}
