package org.traceetl.server.config;

import static org.traceetl.server.config.ConfigException.check;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Who may ask: {@code trace-etl.web}. A missing value is its default.
 *
 * @param token what clients of {@code /metrics} and {@code /api} must show as {@code Authorization:
 *     Bearer}; null, the default: everybody may ask. Health needs none.
 */
public record WebConfig(Secret token) {
  /** Everybody may ask. */
  public static WebConfig open() {
    return new WebConfig(null);
  }

  /**
   * @param token {@code trace-etl.web.token}, or null
   * @param tokenFile {@code trace-etl.web.token-file}: a file that holds it, or null
   */
  public static WebConfig of(String token, Path tokenFile) {
    check(
        token == null || tokenFile == null,
        "trace-etl.web.token-file",
        tokenFile,
        "must be absent where trace-etl.web.token is given");
    check(
        token == null || !token.isBlank(),
        "trace-etl.web.token",
        "",
        "must not be empty; leave the key out to let everybody ask");
    if (tokenFile == null) {
      return new WebConfig(token == null ? null : new Secret(token));
    }
    try {
      return new WebConfig(Secret.fromFile(tokenFile));
    } catch (IOException e) {
      throw new ConfigException(
          "trace-etl.web.token-file", tokenFile, "must hold a token: " + e.getMessage());
    }
  }
}
