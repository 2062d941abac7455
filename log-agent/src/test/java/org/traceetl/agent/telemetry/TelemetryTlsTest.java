package org.traceetl.agent.telemetry;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.prometheus.client.Gauge;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.agent.access.TestCertificates;
import org.traceetl.agent.access.TestCertificates.Issued;
import org.traceetl.agent.access.TlsFiles;
import org.traceetl.agent.access.TokenSource;
import org.traceetl.agent.config.TelemetryConfig;
import org.traceetl.common.Clocks;

/** Tests the port with the JDK's client, on a new connection for each request. */
@Timeout(120)
final class TelemetryTlsTest {
  private static final TestCertificates CA = new TestCertificates("the ports' root");
  private static final TestCertificates CLIENT_CA = new TestCertificates("the scrapers' root");
  private static final TestCertificates OTHER_CA = new TestCertificates("nobody's root");
  private static final TelemetryConfig ANY_PORT = new TelemetryConfig(true, "127.0.0.1", 0);

  @TempDir private Path directory;
  private final AgentMetrics metrics = new AgentMetrics();

  @BeforeEach
  void writeFiles() throws IOException {
    metrics.gauge("spans", "Spans.", () -> 3);
    CA.issue().writeTo(directory);
    Files.write(directory.resolve("ca.crt"), CLIENT_CA.caPem());
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  void scrapersThatTrustTheCertificateAreServed(String protocol) throws Exception {
    try (TelemetryServer server = start(ANY_PORT.withTls(files(false)))) {
      HttpResponse<String> answer = get(server, "/metrics", trusting(CA, null), protocol);

      assertThat(answer.body()).contains("trace_etl_agent_");
      assertThat(answer.sslSession().orElseThrow().getProtocol()).isEqualTo(protocol);
      assertThat(get(server, "/health", trusting(CA, null), protocol).body()).isEqualTo("ok\n");
      assertThat(server.access().certificateEndSeconds())
          .isGreaterThan(Instant.now().getEpochSecond());
    }
  }

  @Test
  void clientsWithoutCurrentTlsGetNoAnswer() throws Exception {
    try (TelemetryServer server = start(ANY_PORT.withTls(files(false)));
        HttpClient plain = HttpClient.newHttpClient()) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/metrics"))
              .build();
      assertThatThrownBy(() -> plain.send(request, BodyHandlers.ofString()))
          .isInstanceOf(IOException.class);
      assertThatThrownBy(() -> get(server, "/metrics", trusting(CA, null), "TLSv1.1"))
          .isInstanceOf(IOException.class);
      assertThatThrownBy(() -> get(server, "/metrics", trusting(OTHER_CA, null), "TLSv1.3"))
          .isInstanceOf(IOException.class);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  void onlyScrapersWithACertificateOfTheClientCaAreServed(String protocol) throws Exception {
    try (TelemetryServer server = start(ANY_PORT.withTls(files(true)))) {
      assertThat(get(server, "/metrics", trusting(CA, CLIENT_CA.issue()), protocol).statusCode())
          .isEqualTo(200);

      assertThatThrownBy(() -> get(server, "/metrics", trusting(CA, null), protocol))
          .isInstanceOf(IOException.class);
      assertThatThrownBy(() -> get(server, "/health", trusting(CA, OTHER_CA.issue()), protocol))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void tokenIsRequiredWithTls() throws Exception {
    TokenSource hunter2 = new TokenSource("hunter2", Optional.empty());
    try (TelemetryServer server = start(ANY_PORT.withTls(files(false)).withTokens(hunter2))) {
      assertThat(get(server, "/metrics", trusting(CA, null), "TLSv1.3").statusCode())
          .isEqualTo(401);
    }
  }

  @Test
  void renewedCertificateIsUsedAndAnInvalidOneIsNot() throws Exception {
    try (TelemetryServer server = start(ANY_PORT.withTls(files(false)))) {
      SSLContext scraper = trusting(CA, null);
      assertThat(server.access().reloadTls()).isFalse();
      Certificate first = shown(server, scraper);

      Issued renewed = CA.issue();
      renewed.writeTo(directory);
      assertThat(server.access().reloadTls()).isTrue();
      assertThat(shown(server, scraper)).isEqualTo(renewed.certificate()).isNotEqualTo(first);

      Instant past = Instant.now().minus(Duration.ofHours(1));
      CA.issue("EC", past.minus(Duration.ofHours(1)), past).writeTo(directory);
      assertThatThrownBy(server.access()::reloadTls)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("tls.crt: expired at");
      assertThat(shown(server, scraper)).isEqualTo(renewed.certificate());
    }
  }

  /** A resumed session must not bypass roots that changed after its creation. */
  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  void noSessionOutlivesTheRootsItWasMadeUnder(String protocol) throws Exception {
    try (TelemetryServer server = start(ANY_PORT.withTls(files(true)))) {
      SSLContext scraper = trusting(CA, CLIENT_CA.issue());
      assertThat(get(server, "/health", scraper, protocol).statusCode()).isEqualTo(200);
      assertThat(get(server, "/health", scraper, protocol).statusCode()).isEqualTo(200);

      Files.write(directory.resolve("ca.crt"), OTHER_CA.caPem());
      assertThat(server.access().reloadTls()).isTrue();

      assertThatThrownBy(() -> get(server, "/health", scraper, protocol))
          .isInstanceOf(IOException.class);
      assertThat(get(server, "/health", trusting(CA, OTHER_CA.issue()), protocol).statusCode())
          .isEqualTo(200);
    }
  }

  @Test
  void invalidTlsFilesAreNamedAtTheStart() throws Exception {
    Files.write(directory.resolve("tls.key"), CA.issue().keyPem());

    assertThatThrownBy(() -> start(ANY_PORT.withTls(files(false))))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("tls.key: does not match the first certificate");
  }

  /** The agent's end does not wait for a client that stops reading. */
  @Test
  void closeDoesNotWaitForSlowReaders() throws Exception {
    metrics.registry.register(new Gauge.Builder().name("x").help("y".repeat(8 << 20)).create());
    TelemetryServer server =
        TelemetryServer.start(
            ANY_PORT.withTls(files(false)),
            metrics.registry,
            () -> "",
            Clocks.SYSTEM.wall(),
            10 * 60_000);
    try (SSLSocket socket = (SSLSocket) trusting(CA, null).getSocketFactory().createSocket()) {
      socket.setReceiveBufferSize(4_096);
      socket.connect(new InetSocketAddress("127.0.0.1", server.port()));
      byte[] requests = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".repeat(200).getBytes(US_ASCII);
      socket.getOutputStream().write(requests);
      assertThat(socket.getInputStream().read()).isEqualTo('H');

      server.close();
      assertThat(server.connections()).isZero();
    }
  }

  @Test
  void connectionEndsAtItsDeadline() throws Exception {
    try (TelemetryServer server =
            TelemetryServer.start(
                ANY_PORT.withTls(files(false)),
                metrics.registry,
                () -> "",
                Clocks.SYSTEM.wall(),
                100);
        Socket silent = new Socket("127.0.0.1", server.port())) {
      assertThat(silent.getInputStream().read()).isNegative();
      await().until(() -> server.connections() == 0);
    }
  }

  @Test
  void connectionsAboveTheLimitAreClosed() throws Exception {
    List<Socket> opened = new ArrayList<>();
    try (TelemetryServer server = start(ANY_PORT.withTls(files(false)))) {
      for (int i = 0; i < TelemetryServer.MAX_CONNECTIONS; i++) {
        opened.add(new Socket("127.0.0.1", server.port()));
      }
      await().until(() -> server.connections() == TelemetryServer.MAX_CONNECTIONS);
      Socket further = new Socket("127.0.0.1", server.port());
      opened.add(further);
      assertThat(further.getInputStream().read()).isNegative();

      for (Socket socket : opened) {
        socket.close();
      }
      await().until(() -> server.connections() == 0);
      assertThat(get(server, "/health", trusting(CA, null), "TLSv1.3").statusCode()).isEqualTo(200);
    }
  }

  private TelemetryServer start(TelemetryConfig config) throws IOException {
    return TelemetryServer.start(config, metrics.registry, () -> "", Clocks.SYSTEM.wall());
  }

  private TlsFiles files(boolean mutual) {
    return new TlsFiles(
        directory.resolve("tls.crt"),
        directory.resolve("tls.key"),
        mutual ? Optional.of(directory.resolve("ca.crt")) : Optional.empty());
  }

  private static Certificate shown(TelemetryServer server, SSLContext scraper) throws Exception {
    return get(server, "/health", scraper, "TLSv1.3")
        .sslSession()
        .orElseThrow()
        .getPeerCertificates()[0];
  }

  private static HttpResponse<String> get(
      TelemetryServer server, String path, SSLContext context, String protocol)
      throws IOException, InterruptedException {
    SSLParameters parameters = context.getDefaultSSLParameters();
    parameters.setProtocols(new String[] {protocol});
    try (HttpClient client =
        HttpClient.newBuilder().sslContext(context).sslParameters(parameters).build()) {
      URI uri = URI.create("https://127.0.0.1:" + server.port() + path);
      return client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
    }
  }

  /** Returns a scraper's settings; its own certificate may be null. */
  private static SSLContext trusting(TestCertificates ca, Issued own) throws Exception {
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry(
        "root",
        CertificateFactory.getInstance("X.509")
            .generateCertificate(new ByteArrayInputStream(ca.caPem())));
    TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
    trust.init(trusted);
    KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
    KeyStore shown = KeyStore.getInstance("PKCS12");
    shown.load(null, null);
    if (own != null) {
      shown.setKeyEntry(
          "own", own.keys().getPrivate(), new char[0], new X509Certificate[] {own.certificate()});
    }
    keys.init(shown, new char[0]);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), trust.getTrustManagers(), new SecureRandom());
    return context;
  }
}
