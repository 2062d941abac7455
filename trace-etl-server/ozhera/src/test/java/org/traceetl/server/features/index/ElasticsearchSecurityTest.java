package org.traceetl.server.features.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.common.Clocks;
import org.traceetl.common.Secret;
import org.traceetl.server.ozhera.OzheraLayout;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.TraceDocument.Reason;
import org.traceetl.testkit.Elasticsearch;

/** The index against a real Elasticsearch with TLS and users. */
@Tag("elasticsearch")
final class ElasticsearchSecurityTest {
  private static final String DATA_STREAM = "trace-etl-traces";
  private static final String PASSWORD = "trace-secret";

  /** What {@code elasticsearch-users useradd} makes of the password. */
  private static final String PASSWORD_HASH =
      "$2a$10$80lFkPx1domuBupe2b8DaOUoe4k9dr/8HXDCl.9L2qVjsVkhOFtia";

  /** The least that the index needs. */
  private static final String ROLES =
      """
      trace-etl:
        cluster: [ manage_index_templates ]
        indices:
          - names: [ trace-etl-traces ]
            privileges: [ auto_configure, create_doc, read, manage_data_stream_lifecycle ]
      trace-etl-of-ozhera:
        cluster: [ manage_index_templates, manage_ilm ]
        indices:
          - names: [ "ozhera-*" ]
            privileges: [ auto_configure, create_doc, read ]
      """;

  @TempDir private static Path directory;
  private static Path caFile;
  private static Elasticsearch server;

  @BeforeAll
  static void start() throws Exception {
    KeyStore keys = selfSigned(directory.resolve("http.p12"));
    String certificate = pem("CERTIFICATE", keys.getCertificate("http").getEncoded());
    caFile = Files.writeString(directory.resolve("ca.crt"), certificate);
    server =
        Elasticsearch.start(
            Map.of(
                "xpack.security.enabled", "true",
                "xpack.security.http.ssl.enabled", "true",
                "xpack.security.http.ssl.certificate", "http.crt",
                "xpack.security.http.ssl.key", "http.key"),
            Map.of(
                "http.crt",
                certificate,
                "http.key",
                pem("PRIVATE KEY", keys.getKey("http", "changeit".toCharArray()).getEncoded()),
                "users",
                "tracer:" + PASSWORD_HASH + "\nhera:" + PASSWORD_HASH + "\n",
                "users_roles",
                "trace-etl:tracer\ntrace-etl-of-ozhera:hera\n",
                "roles.yml",
                ROLES));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static KeyStore selfSigned(Path file) throws Exception {
    int status =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "http",
                "-keyalg",
                "RSA",
                "-dname",
                "CN=localhost",
                "-ext",
                "SAN=ip:127.0.0.1,dns:localhost",
                "-storepass",
                "changeit",
                "-keystore",
                file.toString())
            .inheritIO()
            .start()
            .waitFor();
    assertThat(status).isZero();
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      keys.load(in, "changeit".toCharArray());
    }
    return keys;
  }

  private static String pem(String type, byte[] encoded) {
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n"
        .formatted(type, Base64.getMimeEncoder().encodeToString(encoded), type);
  }

  private static TraceIndex open(String username, String password, String apiKey, Path caFile)
      throws IOException {
    return ElasticsearchIndex.open(
        new IndexConfig.Elasticsearch(
            List.of(server.url()),
            DATA_STREAM,
            Duration.ofDays(7),
            Duration.ofSeconds(30),
            username,
            password == null ? null : new Secret(password),
            apiKey == null ? null : new Secret(apiKey),
            caFile));
  }

  private static void keepsAndFinds(TraceIndex index, TraceDocument document) {
    // The server answers before its users and indices are ready.
    await()
        .atMost(Duration.ofMinutes(1))
        .ignoreExceptions()
        .untilAsserted(
            () -> assertThat(index.write(List.of(document))).isEqualTo(WriteResult.kept(1)));
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(() -> assertThat(index.search(Traces.ALL).documents()).contains(document));
  }

  @Test
  void aUserWithTheLeastPrivilegesKeepsAndFinds() throws Exception {
    try (TraceIndex index = open("tracer", PASSWORD, null, caFile)) {
      keepsAndFinds(index, Traces.document(1, TraceIndexContract.START));
    }
  }

  @Test
  void aUserWithTheLeastPrivilegesKeepsAndFindsWhatIsOzheras() throws Exception {
    TraceDocument document =
        Traces.document(
            1, TraceIndexContract.START, "shop", "x", Reason.ERROR, Map.of("type", "http"));
    IndexConfig.Elasticsearch config =
        new IndexConfig.Elasticsearch(
            List.of(server.url()),
            DATA_STREAM,
            Duration.ofDays(7),
            Duration.ofSeconds(30),
            "hera",
            new Secret(PASSWORD),
            null,
            caFile,
            "ozhera",
            "ozhera-",
            "hera",
            ZoneOffset.UTC);
    try (TraceIndex index =
        ElasticsearchIndex.open(config, new OzheraLayout(config, Clocks.SYSTEM.wall()))) {
      await()
          .atMost(Duration.ofMinutes(1))
          .ignoreExceptions()
          .untilAsserted(
              () -> assertThat(index.write(List.of(document))).isEqualTo(WriteResult.kept(1)));
      await()
          .atMost(Duration.ofMinutes(1))
          .untilAsserted(() ->
              assertThat(index.search(Traces.ALL).documents())
                  .extracting(Documents::id)
                  .containsExactly(Documents.id(document)));
    }
  }

  /** This distribution cannot make a key: it lacks a module that the index of keys needs. */
  @Test
  void anApiKeyIsSentAsOne() throws Exception {
    String key =
        Base64.getEncoder().encodeToString("no-such-key:x".getBytes(StandardCharsets.UTF_8));
    try (TraceIndex index = open(null, null, key, caFile)) {
      assertThatThrownBy(() -> index.write(List.of(Traces.document(2, TraceIndexContract.START))))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("401")
          .cause()
          .hasMessageContaining("unable to authenticate with provided credentials");
    }
  }

  @Test
  void aWrongPasswordIsToldWithoutIt() throws Exception {
    try (TraceIndex index = open("tracer", "wrong-secret", null, caFile)) {
      assertThatThrownBy(() -> index.write(List.of(Traces.document(3, TraceIndexContract.START))))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("401")
          .message()
          .doesNotContain("wrong-secret");
      assertThat(index.healthy()).isFalse();
    }
  }

  @Test
  void aServerThatIsNotTrustedIsRefused() throws Exception {
    try (TraceIndex index = open("tracer", PASSWORD, null, null)) {
      assertThatThrownBy(() -> index.search(Traces.ALL)).isInstanceOf(IOException.class);
      assertThat(index.healthy()).isFalse();
    }
  }

  @Test
  void aCaFileThatIsNoneIsNamed() {
    Path none = directory.resolve("none.crt");
    assertThatThrownBy(() -> open("tracer", PASSWORD, null, none))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("index.elasticsearch.ca-file = " + none);
  }
}
