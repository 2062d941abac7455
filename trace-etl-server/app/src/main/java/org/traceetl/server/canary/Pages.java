package org.traceetl.server.canary;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.traceetl.common.Reason;
import tools.jackson.databind.JsonNode;

/** Reads the pages of the servers. Confined to one thread. */
final class Pages {
  private static final Pattern SAMPLE =
      Pattern.compile("[^{ ]+\\{((?:[^\"}]|\"(?:[^\"\\\\]|\\\\.)*\")*)\\} (\\S+).*");

  /** It depends on the other queues of the server, so it does not identify a series. */
  private static final Pattern QUEUE = Pattern.compile(",?trace_etl_queue=\"[^\"]*\"");

  private static final String OPENMETRICS = "application/openmetrics-text;version=1.0.0";
  private static final String CURRENT = "trace_etl_discovery_current ";
  private static final String KNOWN = "trace_etl_discovery_servers ";
  private static final String MISSING = "trace_etl_missing_queues ";
  private static final String TOTAL = "_total";

  private final HttpReader http;
  private final SpanNames names;
  private final URI list;
  private final String calls;
  private final String created;

  /** The latest list that was read. */
  private List<URI> servers;

  /**
   * @param list any server, whose {@code /api/targets} lists all; null for fixed servers
   * @param servers the fixed servers; empty to read the list
   * @param metric counter of spans, such as {@code traces_span_metrics_calls_total}
   */
  Pages(HttpReader http, SpanNames names, URI list, List<URI> servers, String metric) {
    this.http = http;
    this.names = names;
    this.list = list;
    this.servers = servers;
    calls = metric + "{";
    String family =
        metric.endsWith(TOTAL) ? metric.substring(0, metric.length() - TOTAL.length()) : metric;
    created = family + "_created{";
  }

  /**
   * A page of a server.
   *
   * @param counts spans of this run by path and series
   * @param isBrokerAway whether no broker answered the server's latest query
   * @param missingQueues queues that the server was given and does not read
   */
  record Page(Map<String, Map<String, Long>> counts, boolean isBrokerAway, double missingQueues) {}

  /**
   * What the servers answered.
   *
   * @param pages the pages that could be read
   * @param from the server of the first page; null if there is no page
   * @param problem why a list or page could not be read; empty if all could
   */
  record Answers(List<Page> pages, URI from, String problem) {
    boolean isBrokerAway() {
      return pages.stream().anyMatch(Page::isBrokerAway);
    }

    /** Returns why servers do not show all queues; empty if they do. */
    String serverProblem() {
      double missing = pages.stream().mapToDouble(Page::missingQueues).sum();
      return problem.isEmpty() && missing > 0 ? "servers do not read all queues" : problem;
    }
  }

  /** Reads all pages at the same time. */
  Answers read() throws InterruptedException {
    String problem = "";
    if (list != null) {
      try {
        servers = targets(http.json(list.resolve("/api/targets")));
      } catch (IOException e) {
        problem = list + ": " + Reason.of(e);
      }
    }
    List<Callable<Page>> requests = new ArrayList<>();
    for (URI server : servers) {
      requests.add(() -> page(server));
    }
    List<Future<Page>> results = http.inParallel(requests);
    List<Page> pages = new ArrayList<>();
    URI from = null;
    for (int i = 0; i < results.size(); i++) {
      try {
        pages.add(http.result(results.get(i)));
        from = from == null ? servers.get(i) : from;
      } catch (IOException e) {
        problem = servers.get(i) + ": " + Reason.of(e);
      }
    }
    return new Answers(pages, from, problem);
  }

  private static List<URI> targets(JsonNode groups) throws IOException {
    List<URI> servers = new ArrayList<>();
    for (JsonNode group : groups) {
      String scheme = group.path("labels").path("__scheme__").asString("http");
      for (JsonNode target : group.path("targets")) {
        servers.add(uri(scheme + "://" + target.asString("")));
      }
    }
    return List.copyOf(servers);
  }

  private static URI uri(String text) throws IOException {
    try {
      return URI.create(text);
    } catch (IllegalArgumentException e) {
      throw new IOException("the list of servers contains " + text, e);
    }
  }

  private Page page(URI server) throws IOException, InterruptedException {
    HttpRequest request =
        http.request(server.resolve("/metrics"))
            .header("Accept", OPENMETRICS)
            .header("Accept-Encoding", "gzip")
            .build();
    return http.send(request, answer -> parse(lines(answer)));
  }

  private static BufferedReader lines(HttpResponse<InputStream> answer) throws IOException {
    boolean isGzip = answer.headers().firstValue("Content-Encoding").orElse("").equals("gzip");
    InputStream body = isGzip ? new GZIPInputStream(answer.body()) : answer.body();
    return new BufferedReader(new InputStreamReader(body, UTF_8));
  }

  Page parse(BufferedReader lines) throws IOException {
    Map<String, Long> values = new HashMap<>();
    Map<String, String> since = new HashMap<>();
    double current = 1;
    double known = 0;
    double missingQueues = 0;
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.startsWith(calls)) {
        note(line, (labels, value) -> values.put(labels, (long) Double.parseDouble(value)));
      } else if (line.startsWith(created)) {
        note(line, since::put);
      } else if (line.startsWith(CURRENT)) {
        current = Double.parseDouble(line.substring(CURRENT.length()));
      } else if (line.startsWith(KNOWN)) {
        known = Double.parseDouble(line.substring(KNOWN.length()));
      } else if (line.startsWith(MISSING)) {
        missingQueues = Double.parseDouble(line.substring(MISSING.length()));
      }
    }
    Map<String, Map<String, Long>> counts = new HashMap<>();
    values.forEach((labels, value) -> {
      String series = QUEUE.matcher(labels).replaceAll("") + " " + since.get(labels);
      counts
          .computeIfAbsent(names.path(labels), path -> new HashMap<>())
          .merge(series, value, Long::sum);
    });
    // A server that has just started knows no server until a broker has answered.
    return new Page(counts, current == 0 && known > 0, missingQueues);
  }

  private interface Sink {
    void put(String labels, String value);
  }

  private void note(String line, Sink sink) {
    Matcher sample = SAMPLE.matcher(line);
    if (line.contains(names.prefix()) && sample.matches() && names.path(sample.group(1)) != null) {
      sink.put(sample.group(1), sample.group(2));
    }
  }
}
