package org.traceetl.server.features.completeness;

import java.util.List;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.http.Feature;

/**
 * Until when spans are complete.
 *
 * @param completeness null if this server does not read the fleet's windows
 */
public record CompletenessFeature(Completeness completeness) implements Feature {
  @Override
  public void metrics(MetricRegistry registry) {
    if (completeness == null) {
      return;
    }
    registry.gauge(
        "trace_etl_complete_until_timestamp_seconds",
        "Time before which all spans of an application are counted, except those of excluded"
            + " agents; the minimum of the queues on which it had spans in the last hour.",
        "application",
        completeness::seconds);
  }

  @Override
  public List<Object> resources() {
    return List.of(new CompletenessResource(completeness));
  }
}
