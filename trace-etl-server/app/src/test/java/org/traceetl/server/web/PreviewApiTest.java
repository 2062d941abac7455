package org.traceetl.server.web;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.traceetl.common.ConfigException;

/** How the API guards previews of rules. */
class PreviewApiTest {
  private static final String SHOP = "/api/preview?application=shop";
  private static final Duration WITHIN = Duration.ofSeconds(60);

  private final HandMadeService.Factory factory = new HandMadeService.Factory();
  private final HttpClient client = HttpClient.newHttpClient();
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch stopped = new CountDownLatch(1);
  private WebServer server;

  @BeforeEach
  void start() {
    server = WebServer.start(List.of(), Map.of("server.port", 0), false, factory);
  }

  @AfterEach
  void close() {
    server.close();
    client.close();
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + path))
        .timeout(WITHIN);
  }

  private HttpRequest post(String path, String type, String body) {
    return request(path)
        .header("Content-Type", type)
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }

  private HttpResponse<String> send(HttpRequest request) throws Exception {
    return client.send(request, HttpResponse.BodyHandlers.ofString());
  }

  private HttpResponse<String> preview(String path) throws Exception {
    return send(post(path, "application/yaml", "revision: 1"));
  }

  /** Makes previews run until they are interrupted. */
  private void runForEver() {
    factory.made.comparer =
        (application, since, rules) -> {
          begun.countDown();
          try {
            new CountDownLatch(1).await();
            return null;
          } finally {
            stopped.countDown();
          }
        };
  }

  private static void assertRefused(HttpResponse<String> response, int status, String detail) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
    assertThat(response.headers().firstValue("Content-Type")).contains("application/problem+json");
    assertThat(response.body()).contains(detail);
  }

  @Test
  void onlyYamlThatNoOtherSiteCanSendIsAccepted() throws Exception {
    for (String type : List.of("text/plain", "application/x-www-form-urlencoded")) {
      assertRefused(send(post(SHOP, type, "revision: 1")), 415, "must be application/yaml");
    }
    HttpResponse<String> asked =
        send(
            request(SHOP)
                .method("OPTIONS", HttpRequest.BodyPublishers.noBody())
                .header("Origin", "https://elsewhere.example.com")
                .header("Access-Control-Request-Method", "POST")
                .header("Access-Control-Request-Headers", "content-type")
                .build());
    assertThat(asked.statusCode()).isGreaterThanOrEqualTo(400);
    assertThat(asked.headers().map().keySet())
        .noneMatch(name -> name.toLowerCase().startsWith("access-control"));
    HttpResponse<String> read = send(request(SHOP).build());
    assertRefused(read, 405, "must be POST");
    assertThat(read.headers().firstValue("Allow")).contains("POST");
    assertThat(preview(SHOP).headers().firstValue("Cache-Control")).contains("no-store");
  }

  @Test
  void wrongRequestsAreRefusedAndTheNextOneRuns() throws Exception {
    assertRefused(preview("/api/preview"), 400, "application: must be given");
    assertRefused(preview(SHOP + "&since=soon"), 400, "since = soon: must be a duration");
    String tooLong = "#".repeat(HandMadeService.PREVIEWED_BYTES + 1);
    assertRefused(send(post(SHOP, "application/yaml", tooLong)), 413, "at most 1000 bytes");
    factory.made.comparer =
        (application, since, rules) -> {
          throw new ConfigException(List.of("rule: is not a key of rules; rules.yaml:2"));
        };
    assertRefused(preview(SHOP), 400, "rule: is not a key of rules; rules.yaml:2");
    factory.made.comparer =
        (application, since, rules) -> {
          throw new IOException("secret host is away");
        };
    HttpResponse<String> away = preview(SHOP);
    assertRefused(away, 503, "the spans cannot be read");
    assertThat(away.body()).doesNotContain("secret");
    factory.made.comparer =
        (application, since, rules) -> {
          assertThat(application).isEqualTo("shop");
          assertThat(since).isEqualTo(Duration.ofDays(2));
          assertThat(new String(rules, UTF_8)).isEqualTo("revision: 1");
          return HandMadeService.comparison();
        };
    assertThat(preview(SHOP + "&since=2d").statusCode()).isEqualTo(200);
  }

  @Test
  void onePreviewRunsAtATimeAndEndsWhenItsCallerIsGone() throws Exception {
    runForEver();
    try (Socket caller = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      caller
          .getOutputStream()
          .write(
              ("POST "
                      + SHOP
                      + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/yaml\r\n"
                      + "Content-Length: 11\r\n\r\nrevision: 1")
                  .getBytes(UTF_8));
      begun.await();

      HttpResponse<String> other = preview(SHOP);

      assertRefused(other, 429, "one at a time");
      assertThat(other.headers().firstValue("Retry-After")).isPresent();
      assertThat(stopped.getCount()).isOne();
    }
    stopped.await();
    factory.made.comparer = (application, since, rules) -> HandMadeService.comparison();
    Awaitility.await().atMost(WITHIN).until(() -> preview(SHOP).statusCode() == 200);
  }

  @Test
  void aServerThatStopsEndsThePreview() throws Exception {
    runForEver();
    CompletableFuture<HttpResponse<String>> answer =
        client.sendAsync(
            post(SHOP, "application/yaml", "revision: 1"), HttpResponse.BodyHandlers.ofString());
    begun.await();

    server.close();

    stopped.await();
    assertRefused(answer.get(), 503, "the server stops");
  }
}
