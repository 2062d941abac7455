package org.traceetl.standalone;

import static io.opentelemetry.api.trace.SpanKind.CLIENT;
import static io.opentelemetry.api.trace.SpanKind.CONSUMER;
import static io.opentelemetry.api.trace.SpanKind.INTERNAL;
import static io.opentelemetry.api.trace.SpanKind.PRODUCER;
import static io.opentelemetry.api.trace.SpanKind.SERVER;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

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
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.semconv.DbAttributes;
import io.opentelemetry.semconv.ErrorAttributes;
import io.opentelemetry.semconv.HttpAttributes;
import io.opentelemetry.semconv.RpcAttributes;
import io.opentelemetry.semconv.ServerAttributes;
import io.opentelemetry.semconv.ServiceAttributes;
import io.opentelemetry.semconv.UrlAttributes;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * A small shop of five simulated services. Each has its own OpenTelemetry SDK and exports over
 * OTLP, so its spans are like those of real services. Latencies are simulated without waiting:
 * spans get explicit times in the recent past.
 */
final class SimulatedServices implements AutoCloseable {
  // Not in the stable semantic conventions.
  private static final AttributeKey<String> MESSAGING_SYSTEM =
      AttributeKey.stringKey("messaging.system");
  private static final AttributeKey<String> MESSAGING_OPERATION =
      AttributeKey.stringKey("messaging.operation.name");
  private static final AttributeKey<String> MESSAGING_DESTINATION =
      AttributeKey.stringKey("messaging.destination.name");

  private static final int TICK_MILLIS = 50;

  /** Age of a request's start, so that even a slow request has already ended. */
  private static final Duration LOOK_BACK = Duration.ofSeconds(6);

  /** Failure probability of a step that may fail; about 1 % of the requests fail. */
  private static final double FAILURES = 0.006;

  private static final double SLOW = 0.004;

  private enum SimulatedService {
    FRONTEND,
    CATALOGUE,
    CART,
    CHECKOUT,
    PAYMENT;

    final String label = name().toLowerCase(Locale.ROOT);

    /** Returns whether the service uses gRPC; the demo uses both transports. */
    boolean sendsOverGrpc() {
      return this != CATALOGUE && this != CART;
    }
  }

  /**
   * A span of a request, and the steps that it causes.
   *
   * @param medianMillis its own time, without its steps
   * @param later whether it begins after its parent's end, like a consumer
   * @param mayFail whether an error can begin here
   */
  private record Step(
      SimulatedService service,
      String name,
      SpanKind kind,
      double medianMillis,
      boolean later,
      boolean mayFail,
      Attributes attributes,
      List<Step> steps) {
    int spans() {
      return 1 + steps.stream().mapToInt(Step::spans).sum();
    }
  }

  /** The result of a step: its end, and whether it failed. */
  private record Outcome(long endNanos, boolean failed) {}

  private static final List<Step> REQUESTS =
      List.of(browse(), browse(), browse(), addToCart(), addToCart(), checkOut());

  private final Map<SimulatedService, SdkTracerProvider> providers =
      new EnumMap<>(SimulatedService.class);
  private final Map<SimulatedService, Tracer> tracers = new EnumMap<>(SimulatedService.class);
  private final Random random;
  private final InstantSource clock;
  private final int spansPerSecond;
  private final ScheduledExecutorService ticker =
      Executors.newSingleThreadScheduledExecutor(
          task -> Thread.ofPlatform().name("simulated-services").daemon().unstarted(task));

  // Owned by the ticker.
  private long startedNanos;
  private long spansMade;

  /**
   * @param grpcPort the agent's OTLP/gRPC port on 127.0.0.1
   * @param httpPort the agent's OTLP/HTTP port on 127.0.0.1
   * @param spansPerSecond of all services together, at least 1
   * @param seed of latencies and failures
   */
  SimulatedServices(
      int grpcPort, int httpPort, int spansPerSecond, long seed, InstantSource clock) {
    this.spansPerSecond = spansPerSecond;
    this.random = new Random(seed);
    this.clock = clock;
    for (SimulatedService service : SimulatedService.values()) {
      SpanExporter exporter =
          service.sendsOverGrpc()
              ? OtlpGrpcSpanExporter.builder().setEndpoint("http://127.0.0.1:" + grpcPort).build()
              : OtlpHttpSpanExporter.builder()
                  .setEndpoint("http://127.0.0.1:" + httpPort + "/v1/traces")
                  .setCompression("gzip")
                  .build();
      SdkTracerProvider provider =
          SdkTracerProvider.builder()
              .setResource(
                  Resource.getDefault()
                      .merge(
                          Resource.create(
                              Attributes.of(
                                  ServiceAttributes.SERVICE_NAME,
                                  service.label,
                                  ServiceAttributes.SERVICE_NAMESPACE,
                                  "shop",
                                  ServiceAttributes.SERVICE_INSTANCE_ID,
                                  service.label + "-1",
                                  ServiceAttributes.SERVICE_VERSION,
                                  "1.0.0"))))
              .addSpanProcessor(
                  BatchSpanProcessor.builder(exporter)
                      .setScheduleDelay(Duration.ofMillis(500))
                      .setMaxQueueSize(Math.max(4096, 4 * spansPerSecond))
                      .build())
              .build();
      providers.put(service, provider);
      tracers.put(service, provider.get("org.traceetl.standalone"));
    }
  }

  void start() {
    startedNanos = System.nanoTime();
    ticker.scheduleAtFixedRate(this::tick, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void tick() {
    double elapsedSeconds = (System.nanoTime() - startedNanos) / 1e9;
    // After a pause of this process, the load continues without catching up.
    spansMade = Math.max(spansMade, (long) ((elapsedSeconds - 1) * spansPerSecond));
    while (spansMade < elapsedSeconds * spansPerSecond) {
      spansMade += request();
    }
  }

  /** Sends the spans of one request and returns their number. */
  int request() {
    Step root = REQUESTS.get(random.nextInt(REQUESTS.size()));
    Instant begin = clock.instant().minus(LOOK_BACK);
    perform(root, Context.root(), NANOSECONDS.convert(Duration.between(Instant.EPOCH, begin)));
    return root.spans();
  }

  private Outcome perform(Step step, Context parent, long startNanos) {
    Span span =
        tracers
            .get(step.service)
            .spanBuilder(step.name)
            .setSpanKind(step.kind)
            .setParent(parent)
            .setStartTimestamp(startNanos, TimeUnit.NANOSECONDS)
            .setAllAttributes(step.attributes)
            .startSpan();
    Context context = parent.with(span);

    long ownNanos = latencyNanos(step.medianMillis);
    long now = startNanos + ownNanos / 2;
    boolean failed = step.mayFail && random.nextDouble() < FAILURES;
    for (Step next : step.steps) {
      if (failed) {
        break;
      }
      if (!next.later) {
        Outcome outcome = perform(next, context, now);
        now = outcome.endNanos;
        failed = outcome.failed;
      }
    }
    long endNanos = now + ownNanos / 2;
    close(span, step, failed, endNanos);

    if (!failed) {
      for (Step next : step.steps) {
        if (next.later) {
          perform(next, context, endNanos + latencyNanos(5));
        }
      }
    }
    return new Outcome(endNanos, failed);
  }

  private static void close(Span span, Step step, boolean failed, long endNanos) {
    boolean http = step.attributes.get(HttpAttributes.HTTP_REQUEST_METHOD) != null;
    if (http) {
      span.setAttribute(HttpAttributes.HTTP_RESPONSE_STATUS_CODE, failed ? 503L : 200L);
    }
    if (failed) {
      String type = http ? "503" : "timeout";
      span.setAttribute(ErrorAttributes.ERROR_TYPE, type);
      span.setStatus(StatusCode.ERROR, step.name + " failed: " + type);
    }
    span.end(endNanos, TimeUnit.NANOSECONDS);
  }

  /** Returns a log-normal latency with this median, rarely with an outlier of about a second. */
  private long latencyNanos(double medianMillis) {
    double millis = medianMillis * Math.exp(0.5 * random.nextGaussian());
    if (medianMillis >= 4 && random.nextDouble() < SLOW) {
      millis += 700 + 600 * random.nextDouble();
    }
    return (long) (millis * 1e6);
  }

  /** Stops sending and waits for exports in progress, at most 5 seconds. */
  @Override
  public void close() {
    ticker.close();
    List<CompletableResultCode> stopping = new ArrayList<>();
    providers.values().forEach(provider -> stopping.add(provider.shutdown()));
    CompletableResultCode.ofAll(stopping).join(5, TimeUnit.SECONDS);
  }

  private static Step browse() {
    Step select =
        client(
            SimulatedService.CATALOGUE,
            "SELECT products",
            4,
            Attributes.of(
                DbAttributes.DB_SYSTEM_NAME, "postgresql",
                DbAttributes.DB_OPERATION_NAME, "SELECT",
                DbAttributes.DB_COLLECTION_NAME, "products",
                DbAttributes.DB_QUERY_TEXT, "SELECT * FROM products WHERE id = $1",
                ServerAttributes.SERVER_ADDRESS, "catalogue-db"));
    Step render =
        step(SimulatedService.FRONTEND, "render product", INTERNAL, 3, Attributes.empty());
    Step answer = httpServer(SimulatedService.CATALOGUE, "GET", "/products/{id}", 3, select);
    return httpServer(
        SimulatedService.FRONTEND,
        "GET",
        "/products/{id}",
        6,
        httpClient(
            SimulatedService.FRONTEND, "GET", SimulatedService.CATALOGUE, "/products/17", answer),
        render);
  }

  private static Step addToCart() {
    Step set = redis("HSET");
    Step add = httpServer(SimulatedService.CART, "POST", "/carts/{cart}/items", 4, set);
    return httpServer(
        SimulatedService.FRONTEND,
        "POST",
        "/cart",
        5,
        httpClient(
            SimulatedService.FRONTEND, "POST", SimulatedService.CART, "/carts/4711/items", add));
  }

  private static Step checkOut() {
    Step read = httpServer(SimulatedService.CART, "GET", "/carts/{cart}", 3, redis("HGETALL"));
    Attributes rpc =
        Attributes.of(
            RpcAttributes.RPC_SYSTEM_NAME, "grpc",
            RpcAttributes.RPC_METHOD, "shop.Payment/Charge");
    Step charge =
        step(
            SimulatedService.CHECKOUT,
            "shop.Payment/Charge",
            CLIENT,
            2,
            rpc,
            step(
                SimulatedService.PAYMENT,
                "shop.Payment/Charge",
                SERVER,
                60,
                rpc,
                client(
                    SimulatedService.PAYMENT,
                    "POST",
                    120,
                    Attributes.of(
                        HttpAttributes.HTTP_REQUEST_METHOD, "POST",
                        UrlAttributes.URL_FULL, "https://bank.example/charges",
                        ServerAttributes.SERVER_ADDRESS, "bank.example"))));
    Step process =
        new Step(
            SimulatedService.CART,
            "process orders",
            CONSUMER,
            8,
            true,
            true,
            messaging("process"),
            List.of(redis("DEL")));
    Step publish =
        new Step(
            SimulatedService.CHECKOUT,
            "send orders",
            PRODUCER,
            3,
            false,
            true,
            messaging("send"),
            List.of(process));
    Step order =
        httpServer(
            SimulatedService.CHECKOUT,
            "POST",
            "/orders",
            8,
            httpClient(
                SimulatedService.CHECKOUT, "GET", SimulatedService.CART, "/carts/4711", read),
            step(SimulatedService.CHECKOUT, "price order", INTERNAL, 5, Attributes.empty()),
            charge,
            publish);
    return httpServer(
        SimulatedService.FRONTEND,
        "POST",
        "/checkout",
        8,
        httpClient(SimulatedService.FRONTEND, "POST", SimulatedService.CHECKOUT, "/orders", order));
  }

  private static Attributes messaging(String operation) {
    return Attributes.of(
        MESSAGING_SYSTEM, "rocketmq",
        MESSAGING_OPERATION, operation,
        MESSAGING_DESTINATION, "orders");
  }

  private static Step redis(String command) {
    return client(
        SimulatedService.CART,
        command,
        0.6,
        Attributes.of(
            DbAttributes.DB_SYSTEM_NAME, "redis",
            DbAttributes.DB_OPERATION_NAME, command,
            ServerAttributes.SERVER_ADDRESS, "cart-redis"));
  }

  private static Step httpServer(
      SimulatedService service, String method, String route, double medianMillis, Step... steps) {
    Attributes attributes =
        Attributes.of(
            HttpAttributes.HTTP_REQUEST_METHOD,
            method,
            HttpAttributes.HTTP_ROUTE,
            route,
            UrlAttributes.URL_SCHEME,
            "http",
            ServerAttributes.SERVER_ADDRESS,
            service.label,
            ServerAttributes.SERVER_PORT,
            8080L);
    return step(service, method + " " + route, SERVER, medianMillis, attributes, steps);
  }

  private static Step httpClient(
      SimulatedService from, String method, SimulatedService to, String path, Step answer) {
    Attributes attributes =
        Attributes.of(
            HttpAttributes.HTTP_REQUEST_METHOD,
            method,
            UrlAttributes.URL_FULL,
            "http://" + to.label + ":8080" + path,
            ServerAttributes.SERVER_ADDRESS,
            to.label,
            ServerAttributes.SERVER_PORT,
            8080L);
    return step(from, method, CLIENT, 1.5, attributes, answer);
  }

  /** Returns a call to a component that sends no spans; failures begin here. */
  private static Step client(
      SimulatedService service, String name, double medianMillis, Attributes attributes) {
    return new Step(service, name, CLIENT, medianMillis, false, true, attributes, List.of());
  }

  private static Step step(
      SimulatedService service,
      String name,
      SpanKind kind,
      double medianMillis,
      Attributes attributes,
      Step... steps) {
    return new Step(service, name, kind, medianMillis, false, false, attributes, List.of(steps));
  }
}
