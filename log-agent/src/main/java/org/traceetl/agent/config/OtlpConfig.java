package org.traceetl.agent.config;

/**
 * Where OTLP is received.
 *
 * @param enabled false: neither port is opened
 * @param host address to listen on; {@code 0.0.0.0} by default, because an agent serves the
 *     containers of its host, which do not reach its loopback
 * @param grpcPort 0 to 65,535; 0 takes a free port
 * @param httpPort 0 to 65,535; 0 takes a free port
 * @param maxRequestBytes largest request after decompression, bytes; larger ones are refused
 */
public record OtlpConfig(
    boolean enabled, String host, int grpcPort, int httpPort, int maxRequestBytes) {
  /** Both ports on their usual numbers, requests up to 16 MiB. */
  public static OtlpConfig defaults() {
    return new OtlpConfig(true, "0.0.0.0", 4317, 4318, 16 * 1024 * 1024);
  }
}
