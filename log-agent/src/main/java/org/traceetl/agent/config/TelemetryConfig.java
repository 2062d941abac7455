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
 * @param tls the port speaks TLS with these; empty: it does not
 * @param tokens what must be shown for the metrics; the health is for everybody
 */
public record TelemetryConfig(
    boolean enabled, String host, int port, Optional<TlsFiles> tls, TokenSource tokens) {
  /** Metrics for everybody, without TLS. */
  public TelemetryConfig(boolean enabled, String host, int port) {
    this(enabled, host, port, Optional.empty(), TokenSource.none());
  }

  /** Port 9465 on all addresses. */
  public static TelemetryConfig defaults() {
    return new TelemetryConfig(true, "0.0.0.0", 9465);
  }

  /** The same, with TLS. */
  public TelemetryConfig withTls(TlsFiles files) {
    return new TelemetryConfig(enabled, host, port, Optional.of(files), tokens);
  }

  /** The same, for those who show a token. */
  public TelemetryConfig withTokens(TokenSource admitted) {
    return new TelemetryConfig(enabled, host, port, tls, admitted);
  }

  /** Whether clients send their tokens over the network in clear text. */
  public boolean hasClearTextTokens() {
    return enabled && ClearText.hasTokens(host, tls, tokens);
  }
}
