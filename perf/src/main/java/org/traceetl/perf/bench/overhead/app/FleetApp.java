package org.traceetl.perf.bench.overhead.app;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/**
 * The work of 30 applications in one process, each with an SDK and a resource of its own, or
 * untraced. A request is one call that makes three others; each call has a span. On standard input,
 * {@code work NANOS RATE} makes it work for a duration, at a rate of spans per second. It answers
 * with the spans that ended, and those lost since its start, once all are exported. It waits while
 * a queue or ring has no room, so that none is lost.
 */
final class FleetApp {
  /** Spans of a request: the first is the parent of the others. */
  static final int SPANS = 4;

  /** Requests between two looks at the clock and the room. */
  private static final int BURST = 64;

  private static final int BURST_SPANS = BURST * SPANS;

  private static final long SEED = 7;
  private static final long ROOM_MILLIS = 1;
  private static final long ROOM_LIMIT_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final CallStream calls = new CallStream(SEED);
  private final Outlet outlet;
  // Empty: the applications are untraced.
  private final List<TracedCalls> traced;
  // Of what the calls worked on, so that the compiler cannot remove the work.
  private long checksum;

  /**
   * @param traced the spans of each application; empty: none are created
   */
  FleetApp(List<TracedCalls> traced, Outlet outlet) {
    this.traced = traced;
    this.outlet = outlet;
  }

  /**
   * Runs until its input ends.
   *
   * @param arguments {@code untraced}, {@code ring} or {@code otlp}; the latter are configured by
   *     the environment
   */
  public static void main(String... arguments) throws Exception {
    FleetApp app =
        switch (arguments[0]) {
          case "ring" -> ring(Path.of(System.getenv("OTEL_EXPORTER_TRACE_ETL_DIRECTORY")));
          case "otlp" -> otlp();
          default -> new FleetApp(List.of(), Outlet.NONE);
        };
    System.out.println("ready=1");
    BufferedReader requests =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    String request;
    while ((request = requests.readLine()) != null) {
      String[] words = request.split(" ");
      System.out.println(app.work(Long.parseLong(words[1]), Double.parseDouble(words[2])));
    }
  }

  private static FleetApp ring(Path directory) throws IOException {
    List<TracedCalls> traced = new ArrayList<>();
    for (int application = 0; application < CallStream.APPLICATIONS; application++) {
      traced.add(traced(sdk(application, exporter -> exporter)));
    }
    Rings rings = new Rings(directory);
    if (rings.count() != CallStream.APPLICATIONS) {
      throw new IOException(
          "%d of %d applications have a ring in %s"
              .formatted(rings.count(), CallStream.APPLICATIONS, directory));
    }
    return new FleetApp(traced, rings);
  }

  private static FleetApp otlp() {
    List<TracedCalls> traced = new ArrayList<>();
    Queues queues = new Queues();
    for (int application = 0; application < CallStream.APPLICATIONS; application++) {
      OpenTelemetrySdk sdk = sdk(application, queues::counted);
      queues.add(sdk.getSdkTracerProvider());
      traced.add(traced(sdk));
    }
    return new FleetApp(traced, queues);
  }

  private static TracedCalls traced(OpenTelemetrySdk sdk) {
    return new TracedCalls(sdk.getTracer("fleet"));
  }

  private static OpenTelemetrySdk sdk(int application, UnaryOperator<SpanExporter> exporter) {
    return AutoConfiguredOpenTelemetrySdk.builder()
        .addPropertiesSupplier(() ->
            Map.of(
                "otel.service.name",
                "application-" + application,
                "otel.resource.attributes",
                "host.name=host-" + application))
        .addSpanExporterCustomizer((made, config) -> exporter.apply(made))
        .build()
        .getOpenTelemetrySdk();
  }

  /** Works for a duration, at least one burst, and returns the answer. */
  String work(long nanos, double spansPerSecond) throws InterruptedException {
    long startNanos = System.nanoTime();
    long spans = 0;
    do {
      for (int i = 0; i < BURST; i++) {
        request();
      }
      spans += BURST_SPANS;
      long dueNanos = (long) (spans * 1e9 / spansPerSecond);
      TimeUnit.NANOSECONDS.sleep(dueNanos - (System.nanoTime() - startNanos));
    } while (awaitRoom() && System.nanoTime() - startNanos < nanos);
    outlet.flush();
    return "spans=%d dropped=%d failed=%d checksum=%d"
        .formatted(spans, outlet.dropped(), outlet.failed(), checksum);
  }

  /** Returns false if there is no room for so long that nothing is exported or read. */
  private boolean awaitRoom() throws InterruptedException {
    long startNanos = System.nanoTime();
    while (!outlet.hasRoom(BURST_SPANS)) {
      if (System.nanoTime() - startNanos > ROOM_LIMIT_NANOS) {
        return false;
      }
      Thread.sleep(ROOM_MILLIS);
    }
    return true;
  }

  private void request() {
    int application = calls.application();
    Call call = calls.call(application);
    if (traced.isEmpty()) {
      handle(call);
      for (int i = 1; i < SPANS; i++) {
        handle(calls.call(application));
      }
      return;
    }
    TracedCalls spans = traced.get(application);
    Span span = spans.start(call, handle(call));
    try (Scope unused = span.makeCurrent()) {
      for (int i = 1; i < SPANS; i++) {
        Call made = calls.call(application);
        long nowUnixNanos = handle(made);
        TracedCalls.end(spans.start(made, nowUnixNanos), made, nowUnixNanos);
      }
    }
    TracedCalls.end(span, call, System.currentTimeMillis() * 1_000_000);
    outlet.ended(application, SPANS);
  }

  /** Does the work of a call, and returns when it was done. */
  private long handle(Call call) {
    checksum += call.path().charAt(call.path().length() - 1) + call.statusCode() + call.thread();
    return System.currentTimeMillis() * 1_000_000;
  }
}
