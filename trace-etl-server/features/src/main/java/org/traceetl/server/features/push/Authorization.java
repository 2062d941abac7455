package org.traceetl.server.features.push;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.util.Base64;
import org.traceetl.common.Clocks;
import org.traceetl.common.Reason;
import org.traceetl.common.Secret;

/** The header {@code Authorization} of requests. Thread-safe. */
interface Authorization {
  /** No header. */
  Authorization NONE = () -> null;

  /**
   * Returns the value of the header; null for none.
   *
   * @throws IOException if a file or a token cannot be read
   */
  String header() throws IOException, InterruptedException;

  /** Reports that the receiver did not accept the last header. */
  default void refused() {}

  /**
   * Returns the authorization of an endpoint.
   *
   * @param client requests tokens
   */
  static Authorization of(PushConfig.Endpoint endpoint, HttpClient client, Clocks clocks) {
    if (endpoint.basic() != null) {
      PushConfig.Basic basic = endpoint.basic();
      return basic(basic.username(), basic.password(), basic.passwordFile());
    }
    if (endpoint.oauth2() != null) {
      return new ClientCredentials(
          endpoint.oauth2(), client, endpoint.timeout(), clocks.nanoClock());
    }
    return endpoint.bearerToken() == null && endpoint.bearerTokenFile() == null
        ? NONE
        : bearer(endpoint.bearerToken(), endpoint.bearerTokenFile());
  }

  /** Authorization by user and password. Files are read for each request, so they may change. */
  static Authorization basic(String username, Secret password, Path passwordFile) {
    return () -> "Basic " + pair(username, current(password, passwordFile).value());
  }

  /** Authorization by a token. */
  static Authorization bearer(Secret token, Path tokenFile) {
    return () -> "Bearer " + current(token, tokenFile).value();
  }

  /** Returns name and secret as HTTP's basic authentication has them. */
  static String pair(String name, String secret) {
    return Base64.getEncoder().encodeToString((name + ":" + secret).getBytes(UTF_8));
  }

  /** Returns the secret, or the content of its file. */
  static Secret current(Secret secret, Path file) throws IOException {
    if (secret != null) {
      return secret;
    }
    try {
      return Secret.fromFile(file);
    } catch (IOException e) {
      throw new IOException("cannot read " + file + ": " + Reason.of(e), e);
    }
  }
}
