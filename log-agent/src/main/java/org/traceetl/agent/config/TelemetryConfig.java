package org.traceetl.agent.config;

/**
 * Where the agent's own metrics and health are served.
 *
 * @param enabled false: the port is not opened
 * @param host address to listen on
 * @param port 0 to 65,535; 0 takes a free port
 */
public record TelemetryConfig(boolean enabled, String host, int port) {
  /** Port 9465 on all addresses. */
  public static TelemetryConfig defaults() {
    return new TelemetryConfig(true, "0.0.0.0", 9465);
  }
}
