package org.traceetl.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tools.jackson.databind.json.JsonMapper;

/** The query API with samples that a test made, by job. */
final class FakePrometheus implements AutoCloseable {
  private static final JsonMapper JSON = new JsonMapper();
  private static final Pattern RANGE = Pattern.compile("\\[(\\d+)s]$");

  private record Series(Map<String, String> labels, TreeMap<Instant, Double> samples) {}

  private final HttpServer server;
  private final List<Series> series = new ArrayList<>();
  private final Queue<Map<String, String>> requests = new ConcurrentLinkedQueue<>();
  private String warning;

  FakePrometheus() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/api/v1/query", this::query);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** Adds a series with these values in equal intervals, the first one at the start; NaN: none. */
  void add(Map<String, String> labels, Instant start, Duration interval, double... values) {
    TreeMap<Instant, Double> samples = new TreeMap<>();
    for (int i = 0; i < values.length; i++) {
      if (!Double.isNaN(values[i])) {
        samples.put(start.plus(interval.multipliedBy(i)), values[i]);
      }
    }
    series.add(new Series(labels, samples));
  }

  void warn(String text) {
    warning = text;
  }

  /** Serves a fixed answer at a path in front of the API. */
  void answer(String path, int status, String body) {
    server.createContext(path, exchange -> respond(exchange, status, body));
  }

  /** Returns the value of a header of each request. */
  List<String> headers(String name) {
    return requests.stream().map(request -> request.getOrDefault(name, "")).toList();
  }

  private void query(HttpExchange exchange) throws IOException {
    Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    exchange.getRequestHeaders().forEach((name, values) -> headers.put(name, values.getFirst()));
    requests.add(headers);
    Map<String, String> parameters = new TreeMap<>();
    for (String parameter : List.of(exchange.getRequestURI().getRawQuery().split("&", -1))) {
      String[] pair = parameter.split("=", 2);
      parameters.put(pair[0], URLDecoder.decode(pair[1], UTF_8));
    }
    String query = parameters.get("query");
    Instant time =
        Instant.ofEpochMilli(
            new BigDecimal(parameters.get("time")).movePointRight(3).longValueExact());
    boolean isLast = query.startsWith("last_over_time(");
    Matcher range = RANGE.matcher(query);
    Instant from =
        isLast || !range.find() ? Instant.EPOCH : time.minusSeconds(Long.parseLong(range.group(1)));
    List<Object> result = new ArrayList<>();
    for (Series one : series) {
      Map<Instant, Double> samples = one.samples.subMap(from, false, time, true);
      if (!query.contains("job=\"" + one.labels.get("job") + "\"") || samples.isEmpty()) {
        continue;
      }
      List<List<Object>> values =
          samples.entrySet().stream()
              .map(sample ->
                  List.<Object>of(
                      BigDecimal.valueOf(sample.getKey().toEpochMilli(), 3),
                      sample.getValue().toString()))
              .collect(Collectors.toList());
      result.add(
          isLast
              ? Map.of("metric", one.labels, "value", values.getLast())
              : Map.of("metric", one.labels, "values", values));
    }
    Map<String, Object> answer = new TreeMap<>();
    answer.put("status", "success");
    answer.put("data", Map.of("resultType", isLast ? "vector" : "matrix", "result", result));
    if (warning != null) {
      answer.put("warnings", List.of(warning));
    }
    respond(exchange, 200, JSON.writeValueAsString(answer));
  }

  private static void respond(HttpExchange exchange, int status, String body) throws IOException {
    byte[] bytes = body.getBytes(UTF_8);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
