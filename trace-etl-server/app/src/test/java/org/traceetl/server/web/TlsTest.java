package org.traceetl.server.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The port speaks TLS when Spring Boot's own keys say so. */
class TlsTest {
  private static final String PASSWORD = "changeit";

  @TempDir private Path directory;

  @Test
  void thePortSpeaksTlsByAKeyStore() throws Exception {
    Path keyStore = makeKeyStore("server");
    try (var server =
            WebServer.start(
                List.of(
                    "--server.ssl.key-store=" + keyStore,
                    "--server.ssl.key-store-password=" + PASSWORD),
                Map.of("server.port", 0),
                false,
                new HandMadeService.Factory());
        var client =
            HttpClient.newBuilder()
                .sslContext(trusting(load(keyStore).getCertificate("server")))
                .build()) {
      for (String path : List.of("/metrics", "/health", "/api/traces")) {
        HttpResponse<Void> response = get(client, "https", server.port(), path);
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.sslSession()).isPresent();
        // It would bind the host's other ports, too.
        assertThat(response.headers().allValues("Strict-Transport-Security")).isEmpty();
      }
      assertThat(get(client, "http", server.port(), "/metrics").statusCode()).isEqualTo(400);
    }
  }

  private static HttpResponse<Void> get(HttpClient client, String scheme, int port, String path)
      throws Exception {
    URI uri = URI.create(scheme + "://localhost:" + port + path);
    return client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.discarding());
  }

  /** As kubelet does: the files are links to ..data/, and ..data is swapped. */
  @Test
  void aNewCertificateOfAMountedSecretIsTakenWithoutARestart() throws Exception {
    Path mounted = Files.createDirectory(directory.resolve("mounted"));
    Certificate first = mount(mounted, "..1", makeKeyStore("first"));
    Path data = Files.createSymbolicLink(mounted.resolve("..data"), Path.of("..1"));
    for (String file : List.of("tls.crt", "tls.key")) {
      Files.createSymbolicLink(mounted.resolve(file), Path.of("..data", file));
    }
    try (var server =
        WebServer.start(
            List.of(
                "--server.ssl.bundle=web",
                "--spring.ssl.bundle.watch.file.quiet-period=100ms",
                "--spring.ssl.bundle.pem.web.reload-on-update=true",
                "--spring.ssl.bundle.pem.web.keystore.certificate=" + mounted.resolve("tls.crt"),
                "--spring.ssl.bundle.pem.web.keystore.private-key=" + mounted.resolve("tls.key")),
            Map.of("server.port", 0),
            false,
            new HandMadeService.Factory())) {
      assertThat(shown(server.port(), first)).isEqualTo(first);

      Certificate second = mount(mounted, "..2", makeKeyStore("second"));
      Path next = Files.createSymbolicLink(mounted.resolve("..data_tmp"), Path.of("..2"));
      Files.move(next, data, StandardCopyOption.ATOMIC_MOVE);

      await()
          .atMost(Duration.ofSeconds(60))
          .ignoreExceptions()
          .untilAsserted(() -> assertThat(shown(server.port(), second)).isEqualTo(second));
    }
  }

  /** What the port shows to who trusts one certificate alone. */
  private static Certificate shown(int port, Certificate trusted) throws Exception {
    try (var client = HttpClient.newBuilder().sslContext(trusting(trusted)).build()) {
      HttpResponse<Void> response = get(client, "https", port, "/health");
      assertThat(response.statusCode()).isEqualTo(200);
      return response.sslSession().orElseThrow().getPeerCertificates()[0];
    }
  }

  /** A secret as kubelet lays it down. */
  private static Certificate mount(Path mounted, String version, Path keyStore) throws Exception {
    KeyStore store = load(keyStore);
    Path folder = Files.createDirectory(mounted.resolve(version));
    Certificate certificate = store.getCertificate("server");
    Files.writeString(folder.resolve("tls.crt"), pem("CERTIFICATE", certificate.getEncoded()));
    Files.writeString(
        folder.resolve("tls.key"),
        pem("PRIVATE KEY", store.getKey("server", PASSWORD.toCharArray()).getEncoded()));
    return certificate;
  }

  private static String pem(String what, byte[] content) {
    return "-----BEGIN %1$s-----\n%2$s\n-----END %1$s-----\n"
        .formatted(what, Base64.getMimeEncoder().encodeToString(content));
  }

  private Path makeKeyStore(String name) throws Exception {
    Path keyStore = directory.resolve(name + ".p12");
    Path output = directory.resolve("keytool.txt");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-keyalg",
                "EC",
                "-alias",
                "server",
                "-dname",
                "CN=localhost",
                "-ext",
                "san=dns:localhost",
                "-keystore",
                keyStore.toString(),
                "-storepass",
                PASSWORD)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    assertThat(keytool.waitFor()).as(Files.readString(output)).isZero();
    return keyStore;
  }

  private static KeyStore load(Path keyStore) throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(keyStore)) {
      store.load(in, PASSWORD.toCharArray());
    }
    return store;
  }

  private static SSLContext trusting(Certificate certificate) throws Exception {
    // Only the certificate: a key store's own chain is not trusted.
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("server", certificate);
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }
}
