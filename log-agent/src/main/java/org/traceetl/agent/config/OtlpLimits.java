package org.traceetl.agent.config;

/**
 * Limits of the OTLP ports. A sender is an IP address.
 *
 * @param maxConnections connections on both ports; a further one is closed at once; 1 to 65536
 * @param maxClientConnections connections of one sender; 1 to 65536. A sender is an IP address:
 *     everything behind one proxy or in the network of the host is one sender
 * @param maxClientBytesInFlight bytes of one sender's requests that are being read, or accepted and
 *     not yet in the spool. Above it, this sender gets 429 or {@code RESOURCE_EXHAUSTED}. At least
 *     {@code otlp.max-request-bytes}; 0 means half of {@code pipeline.max-bytes-in-flight}
 * @param requestTimeoutMillis longest time from a request's first byte to its last; 100 to 600000
 */
public record OtlpLimits(
    int maxConnections,
    int maxClientConnections,
    int maxClientBytesInFlight,
    int requestTimeoutMillis) {
  /** Returns 1,024 connections, half of them and of the bytes for one sender; 30 s. */
  public static OtlpLimits defaults() {
    return new OtlpLimits(1_024, 512, 0, 30_000);
  }
}
