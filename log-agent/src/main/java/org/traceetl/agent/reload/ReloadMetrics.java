package org.traceetl.agent.reload;

import io.prometheus.client.Counter;
import org.traceetl.agent.telemetry.MetricSet;

/** Metrics of reloads. */
public final class ReloadMetrics extends MetricSet {
  final Counter reloads =
      counter(
          "reloads_total",
          "Changed files that the agent re-read while running, by outcome.",
          "what",
          "outcome");
}
