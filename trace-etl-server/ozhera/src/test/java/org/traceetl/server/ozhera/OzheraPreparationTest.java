package org.traceetl.server.ozhera;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.server.features.index.IndexConfig;
import org.traceetl.server.features.index.TraceIndex;
import org.traceetl.server.features.index.Traces;
import org.traceetl.server.features.index.WriteResult;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.TraceDocument.Reason;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a cluster is asked for before OzHera's documents. The real one of the other tests has no
 * lifecycle policies.
 */
final class OzheraPreparationTest {
  private static final String NAME = "trace-etl-shop";
  private static final String POLICY = "/_ilm/policy/" + NAME;
  private static final String TEMPLATE = "/_index_template/" + NAME;
  private static final TraceDocument DOCUMENT =
      Traces.document(1, 1, "shop", "x", Reason.ERROR, Map.of("type", "http"));

  private final Map<String, String> bodies = new ConcurrentHashMap<>();
  private final List<String> asked = Collections.synchronizedList(new ArrayList<>());
  private final Set<String> refused = ConcurrentHashMap.newKeySet();
  private HttpServer server;
  private TraceIndex index;
  private volatile Instant now = Instant.parse("2026-11-21T23:59:00Z");

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::answer);
    server.start();
    URI url = URI.create("http://localhost:" + server.getAddress().getPort());
    IndexConfig.Elasticsearch config =
        OzheraLayoutTest.config(url, "shop-", "hera", ZoneOffset.UTC);
    index =
        TraceIndex.open(IndexConfig.of(config), new OzheraLayout(config, () -> now), Clocks.SYSTEM);
  }

  @AfterEach
  void stop() {
    index.close();
    server.stop(0);
  }

  /** Of 7 days' retention: an index of tomorrow may be there today, by a host ahead of others. */
  @Test
  void noIndexGoesBeforeItsDayIsOverByTheRetention() throws IOException {
    index.write(List.of(DOCUMENT));

    assertThat(
            new JsonMapper()
                .readTree(bodies.get(POLICY))
                .at("/policy/phases/delete/min_age")
                .asString())
        .isEqualTo("9d");
  }

  @Test
  void theTemplateIsPutOnceADay() throws IOException {
    index.write(List.of(DOCUMENT));
    index.write(List.of(DOCUMENT));
    assertThat(asked).filteredOn(TEMPLATE::equals).hasSize(1);

    now = now.plus(Duration.ofMinutes(1));
    index.write(List.of(DOCUMENT));
    index.write(List.of(DOCUMENT));
    assertThat(asked).filteredOn(TEMPLATE::equals).hasSize(2);
  }

  @Test
  void withoutThePolicyThereIsTheTemplateAllTheSame() throws IOException {
    refused.add(POLICY);

    assertThat(index.write(List.of(DOCUMENT))).isEqualTo(WriteResult.kept(1));
    assertThat(asked).filteredOn(TEMPLATE::equals).hasSize(1);
  }

  @Test
  void withoutTheTemplateNothingIsWritten() {
    refused.add(POLICY);
    refused.add(TEMPLATE);

    assertThatThrownBy(() -> index.write(List.of(DOCUMENT)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("403");
    assertThat(asked).doesNotContain("/_bulk");
  }

  private void answer(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    bodies.put(path, new String(exchange.getRequestBody().readAllBytes(), UTF_8));
    asked.add(path);
    boolean permitted = !refused.contains(path);
    String body =
        permitted
            ? "{\"acknowledged\":true}"
            : "{\"status\":403,\"error\":{\"type\":\"security_exception\",\"reason\":\"no\"}}";
    if (path.equals("/_bulk")) {
      body =
          """
          {"took":1,"errors":false,
           "items":[{"create":{"_index":"shop-","_id":"1","status":201}}]}
          """;
    }
    byte[] bytes = body.getBytes(UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.getResponseHeaders().set("X-Elastic-Product", "Elasticsearch");
    exchange.sendResponseHeaders(permitted ? 200 : 403, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }
}
