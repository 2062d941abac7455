package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.testkit.PageSample;
import org.traceetl.testkit.Ports;
import org.traceetl.testkit.Program;
import org.traceetl.testkit.Programs;

/**
 * Tests the service graph of services in processes of their own: {@code checkout} and {@code stock}
 * are traced by the OpenTelemetry Java agent, {@code prices} by the instrumentations for Python. It
 * queries a database, and calls a host that sends no spans.
 */
final class ServiceGraphOfRealClientsTest {
  private static final String CHECKOUT = "checkout";
  private static final String STOCK = "stock";
  private static final String PRICES = "prices";

  /** The name of the host in the URL. */
  private static final String RATES = "localhost";

  private static final int ANSWERED = 12;

  /** Requests for which the query fails, and so all services. */
  private static final int WITHOUT_TABLE = 3;

  /** Requests for which only the host fails. */
  private static final int WITHOUT_RATE = 2;

  private static final int REQUESTS = ANSWERED + WITHOUT_TABLE + WITHOUT_RATE;

  /** Of a request: three at servers, two of Java clients, a query, and the call of the host. */
  private static final int HALVES = 7;

  /** An application whose spans let the time of half-edges pass. */
  private static final String CLOCK = "clock";

  private static final int TICKS_AT_ONCE = 20;

  @TempDir private Path directory;

  private record Edge(String client, String server, String type) {}

  @Test
  void graphHasEachRequestOfEachService() throws Exception {
    HttpServer rates = rates();
    List<Program> services = new ArrayList<>();
    try (EmbeddedInstallation installation =
        EmbeddedInstallation.start(
            ServiceGraphTest.settings(
                directory,
                // Longer than the services need to send both halves of a request.
                Map.of("trace-etl.edges.max-wait", "10s")))) {
      Ports ports = new Ports();
      int checkout = ports.next();
      int stock = ports.next();
      int prices = ports.next();
      int otlp = installation.otlpHttpPort();
      services.add(relay(CHECKOUT, checkout, stock, otlp));
      services.add(relay(STOCK, stock, prices, otlp));
      services.add(prices(prices, rates.getAddress().getPort(), otlp));
      for (Program service : services) {
        service.start();
      }
      ServiceGraphTest.awaitQueues(installation);
      for (int port : List.of(checkout, stock, prices)) {
        EndToEndTest.eventually("the services").until(() -> accepts(port));
      }

      assertThat(answers(checkout, "/", ANSWERED)).containsOnly(200);
      assertThat(answers(checkout, "/no-table", WITHOUT_TABLE)).containsOnly(500);
      assertThat(answers(checkout, "/no-rate", WITHOUT_RATE)).containsOnly(200);

      EndToEndTest.eventually("the half-edges of all requests")
          .untilAsserted(() ->
              assertThat(halves(installation.agentTelemetryPort())).isEqualTo(HALVES * REQUESTS));
      Map<Edge, Map<String, Double>> expected =
          Map.of(
              new Edge("user", CHECKOUT, "virtual_node"),
              counts(WITHOUT_TABLE, "server"),
              new Edge(CHECKOUT, STOCK, ""),
              counts(WITHOUT_TABLE, "server", "client", "latency"),
              new Edge(STOCK, PRICES, ""),
              counts(WITHOUT_TABLE, "server", "client", "latency"),
              new Edge(PRICES, "sqlite", "database"),
              counts(WITHOUT_TABLE, "client"),
              new Edge(PRICES, RATES, "virtual_node"),
              counts(WITHOUT_RATE, "client"));
      try (OtlpSpans clock = OtlpSpans.overGrpc(CLOCK, installation.otlpGrpcPort())) {
        EndToEndTest.eventually("the service graph")
            .untilAsserted(() -> {
              tick(clock);
              assertThat(graph(installation.httpPort())).isEqualTo(expected);
            });
      }
    } finally {
      Program.kill(services);
      rates.stop(0);
    }
  }

  /** Starts the host that sends no spans. */
  private static HttpServer rates() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(
              exchange.getRequestURI().getPath().equals("/no-rate") ? 503 : 200, -1);
          exchange.close();
        });
    server.start();
    return server;
  }

  private Program relay(String name, int port, int next, int otlp) {
    String agent = javaAgent();
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(Programs.SHORT_LIVED_JVM);
    command.addAll(
        List.of(
            "-Xmx128m",
            "-javaagent:" + agent,
            "-cp",
            // Without the libraries of this module, which the agent would instrument.
            Path.of(System.getProperty("basedir", "."), "target", "test-classes")
                .toAbsolutePath()
                .toString(),
            RelayProgram.class.getName(),
            Integer.toString(port),
            "http://127.0.0.1:" + next));
    return service(name, command, otlp);
  }

  private Program prices(int port, int rates, int otlp) {
    return service(
        PRICES,
        List.of(
            Programs.python(),
            Path.of(System.getProperty("basedir", "."), "src/test/python/price_service.py")
                .toAbsolutePath()
                .toString(),
            Integer.toString(port),
            "http://" + RATES + ":" + rates),
        otlp);
  }

  private Program service(String name, List<String> command, int otlp) {
    return new Program(
        name,
        command,
        Map.of(
            "OTEL_SERVICE_NAME", name,
            "OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:" + otlp,
            "OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf",
            "OTEL_METRICS_EXPORTER", "none",
            "OTEL_LOGS_EXPORTER", "none",
            "OTEL_BSP_SCHEDULE_DELAY", "200"),
        directory.resolve(name + ".log"),
        null);
  }

  private static String javaAgent() {
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    Path agent =
        Stream.of(classPath.split(":"))
            .map(Path::of)
            .filter(entry -> entry.getFileName().toString().startsWith("opentelemetry-javaagent-"))
            .findFirst()
            .orElseThrow();
    System.out.println("Real component: OpenTelemetry Java agent, " + agent.getFileName());
    return agent.toString();
  }

  /** Connects without a request, which would leave spans. */
  private static boolean accepts(int port) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
    }
  }

  /** Sends requests one after the other, and returns the statuses of the answers. */
  private static List<Integer> answers(int port, String path, int requests) throws Exception {
    List<Integer> statuses = new ArrayList<>();
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build();
      for (int i = 0; i < requests; i++) {
        statuses.add(http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode());
      }
    }
    return statuses;
  }

  private static double halves(int agentTelemetryPort) throws Exception {
    return PageSample.sum(
        EndToEndTest.samples(agentTelemetryPort), "trace_etl_agent_half_edges_accepted_total");
  }

  /** Half-edges expire by the store times of the next messages of their queue. */
  private static void tick(OtlpSpans clock) {
    for (int i = 0; i < TICKS_AT_ONCE; i++) {
      clock.send("tick", SpanKind.SERVER, StatusCode.UNSET, 1);
    }
    clock.flush();
  }

  /**
   * Returns the counts of an edge with all requests.
   *
   * @param durations names of its histograms
   */
  private static Map<String, Double> counts(int failed, String... durations) {
    Map<String, Double> counts = new HashMap<>();
    counts.put("request_total", (double) REQUESTS);
    counts.put("request_failed_total", (double) failed);
    for (String duration : durations) {
      counts.put("request_" + duration + "_seconds_count", (double) REQUESTS);
    }
    return counts;
  }

  /** Returns the counts by edge, without those of the clock; unpaired spans among them. */
  private static Map<Edge, Map<String, Double>> graph(int port) throws Exception {
    Map<Edge, Map<String, Double>> graph = new HashMap<>();
    for (PageSample sample : EndToEndTest.samples(port)) {
      String name = sample.name();
      Map<String, String> labels = sample.labels();
      if (name.startsWith(ServiceGraphTest.GRAPH)
          && (name.endsWith("_total") || name.endsWith("_count"))
          && sample.value() != 0
          && !CLOCK.equals(labels.get("server"))) {
        Edge edge =
            new Edge(
                labels.get("client"),
                labels.get("server"),
                labels.getOrDefault("connection_type", ""));
        graph
            .computeIfAbsent(edge, first -> new HashMap<>())
            .merge(name.substring(ServiceGraphTest.GRAPH.length()), sample.value(), Double::sum);
      }
    }
    return graph;
  }
}
