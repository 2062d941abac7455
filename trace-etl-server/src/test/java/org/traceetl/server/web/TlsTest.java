package org.traceetl.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
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
    Path keyStore = makeKeyStore();
    try (var server =
            WebServer.start(
                List.of(
                    "--server.ssl.key-store=" + keyStore,
                    "--server.ssl.key-store-password=" + PASSWORD),
                Map.of("server.port", 0),
                false,
                new HandMadeService.Factory());
        var client = HttpClient.newBuilder().sslContext(trusting(keyStore)).build()) {
      for (String path : List.of("/metrics", "/health", "/api/traces")) {
        HttpResponse<Void> response = get(client, "https", server.port(), path);
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.sslSession()).isPresent();
      }
      assertThat(get(client, "http", server.port(), "/metrics").statusCode()).isEqualTo(400);
    }
  }

  private static HttpResponse<Void> get(HttpClient client, String scheme, int port, String path)
      throws Exception {
    URI uri = URI.create(scheme + "://localhost:" + port + path);
    return client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.discarding());
  }

  private Path makeKeyStore() throws Exception {
    Path keyStore = directory.resolve("server.p12");
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

  private static SSLContext trusting(Path keyStore) throws Exception {
    KeyStore server = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(keyStore)) {
      server.load(in, PASSWORD.toCharArray());
    }
    // Only the certificate: a key store's own chain is not trusted.
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("server", server.getCertificate("server"));
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }
}
