package org.traceetl.agent.source.otlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.agent.access.TestCertificates;
import org.traceetl.agent.access.TestCertificates.Issued;
import org.traceetl.agent.access.TlsFileException;
import org.traceetl.agent.access.TlsFiles;
import org.traceetl.agent.access.TokenSource;
import org.traceetl.agent.config.OtlpConfig;
import org.traceetl.agent.source.otlp.OtlpMetrics.Refusal;

/** Tests TLS and tokens with the exporters of the OpenTelemetry SDK. */
@Timeout(120)
class OtlpAccessTest {
  private enum Client {
    GRPC,
    HTTP_OKHTTP,
    HTTP_JDK
  }

  private static final TestCertificates CA = new TestCertificates("the ports' root");
  private static final TestCertificates CLIENT_CA = new TestCertificates("the senders' root");
  private static final TestCertificates OTHER_CA = new TestCertificates("nobody's root");
  private static final OtlpConfig PLAIN = new OtlpConfig(true, "127.0.0.1", 0, 0, 1 << 20);

  private final DecodingIntake intake = new DecodingIntake();
  @TempDir private Path directory;
  private OtlpReceiver receiver;

  /** The settings of an exporter. */
  private record Sender(String scheme, byte[] trusted, Issued own, String token) {
    static Sender trusting(TestCertificates ca) {
      return new Sender("https", ca.caPem(), null, null);
    }

    Sender with(Issued own) {
      return new Sender(scheme, trusted, own, token);
    }

    Sender with(String token) {
      return new Sender(scheme, trusted, own, token);
    }
  }

  @BeforeEach
  void mountSecrets() throws IOException {
    // The files are links into a directory that is itself a link, as Kubernetes mounts them.
    mount("first", CA.issue());
    for (String file : List.of("tls.crt", "tls.key")) {
      Files.createSymbolicLink(directory.resolve(file), Path.of("..data", file));
    }
    Files.write(directory.resolve("ca.crt"), CLIENT_CA.caPem());
  }

  @AfterEach
  void stop() {
    receiver.close();
    intake.close();
  }

  @ParameterizedTest
  @EnumSource(Client.class)
  void sendersThatTrustTheCertificateAreServed(Client client) throws IOException {
    start(PLAIN.withTls(files(false)));

    assertThat(export(client, Sender.trusting(CA))).isTrue();

    assertThat(intake.spans()).hasSize(3);
    assertThat(receiver.access().certificateEndSeconds())
        .isGreaterThan(Instant.now().getEpochSecond());
  }

  @ParameterizedTest
  @EnumSource(Client.class)
  void sendersThatTrustAnotherRootSendNothing(Client client) throws IOException {
    start(PLAIN.withTls(files(false)));

    assertThat(export(client, Sender.trusting(OTHER_CA))).isFalse();

    assertThat(intake.offers()).isEmpty();
    await().until(() -> receiver.metrics().handshakesFailed.sum() > 0);
  }

  @ParameterizedTest
  @EnumSource(Client.class)
  void plainTextIsNotServed(Client client) throws IOException {
    start(PLAIN.withTls(files(false)));

    assertThat(export(client, new Sender("http", null, null, null))).isFalse();

    assertThat(intake.offers()).isEmpty();
    await().until(() -> receiver.metrics().handshakesFailed.sum() > 0);
  }

  @ParameterizedTest
  @EnumSource(Client.class)
  void sendersWithACertificateOfTheClientCaAreServed(Client client) throws IOException {
    start(PLAIN.withTls(files(true)));

    assertThat(export(client, Sender.trusting(CA).with(CLIENT_CA.issue()))).isTrue();

    assertThat(intake.spans()).hasSize(3);
  }

  @ParameterizedTest
  @EnumSource(Client.class)
  void sendersWithoutAValidCertificateAreRefused(Client client) throws IOException {
    start(PLAIN.withTls(files(true)));
    Instant now = Instant.now();
    Issued ended =
        CLIENT_CA.issue("EC", now.minus(Duration.ofHours(2)), now.minus(Duration.ofHours(1)));

    assertThat(export(client, Sender.trusting(CA))).isFalse();
    assertThat(export(client, Sender.trusting(CA).with(OTHER_CA.issue()))).isFalse();
    assertThat(export(client, Sender.trusting(CA).with(ended))).isFalse();

    assertThat(intake.offers()).isEmpty();
    await().until(() -> receiver.metrics().handshakesFailed.sum() >= 3);
  }

  @ParameterizedTest
  @EnumSource(Client.class)
  void sendersNeedTheToken(Client client) throws IOException {
    TokenSource hunter2 = new TokenSource("hunter2", Optional.empty());
    start(PLAIN.withTls(files(false)).withTokens(hunter2));
    Sender sender = Sender.trusting(CA);

    assertThat(export(client, sender)).isFalse();
    assertThat(export(client, sender.with("hunter"))).isFalse();
    assertThat(intake.offers()).isEmpty();
    assertThat(receiver.metrics().requestsRefused(Refusal.UNAUTHENTICATED)).isEqualTo(2);

    assertThat(export(client, sender.with("hunter2"))).isTrue();
    assertThat(intake.spans()).hasSize(3);
  }

  @Test
  void reloadedTokensReplaceTheOldOnes() throws IOException {
    Path file = Files.writeString(directory.resolve("token"), "old");
    start(PLAIN.withTokens(new TokenSource("", Optional.of(file))));
    Sender sender = new Sender("http", null, null, "new");
    assertThat(export(Client.GRPC, sender)).isFalse();

    Files.writeString(file, "new");
    assertThat(receiver.access().reloadTokens()).isTrue();

    assertThat(export(Client.GRPC, sender)).isTrue();
    assertThat(export(Client.HTTP_OKHTTP, sender)).isTrue();
    assertThat(export(Client.HTTP_OKHTTP, sender.with("old"))).isFalse();
  }

  /** The body of a request without a token is not read. */
  @Test
  void aRequestWithoutATokenIsAnsweredBeforeItsBody() throws IOException {
    start(PLAIN.withTokens(new TokenSource("hunter2", Optional.empty())));
    try (Socket socket = new Socket("127.0.0.1", receiver.httpPort())) {
      String head =
          "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
              + "Content-Length: 1000\r\n\r\n";
      socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
      String answer =
          new String(socket.getInputStream().readNBytes(200), StandardCharsets.US_ASCII);
      assertThat(answer)
          .startsWith("HTTP/1.1 401 Unauthorized")
          .containsIgnoringCase("www-authenticate: Bearer");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
  void bothTlsVersionsAreServed(String version) throws Exception {
    start(PLAIN.withTls(files(false)));
    for (int port : List.of(receiver.grpcPort(), receiver.httpPort())) {
      try (SSLSocket socket = connect(port)) {
        socket.setEnabledProtocols(new String[] {version});
        socket.startHandshake();
        assertThat(socket.getSession().getProtocol()).isEqualTo(version);
      }
    }
  }

  @Test
  void rotationUnderLoadFailsNoExport() throws Exception {
    start(PLAIN.withTls(files(true)));
    Sender sender = Sender.trusting(CA).with(CLIENT_CA.issue());
    AtomicInteger exports = new AtomicInteger();
    AtomicInteger failed = new AtomicInteger();
    AtomicBoolean stopping = new AtomicBoolean();
    List<Thread> load =
        List.of(Client.values()).stream()
            .map(client ->
                Thread.ofPlatform()
                    .start(() -> {
                      while (!stopping.get()) {
                        // Uses a connection for several exports, so that old and new connections
                        // coexist.
                        try (SpanExporter exporter = exporter(client, sender)) {
                          for (int i = 0; i < 5; i++) {
                            if (!exported(exporter)) {
                              failed.incrementAndGet();
                            }
                            exports.incrementAndGet();
                          }
                        }
                      }
                    }))
            .toList();
    for (int rotation = 0; rotation < 5; rotation++) {
      int before = exports.get();
      await().until(() -> exports.get() > before + 20);
      Issued next = CA.issue();
      mount("rotation-" + rotation, next);
      assertThat(receiver.access().reloadTls()).isTrue();
      assertThat(shown(receiver.grpcPort())).isEqualTo(next.certificate());
      assertThat(shown(receiver.httpPort())).isEqualTo(next.certificate());
    }
    stopping.set(true);
    for (Thread thread : load) {
      thread.join();
    }

    assertThat(failed).hasValue(0);
  }

  @Test
  void anOpenConnectionOutlivesTheRotation() throws Exception {
    start(PLAIN.withTls(files(false)));
    try (SpanExporter exporter = exporter(Client.GRPC, Sender.trusting(CA))) {
      assertThat(exported(exporter)).isTrue();
      mount("other", OTHER_CA.issue());
      assertThat(receiver.access().reloadTls()).isTrue();

      assertThat(exported(exporter)).isTrue();
    }
    assertThat(export(Client.GRPC, Sender.trusting(CA))).isFalse();
    assertThat(export(Client.GRPC, Sender.trusting(OTHER_CA))).isTrue();
  }

  @Test
  void anInvalidCertificateIsRefusedAndTheOldOneStays() throws Exception {
    start(PLAIN.withTls(files(false)));
    X509Certificate old = shown(receiver.grpcPort());
    Instant now = Instant.now();
    mount("ended", CA.issue("EC", now.minus(Duration.ofHours(2)), now.minus(Duration.ofHours(1))));

    assertThatThrownBy(receiver.access()::reloadTls)
        .isInstanceOf(TlsFileException.class)
        .hasMessageContaining("tls.crt: expired at");
    assertThat(shown(receiver.grpcPort())).isEqualTo(old);
    assertThat(shown(receiver.httpPort())).isEqualTo(old);

    Issued right = CA.issue();
    mount("right", right);
    assertThat(receiver.access().reloadTls()).isTrue();
    assertThat(receiver.access().reloadTls()).isFalse();
    assertThat(shown(receiver.httpPort())).isEqualTo(right.certificate());
  }

  private void start(OtlpConfig config) throws IOException {
    receiver = Receivers.start(config, 64 << 20, intake);
  }

  private TlsFiles files(boolean mutual) {
    return new TlsFiles(
        directory.resolve("tls.crt"),
        directory.resolve("tls.key"),
        mutual ? Optional.of(directory.resolve("ca.crt")) : Optional.empty());
  }

  /** Replaces the link atomically, as the kubelet does. */
  private void mount(String name, Issued issued) throws IOException {
    issued.writeTo(directory.resolve(name));
    Path next = Files.createSymbolicLink(directory.resolve("..data_tmp"), Path.of(name));
    Files.move(next, directory.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
  }

  private X509Certificate shown(int port) throws Exception {
    try (SSLSocket socket = connect(port)) {
      try {
        socket.startHandshake();
      } catch (SSLException | SocketException e) {
        // The port may request a certificate after it has sent its own.
      }
      return (X509Certificate) socket.getSession().getPeerCertificates()[0];
    }
  }

  private static SSLSocket connect(int port) throws Exception {
    KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
    trusted.load(null, null);
    for (TestCertificates ca : List.of(CA, OTHER_CA)) {
      trusted.setCertificateEntry(
          ca.toString(),
          CertificateFactory.getInstance("X.509")
              .generateCertificate(new ByteArrayInputStream(ca.caPem())));
    }
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", port);
  }

  private boolean export(Client client, Sender sender) {
    try (SpanExporter exporter = exporter(client, sender)) {
      return exported(exporter);
    }
  }

  private static boolean exported(SpanExporter exporter) {
    return exporter.export(OtlpReceiverTest.spans(3)).join(30, TimeUnit.SECONDS).isSuccess();
  }

  /** Returns an exporter without retries, so that each failure is visible. */
  private SpanExporter exporter(Client client, Sender sender) {
    if (client == Client.GRPC) {
      var builder =
          OtlpGrpcSpanExporter.builder()
              .setEndpoint(sender.scheme + "://localhost:" + receiver.grpcPort())
              .setRetryPolicy(null);
      if (sender.trusted != null) {
        builder.setTrustedCertificates(sender.trusted);
      }
      if (sender.own != null) {
        builder.setClientTls(sender.own.keyPem(), sender.own.certificatePem());
      }
      if (sender.token != null) {
        builder.addHeader("Authorization", "Bearer " + sender.token);
      }
      return builder.build();
    }
    var builder =
        OtlpHttpSpanExporter.builder()
            .setEndpoint(sender.scheme + "://localhost:" + receiver.httpPort() + "/v1/traces")
            .setRetryPolicy(null);
    if (sender.trusted != null) {
      builder.setTrustedCertificates(sender.trusted);
    }
    if (sender.own != null) {
      builder.setClientTls(sender.own.keyPem(), sender.own.certificatePem());
    }
    if (sender.token != null) {
      builder.addHeader("Authorization", "Bearer " + sender.token);
    }
    return Receivers.build(builder, client == Client.HTTP_JDK);
  }
}
