package org.traceetl.server.features.edges;

import org.traceetl.server.component.Background;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.http.Feature;

/**
 * The queues for half-edges.
 *
 * @param queues null if no feature has a topic for decisions
 */
record EdgesFeature(EdgeQueueDecider queues) implements Feature {
  @Override
  public void metrics(MetricRegistry registry) {
    if (queues == null) {
      return;
    }
    registry.gauge(
        "trace_etl_edge_queues_epoch",
        "Epoch of the list of queues for half-edges in force; 0 for none.",
        () -> queues.current().epoch());
    registry.gauge(
        "trace_etl_edge_queues",
        "Queues to which agents send half-edges; 0 if agents send none.",
        queues::queues);
    registry.counter(
        "trace_etl_edge_queues_records_refused_total",
        "Records in the topic of the decisions from which the list of queues for half-edges could"
            + " not be read.",
        queues::refused);
  }

  @Override
  public Background background() {
    return queues;
  }
}
