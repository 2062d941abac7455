package org.traceetl.server.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The list of servers as Prometheus reads it. */
class TargetsResourceTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final HandMadeService.Factory factory = new HandMadeService.Factory();

  @Test
  void serversAreGroupedByTheirScheme() throws Exception {
    try (WebServer server =
            start(List.of("a@1=http://10.0.0.2:80", "b@1=https://[2001:db8::1]:443"));
        HttpClient client = HttpClient.newHttpClient()) {
      await().atMost(PATIENCE).until(() -> factory.made.fleet.servers().isPresent());

      HttpResponse<String> response = get(client, server, "/api/targets");

      assertThat(response.statusCode()).isEqualTo(200);
      // Prometheus takes this type and no other.
      assertThat(response.headers().firstValue("Content-Type")).contains("application/json");
      assertThat(response.body())
          .isEqualTo(
              "[{\"targets\":[\"10.0.0.2:80\",\"127.0.0.1:"
                  + server.port()
                  + "\"],\"labels\":{\"__scheme__\":\"http\"}},"
                  + "{\"targets\":[\"[2001:db8::1]:443\"],\"labels\":{\"__scheme__\":\"https\"}}]");
      assertThat(get(client, server, "/api/targets?shards=2").body())
          .startsWith(
              "[{\"targets\":[\"10.0.0.2:80\",\"127.0.0.1:"
                  + server.port()
                  + "\"],\"labels\":{\"__param_shard\":\"0/2\",\"__scheme__\":\"http\"}},")
          .endsWith(
              "{\"targets\":[\"[2001:db8::1]:443\"],"
                  + "\"labels\":{\"__param_shard\":\"1/2\",\"__scheme__\":\"https\"}}]");
      assertThat(get(client, server, "/api/targets?shards=0").statusCode()).isEqualTo(400);
      assertThat(get(client, server, "/api/targets?shards=65").statusCode()).isEqualTo(400);
      assertThat(get(client, server, "/api/targets?limit=1").statusCode()).isEqualTo(400);
    }
  }

  @Test
  void whileNoBrokerHasAnsweredThereIsNoListToTakeForTheWhole() throws Exception {
    try (WebServer server = start(null);
        HttpClient client = HttpClient.newHttpClient()) {
      HttpResponse<String> response = get(client, server, "/api/targets");

      assertThat(response.statusCode()).isEqualTo(503);
      assertThat(response.body()).contains("no broker has returned the list");
    }
  }

  private WebServer start(List<String> members) {
    return WebServer.start(
        List.of(),
        Map.of("server.port", 0),
        false,
        config -> {
          ServerComponents server = factory.apply(config);
          factory.made.members = members;
          return server;
        });
  }

  private static HttpResponse<String> get(HttpClient client, WebServer server, String path)
      throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + server.port() + path);
    return client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
  }
}
