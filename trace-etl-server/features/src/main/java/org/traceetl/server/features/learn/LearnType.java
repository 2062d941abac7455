package org.traceetl.server.features.learn;

import org.traceetl.server.assembly.DecisionsConfig;
import org.traceetl.server.assembly.ServerContext;
import org.traceetl.server.config.ConfigSection;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.FeatureType;

/** Learnt names; in force before the first span counts, which would otherwise count by its own. */
public final class LearnType implements FeatureType {
  @Override
  public ConfigSection<LearnConfig, LearnConfig> section() {
    return ConfigSection.of("series.templates.learn", LearnConfig.class, LearnConfig.defaults());
  }

  @Override
  public Feature create(Record own, ServerContext context) {
    return new LearnFeature(decider((LearnConfig) own, context), context.cardinality());
  }

  /** Null where no names are learnt. */
  private static NameDecider decider(LearnConfig config, ServerContext context) {
    SeriesConfig series = context.config().series();
    DecisionsConfig decisions = context.decisionsConfig();
    if (!series.templates().enabled() || !config.enabled() || decisions == null) {
      return null;
    }
    NameDecider decider =
        new NameDecider(
            decisions.topic(),
            decisions.interval(),
            config,
            series.maxValueBytes(),
            (application, name) ->
                context.spanRules().of(application).patterns().mayMake(application, name),
            context.decides(),
            context.decisions(),
            context.clocks(),
            context::learnt);
    context.fleet().subscribe(decider);
    return decider;
  }
}
