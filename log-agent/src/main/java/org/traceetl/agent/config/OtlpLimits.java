package org.traceetl.agent.config;

/**
 * How much senders may ask of the OTLP ports. A sender is an address: what runs on one host without
 * addresses of its own is one sender.
 *
 * @param maxConnections open at the same time, over both ports
 * @param maxClientConnections those of one sender
 * @param maxClientBytesInFlight bytes of one sender's requests that are being read, or accepted and
 *     not yet in the spool; 0: half of {@code pipeline.max-bytes-in-flight}
 * @param requestTimeoutMillis longest time from a request's first byte to its last
 */
public record OtlpLimits(
    int maxConnections,
    int maxClientConnections,
    int maxClientBytesInFlight,
    int requestTimeoutMillis) {
  /** 1,024 connections, half of them for one sender, and half of the bytes; 30 s. */
  public static OtlpLimits defaults() {
    return new OtlpLimits(1_024, 512, 0, 30_000);
  }
}
