package org.traceetl.agent.config;

import java.util.Optional;
import org.traceetl.agent.access.TlsFiles;
import org.traceetl.agent.access.TokenSource;

/**
 * Where OTLP is received.
 *
 * @param enabled whether the OTLP ports are opened
 * @param host address to listen on; all addresses by default, because the host's containers cannot
 *     reach its loopback
 * @param grpcPort port for OTLP over gRPC; 0 takes a free port
 * @param httpPort port for OTLP over HTTP, protobuf or JSON, at {@code /v1/traces}; 0 takes a free
 *     port
 * @param maxRequestBytes largest request after decompression; 1024 to 1 GiB, at most half of {@code
 *     pipeline.max-bytes-in-flight}
 * @param tls files for TLS on both ports; empty: no TLS
 * @param tokens tokens that senders must present
 * @param limits limits of senders
 */
public record OtlpConfig(
    boolean enabled,
    String host,
    int grpcPort,
    int httpPort,
    int maxRequestBytes,
    Optional<TlsFiles> tls,
    TokenSource tokens,
    OtlpLimits limits) {
  /** Creates a configuration without TLS and tokens, with the default limits. */
  public OtlpConfig(boolean enabled, String host, int grpcPort, int httpPort, int maxRequestBytes) {
    this(
        enabled,
        host,
        grpcPort,
        httpPort,
        maxRequestBytes,
        Optional.empty(),
        TokenSource.none(),
        OtlpLimits.defaults());
  }

  /** Returns ports 4317 and 4318, and requests of up to 16 MiB. */
  public static OtlpConfig defaults() {
    return new OtlpConfig(true, "0.0.0.0", 4317, 4318, 16 * 1024 * 1024);
  }

  /** Returns a copy with TLS. */
  public OtlpConfig withTls(TlsFiles files) {
    return new OtlpConfig(
        enabled, host, grpcPort, httpPort, maxRequestBytes, Optional.of(files), tokens, limits);
  }

  /** Returns a copy that requires a token. */
  public OtlpConfig withTokens(TokenSource admitted) {
    return new OtlpConfig(
        enabled, host, grpcPort, httpPort, maxRequestBytes, tls, admitted, limits);
  }

  /** Returns a copy with other limits. */
  public OtlpConfig withLimits(OtlpLimits others) {
    return new OtlpConfig(enabled, host, grpcPort, httpPort, maxRequestBytes, tls, tokens, others);
  }

  /** Returns whether clients send their tokens over the network in clear text. */
  public boolean hasClearTextTokens() {
    return enabled && ClearText.hasTokens(host, tls, tokens);
  }
}
