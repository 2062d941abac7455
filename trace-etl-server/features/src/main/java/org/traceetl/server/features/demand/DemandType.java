package org.traceetl.server.features.demand;

import org.traceetl.server.assembly.DecisionsConfig;
import org.traceetl.server.assembly.ServerContext;
import org.traceetl.server.config.ConfigSection;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.FeatureType;

/** What servers need of spans; published before the first span counts. */
public final class DemandType implements FeatureType {
  @Override
  public ConfigSection<DemandConfig, DemandConfig> section() {
    return ConfigSection.of("demand", DemandConfig.class, DemandConfig.defaults());
  }

  @Override
  public Feature create(Record own, ServerContext context) {
    return new DemandFeature(decider((DemandConfig) own, context));
  }

  /** Null if this server publishes no demand. */
  private static DemandDecider decider(DemandConfig config, ServerContext context) {
    DecisionsConfig decisions = context.decisionsConfig();
    if (!config.enabled() || decisions == null) {
      return null;
    }
    context.awaitPanes();
    boolean everything = context.profile().mapping() != null;
    return new DemandDecider(
        decisions.topic(),
        decisions.interval(),
        OwnPart.of(context.config(), config, everything),
        context.decisions(),
        context::panes,
        context.clocks());
  }
}
