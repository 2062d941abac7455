package org.traceetl.server.features.push;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Authorization by tokens of OAuth 2, which are requested with client credentials. */
final class ClientCredentials implements Authorization {
  private static final JsonMapper JSON = new JsonMapper();
  private static final int MAX_BYTES = 64 * 1024;
  private static final int OK = 200;

  /** Without a stated duration, RFC 6749 leaves it open. */
  private static final long DEFAULT_SECONDS = 300;

  private static final long MAX_SECONDS = 86_400;

  /** Tokens are renewed this long before their end, but not before half of their time. */
  private static final long EARLY_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final PushConfig.OAuth2 config;
  private final HttpClient client;
  private final Duration timeout;
  private final LongSupplier nanoClock;

  private String header;
  private long untilNanos;

  ClientCredentials(
      PushConfig.OAuth2 config, HttpClient client, Duration timeout, LongSupplier nanoClock) {
    this.config = config;
    this.client = client;
    this.timeout = timeout;
    this.nanoClock = nanoClock;
  }

  @Override
  public synchronized String header() throws IOException, InterruptedException {
    if (header == null || untilNanos - nanoClock.getAsLong() <= 0) {
      header = null;
      long beginNanos = nanoClock.getAsLong();
      JsonNode token = request();
      String value = token.path("access_token").asString("");
      if (value.isEmpty() || !value.matches("[\\x21-\\x7e]+")) {
        throw new IOException("the answer of " + config.tokenUrl() + " has no access_token");
      }
      long seconds = token.path("expires_in").asLong(DEFAULT_SECONDS);
      long nanos = TimeUnit.SECONDS.toNanos(Math.clamp(seconds, 0, MAX_SECONDS));
      untilNanos = beginNanos + Math.max(nanos / 2, nanos - EARLY_NANOS);
      header = "Bearer " + value;
    }
    return header;
  }

  @Override
  public synchronized void refused() {
    header = null;
  }

  private JsonNode request() throws IOException, InterruptedException {
    String secret = Authorization.current(config.clientSecret(), config.clientSecretFile()).value();
    String form = "grant_type=client_credentials";
    if (!config.scopes().isEmpty()) {
      form += "&scope=" + encoded(String.join(" ", config.scopes()));
    }
    HttpRequest request =
        HttpRequest.newBuilder(config.tokenUrl())
            .timeout(timeout)
            .header("Authorization", "Basic " + pair(secret))
            .header("Content-Type", "application/x-www-form-urlencoded")
            .header("Accept", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(form))
            .build();
    HttpResponse<byte[]> answer =
        client.send(
            request,
            HttpResponse.BodyHandlers.limiting(HttpResponse.BodyHandlers.ofByteArray(), MAX_BYTES));
    if (answer.statusCode() != OK) {
      throw new IOException(
          "token-url " + config.tokenUrl() + " answered with status " + answer.statusCode());
    }
    try {
      return JSON.readTree(answer.body());
    } catch (JacksonException e) {
      throw new IOException("the answer of " + config.tokenUrl() + " is not JSON", e);
    }
  }

  private String pair(String secret) {
    return Authorization.pair(encoded(config.clientId()), encoded(secret));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, UTF_8);
  }
}
