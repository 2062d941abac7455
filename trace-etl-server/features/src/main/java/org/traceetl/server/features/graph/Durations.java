package org.traceetl.server.features.graph;

/** Quantiles of durations in milliseconds. */
record Durations(double p50Millis, double p95Millis, double p99Millis) {}
