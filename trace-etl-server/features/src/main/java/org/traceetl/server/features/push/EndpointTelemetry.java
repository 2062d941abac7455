package org.traceetl.server.features.push;

import java.util.Map;

/**
 * Counts of an endpoint since the start.
 *
 * @param samples written samples and native histograms, or points of OTLP
 * @param bytes of answered requests, compressed
 * @param retries requests that were sent again, or in parts
 * @param requests by status of the answer; {@code none} without an answer
 * @param refused samples and native histograms, or points of OTLP, by reason
 * @param lastErrorMillis time of the last failure, milliseconds since 1970; 0 for none
 * @param healthy whether the last request had a final answer
 */
record EndpointTelemetry(
    long samples,
    long bytes,
    long retries,
    Map<String, Long> requests,
    Map<String, Long> refused,
    long lastErrorMillis,
    boolean healthy) {}
