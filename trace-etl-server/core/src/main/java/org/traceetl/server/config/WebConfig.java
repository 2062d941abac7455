package org.traceetl.server.config;

import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.checkRange;
import static org.traceetl.common.ConfigException.orElse;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.traceetl.common.Secret;

/**
 * Access control, and links to traces: {@code trace-etl.web}. A missing value is its default.
 *
 * @param token token that programs send as {@code Authorization: Bearer}. Without a sign-in it
 *     protects {@code /metrics}, {@code /jvm} and {@code /api}, and the web UI asks for it; health
 *     needs none. A change needs a restart. None: open to all
 * @param signIn how people sign in
 * @param usersFile with {@code basic}: lines {@code name:hash} of bcrypt with a cost up to 14, as
 *     {@code htpasswd -B} writes. Reloaded; an invalid file leaves the old one in force
 * @param oidc OpenID provider
 * @param accessFile YAML file of tenants, which says who sees which applications; requires a token
 *     or a sign-in. Reloaded; an invalid file leaves the old one in force. None: everyone who may
 *     look sees everything
 * @param traceUrl address to which the web UI links traces, with {@code {traceId}} and optionally
 *     {@code {spanId}}, {@code {application}}, {@code {start}}, {@code {end}} (milliseconds since
 *     1970), such as {@code https://jaeger.example.com/trace/{traceId}?uiFind={spanId}}
 */
public record WebConfig(
    Secret token, SignIn signIn, Path usersFile, Oidc oidc, Path accessFile, String traceUrl) {
  /** Placeholders in {@link #traceUrl}; start and end in milliseconds. */
  public static final Set<String> PLACEHOLDERS =
      Set.of("{traceId}", "{spanId}", "{application}", "{start}", "{end}");

  private static final String PREFIX = "trace-etl.web.";
  private static final Pattern PLACEHOLDER = Pattern.compile("\\{[^{}]*}");
  private static final Pattern ADDRESS = Pattern.compile("https?://[^\\s<>\"]+");

  /** How people sign in. */
  public enum SignIn {
    /** Access without sign-in; if a token is configured, the token is required. */
    NONE,
    /** Name and password from a file. */
    BASIC,
    /** An OpenID provider. */
    OIDC
  }

  /**
   * An OpenID provider: {@code trace-etl.web.oidc}.
   *
   * @param issuer with {@code oidc}: {@code https} address of the provider, {@code http} only on
   *     this host; contacted at the first sign-in
   * @param clientId name of this service at the provider
   * @param clientSecret secret of this service at the provider; PKCE is always used; none: PKCE
   *     alone
   * @param scopes requested scopes (default openid, profile, email), with {@code openid}; some
   *     providers need another one for groups
   * @param groupsClaim claim that contains the groups of a person; default {@code groups}
   * @param groups a person must be in one of these groups; none: everyone whom the provider admits
   * @param sessionLifetime time after which a person must sign in again, however active; default 12
   *     h; 1 s to 30 d
   */
  public record Oidc(
      URI issuer,
      String clientId,
      Secret clientSecret,
      List<String> scopes,
      String groupsClaim,
      Set<String> groups,
      Duration sessionLifetime) {
    private static final Duration MAX_SESSION_LIFETIME = Duration.ofDays(30);

    public Oidc {
      sessionLifetime = orElse(sessionLifetime, Duration.ofHours(12));
      checkRange(
          PREFIX + "oidc.session-lifetime",
          sessionLifetime,
          Duration.ofSeconds(1),
          MAX_SESSION_LIFETIME,
          "must be from 1 s to 30 days");
      scopes = List.copyOf(orElse(scopes, List.of("openid", "profile", "email")));
      groupsClaim = orElse(groupsClaim, "groups");
      groups = Set.copyOf(orElse(groups, Set.of()));
      check(
          issuer != null && issuer.getHost() != null && isSecure(issuer),
          PREFIX + "oidc.issuer",
          issuer,
          "must be the provider's https address; http is allowed for this host only");
      check(
          clientId != null && !clientId.isBlank(),
          PREFIX + "oidc.client-id",
          clientId,
          "must be the client ID of this service at the provider");
      check(scopes.contains("openid"), PREFIX + "oidc.scopes", scopes, "must contain openid");
    }

    private static boolean isSecure(URI issuer) {
      return "https".equals(issuer.getScheme())
          || "http".equals(issuer.getScheme())
              && Set.of("localhost", "127.0.0.1", "[::1]").contains(issuer.getHost());
    }
  }

  public WebConfig {
    signIn = orElse(signIn, SignIn.NONE);
    check(
        signIn != SignIn.BASIC || usersFile != null,
        PREFIX + "users-file",
        usersFile,
        "is required with sign-in = basic: a file of lines name:bcrypt, as `htpasswd -B`"
            + " writes them");
    check(
        signIn == SignIn.BASIC || usersFile == null,
        PREFIX + "users-file",
        usersFile,
        "must be absent unless " + PREFIX + "sign-in = basic");
    check(
        signIn != SignIn.OIDC || oidc != null,
        PREFIX + "oidc.issuer",
        null,
        "is required with sign-in = oidc");
    check(
        signIn == SignIn.OIDC || oidc == null,
        PREFIX + "oidc",
        "given",
        "must be absent unless " + PREFIX + "sign-in = oidc");
    check(
        signIn != SignIn.OIDC || token != null,
        PREFIX + "token",
        "absent",
        "is required with sign-in = oidc, here or in a file: Prometheus uses it because it"
            + " cannot sign in");
    check(
        accessFile == null || token != null || signIn != SignIn.NONE,
        PREFIX + "access-file",
        accessFile,
        "requires " + PREFIX + "token or " + PREFIX + "sign-in; otherwise nothing tells who asks");
    checkTraceUrl(traceUrl);
  }

  private static void checkTraceUrl(String url) {
    if (url == null) {
      return;
    }
    String key = PREFIX + "trace-url";
    check(
        ADDRESS.matcher(url).matches(),
        key,
        url,
        "must be an address that begins with http:// or https://, without white space");
    check(
        !url.startsWith("http://{") && !url.startsWith("https://{"),
        key,
        url,
        "must contain the host name");
    check(url.contains("{traceId}"), key, url, "must contain {traceId}");
    Matcher placeholder = PLACEHOLDER.matcher(url);
    while (placeholder.find()) {
      String found = placeholder.group();
      check(
          PLACEHOLDERS.contains(found),
          key,
          url,
          "contains the unknown placeholder "
              + found
              + "; known are "
              + PLACEHOLDERS.stream().sorted().toList());
    }
  }

  /** Returns a configuration without access control. */
  public static WebConfig open() {
    return new WebConfig(null, null, null, null, null, null);
  }

  /**
   * @param token {@code trace-etl.web.token}, or null
   * @param tokenFile {@code trace-etl.web.token-file}: a file that contains the token, or null
   * @return null for no token
   */
  public static Secret token(String token, Path tokenFile) {
    check(
        token == null || !token.isBlank(),
        "trace-etl.web.token",
        "",
        "must not be empty; omit the key to allow requests without a token");
    return Secret.of("trace-etl.web.token", token, tokenFile);
  }
}
