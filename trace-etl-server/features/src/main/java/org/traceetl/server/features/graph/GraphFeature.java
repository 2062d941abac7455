package org.traceetl.server.features.graph;

import java.util.List;
import org.traceetl.server.component.Background;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.http.Feature;
import org.traceetl.server.journal.fleet.FleetFollower;

/**
 * The service graph of the last hour.
 *
 * @param graph null if it is disabled
 * @param follower adds to the graph; null if it is disabled
 */
record GraphFeature(ServiceGraph graph, FleetFollower follower) implements Feature {
  @Override
  public void metrics(MetricRegistry registry) {
    if (follower == null) {
      return;
    }
    registry.gauge(
        "trace_etl_service_graph_up_to_date",
        "1 if this server's service graph contains the last hour of every queue of half-edges,"
            + " else 0.",
        () -> graph.isUpToDate() ? 1 : 0);
    registry.gauge(
        "trace_etl_service_graph_edges",
        "Edges that this server's service graph lists separately.",
        graph::size);
    registry.counter(
        "trace_etl_service_graph_edges_merged_total",
        "Edges of a queue that this server's service graph adds up with others of their client,"
            + " because it has edges.max-edges edges.",
        graph::merged);
    registry.counter(
        "trace_etl_service_graph_windows_total",
        "Windows of all queues of half-edges that were read for the service graph.",
        follower::windows);
    registry.counter(
        "trace_etl_service_graph_unknown_rows_total",
        "Rows of windows left out of the service graph because their series or its measure is"
            + " unknown.",
        graph::unknownRows);
    registry.counter(
        "trace_etl_service_graph_misdated_windows_total",
        "Windows of half-edges that begin or have a pane in the future. The service graph dates"
            + " such a pane by its window, and leaves out requests that are still in the future.",
        graph::misdated);
  }

  @Override
  public List<Object> resources() {
    ServicesResource services = new ServicesResource(graph);
    return List.of(services, new GrowthResource(services));
  }

  @Override
  public Background background() {
    return follower;
  }
}
