package org.traceetl.server.features.learn;

import org.traceetl.server.assembly.DecisionsConfig;
import org.traceetl.server.assembly.ServerContext;
import org.traceetl.server.config.TemplatesConfig;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.FeatureType;

/** Learnt names; in force before the first span counts, which would otherwise count by its own. */
public final class LearnType implements FeatureType {
  @Override
  public Feature create(Record own, ServerContext context) {
    return new LearnFeature(decider(context), context.cardinality());
  }

  /** Null where no names are learnt. */
  private static NameDecider decider(ServerContext context) {
    TemplatesConfig templates = context.config().series().templates();
    DecisionsConfig decisions = context.decisionsConfig();
    if (!templates.enabled() || !templates.learn().enabled() || decisions == null) {
      return null;
    }
    NameDecider decider =
        new NameDecider(
            decisions.topic(),
            decisions.interval(),
            context.config().series(),
            context.decides(),
            context.decisions(),
            context.clocks(),
            context::learnt);
    context.fleet().subscribe(decider);
    return decider;
  }
}
