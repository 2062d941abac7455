package org.traceetl.server.features.demand;

import java.util.List;
import org.traceetl.server.component.Background;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.http.Feature;

/**
 * The demand.
 *
 * @param demand null if this server publishes none
 */
public record DemandFeature(DemandDecider demand) implements Feature {
  @Override
  public void metrics(MetricRegistry registry) {
    if (demand == null) {
      return;
    }
    registry.gauge(
        "trace_etl_demand_version",
        "Version of the demand in force; 0 for none.",
        () -> demand.current().version());
    registry.gauge(
        "trace_etl_demand_configurations",
        "Configurations of servers that have a part in the demand in force.",
        () -> demand.current().parts().size());
    registry.counter(
        "trace_etl_demand_records_refused_total",
        "Records in the topic of the decisions from which the demand could not be read.",
        demand::refused);
  }

  @Override
  public List<Object> resources() {
    return List.of(
        demand == null
            ? new DemandResource(() -> "", () -> null)
            : new DemandResource(demand::fingerprint, demand::current));
  }

  @Override
  public Background background() {
    return demand;
  }
}
