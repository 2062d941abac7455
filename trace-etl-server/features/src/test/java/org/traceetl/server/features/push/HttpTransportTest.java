package org.traceetl.server.features.push;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.common.Clocks;
import org.traceetl.common.Secret;

class HttpTransportTest {
  private record Received(String path, Headers headers, String body) {}

  private final List<Received> received = new CopyOnWriteArrayList<>();
  private final Headers answerHeaders = new Headers();
  private final List<Integer> tokenStatus = new ArrayList<>(List.of(200));
  private volatile int status = 204;
  private volatile String answer = "";
  private long nowNanos = 1;
  private HttpServer server;

  @TempDir private Path directory;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/write", exchange -> answer(exchange, status, answerHeaders, answer));
    server.createContext(
        "/token",
        exchange ->
            answer(
                exchange,
                tokenStatus.getFirst(),
                new Headers(),
                "{\"access_token\": \"token-"
                    + received.size()
                    + "\", \"token_type\": \"Bearer\", \"expires_in\": 3600}"));
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private void answer(HttpExchange exchange, int code, Headers headers, String body)
      throws IOException {
    received.add(
        new Received(
            exchange.getRequestURI().getPath(),
            exchange.getRequestHeaders(),
            new String(exchange.getRequestBody().readAllBytes(), UTF_8)));
    exchange.getResponseHeaders().putAll(headers);
    byte[] bytes = body.getBytes(UTF_8);
    exchange.sendResponseHeaders(code, bytes.length == 0 ? -1 : bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  private URI uri(String path) {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path);
  }

  private HttpTransport transport(
      Map<String, Secret> headers,
      PushConfig.Basic basic,
      Path tokenFile,
      PushConfig.OAuth2 oauth2) {
    return transport("remote-write", headers, basic, tokenFile, oauth2);
  }

  private HttpTransport transport(
      String protocol,
      Map<String, Secret> headers,
      PushConfig.Basic basic,
      Path tokenFile,
      PushConfig.OAuth2 oauth2) {
    return new HttpTransport(
        new PushConfig.Endpoint(
            "default",
            uri("/write"),
            protocol,
            "auto",
            "cumulative",
            Map.of(),
            headers,
            basic,
            null,
            tokenFile,
            oauth2,
            PushConfig.Tls.DEFAULTS,
            Duration.ofSeconds(30),
            5_000,
            1),
        new Clocks(() -> nowNanos, () -> Instant.parse("2026-11-26T12:00:00Z")));
  }

  private static WriteTransport.Answer send(HttpTransport transport)
      throws IOException, InterruptedException {
    return transport.send(Protocol.V2, "abcdef".getBytes(UTF_8), 3);
  }

  @Test
  void requestsHaveTheHeadersOfTheirVersion() throws Exception {
    try (HttpTransport transport =
        transport(Map.of("X-Scope-OrgID", new Secret("shop")), null, null, null)) {
      send(transport);
      transport.send(Protocol.V1, "abcdef".getBytes(UTF_8), 6);
    }
    assertThat(received).extracting(Received::body).containsExactly("abc", "abcdef");
    Headers v2 = received.getFirst().headers();
    assertThat(v2.getFirst("Content-Encoding")).isEqualTo("snappy");
    assertThat(v2.getFirst("Content-Type"))
        .isEqualTo("application/x-protobuf;proto=io.prometheus.write.v2.Request");
    assertThat(v2.getFirst("X-Prometheus-Remote-Write-Version")).isEqualTo("2.0.0");
    assertThat(v2.getFirst("X-Scope-OrgID")).isEqualTo("shop");
    assertThat(v2.getFirst("Authorization")).isNull();
    Headers v1 = received.getLast().headers();
    assertThat(v1.getFirst("Content-Type")).isEqualTo("application/x-protobuf");
    assertThat(v1.getFirst("X-Prometheus-Remote-Write-Version")).isEqualTo("0.1.0");
  }

  @Test
  void requestsOfOtlpHaveItsHeaders() throws Exception {
    answer = new String(new byte[] {10, 7, 8, 3, 18, 3, 'o', 'l', 'd'}, UTF_8);
    status = 200;
    answerHeaders.set("X-Prometheus-Remote-Write-Samples-Written", "17");
    try (HttpTransport transport = transport("otlp", Map.of(), null, null, null)) {
      WriteTransport.Answer said = transport.send(Protocol.OTLP, "abcdef".getBytes(UTF_8), 3);
      assertThat(said)
          .isEqualTo(
              new WriteTransport.Answer(
                  200, WriteTransport.UNKNOWN, WriteTransport.UNKNOWN, 3, 0, "old"));
      status = 503;
      answer = "later";
      answerHeaders.set("Retry-After", "7");
      said = transport.send(Protocol.OTLP, "abcdef".getBytes(UTF_8), 3);
      assertThat(said.rejected()).isZero();
      assertThat(said.retryAfterMillis()).isEqualTo(7_000);
      assertThat(said.text()).isEqualTo("later");
    }
    Headers headers = received.getFirst().headers();
    assertThat(headers.getFirst("Content-Encoding")).isEqualTo("gzip");
    assertThat(headers.getFirst("Content-Type")).isEqualTo("application/x-protobuf");
    assertThat(headers).doesNotContainKey("X-Prometheus-Remote-Write-Version");
  }

  @Test
  void answersAreRead() throws Exception {
    try (HttpTransport transport = transport(Map.of(), null, null, null)) {
      assertThat(send(transport))
          .isEqualTo(
              new WriteTransport.Answer(
                  204, WriteTransport.UNKNOWN, WriteTransport.UNKNOWN, 0, ""));

      status = 429;
      answer = "slow down ".repeat(1_000);
      answerHeaders.set("X-Prometheus-Remote-Write-Samples-Written", "17");
      answerHeaders.set("X-Prometheus-Remote-Write-Histograms-Written", "nonsense");
      answerHeaders.set("Retry-After", "7");
      WriteTransport.Answer said = send(transport);
      assertThat(said.status()).isEqualTo(429);
      assertThat(said.samples()).isEqualTo(17);
      assertThat(said.histograms()).isEqualTo(WriteTransport.UNKNOWN);
      assertThat(said.saysWritten()).isTrue();
      assertThat(said.retryAfterMillis()).isEqualTo(7_000);
      assertThat(said.text()).startsWith("slow down slow").hasSizeLessThanOrEqualTo(2_048);
    }
  }

  @Test
  void retryAfterIsBounded() throws Exception {
    Map<String, Long> waits =
        Map.of(
            "Thu, 26 Nov 2026 12:00:05 GMT", 5_000L,
            "Thu, 26 Nov 2026 11:00:00 GMT", 0L,
            "Thu, 26 Nov 2099 12:00:00 GMT", 600_000L,
            "9223372036854775807", 600_000L,
            "-5", 0L,
            "soon", 0L);
    try (HttpTransport transport = transport(Map.of(), null, null, null)) {
      for (Map.Entry<String, Long> wait : waits.entrySet()) {
        answerHeaders.set("Retry-After", wait.getKey());
        assertThat(send(transport).retryAfterMillis()).as(wait.getKey()).isEqualTo(wait.getValue());
      }
    }
  }

  @Test
  void absentReceiverIsAFailure() throws Exception {
    try (HttpTransport transport = transport(Map.of(), null, null, null)) {
      server.stop(0);
      assertThatThrownBy(() -> send(transport)).isInstanceOf(IOException.class);
    }
  }

  @Test
  void secretsInFilesAreReadForEachRequest() throws Exception {
    Path file = Files.writeString(directory.resolve("secret"), "one\n");
    try (HttpTransport transport = transport(Map.of(), null, file, null)) {
      send(transport);
      Files.writeString(file, "two\n");
      send(transport);
      Files.delete(file);
      assertThatThrownBy(() -> send(transport))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(file.toString());
    }
    Files.writeString(file, "secret");
    try (HttpTransport transport =
        transport(Map.of(), new PushConfig.Basic("shop", null, file), null, null)) {
      send(transport);
    }
    assertThat(received)
        .extracting(each -> each.headers().getFirst("Authorization"))
        .containsExactly("Bearer one", "Bearer two", "Basic c2hvcDpzZWNyZXQ=");
  }

  @Test
  void tokensAreRequestedOnceAndAfterTheirEndOrRefusal() throws Exception {
    PushConfig.OAuth2 oauth2 =
        new PushConfig.OAuth2(
            uri("/token"), "id +", new Secret("s:%"), null, List.of("write", "metrics"));
    try (HttpTransport transport = transport(Map.of(), null, null, oauth2)) {
      send(transport);
      send(transport);
      nowNanos += Duration.ofSeconds(3571).toNanos();
      send(transport);
      status = 401;
      send(transport);
      status = 204;
      send(transport);
      tokenStatus.set(0, 500);
      nowNanos += Duration.ofHours(2).toNanos();
      assertThatThrownBy(() -> send(transport))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("answered with status 500");
    }
    assertThat(received)
        .extracting(each ->
            each.path().equals("/token") ? each.body() : each.headers().getFirst("Authorization"))
        .containsExactly(
            "grant_type=client_credentials&scope=write+metrics",
            "Bearer token-0",
            "Bearer token-0",
            "grant_type=client_credentials&scope=write+metrics",
            "Bearer token-3",
            "Bearer token-3",
            "grant_type=client_credentials&scope=write+metrics",
            "Bearer token-6",
            "grant_type=client_credentials&scope=write+metrics");
    // Name and secret are encoded as forms are, before they are joined.
    assertThat(received.getFirst().headers().getFirst("Authorization"))
        .isEqualTo("Basic aWQrJTJCOnMlM0ElMjU=");
  }
}
