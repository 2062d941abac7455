package org.traceetl.server.features.index;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Health follows the last contact. A real cluster cannot be told to fail a single answer. */
final class ElasticsearchHealthTest {
  private HttpServer server;
  private ElasticsearchIndex index;
  private volatile int status = 200;
  private volatile boolean healthyDuringBulk;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::answer);
    server.start();
    URI url = URI.create("http://localhost:" + server.getAddress().getPort());
    index = ElasticsearchIndex.open(ElasticsearchIndexTest.config(url, "health"));
  }

  @AfterEach
  void stop() {
    index.close();
    server.stop(0);
  }

  @Test
  void aSearchThatSucceedsMendsWhatOneThatFailedSaid() throws IOException {
    status = 503;
    assertThatThrownBy(() -> index.search(Traces.ALL)).isInstanceOf(IOException.class);
    assertThat(index.healthy()).isFalse();

    status = 200;
    index.search(Traces.ALL);
    assertThat(index.healthy()).isTrue();
  }

  @Test
  void aWriteUnderWayIsNoFault() throws IOException {
    index.write(List.of(Traces.document(1, 1)));

    assertThat(healthyDuringBulk).isTrue();
    assertThat(index.healthy()).isTrue();

    status = 503;
    assertThatThrownBy(() -> index.write(List.of(Traces.document(1, 1))))
        .isInstanceOf(IOException.class);
    assertThat(index.healthy()).isFalse();
  }

  private void answer(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    String body = "{\"acknowledged\":true}";
    if (path.endsWith("/_bulk")) {
      healthyDuringBulk = index.healthy();
      body =
          """
          {"took":1,"errors":false,
           "items":[{"create":{"_index":"health","_id":"1","status":201}}]}
          """;
    } else if (path.endsWith("/_search")) {
      body =
          """
          {"took":1,"timed_out":false,
           "_shards":{"total":1,"successful":1,"skipped":0,"failed":0},"hits":{"hits":[]}}
          """;
    }
    byte[] bytes = body.getBytes(UTF_8);
    exchange.getRequestBody().readAllBytes();
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.getResponseHeaders().set("X-Elastic-Product", "Elasticsearch");
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }
}
