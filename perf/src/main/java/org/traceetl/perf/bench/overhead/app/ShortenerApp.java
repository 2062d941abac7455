package org.traceetl.perf.bench.overhead.app;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.traceetl.exporter.TraceEtlTracerProvider;
import org.traceetl.perf.bench.process.CpuClock;

/**
 * A URL shortener with three spans a request. It answers {@code POST /links}, with a URL as its
 * body, with a code; {@code GET /CODE} redirects. On standard input, {@code calls N} makes it
 * handle N requests without HTTP, and returns their wall and CPU time; {@code served} returns the
 * number of HTTP requests.
 */
final class ShortenerApp {
  private static final int THREADS = 4;
  private static final long FLUSH_SECONDS = 30;
  private static final int CODES = 100;

  private static final AttributeKey<String> METHOD = AttributeKey.stringKey("http.request.method");
  private static final AttributeKey<String> ROUTE = AttributeKey.stringKey("http.route");
  private static final AttributeKey<String> PATH = AttributeKey.stringKey("url.path");
  private static final AttributeKey<Long> STATUS =
      AttributeKey.longKey("http.response.status_code");

  private final AtomicLong served = new AtomicLong();
  private final Links links;
  // Null: the application is untraced, or the Java agent creates the spans of requests.
  private final Tracer tracer;

  private ShortenerApp(Links links, Tracer tracer) {
    this.links = links;
    this.tracer = tracer;
  }

  /** An answer; the text of a redirection is its target. */
  private record Answer(int status, String text) {}

  /**
   * Runs until its input ends.
   *
   * @param arguments {@code untraced}, {@code sdk} (configured by the environment), {@code
   *     own-ring} (the exporter's own provider) or {@code javaagent} (the OpenTelemetry Java agent
   *     traces the HTTP server)
   */
  public static void main(String... arguments) throws Exception {
    StoredLinks stored = new StoredLinks();
    OpenTelemetrySdk sdk = null;
    ShortenerApp shortener;
    switch (arguments[0]) {
      case "sdk" -> {
        sdk = AutoConfiguredOpenTelemetrySdk.initialize().getOpenTelemetrySdk();
        Tracer tracer = sdk.getTracer("shortener");
        shortener = new ShortenerApp(new TracedLinks(stored, tracer), tracer);
      }
      case "own-ring" -> {
        Tracer tracer = TraceEtlTracerProvider.create().get("shortener");
        shortener = new ShortenerApp(new TracedLinks(stored, tracer), tracer);
      }
      case "javaagent" ->
          shortener =
              new ShortenerApp(
                  new TracedLinks(stored, GlobalOpenTelemetry.getTracer("shortener")), null);
      default -> shortener = new ShortenerApp(stored, null);
    }
    shortener.run(sdk);
  }

  private void run(OpenTelemetrySdk sdk) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      server.setExecutor(threads);
      server.createContext("/", this::serve);
      server.start();
      System.out.println("port=" + server.getAddress().getPort());
      BufferedReader requests =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
      String request;
      while ((request = requests.readLine()) != null) {
        System.out.println(
            request.startsWith("calls")
                ? calls(Integer.parseInt(request.split(" ")[1]), sdk)
                : "served=" + served.get());
      }
      server.stop(0);
    }
    if (sdk != null) {
      sdk.close();
    }
  }

  private void serve(HttpExchange exchange) throws IOException {
    try (exchange) {
      String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      Answer answer = handle(exchange.getRequestMethod(), exchange.getRequestURI().getPath(), body);
      served.incrementAndGet();
      byte[] text = answer.text.getBytes(StandardCharsets.UTF_8);
      if (answer.status == 302) {
        exchange.getResponseHeaders().set("Location", answer.text);
      }
      exchange.sendResponseHeaders(answer.status, text.length);
      exchange.getResponseBody().write(text);
    }
  }

  private Answer handle(String method, String path, String body) {
    boolean create = method.equals("POST");
    if (tracer == null) {
      return answer(create, path, body);
    }
    String route = create ? "/links" : "/{code}";
    Span span =
        tracer
            .spanBuilder(method + " " + route)
            .setSpanKind(SpanKind.SERVER)
            .setAttribute(METHOD, method)
            .setAttribute(ROUTE, route)
            .setAttribute(PATH, path)
            .startSpan();
    try (Scope unused = span.makeCurrent()) {
      Answer answer = answer(create, path, body);
      span.setAttribute(STATUS, answer.status);
      return answer;
    } finally {
      span.end();
    }
  }

  private Answer answer(boolean create, String path, String body) {
    if (create) {
      String code = links.encode(body);
      links.store(code, body);
      return new Answer(201, code);
    }
    String code = path.substring(1);
    String url = links.find(code);
    links.count(code);
    return url == null ? new Answer(404, "no such link") : new Answer(302, url);
  }

  private String calls(int count, OpenTelemetrySdk sdk) {
    String[] paths = new String[CODES];
    for (int i = 0; i < CODES; i++) {
      paths[i] = "/" + handle("POST", "/links", "https://example.com/page/" + i).text;
    }
    flush(sdk);
    CpuClock cpu = new CpuClock(0);
    long cpuNanos = cpu.nanos();
    long startNanos = System.nanoTime();
    for (int i = 0; i < count; i++) {
      handle("GET", paths[i % CODES], "");
    }
    long wallNanos = System.nanoTime() - startNanos;
    flush(sdk);
    cpuNanos = cpu.nanos() - cpuNanos;
    return "wall=%d cpu=%d requests=%d".formatted(wallNanos, cpuNanos, CODES + count);
  }

  private static void flush(OpenTelemetrySdk sdk) {
    if (sdk != null) {
      sdk.getSdkTracerProvider().forceFlush().join(FLUSH_SECONDS, TimeUnit.SECONDS);
    }
  }
}
