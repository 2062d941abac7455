package org.traceetl.server.features.edges;

import com.google.common.collect.Sets;
import org.traceetl.server.assembly.DecisionsConfig;
import org.traceetl.server.assembly.ServerContext;
import org.traceetl.server.config.EdgesConfig;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.FeatureType;
import org.traceetl.server.journal.BrokerLogs;

/**
 * The queues for half-edges. A server that reads no half-edges has the feature, too: it stops the
 * agents.
 */
public final class EdgesType implements FeatureType {
  @Override
  public Feature create(Record own, ServerContext context) {
    return new EdgesFeature(decider(context));
  }

  /** Null if no feature has a topic for decisions. */
  private static EdgeQueueDecider decider(ServerContext context) {
    DecisionsConfig decisions = context.decisionsConfig();
    if (decisions == null) {
      return null;
    }
    EdgesConfig config = context.config().edges();
    BrokerLogs logs = context.journal().logs();
    return new EdgeQueueDecider(
        config,
        () -> Sets.intersection(logs.queues(config.topic()), logs.queues(config.journalTopic())),
        decisions.topic(),
        decisions.interval(),
        context::edgeQueues,
        context.decisions(),
        context.clocks());
  }

  @Override
  public boolean startsBeforeSpans() {
    return false;
  }
}
