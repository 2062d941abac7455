package org.traceetl.server.features.push;

import static org.traceetl.common.ConfigException.orElse;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.traceetl.common.Secret;

/** The keys below {@code trace-etl.push} as they are written; null where one is missing. */
record PushKeys(String job, String instance, Map<String, String> labels, List<Endpoint> endpoints) {

  PushConfig toConfig() {
    PushConfig defaults = PushConfig.defaults();
    return new PushConfig(
        orElse(job, defaults.job()),
        orElse(instance, defaults.instance()),
        orElse(labels, defaults.labels()),
        orElse(endpoints, List.<Endpoint>of()).stream().map(Endpoint::toConfig).toList());
  }

  record Endpoint(
      String name,
      URI url,
      String protocol,
      String version,
      String temporality,
      Map<String, String> resourceAttributes,
      Map<String, String> headers,
      Basic basic,
      String bearerToken,
      Path bearerTokenFile,
      OAuth2 oauth2,
      Tls tls,
      Duration timeout,
      Integer maxSamplesPerRequest,
      Integer shards) {
    private static final PushConfig.Endpoint DEFAULTS =
        PushConfig.Endpoint.at(URI.create("http://localhost:9090/api/v1/write"));

    private PushConfig.Endpoint toConfig() {
      return new PushConfig.Endpoint(
          orElse(name, DEFAULTS.name()),
          url,
          orElse(protocol, DEFAULTS.protocol()),
          orElse(version, DEFAULTS.version()),
          orElse(temporality, DEFAULTS.temporality()),
          orElse(resourceAttributes, DEFAULTS.resourceAttributes()),
          orElse(headers, Map.<String, String>of()).entrySet().stream()
              .collect(
                  Collectors.toMap(Map.Entry::getKey, header -> new Secret(header.getValue()))),
          basic == null ? null : basic.toConfig(),
          secret(bearerToken),
          bearerTokenFile,
          oauth2 == null ? null : oauth2.toConfig(),
          tls == null ? DEFAULTS.tls() : tls.toConfig(),
          orElse(timeout, DEFAULTS.timeout()),
          orElse(maxSamplesPerRequest, DEFAULTS.maxSamplesPerRequest()),
          orElse(shards, DEFAULTS.shards()));
    }
  }

  record Basic(String username, String password, Path passwordFile) {
    private PushConfig.Basic toConfig() {
      return new PushConfig.Basic(username, secret(password), passwordFile);
    }
  }

  record OAuth2(
      URI tokenUrl,
      String clientId,
      String clientSecret,
      Path clientSecretFile,
      List<String> scopes) {
    private PushConfig.OAuth2 toConfig() {
      return new PushConfig.OAuth2(
          tokenUrl,
          clientId,
          secret(clientSecret),
          clientSecretFile,
          orElse(scopes, List.<String>of()));
    }
  }

  record Tls(Path caFile, Path certificateFile, Path keyFile) {
    private PushConfig.Tls toConfig() {
      return new PushConfig.Tls(caFile, certificateFile, keyFile);
    }
  }

  private static Secret secret(String value) {
    return value == null ? null : new Secret(value);
  }
}
