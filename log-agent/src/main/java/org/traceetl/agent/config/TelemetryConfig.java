package org.traceetl.agent.config;

import java.util.Optional;
import org.traceetl.agent.access.TlsFiles;
import org.traceetl.agent.access.TokenSource;

/**
 * Where the agent's own metrics and health are served.
 *
 * @param enabled whether the port is opened
 * @param host address to listen on
 * @param port port for {@code /metrics} and {@code /health}; 0 takes a free port
 * @param tls files for TLS; empty: no TLS
 * @param tokens tokens that {@code /metrics} requires; {@code /health} requires none
 */
public record TelemetryConfig(
    boolean enabled, String host, int port, Optional<TlsFiles> tls, TokenSource tokens) {
  /** Creates a configuration without TLS and tokens. */
  public TelemetryConfig(boolean enabled, String host, int port) {
    this(enabled, host, port, Optional.empty(), TokenSource.none());
  }

  /** Returns port 9465 on all addresses. */
  public static TelemetryConfig defaults() {
    return new TelemetryConfig(true, "0.0.0.0", 9465);
  }

  /** Returns a copy with TLS. */
  public TelemetryConfig withTls(TlsFiles files) {
    return new TelemetryConfig(enabled, host, port, Optional.of(files), tokens);
  }

  /** Returns a copy that requires a token. */
  public TelemetryConfig withTokens(TokenSource admitted) {
    return new TelemetryConfig(enabled, host, port, tls, admitted);
  }

  /** Returns whether clients send their tokens over the network in clear text. */
  public boolean hasClearTextTokens() {
    return enabled && ClearText.hasTokens(host, tls, tokens);
  }
}
