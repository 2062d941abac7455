package org.traceetl.agent.forward;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTracePartialSuccess;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.access.TestCertificates;
import org.traceetl.agent.config.ForwardConfig.Compression;
import org.traceetl.agent.config.ForwardConfig.Endpoint;
import org.traceetl.agent.flow.OtlpFormat;
import org.traceetl.agent.forward.TraceClient.Answer;
import org.traceetl.common.Secret;

/** Sends to real servers. */
final class HttpTraceClientTest {
  private static final Instant NOW = Instant.parse("2026-11-27T12:00:00Z");

  @TempDir private Path directory;

  private HttpServer server;
  private int status = 200;
  private byte[] answer = new byte[0];
  private final Map<String, String> answerHeaders = new HashMap<>();
  private final Map<String, String> headers = new HashMap<>();
  private String uri;
  private byte[] body;
  private int requests;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::handle);
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private synchronized void handle(HttpExchange exchange) throws IOException {
    requests++;
    exchange
        .getRequestHeaders()
        .forEach((name, values) -> headers.put(name, String.join(",", values)));
    uri = exchange.getRequestMethod() + " " + exchange.getRequestURI();
    body = exchange.getRequestBody().readAllBytes();
    answerHeaders.forEach(exchange.getResponseHeaders()::set);
    exchange.sendResponseHeaders(status, answer.length == 0 ? -1 : answer.length);
    exchange.getResponseBody().write(answer);
    exchange.close();
  }

  @Test
  void bodyHeadersAndEncodingArrive() throws Exception {
    Path file = Files.writeString(directory.resolve("headers"), "X-Second: b c\n\nx-third:d\n");
    Path token = Files.writeString(directory.resolve("token"), "secret\n");
    Endpoint endpoint =
        new Endpoint(
            "a",
            url("/any/path"),
            Compression.GZIP,
            Map.of("X-Scope-OrgID", new Secret("shop")),
            Optional.of(file),
            Optional.of(token),
            Optional.empty(),
            5_000);
    byte[] spans = "spans ".repeat(10_000).getBytes(UTF_8);
    Blocks blocks = new Blocks();
    try (GZIPOutputStream gzip = new GZIPOutputStream(blocks)) {
      gzip.write(spans);
    }
    try (HttpTraceClient client = new HttpTraceClient(endpoint, InstantSource.fixed(NOW))) {
      assertThat(client.send(OtlpFormat.PROTOBUF, blocks).join())
          .isEqualTo(new Answer(200, 0, 0, ""));
      assertThat(uri).isEqualTo("POST /any/path");
      assertThat(new GZIPInputStream(new ByteArrayInputStream(body)).readAllBytes())
          .isEqualTo(spans);
      assertThat(headers)
          .containsEntry("Content-type", "application/x-protobuf")
          .containsEntry("Content-encoding", "gzip")
          .containsEntry("Content-length", String.valueOf(blocks.length()))
          .containsEntry("X-scope-orgid", "shop")
          .containsEntry("X-second", "b c")
          .containsEntry("X-third", "d")
          .containsEntry("Authorization", "Bearer secret");
      // The file is read for each request.
      Files.writeString(token, "renewed");
      client.send(OtlpFormat.JSON, blocks).join();
      assertThat(headers)
          .containsEntry("Authorization", "Bearer renewed")
          .containsEntry("Content-type", "application/json");
      Files.delete(token);
      assertThatThrownBy(() -> client.send(OtlpFormat.JSON, blocks))
          .hasMessage(token + ": does not exist");
    }
  }

  @Test
  void withoutCompressionTheBodyIsUnchanged() throws Exception {
    byte[] spans = new byte[100_000];
    Arrays.fill(spans, (byte) 7);
    assertThat(send(spans).status()).isEqualTo(200);

    assertThat(body).isEqualTo(spans);
    assertThat(headers)
        .doesNotContainKey("Content-encoding")
        .containsEntry("Content-length", "100000");
  }

  @Test
  void rejectedSpansOfAPartialSuccessAreRead() throws Exception {
    answer =
        ExportTraceServiceResponse.newBuilder()
            .setPartialSuccess(
                ExportTracePartialSuccess.newBuilder()
                    .setRejectedSpans(300)
                    .setErrorMessage("too old"))
            .build()
            .toByteArray();
    assertThat(send().rejectedSpans()).isEqualTo(300);
    answer = Arrays.copyOf(answer, 2);
    assertThat(send().rejectedSpans()).isZero();
    answer =
        ExportTraceServiceResponse.newBuilder()
            .setPartialSuccess(ExportTracePartialSuccess.newBuilder().setErrorMessage("warning"))
            .build()
            .toByteArray();
    assertThat(send().rejectedSpans()).isZero();

    answerHeaders.put("Content-Type", "application/json; charset=utf-8");
    answer = "{\"partialSuccess\": {\"rejectedSpans\": \"3\"}}".getBytes(UTF_8);
    assertThat(send().rejectedSpans()).isEqualTo(3);
    answer = "{\"partialSuccess\":{\"rejectedSpans\":4}}".getBytes(UTF_8);
    assertThat(send().rejectedSpans()).isEqualTo(4);
    answer = "{}".getBytes(UTF_8);
    assertThat(send().rejectedSpans()).isZero();
  }

  @Test
  void answersTellWhenToRetryAndWhy() throws Exception {
    status = 429;
    answer = ("too\nmany\u0000" + "x".repeat(10_000)).getBytes(UTF_8);
    answerHeaders.put("Retry-After", "7");
    Answer seconds = send();
    assertThat(seconds.status()).isEqualTo(429);
    assertThat(seconds.retryAfterMillis()).isEqualTo(7_000);
    assertThat(seconds.text()).startsWith("too many xxx").hasSize(200);

    answerHeaders.put(
        "Retry-After",
        DateTimeFormatter.RFC_1123_DATE_TIME.format(NOW.plusSeconds(9).atOffset(ZoneOffset.UTC)));
    assertThat(send().retryAfterMillis()).isEqualTo(9_000);
    answerHeaders.put("Retry-After", "99999999");
    assertThat(send().retryAfterMillis()).isEqualTo(300_000);
    answerHeaders.put("Retry-After", "soon");
    assertThat(send().retryAfterMillis()).isZero();
  }

  @Test
  void redirectsAreNotFollowed() throws Exception {
    status = 307;
    answerHeaders.put("Location", "/elsewhere");

    assertThat(send().status()).isEqualTo(307);
    assertThat(requests).isEqualTo(1);
  }

  @Test
  void anEndpointThatDoesNotAnswerFailsTheRequest() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        HttpTraceClient client =
            client(URI.create("http://127.0.0.1:" + silent.getLocalPort()), 100, null)) {
      assertThatThrownBy(() -> client.send(OtlpFormat.JSON, blocks(new byte[] {1})).join())
          .isInstanceOf(CompletionException.class)
          .hasCauseInstanceOf(HttpTimeoutException.class);
    }
  }

  @Test
  void certificatesLeadToTheConfiguredRoots() throws Exception {
    TestCertificates authority = new TestCertificates("a root");
    TestCertificates.Issued own = authority.issue();
    Path ca = Files.write(directory.resolve("ca.crt"), authority.caPem());
    HttpsServer https =
        HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    https.setHttpsConfigurator(new HttpsConfigurator(context(own)));
    https.createContext("/", this::handle);
    https.start();
    URI url = URI.create("https://127.0.0.1:" + https.getAddress().getPort() + "/v1/traces");
    try (HttpTraceClient trusting = client(url, 5_000, ca);
        HttpTraceClient other = client(url, 5_000, null)) {
      assertThat(trusting.send(OtlpFormat.PROTOBUF, blocks(new byte[] {1})).join().status())
          .isEqualTo(200);
      assertThatThrownBy(() -> other.send(OtlpFormat.PROTOBUF, blocks(new byte[] {1})).join())
          .hasMessageContaining("certification path");
    } finally {
      https.stop(0);
    }
  }

  private static SSLContext context(TestCertificates.Issued own) throws Exception {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    keys.load(null, null);
    keys.setKeyEntry(
        "own", own.keys().getPrivate(), new char[0], new Certificate[] {own.certificate()});
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(keys, new char[0]);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(factory.getKeyManagers(), null, null);
    return context;
  }

  private Answer send() throws IOException {
    return send(new byte[] {1, 2});
  }

  private Answer send(byte[] spans) throws IOException {
    try (HttpTraceClient client = client(url("/v1/traces"), 5_000, null)) {
      return client.send(OtlpFormat.PROTOBUF, blocks(spans)).join();
    }
  }

  private URI url(String path) {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path);
  }

  private static HttpTraceClient client(URI url, int timeoutMillis, Path ca) throws IOException {
    return new HttpTraceClient(
        new Endpoint(
            "a",
            url,
            Compression.NONE,
            Map.of(),
            Optional.empty(),
            Optional.empty(),
            Optional.ofNullable(ca),
            timeoutMillis),
        InstantSource.fixed(NOW));
  }

  private static Blocks blocks(byte[] bytes) {
    Blocks blocks = new Blocks();
    blocks.write(bytes, 0, bytes.length);
    return blocks;
  }
}
