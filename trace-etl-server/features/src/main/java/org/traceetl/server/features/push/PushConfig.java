package org.traceetl.server.features.push;

import static org.traceetl.common.ConfigException.canonical;
import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.checkRange;
import static org.traceetl.common.ConfigException.checkReadable;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.traceetl.common.Secret;

/**
 * Where series are pushed: {@code trace-etl.push}.
 *
 * @param job label {@code job} of pushed series; empty for none. OTLP does not use it: receivers
 *     set the label {@code job} to the application's name
 * @param instance label {@code instance} of pushed series; with OTLP it is the resource's attribute
 *     {@code service.instance.id}; none by default, because a series stays the same when its queue
 *     moves to another server
 * @param labels further labels of pushed series, such as {@code cluster}; the same on all servers.
 *     A label that a series has itself stays
 * @param endpoints receivers, each of which gets all series; without one nothing is pushed
 */
public record PushConfig(
    String job, String instance, Map<String, String> labels, List<Endpoint> endpoints) {
  static final String PREFIX = "trace-etl.push.";
  static final String ENDPOINTS = PREFIX + "endpoints";
  private static final String REMOTE_WRITE = "remote-write";
  private static final String OTLP = "otlp";
  private static final String OTLP_GRPC = "otlp-grpc";
  private static final String CUMULATIVE = "cumulative";
  private static final String DELTA = "delta";
  private static final String LABEL = "[a-zA-Z_][a-zA-Z0-9_]*";
  private static final int MAX_SHARDS = 64;
  private static final int MAX_SAMPLES = 1_000_000;
  private static final Duration MAX_TIMEOUT = Duration.ofMinutes(10);

  /** Headers of the protocol, or of HTTP. */
  private static final Set<String> RESERVED =
      Set.of(
          "accept-encoding",
          "connection",
          "content-encoding",
          "content-length",
          "content-type",
          "expect",
          "host",
          "transfer-encoding",
          "upgrade",
          "user-agent",
          "x-prometheus-remote-write-version");

  /**
   * @throws org.traceetl.common.ConfigException if a value is invalid
   */
  public PushConfig {
    labels = Map.copyOf(labels);
    endpoints = List.copyOf(endpoints);
    for (String label : labels.keySet()) {
      check(
          label.matches(LABEL) && !label.startsWith("__"),
          PREFIX + "labels." + label,
          null,
          "must be the name of a label: letters, digits and _");
    }
    Set<String> names = new HashSet<>();
    for (Endpoint endpoint : endpoints) {
      check(
          names.add(endpoint.name()),
          ENDPOINTS + ".name",
          endpoint.name(),
          "must be different for each endpoint");
    }
  }

  static PushConfig defaults() {
    return to(List.of());
  }

  /** Returns a configuration with default values for all other keys. */
  public static PushConfig to(List<Endpoint> endpoints) {
    return new PushConfig("trace-etl", "", Map.of(), endpoints);
  }

  /**
   * One receiver.
   *
   * @param name name in metrics and logs, and in the consumer group that stores how far it has got;
   *     lower-case letters, digits and hyphens. After a change of the name, pushing begins at the
   *     end of the journal
   * @param url address that takes the protocol, such as {@code
   *     http://prometheus:9090/api/v1/write}, {@code http://collector:4318/v1/metrics} for OTLP, or
   *     {@code http://collector:4317} for OTLP by gRPC
   * @param protocol {@code remote-write}, {@code otlp} for metrics of OTLP by HTTP, or {@code
   *     otlp-grpc}
   * @param version version of Remote Write: {@code 2.0}, {@code 1.0}, or {@code auto} for 2.0 with
   *     1.0 if the receiver does not accept it
   * @param temporality with OTLP: {@code cumulative}, or {@code delta} for points that count the
   *     spans since the last pane end; Remote Write has only cumulative samples
   * @param resourceAttributes with OTLP: further attributes of resources, such as {@code
   *     deployment.environment.name}; the same on all servers
   * @param headers further headers of each request, such as {@code X-Scope-OrgID}; values are
   *     treated as secrets
   * @param basic user for basic authentication
   * @param bearerToken token for the header {@code Authorization}
   * @param bearerTokenFile file that contains the token, in its place; read for each request
   * @param oauth2 credentials for tokens of OAuth 2
   * @param tls certificates
   * @param timeout longest wait for an answer; at most 10 minutes
   * @param maxSamplesPerRequest samples in a request, at most; 1 to 1000000
   * @param shards requests in flight, at most, each of other series; 1 to 64
   */
  public record Endpoint(
      String name,
      URI url,
      String protocol,
      String version,
      String temporality,
      Map<String, String> resourceAttributes,
      Map<String, Secret> headers,
      Basic basic,
      Secret bearerToken,
      Path bearerTokenFile,
      OAuth2 oauth2,
      Tls tls,
      Duration timeout,
      int maxSamplesPerRequest,
      int shards) {

    /**
     * @throws org.traceetl.common.ConfigException if a value is invalid
     */
    public Endpoint {
      resourceAttributes = Map.copyOf(resourceAttributes);
      headers = Map.copyOf(headers);
      protocol = canonical(protocol);
      version = canonical(version);
      temporality = canonical(temporality);
      check(
          name.matches("[a-z0-9][a-z0-9-]{0,31}"),
          ENDPOINTS + ".name",
          name,
          "must be 1 to 32 lower-case letters, digits and hyphens");
      check(url != null, ENDPOINTS + ".url", null, "is required for each endpoint");
      checkUrl(ENDPOINTS + ".url", url);
      check(
          Set.of("auto", "1.0", "2.0").contains(version),
          ENDPOINTS + ".version",
          version,
          "must be one of auto, 2.0, 1.0");
      check(
          Set.of(REMOTE_WRITE, OTLP, OTLP_GRPC).contains(protocol),
          ENDPOINTS + ".protocol",
          protocol,
          "must be one of remote-write, otlp, otlp-grpc");
      boolean isOtlp = !REMOTE_WRITE.equals(protocol);
      boolean isGrpc = OTLP_GRPC.equals(protocol);
      check(
          !isGrpc || Set.of("", "/").contains(url.getRawPath()),
          ENDPOINTS + ".url",
          PushEndpoint.shown(url),
          "must have no path if protocol is otlp-grpc");
      check(
          !isOtlp || version.equals("auto"),
          ENDPOINTS + ".version",
          version,
          "must be absent if protocol is " + protocol);
      check(
          Set.of(CUMULATIVE, DELTA).contains(temporality),
          ENDPOINTS + ".temporality",
          temporality,
          "must be one of cumulative, delta");
      check(
          isOtlp || temporality.equals(CUMULATIVE),
          ENDPOINTS + ".temporality",
          temporality,
          "must be cumulative unless protocol is otlp or otlp-grpc");
      check(
          isOtlp || resourceAttributes.isEmpty(),
          ENDPOINTS + ".resource-attributes",
          null,
          "must be absent unless protocol is otlp or otlp-grpc");
      check(
          !resourceAttributes.containsKey("service.name"),
          ENDPOINTS + ".resource-attributes.service.name",
          null,
          "must be absent, because it is the name of the application");
      for (String header : headers.keySet()) {
        check(
            header.matches("[A-Za-z0-9-]+") && !RESERVED.contains(header.toLowerCase(Locale.ROOT)),
            ENDPOINTS + ".headers." + header,
            null,
            "must be the name of a header that the protocol does not set");
        check(
            !isGrpc || !header.toLowerCase(Locale.ROOT).matches("grpc-.*|.*-bin|te"),
            ENDPOINTS + ".headers." + header,
            null,
            "must not begin with grpc- or end with -bin if protocol is otlp-grpc");
      }
      check(
          bearerToken == null || bearerTokenFile == null,
          ENDPOINTS + ".bearer-token-file",
          bearerTokenFile,
          "must be absent if bearer-token is configured");
      boolean hasBearer = bearerToken != null || bearerTokenFile != null;
      boolean hasHeader = headers.keySet().stream().anyMatch("Authorization"::equalsIgnoreCase);
      check(
          (basic == null ? 0 : 1)
                  + (hasBearer ? 1 : 0)
                  + (oauth2 == null ? 0 : 1)
                  + (hasHeader ? 1 : 0)
              <= 1,
          ENDPOINTS + ".name",
          name,
          "must have one of basic, bearer-token, oauth2 and header Authorization");
      checkRange(
          ENDPOINTS + ".timeout",
          timeout,
          Duration.ofMillis(1),
          MAX_TIMEOUT,
          "must be above 0 and at most 10 minutes");
      checkRange(ENDPOINTS + ".max-samples-per-request", maxSamplesPerRequest, 1, MAX_SAMPLES);
      checkRange(ENDPOINTS + ".shards", shards, 1, MAX_SHARDS);
    }

    /** Returns an endpoint without authorization, with default values for all other keys. */
    public static Endpoint at(URI url) {
      return new Endpoint(
          "default",
          url,
          REMOTE_WRITE,
          "auto",
          CUMULATIVE,
          Map.of(),
          Map.of(),
          null,
          null,
          null,
          null,
          Tls.DEFAULTS,
          Duration.ofSeconds(30),
          5_000,
          2);
    }

    /** Returns whether it gets OTLP, not Remote Write. */
    public boolean isOtlp() {
      return !REMOTE_WRITE.equals(protocol);
    }

    /** Returns whether points count the spans since the last pane end. */
    boolean isDelta() {
      return DELTA.equals(temporality);
    }

    /** Returns the protocol to use; null to find out the version of Remote Write. */
    Protocol fixedProtocol() {
      String label = isOtlp() ? protocol : version;
      for (Protocol fixed : Protocol.values()) {
        if (fixed.label.equals(label)) {
          return fixed;
        }
      }
      return null;
    }
  }

  /**
   * A user.
   *
   * @param username name of the user
   * @param password password of the user
   * @param passwordFile file that contains the password, in its place; read for each request
   */
  public record Basic(String username, Secret password, Path passwordFile) {
    public Basic {
      check(
          username != null && !username.isEmpty() && !username.contains(":"),
          ENDPOINTS + ".basic.username",
          username,
          "must be a name without colon");
      check(
          (password == null) != (passwordFile == null),
          ENDPOINTS + ".basic.password",
          null,
          "either this or password-file is required");
    }
  }

  /**
   * Client credentials.
   *
   * @param tokenUrl address that issues tokens
   * @param clientId ID of the client
   * @param clientSecret secret of the client
   * @param clientSecretFile file that contains the secret, in its place; read for each token
   * @param scopes requested scopes
   */
  public record OAuth2(
      URI tokenUrl,
      String clientId,
      Secret clientSecret,
      Path clientSecretFile,
      List<String> scopes) {
    public OAuth2 {
      scopes = List.copyOf(scopes);
      check(tokenUrl != null, ENDPOINTS + ".oauth2.token-url", null, "is required");
      checkUrl(ENDPOINTS + ".oauth2.token-url", tokenUrl);
      check(
          clientId != null && !clientId.isEmpty(),
          ENDPOINTS + ".oauth2.client-id",
          clientId,
          "is required");
      check(
          (clientSecret == null) != (clientSecretFile == null),
          ENDPOINTS + ".oauth2.client-secret",
          null,
          "either this or client-secret-file is required");
    }
  }

  /**
   * Certificates.
   *
   * @param caFile PEM file of the certificates to trust; none: those of the JDK
   * @param certificateFile PEM file of the certificate that this server shows, with its chain
   * @param keyFile PEM file of its private key, in PKCS#8, unencrypted
   */
  public record Tls(Path caFile, Path certificateFile, Path keyFile) {
    public static final Tls DEFAULTS = new Tls(null, null, null);

    public Tls {
      checkReadable(ENDPOINTS + ".tls.ca-file", caFile, "a readable PEM file");
      checkReadable(ENDPOINTS + ".tls.certificate-file", certificateFile, "a readable PEM file");
      checkReadable(ENDPOINTS + ".tls.key-file", keyFile, "a readable PEM file");
      check(
          (certificateFile == null) == (keyFile == null),
          ENDPOINTS + ".tls.certificate-file",
          certificateFile,
          "must be configured together with key-file");
    }
  }

  /** Refuses an address without printing what may have a secret: its user, path and query. */
  private static void checkUrl(String key, URI url) {
    String shown = url.getHost() == null ? null : PushEndpoint.shown(url);
    check(url.getRawUserInfo() == null, key, shown, "must not contain a user; configure basic");
    check(
        ("http".equals(url.getScheme()) || "https".equals(url.getScheme()))
            && url.getHost() != null,
        key,
        shown,
        "must be http://host:port/path or https://host:port/path");
  }
}
