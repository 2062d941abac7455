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
import io.opentelemetry.sdk.trace.SpanProcessor;
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
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * A small shop of five simulated services on four hosts. Each has its own OpenTelemetry SDK and
 * exports over OTLP, so its spans are like those of real services. Latencies are simulated without
 * waiting: spans get explicit times in the recent past. An {@link Incident} makes some calls fail
 * or take long.
 */
final class SimulatedServices implements AutoCloseable {
  // Not in the stable semantic conventions.
  private static final AttributeKey<String> MESSAGING_SYSTEM =
      AttributeKey.stringKey("messaging.system");
  private static final AttributeKey<String> MESSAGING_OPERATION =
      AttributeKey.stringKey("messaging.operation.name");
  private static final AttributeKey<String> MESSAGING_DESTINATION =
      AttributeKey.stringKey("messaging.destination.name");
  private static final AttributeKey<String> HOST_NAME = AttributeKey.stringKey("host.name");
  // Of this shop, which copies it from the request to all spans.
  private static final AttributeKey<String> CUSTOMER = AttributeKey.stringKey("customer.id");

  private static final int TICK_MILLIS = 50;

  /** Age of a request's start, so that even a slow request has already ended. */
  private static final Duration LOOK_BACK = Duration.ofSeconds(6);

  /** Failure probability of a step that may fail; about 1 % of the requests fail. */
  private static final double FAILURES = 0.006;

  private static final double SLOW = 0.004;

  /** Each service has an instance on each host. */
  private static final int HOSTS = 4;

  private static final int BAD_HOST = 2;

  /** Hosts with the new version of the service in {@link Incident#BAD_VERSION}. */
  private static final int UPGRADED_HOSTS = 2;

  private static final List<String> CUSTOMERS =
      List.of("acme", "globex", "hooli", "initech", "oscorp", "soylent", "stark", "umbrella");
  private static final int RESENDS = 5;
  private static final String SELECT_BY_ID = "SELECT * FROM products WHERE id = $1";

  /** Without an index, for addresses of products that have a name in place of the number. */
  private static final String SELECT_BY_NAME = "SELECT * FROM products WHERE lower(name) = $1";

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

  /**
   * What the spans of a step have in common with those of the step that causes it.
   *
   * @param host number of the host of the service
   * @param customer who sent the request
   */
  private record Origin(Context context, int host, String customer) {}

  /** The result of a step: its end, and whether it failed. */
  private record Outcome(long endNanos, boolean failed) {}

  private static final Step SELECT =
      client(
          SimulatedService.CATALOGUE,
          "SELECT products",
          4,
          Attributes.of(
              DbAttributes.DB_SYSTEM_NAME, "postgresql",
              DbAttributes.DB_OPERATION_NAME, "SELECT",
              DbAttributes.DB_COLLECTION_NAME, "products",
              DbAttributes.DB_QUERY_TEXT, SELECT_BY_ID,
              ServerAttributes.SERVER_ADDRESS, "catalogue-db"));
  private static final Step PRICE =
      step(SimulatedService.CHECKOUT, "price order", INTERNAL, 5, Attributes.empty());
  private static final Step CHARGE_AT_BANK =
      client(
          SimulatedService.PAYMENT,
          "POST",
          120,
          Attributes.of(
              HttpAttributes.HTTP_REQUEST_METHOD, "POST",
              UrlAttributes.URL_FULL, "https://bank.example/charges",
              ServerAttributes.SERVER_ADDRESS, "bank.example"));
  private static final List<Step> REQUESTS =
      List.of(browse(), browse(), browse(), addToCart(), addToCart(), checkOut());

  private final List<SdkTracerProvider> providers = new ArrayList<>();

  /** By host. */
  private final Map<SimulatedService, List<Tracer>> tracers = new EnumMap<>(SimulatedService.class);

  private final Optional<Incident> incident;
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
   * @param exporter of a service's spans, by whether it sends over gRPC
   * @param prefix of the services' names
   * @param spansPerSecond of all services together, at least 1
   * @param seed of latencies, failures, hosts and customers
   */
  SimulatedServices(
      Function<Boolean, SpanExporter> exporter,
      String prefix,
      Optional<Incident> incident,
      int spansPerSecond,
      long seed,
      InstantSource clock) {
    this.incident = incident;
    this.spansPerSecond = spansPerSecond;
    this.random = new Random(seed);
    this.clock = clock;
    for (SimulatedService service : SimulatedService.values()) {
      SpanProcessor processor =
          BatchSpanProcessor.builder(exporter.apply(service.sendsOverGrpc()))
              .setScheduleDelay(Duration.ofMillis(500))
              .setMaxQueueSize(Math.max(4096, 4 * spansPerSecond))
              .build();
      List<Tracer> ofHosts = new ArrayList<>();
      for (int host = 0; host < HOSTS; host++) {
        SdkTracerProvider provider =
            SdkTracerProvider.builder()
                .setResource(
                    Resource.getDefault().merge(Resource.create(resource(prefix, service, host))))
                .addSpanProcessor(processor)
                .build();
        providers.add(provider);
        ofHosts.add(provider.get("org.traceetl.standalone"));
      }
      tracers.put(service, ofHosts);
    }
  }

  /**
   * Returns services that send to an agent.
   *
   * @param grpcPort the agent's OTLP/gRPC port on 127.0.0.1
   * @param httpPort the agent's OTLP/HTTP port on 127.0.0.1
   */
  static SimulatedServices sendingTo(
      int grpcPort,
      int httpPort,
      String prefix,
      Optional<Incident> incident,
      int spansPerSecond,
      long seed) {
    return new SimulatedServices(
        isGrpc ->
            isGrpc
                ? OtlpGrpcSpanExporter.builder().setEndpoint("http://127.0.0.1:" + grpcPort).build()
                : OtlpHttpSpanExporter.builder()
                    .setEndpoint("http://127.0.0.1:" + httpPort + "/v1/traces")
                    .setCompression("gzip")
                    .build(),
        prefix,
        incident,
        spansPerSecond,
        seed,
        InstantSource.system());
  }

  private Attributes resource(String prefix, SimulatedService service, int host) {
    boolean isUpgraded =
        isIncident(Incident.BAD_VERSION)
            && service == SimulatedService.CHECKOUT
            && host < UPGRADED_HOSTS;
    return Attributes.builder()
        .put(ServiceAttributes.SERVICE_NAME, prefix + service.label)
        .put(ServiceAttributes.SERVICE_NAMESPACE, "shop")
        .put(ServiceAttributes.SERVICE_INSTANCE_ID, service.label + "-" + (host + 1))
        .put(ServiceAttributes.SERVICE_VERSION, isUpgraded ? "1.1.0" : "1.0.0")
        .put(HOST_NAME, "shop-host-" + (host + 1))
        .build();
  }

  private boolean isIncident(Incident one) {
    return incident.filter(one::equals).isPresent();
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

  /** Sends the spans of one request and returns their number, without repeated calls. */
  int request() {
    Step root = REQUESTS.get(random.nextInt(REQUESTS.size()));
    Instant begin = clock.instant().minus(LOOK_BACK);
    String customer = CUSTOMERS.get(random.nextInt(CUSTOMERS.size()));
    Origin origin = new Origin(Context.root(), 0, customer);
    perform(root, origin, NANOSECONDS.convert(Duration.between(Instant.EPOCH, begin)), 0);
    return root.spans();
  }

  /** Performs a step, and in a retry storm repeats it at once if it fails. */
  private Outcome call(Step step, Origin origin, long startNanos) {
    Outcome outcome = perform(step, origin, startNanos, 0);
    boolean repeats = isIncident(Incident.RETRY_STORM) && step == CHARGE_AT_BANK;
    for (int resend = 1; repeats && outcome.failed && resend <= RESENDS; resend++) {
      outcome = perform(step, origin, outcome.endNanos, resend);
    }
    return outcome;
  }

  /**
   * Performs a step.
   *
   * @param resend how often the call was sent before
   */
  private Outcome perform(Step step, Origin origin, long startNanos, int resend) {
    boolean isReceived = step.kind == SERVER || step.kind == CONSUMER;
    int host = isReceived ? random.nextInt(HOSTS) : origin.host;
    boolean isStruck = isStruck(step, host, origin.customer, resend);
    Span span =
        tracers
            .get(step.service)
            .get(host)
            .spanBuilder(step.name)
            .setSpanKind(step.kind)
            .setParent(origin.context)
            .setStartTimestamp(startNanos, TimeUnit.NANOSECONDS)
            .setAllAttributes(step.attributes)
            .setAttribute(CUSTOMER, origin.customer)
            .startSpan();
    if (resend > 0) {
      span.setAttribute(HttpAttributes.HTTP_REQUEST_RESEND_COUNT, (long) resend);
    }
    if (isStruck && isIncident(Incident.SLOW_QUERY)) {
      span.setAttribute(DbAttributes.DB_QUERY_TEXT, SELECT_BY_NAME);
    }
    Origin next = new Origin(origin.context.with(span), host, origin.customer);

    long ownNanos = latencyNanos(step.medianMillis);
    boolean failed = step.mayFail && random.nextDouble() < FAILURES;
    if (isStruck && incident.orElseThrow().isSlow()) {
      ownNanos += (long) ((1_500 + 2_000 * random.nextDouble()) * 1e6);
    } else if (isStruck) {
      failed = true;
    }
    long now = startNanos + ownNanos / 2;
    for (Step caused : step.steps) {
      if (failed) {
        break;
      }
      if (!caused.later) {
        Outcome outcome = call(caused, next, now);
        now = outcome.endNanos;
        failed = outcome.failed;
      }
    }
    long endNanos = now + ownNanos / 2;
    close(span, step, failed, endNanos);

    if (!failed) {
      for (Step caused : step.steps) {
        if (caused.later) {
          call(caused, next, endNanos + latencyNanos(5));
        }
      }
    }
    return new Outcome(endNanos, failed);
  }

  /** Returns whether the incident strikes a call. */
  private boolean isStruck(Step step, int host, String customer, int resend) {
    if (incident.isEmpty()) {
      return false;
    }
    double probability =
        switch (incident.get()) {
          case BAD_HOST ->
              step.service == SimulatedService.CART && step.kind == CLIENT && host == BAD_HOST
                  ? 0.4
                  : 0;
          case BAD_VERSION -> step == PRICE && host < UPGRADED_HOSTS ? 0.5 : 0;
          case SLOW_QUERY -> step == SELECT ? 0.09 : 0;
          case ONE_CUSTOMER ->
              step == CHARGE_AT_BANK && customer.equals(CUSTOMERS.getFirst()) ? 0.9 : 0;
          case RETRY_STORM -> step != CHARGE_AT_BANK ? 0 : resend > 0 ? 0.85 : 0.2;
        };
    return probability > 0 && random.nextDouble() < probability;
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
    providers.forEach(provider -> stopping.add(provider.shutdown()));
    CompletableResultCode.ofAll(stopping).join(5, TimeUnit.SECONDS);
  }

  private static Step browse() {
    Step render =
        step(SimulatedService.FRONTEND, "render product", INTERNAL, 3, Attributes.empty());
    Step answer = httpServer(SimulatedService.CATALOGUE, "GET", "/products/{id}", 3, SELECT);
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
            step(SimulatedService.PAYMENT, "shop.Payment/Charge", SERVER, 60, rpc, CHARGE_AT_BANK));
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
            PRICE,
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
