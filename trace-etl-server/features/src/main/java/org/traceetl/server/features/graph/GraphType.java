package org.traceetl.server.features.graph;

import org.traceetl.server.assembly.ServerContext;
import org.traceetl.server.config.CoreConfig;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.FeatureType;
import org.traceetl.server.journal.fleet.FleetFollower;
import org.traceetl.server.journal.fleet.FleetJournals;
import org.traceetl.server.minutes.LastHour;

/** The service graph of the last hour. Its keys are among those of half-edges. */
public final class GraphType implements FeatureType {
  @Override
  public Feature create(Record own, ServerContext context) {
    if (context.edgesJournal() == null) {
      return new GraphFeature(null, null);
    }
    CoreConfig config = context.config();
    ServiceGraph graph =
        new ServiceGraph(
            config.edges().maxEdges(),
            config.histogram().boundsNanos(),
            context.edgesSchema(),
            context.clocks().wall(),
            context.random());
    return new GraphFeature(
        graph,
        new FleetFollower(
            "trace-service-graph",
            FleetJournals.of(context.edgesJournal()),
            LastHour.LENGTH.plus(config.journal().snapshotInterval()),
            graph,
            context.clocks()));
  }

  /** Returns false: the journal of half-edges starts with their pipeline, after that of spans. */
  @Override
  public boolean startsBeforeSpans() {
    return false;
  }
}
