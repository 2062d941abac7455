package org.traceetl.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.traceetl.server.binding.ConfigFile;
import org.traceetl.server.binding.Configuration;
import org.traceetl.server.binding.KeysInForce;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a page is told of the server itself. */
class StatusResourceTest {
  private static final Pattern DOCUMENTED = Pattern.compile("^\\| `(trace-etl\\.[a-z.-]+)` ");

  @TempDir private Path directory;

  @Test
  void statusIsThatOfTheService() throws Exception {
    var factory = new HandMadeService.Factory();
    Instant before = Instant.now();
    try (WebServer server = WebServer.start(List.of(), Map.of("server.port", 0), false, factory)) {
      factory.made.missing = Map.of("broker-a/3", "is being taken over");
      factory.made.telemetry.timer("trace_etl_page_render_seconds", "Help.").recordNanos(3_000_000);
      factory.made.telemetry.timers().getLast().recordNanos(1_000_000);
      JsonNode status = get(server, "/api/status");

      assertThat(status.get("version").asString()).isEqualTo("test");
      assertThat(status.get("server").asString()).endsWith(":" + server.port());
      assertThat(Instant.parse(status.get("now").asString()))
          .isAfterOrEqualTo(before.minusMillis(1));
      assertThat(status.get("alive").asBoolean()).isTrue();
      assertThat(status.get("ready").asBoolean()).isFalse();
      assertThat(status.get("missing").get("broker-a/3").asString()).contains("taken over");
      assertThat(status.get("windowMillis").asInt()).isEqualTo(15_000);
      assertThat(status.get("slowMillis").asInt()).isEqualTo(1_000);
      assertThat(status.get("profile").asString()).isEqualTo("otel");
      assertThat(status.get("unit").asString()).isEqualTo("milliseconds");
      assertThat(status.get("index").get("healthy").asBoolean()).isTrue();
      assertThat(status.get("traceUrl").isNull()).isTrue();
      JsonNode timing = status.get("timings").get(status.get("timings").size() - 1);
      assertThat(timing.get("name").asString()).isEqualTo("page render");
      assertThat(timing.get("count").asInt()).isEqualTo(2);
      assertThat(timing.get("meanMillis").asDouble()).isEqualTo(2);
      assertThat(timing.get("maxMillis").asDouble()).isEqualTo(3);
      factory.made.index.broken = true;
      assertThat(get(server, "/api/status").get("index").get("healthy").asBoolean()).isFalse();
    }
  }

  @Test
  void everyDocumentedKeyIsInTheConfiguration() throws Exception {
    Set<String> documented = new TreeSet<>();
    for (String line : Files.readAllLines(Path.of("..", "..", "docs", "configuration-server.md"))) {
      var key = DOCUMENTED.matcher(line);
      if (key.find()) {
        documented.add(key.group(1));
      }
    }
    assertThat(documented).hasSizeGreaterThan(60);
    try (WebServer server = start()) {
      assertThat(keys(server).keySet()).containsAll(documented);
    }
  }

  @Test
  void eachKeySaysItsValueAndWhereItWasTold() throws Exception {
    Path file =
        Files.writeString(
            directory.resolve("server.yaml"),
            """
            trace-etl:
              window:
                length: 5s
              series:
                dimensions:
                  - attribute: http.route
                    label: http_route
            server:
              shutdown: immediate
            """);
    try (WebServer server =
        start(ConfigFile.argument(file), "--trace-etl.series.max-per-application=7")) {
      Map<String, JsonNode> keys = keys(server);

      assertKey(keys, "trace-etl.window.length", "5s", file + ":3");
      assertThat(keys.get("trace-etl.series.dimensions").get("value").asString())
          .contains("http.route", "http_route");
      assertThat(keys.get("trace-etl.series.dimensions").get("from").asString())
          .startsWith(file + ":");
      assertKey(keys, "server.shutdown", "immediate", file + ":9");
      assertThat(keys.get("trace-etl.series.max-per-application").get("value").asString())
          .isEqualTo("7");
      assertThat(keys.get("trace-etl.series.max-per-application").get("from").asString())
          .isEqualTo("on the command line");
      assertThat(keys).doesNotContainKey("spring.application.pid");
      JsonNode defaulted = keys.get("trace-etl.drain-within");
      assertThat(defaulted.get("value").asString()).isEqualTo("20s");
      assertThat(defaulted.get("given").asBoolean()).isFalse();
      assertThat(defaulted.get("from").isNull()).isTrue();
    }
  }

  @Test
  void noSecretIsShown() throws Exception {
    Path secret = Files.writeString(directory.resolve("secret"), "hunter2-file");
    try (WebServer server =
        start(
            "--trace-etl.web.token=hunter2",
            "--trace-etl.rocketmq.access-key=hunter2",
            "--trace-etl.rocketmq.secret-key=hunter2",
            "--trace-etl.index.type=elasticsearch",
            "--logging.pattern.console=http://elastic:hunter2@localhost:9200",
            "--trace-etl.index.elasticsearch.username=elastic",
            "--trace-etl.index.elasticsearch.password-file=" + secret,
            "--trace-etl.metrics.queue-label=always",
            "--trace-etl.push.endpoints[0].url=http://localhost:1/hunter2?token=hunter2",
            "--server.ssl.enabled=false",
            "--server.ssl.key-store-password=hunter2",
            "--spring.ssl.bundle.pem.web.keystore.private-key=-----BEGIN PRIVATE KEY-----hunter2",
            "--spring.ssl.bundle.jks.store.keystore.location=base64:hunter2",
            "--spring.application.json={\"password\": \"hunter2\"}")) {
      HttpRequest request =
          HttpRequest.newBuilder(uri(server, "/api/configuration"))
              .header("Authorization", "Bearer hunter2")
              .build();
      try (HttpClient client = HttpClient.newHttpClient()) {
        String answer = client.send(request, BodyHandlers.ofString()).body();

        assertThat(answer).doesNotContain("hunter2\"").doesNotContain("hunter2@");
        assertThat(answer).doesNotContain("hunter2-file").doesNotContain("/hunter2");
        Map<String, JsonNode> keys = byKey(new JsonMapper().readTree(answer));
        for (String masked :
            List.of(
                "trace-etl.web.token",
                "trace-etl.rocketmq.access-key",
                "trace-etl.rocketmq.secret-key",
                "trace-etl.index.elasticsearch.password",
                "server.ssl.key-store-password")) {
          assertThat(keys.get(masked).get("value").asString()).as(masked).isEqualTo("***");
        }
        assertThat(keys.get("trace-etl.push.endpoints").get("value").asString())
            .contains("url: http://localhost:1/***,");
        assertThat(keys.get("logging.pattern.console").get("value").asString())
            .isEqualTo("http://***@localhost:9200");
        assertThat(keys.get("trace-etl.index.elasticsearch.password-file").get("value").asString())
            .isEqualTo(secret.toString());
      }
    }
  }

  @Test
  void environmentVariablesAreToldApart() {
    var environment = new StandardEnvironment();
    environment
        .getPropertySources()
        .replace(
            StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
            new SystemEnvironmentPropertySource(
                StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                Map.of(
                    "TRACE_ETL_SERIES_MAX_PER_APPLICATION", "7",
                    "TRACE_ETL_SERIES_DIMENSIONS_0_ATTRIBUTE", "http.route",
                    "TRACE_ETL_SERIES_DIMENSIONS_0_LABEL", "http_route")));
    Map<String, KeysInForce.Key> keys = new HashMap<>();
    KeysInForce.of(Configuration.bind(environment), environment)
        .forEach(key -> keys.put(key.key(), key));

    assertThat(keys.get("trace-etl.series.max-per-application").from())
        .contains("TRACE_ETL_SERIES_MAX_PER_APPLICATION");
    assertThat(keys.get("trace-etl.series.dimensions").from())
        .contains("TRACE_ETL_SERIES_DIMENSIONS_0_ATTRIBUTE");
    assertThat(keys.get("trace-etl.series.max").from()).isNull();
  }

  private static void assertKey(Map<String, JsonNode> keys, String key, String value, String from) {
    assertThat(keys.get(key).get("value").asString()).isEqualTo(value);
    assertThat(keys.get(key).get("given").asBoolean()).isTrue();
    assertThat(keys.get(key).get("from").asString()).isEqualTo(from);
  }

  private static Map<String, JsonNode> keys(WebServer server) throws Exception {
    return byKey(get(server, "/api/configuration"));
  }

  private static Map<String, JsonNode> byKey(JsonNode configuration) {
    Map<String, JsonNode> keys = new HashMap<>();
    configuration.get("keys").forEach(key -> keys.put(key.get("key").asString(), key));
    return keys;
  }

  private static WebServer start(String... arguments) {
    return WebServer.start(
        List.of(arguments), Map.of("server.port", 0), false, new HandMadeService.Factory());
  }

  private static JsonNode get(WebServer server, String path) throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return new JsonMapper()
          .readTree(
              client
                  .send(HttpRequest.newBuilder(uri(server, path)).build(), BodyHandlers.ofString())
                  .body());
    }
  }

  private static URI uri(WebServer server, String path) {
    return URI.create("http://localhost:" + server.port() + path);
  }
}
