package org.traceetl.agent.telemetry;

import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.exporter.common.TextFormat;
import java.io.IOException;
import java.io.StringWriter;

/**
 * All metrics of an agent; several agents may run in a JVM. The books balance. For each source,
 * spans received = accepted + filtered by reason + rejected by reason + failed. Over all sources,
 * accepted + recovered = published + in the spool + dropped by reason.
 */
public final class AgentMetrics extends MetricSet {
  public final CollectorRegistry registry = new CollectorRegistry();

  public AgentMetrics() {
    registry.register(this);
  }

  /** Returns all metrics in Prometheus' text format. */
  public String page() throws IOException {
    StringWriter page = new StringWriter();
    TextFormat.write004(page, registry.metricFamilySamples());
    return page.toString();
  }

  /** Adds the metrics of a part, and returns them. */
  public <M extends MetricSet> M add(M part) {
    include(part);
    return part;
  }
}
