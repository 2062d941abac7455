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
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.traceetl.server.consume.retained.RetainedMessages;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** How the API answers what spans have in common, and guards it. */
class WhyApiTest {
  private static final String FAILED = "/api/why?application=shop&failed=true";
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

  private HttpRequest get(String path) {
    return HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + path))
        .timeout(WITHIN)
        .build();
  }

  private HttpResponse<String> send(String path) throws Exception {
    return client.send(get(path), HttpResponse.BodyHandlers.ofString());
  }

  /** Makes reads last until they are interrupted, after 3 of 9 messages. */
  private void readForEver() {
    factory.made.messages =
        (from, until, limits, reader) -> {
          reader.begin(9);
          for (int i = 0; i < 3; i++) {
            reader.add(null, new byte[1]);
          }
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
  void theGuiltyHostIsFirstAndItsNodeIsCorrelated() throws Exception {
    HttpResponse<String> response = send(FAILED);

    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    JsonNode answer = JsonMapper.shared().readTree(response.body());
    JsonNode first = answer.get("causes").get(0);
    assertThat(first.get("attributes").toString())
        .isEqualTo("[{\"key\":\"host.name\",\"value\":\"host-bad\"}]");
    assertThat(first.get("correlated").toString()).contains("node-of-host-bad");
    assertThat(first.get("selectionShare").asDouble()).isGreaterThan(0.9);
    assertThat(first.get("baselineHigh").asDouble()).isLessThan(0.5);
    assertThat(first.get("traces").size()).isEqualTo(5);
    assertThat(answer.get("outcomes").toString()).contains("error.type");
    assertThat(answer.get("selectedSpans").asLong())
        .isEqualTo(
            answer
                .get("operations")
                .valueStream()
                .mapToLong(one -> one.get("selectedSpans").asLong())
                .sum());
    assertThat(send(FAILED).body().replaceAll("\"(from|until)\":\"[^\"]*\"", ""))
        .isEqualTo(response.body().replaceAll("\"(from|until)\":\"[^\"]*\"", ""));
  }

  @Test
  void wrongRequestsAreRefused() throws Exception {
    assertRefused(send("/api/why"), 400, "application: must be given");
    assertRefused(send("/api/why?application=shop"), 400, "requires failed or slowerThan");
    assertRefused(send(FAILED + "&slowerThan=fast"), 400, "slowerThan = fast: must be a duration");
    for (String tooLong : List.of("3651d", "106752d", "999999999d")) {
      assertRefused(
          send("/api/why?application=shop&slowerThan=" + tooLong),
          400,
          "slowerThan = " + tooLong + ": must be at most 3650d");
    }
    assertRefused(send(FAILED + "&baseline=1m"), 400, "baseline = 1m: must be at least 600s");
    assertRefused(send(FAILED + "&kind=big"), 400, "kind = big: must be one of");
    assertRefused(
        send(FAILED + "&from=2026-11-30T10:00:00Z&to=2026-11-30T09:00:00Z"),
        400,
        "must be before to");
    assertRefused(
        send("/api/why?application=other&failed=true"), 404, "No spans of application other are");
    assertRefused(
        send(FAILED + "&operation=none&kind=client"),
        404,
        "No spans of application shop with operation none of kind CLIENT are");
    factory.made.messages =
        (from, until, limits, reader) -> {
          throw new IOException("secret host is away");
        };
    HttpResponse<String> away = send(FAILED);
    assertRefused(away, 503, "the spans cannot be read");
    assertThat(away.body()).doesNotContain("secret");
  }

  @Test
  void aPageOfAnotherSiteIsRefused() throws Exception {
    for (String site : List.of("cross-site", "same-site", "")) {
      assertRefused(sendFrom(site), 403, "a page of another site");
    }
    assertThat(sendFrom("same-origin").statusCode()).isEqualTo(200);
    assertThat(sendFrom("none").statusCode()).isEqualTo(200);
  }

  private HttpResponse<String> sendFrom(String site) throws Exception {
    return client.send(
        HttpRequest.newBuilder(get(FAILED), (name, value) -> true)
            .header("Sec-Fetch-Site", site)
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void theIntervalsAreThoseAskedFor() throws Exception {
    AtomicReference<String> read = new AtomicReference<>("");
    factory.made.messages =
        (from, until, limits, reader) -> {
          read.getAndUpdate(before -> before + from + "/" + until + " ");
          return new RetainedMessages.Extent(from.toEpochMilli(), true);
        };

    // The earlier one first, as the broker deletes it first.
    send(
        "/api/why?application=shop&baseline=1h&from=2026-11-30T10:00:00Z"
            + "&to="
            + Instant.parse("2026-11-30T10:05:00Z").toEpochMilli());

    assertThat(read.get())
        .isEqualTo(
            "2026-11-30T09:00:00Z/2026-11-30T09:05:00Z "
                + "2026-11-30T10:00:00Z/2026-11-30T10:05:00Z ");
  }

  @Test
  void oneRunsAtATimeShowsItsProgressAndEndsWhenItsCallerIsGone() throws Exception {
    readForEver();
    try (Socket caller = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      caller
          .getOutputStream()
          .write(("GET " + FAILED + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(UTF_8));
      begun.await();

      HttpResponse<String> other = send(FAILED);

      assertRefused(other, 429, "one at a time");
      assertThat(other.headers().firstValue("Retry-After")).isPresent();
      assertThat(send("/api/why/progress").body())
          .isEqualTo("{\"running\":true,\"messages\":3,\"of\":9}");
      assertThat(stopped.getCount()).isOne();
    }
    stopped.await();
    Awaitility.await()
        .atMost(WITHIN)
        .until(() -> send("/api/why/progress").body().contains("\"running\":false"));
    assertThat(send("/metrics").body())
        .contains("trace_etl_why_requests_total{result=\"busy\",} 1.0");
  }

  @Test
  void aServerThatStopsEndsIt() throws Exception {
    readForEver();
    CompletableFuture<HttpResponse<String>> answer =
        client.sendAsync(get(FAILED), HttpResponse.BodyHandlers.ofString());
    begun.await();

    server.close();

    stopped.await();
    assertRefused(answer.get(), 503, "the server stops");
  }
}
