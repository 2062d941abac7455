package org.traceetl.server.features.demand;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.assembly.DecisionsConfig;
import org.traceetl.server.assembly.ServerContext;
import org.traceetl.server.config.ConfigSection;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.FeatureType;

/** What servers need of spans; published before the first span counts. */
public final class DemandType implements FeatureType {
  private static final Logger LOG = LoggerFactory.getLogger(DemandType.class);

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
      if (context.config().metrics().size()) {
        LOG.warn(
            "Agents send no sizes of spans to this server, because it publishes no demand: enable"
                + " trace-etl.demand.enabled and trace-etl.hotspots.topic, or set"
                + " trace-etl.metrics.size to false");
      }
      if (context.config().edges().enabled()) {
        LOG.warn(
            "The fleet does not know that this server reads half-edges, because it publishes no"
                + " demand: enable trace-etl.demand.enabled and trace-etl.hotspots.topic, or set"
                + " trace-etl.edges.enabled to false");
      }
      if (!context.config().measures().isEmpty()) {
        LOG.warn(
            "This server does not count measures, because it does not know whether all servers read"
                + " them: enable trace-etl.demand.enabled and trace-etl.hotspots.topic, or remove"
                + " trace-etl.measures");
      }
      context.labels(false);
      context.forms(false);
      return null;
    }
    context.awaitPanes();
    boolean everything = context.profile().mapping() != null;
    return new DemandDecider(
        decisions.topic(),
        decisions.interval(),
        context::needs,
        needs -> OwnPart.of(context.config(), config, everything, needs),
        context.decisions(),
        now -> {
          context.panes(now.readsPanes(), now.readsOpenPanes());
          context.labels(now.readsLabels());
          context.forms(now.readsForms());
          context.variances(now.readsVariances());
        },
        context::stopAwaitingPanes,
        context.clocks());
  }
}
