package org.traceetl.agent.config;

import org.traceetl.agent.access.TokenSource;

/**
 * Where the agent's own metrics and health are served.
 *
 * @param enabled false: the port is not opened
 * @param host address to listen on
 * @param port 0 to 65,535; 0 takes a free port
 * @param tokens what must be shown for the metrics; the health is for everybody
 */
public record TelemetryConfig(boolean enabled, String host, int port, TokenSource tokens) {
  /** Metrics for everybody. */
  public TelemetryConfig(boolean enabled, String host, int port) {
    this(enabled, host, port, TokenSource.none());
  }

  /** Port 9465 on all addresses. */
  public static TelemetryConfig defaults() {
    return new TelemetryConfig(true, "0.0.0.0", 9465);
  }
}
