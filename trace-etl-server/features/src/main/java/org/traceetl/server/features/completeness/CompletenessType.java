package org.traceetl.server.features.completeness;

import org.traceetl.server.assembly.ServerContext;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.FeatureType;

/** Until when spans are complete, by the fleet's windows. */
public final class CompletenessType implements FeatureType {
  @Override
  public Feature create(Record own, ServerContext context) {
    if (!context.fleet().available()) {
      return new CompletenessFeature(null);
    }
    Completeness completeness =
        new Completeness(
            context.fleet()::upToDate, () -> context.queues().seen(), context.clocks().wall());
    context.fleet().subscribe(completeness);
    return new CompletenessFeature(completeness);
  }
}
