package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.traceetl.server.TraceEtlServer;
import org.traceetl.testkit.PageSample;

/**
 * A server that replaces OzHera's on a topic, in this JVM, with the broker that all tests share.
 */
final class OzheraServer implements AutoCloseable {
  static final HttpClient HTTP = HttpClient.newHttpClient();

  /** Names that may receive deltas. */
  static final String SCRAPERS = "prometheus,prometheus-a,prometheus-b,witness,unlucky,late";

  private static final int BUSY = 429;

  private final TraceEtlServer server;

  private OzheraServer(TraceEtlServer server) {
    this.server = server;
  }

  /**
   * Starts a server, and waits until it shows all queues.
   *
   * @param more further keys, which override the defaults
   */
  static OzheraServer start(String topic, Map<String, Object> more) throws Exception {
    OzheraServer started = new OzheraServer(TraceEtlServer.start(properties(topic, more)));
    EndToEndTest.eventually("the server's queues")
        .until(() -> get(started.uri("/ready"), Map.of()).statusCode() == 200);
    return started;
  }

  static Map<String, Object> properties(String topic, Map<String, Object> more) throws IOException {
    Map<String, Object> properties =
        new HashMap<>(
            Map.of(
                "server.port",
                0,
                "trace-etl.rocketmq.name-server",
                SharedBroker.get().namesrvAddress(),
                "trace-etl.rocketmq.topic",
                topic,
                "trace-etl.rocketmq.messages",
                "ozhera",
                "trace-etl.rocketmq.consumer-group",
                topic,
                "trace-etl.journal.topic",
                SharedBroker.journalOf(topic),
                "trace-etl.metrics.profile",
                "ozhera",
                "trace-etl.window.length",
                "200ms",
                "trace-etl.index.type",
                "none"));
    properties.put("trace-etl.ozhera.scrapers", SCRAPERS);
    // A killed server shows its queues for this duration.
    properties.put("trace-etl.journal.lease", "5s");
    properties.putAll(more);
    return properties;
  }

  /** Returns the properties of an index in OzHera's layout. */
  static Map<String, Object> indexed(URI elasticsearch, String prefix) {
    return Map.of(
        "trace-etl.index.type",
        "elasticsearch",
        "trace-etl.index.elasticsearch.urls",
        elasticsearch.toString(),
        "trace-etl.index.elasticsearch.layout",
        "ozhera",
        "trace-etl.index.elasticsearch.index-prefix",
        prefix);
  }

  URI uri(String path) {
    return URI.create("http://127.0.0.1:" + server.port() + path);
  }

  int port() {
    return server.port();
  }

  static HttpResponse<String> get(URI uri, Map<String, String> headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request = HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(20));
    headers.forEach(request::header);
    return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  /** Returns a scraper of this name after its first scrape. */
  Scraper scraper(String name) throws Exception {
    return scraper(uri("/"), name, new TreeMap<>());
  }

  /** Returns a scraper of any server that continues with given sums. */
  static Scraper scraper(URI server, String name, Map<String, Double> sums) throws Exception {
    Scraper scraper = new Scraper(server.resolve("/metrics?scraper=" + name), sums);
    scraper.scrape();
    return scraper;
  }

  @Override
  public void close() {
    server.close();
  }

  /** Sums its deltas, as {@code sum_over_time} does. */
  static final class Scraper {
    private final Map<String, Double> sums;
    private URI uri;

    private Scraper(URI uri, Map<String, Double> sums) {
      this.uri = uri;
      this.sums = sums;
    }

    /** Continues with another server, under the same name. */
    void moveTo(OzheraServer other) {
      uri = other.uri("/metrics?" + uri.getQuery());
    }

    String scrape() throws Exception {
      HttpResponse<String> response = get(uri, Map.of());
      while (response.statusCode() == BUSY) {
        // The previous answer has arrived, but the server has not detected it yet.
        response = get(uri, Map.of());
      }
      assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
      PageSample.of(response.body())
          .forEach(sample -> sums.merge(sample.series(), sample.value(), Double::sum));
      return response.body();
    }

    /** Returns the sum of every sample, by name and labels in alphabetical order. */
    Map<String, Double> sums() {
      return sums;
    }

    double sum(Predicate<String> samples) {
      return sums.entrySet().stream()
          .filter(sample -> samples.test(sample.getKey()))
          .mapToDouble(Map.Entry::getValue)
          .sum();
    }

    double sum(String metric) {
      return sum(sample -> sample.startsWith(metric + "{"));
    }

    /** Scrapes until the metric has this sum, and asserts that it does not exceed it. */
    void await(String metric, double sum) {
      EndToEndTest.eventually(metric)
          .untilAsserted(() -> {
            scrape();
            assertThat(sum(metric)).as("%s in %s", metric, sums).isEqualTo(sum);
          });
    }
  }
}
