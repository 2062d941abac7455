package org.traceetl.server.features.push;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.common.ConfigException;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.MetricsConfig.QueueLabel;

class PushConfigTest {
  private static final URI URL = URI.create("http://prometheus:9090/api/v1/write");
  private static final PushKeys.Basic USER = new PushKeys.Basic("shop", "very-secret", null);

  @TempDir private Path directory;

  private static PushKeys.Endpoint endpoint(
      String name,
      URI url,
      String version,
      Map<String, String> headers,
      PushKeys.Basic basic,
      String token,
      Duration timeout,
      Integer shards) {
    return new PushKeys.Endpoint(
        name, url, null, version, null, null, headers, basic, token, null, null, null, timeout,
        null, shards);
  }

  private static PushConfig config(PushKeys.Endpoint... endpoints) {
    return new PushKeys(null, null, null, List.of(endpoints)).toConfig();
  }

  private static PushKeys.Endpoint at(String name, URI url) {
    return endpoint(name, url, null, null, null, null, null, null);
  }

  private static void assertRefused(String message, PushKeys.Endpoint... endpoints) {
    assertThatThrownBy(() -> config(endpoints))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("trace-etl.push.endpoints." + message)
        .hasMessageNotContaining("secret");
  }

  @Test
  void missingKeysHaveDefaults() {
    assertThat(new PushKeys(null, null, null, null).toConfig()).isEqualTo(PushConfig.defaults());
    PushConfig config = config(at(null, URL));
    assertThat(config.job()).isEqualTo("trace-etl");
    assertThat(config.endpoints()).containsExactly(PushConfig.Endpoint.at(URL));
    assertThat(config.endpoints().getFirst().fixedProtocol()).isNull();
    assertThat(
            config(endpoint(null, URL, "1.0", null, null, null, null, null))
                .endpoints()
                .getFirst()
                .fixedProtocol())
        .isEqualTo(Protocol.V1);
  }

  @Test
  void wrongValuesAreRefused() {
    assertRefused("name = x", at("x", URL), at("x", URL));
    assertRefused("name = X_1: must be 1 to 32 lower-case letters", at("X_1", URL));
    assertRefused("url: is required", at(null, null));
    assertRefused(
        "url = http://prometheus: must not contain a user",
        at(null, URI.create("http://shop:secret@prometheus/write")));
    assertRefused(
        "url = ftp://x:21: must be http", at(null, URI.create("ftp://x:21/secret?token=secret")));
    assertRefused("url: must be http", at(null, URI.create("x:4318/v1?token=secret")));
    assertRefused("url: must be http", at(null, URI.create("/v1?token=secret")));
    assertRefused("url: must be http", at(null, URI.create("http://shop:secret@x_y/v1")));
    assertRefused(
        "version = 3: must be one of auto", endpoint(null, URL, "3", null, null, null, null, null));
    assertRefused(
        "headers.content-TYPE: must be the name of a header",
        endpoint(null, URL, null, Map.of("content-TYPE", "secret"), null, null, null, null));
    assertRefused(
        "name = default: must have one of basic",
        endpoint(null, URL, null, null, USER, "secret", null, null));
    assertRefused(
        "name = default: must have one of basic",
        endpoint(null, URL, null, Map.of("authorization", "secret"), USER, null, null, null));
    assertRefused(
        "timeout = PT0S: must be above 0",
        endpoint(null, URL, null, null, null, null, Duration.ZERO, null));
    assertRefused(
        "shards = 65: must be 1 to 64", endpoint(null, URL, null, null, null, null, null, 65));
    assertRefused(
        "basic.password: either this or password-file is required",
        endpoint(null, URL, null, null, new PushKeys.Basic("shop", null, null), null, null, null));
    assertThatThrownBy(() -> new PushKeys(null, null, Map.of("a-b", "c"), null).toConfig())
        .hasMessage(
            "trace-etl.push.labels.a-b: must be the name of a label: letters, digits and" + " _");
  }

  private static PushKeys.Endpoint ofProtocol(
      String protocol, String version, Map<String, String> resourceAttributes) {
    return ofProtocol(protocol, version, null, resourceAttributes);
  }

  private static PushKeys.Endpoint ofProtocol(
      String protocol, String version, String temporality, Map<String, String> resourceAttributes) {
    return ofProtocol(URL, protocol, version, temporality, resourceAttributes, null);
  }

  private static PushKeys.Endpoint ofProtocol(
      URI url,
      String protocol,
      String version,
      String temporality,
      Map<String, String> resourceAttributes,
      Map<String, String> headers) {
    return new PushKeys.Endpoint(
        null,
        url,
        protocol,
        version,
        temporality,
        resourceAttributes,
        headers,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null);
  }

  @Test
  void protocolDecidesWhatElseIsPermitted() {
    PushConfig config = config(ofProtocol("OTLP", null, Map.of("a.b", "c")));
    assertThat(config.endpoints().getFirst().fixedProtocol()).isEqualTo(Protocol.OTLP);
    assertRefused("protocol = grpc: must be one of", ofProtocol("grpc", null, null));
    assertRefused(
        "version = 2.0: must be absent if protocol is otlp", ofProtocol("otlp", "2.0", null));
    assertRefused(
        "resource-attributes: must be absent unless", ofProtocol(null, null, Map.of("a", "b")));
    assertRefused(
        "resource-attributes.service.name: must be absent",
        ofProtocol("otlp", null, Map.of("service.name", "x")));
  }

  @Test
  void grpcHasNoPathAndNoHeadersOfItsOwn() {
    PushConfig.Endpoint endpoint = config(ofGrpc("http://x:4317", "X-Key")).endpoints().getFirst();
    assertThat(endpoint.fixedProtocol()).isEqualTo(Protocol.OTLP_GRPC);
    assertThat(endpoint.isOtlp()).isTrue();
    assertRefused(
        "url = http://x:4317: must have no path", ofGrpc("http://x:4317/secret", "X-Key"));
    assertRefused("headers.X-Bin: must not begin with", ofGrpc("http://x:4317", "X-Bin"));
    assertRefused("headers.Grpc-A: must not begin with", ofGrpc("http://x:4317", "Grpc-A"));
  }

  private static PushKeys.Endpoint ofGrpc(String url, String header) {
    return ofProtocol(URI.create(url), "otlp-grpc", null, null, null, Map.of(header, "secret"));
  }

  @Test
  void onlyOtlpHasDeltas() {
    PushConfig config = config(ofProtocol("otlp", null, "Delta", null));
    assertThat(config.endpoints().getFirst().isDelta()).isTrue();
    config = config(ofProtocol(null, null, "cumulative", null), at("b", URL));
    assertThat(config.endpoints()).noneMatch(PushConfig.Endpoint::isDelta);
    assertRefused(
        "temporality = delta: must be cumulative unless protocol is otlp",
        ofProtocol(null, null, "delta", null));
    assertRefused(
        "temporality = low: must be one of cumulative, delta",
        ofProtocol("otlp", null, "low", null));
  }

  @Test
  void secretsAreNotShown() {
    PushConfig config =
        config(
            endpoint("a", URL, null, Map.of("X-Key", "very-secret"), USER, null, null, null),
            endpoint("b", URL, null, null, null, "very-secret", null, null));
    assertThat(config.toString()).doesNotContain("very-secret").contains("***");
  }

  @Test
  void pushingNeedsTheQueueInEachSeries() {
    var section = new PushType().section();
    PushConfig pushing = config(at(null, URL));
    MetricsConfig always = new MetricsConfig(null, null, null, QueueLabel.ALWAYS, null, null, null);
    section.validate(pushing, always);
    section.validate(PushConfig.defaults(), MetricsConfig.defaults());
    assertThatThrownBy(() -> section.validate(pushing, MetricsConfig.defaults()))
        .hasMessageStartingWith("trace-etl.metrics.queue-label = conflict: must be always if");
  }

  @Test
  void filesAreChecked() throws Exception {
    Path file = Files.writeString(directory.resolve("ca.pem"), "nonsense");
    assertThatThrownBy(() -> ClientTls.context(new PushConfig.Tls(file, null, null)))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("tls.ca-file = " + file + ": must be a PEM file");
    assertThatThrownBy(() -> new PushConfig.Tls(null, file, null))
        .hasMessageContaining("tls.certificate-file = " + file + ": must be configured together");
    assertThatThrownBy(() -> new PushConfig.Tls(directory.resolve("absent"), null, null))
        .hasMessageContaining("must be a readable PEM file");
  }
}
