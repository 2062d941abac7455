package org.traceetl.server.features.history;

import org.traceetl.server.assembly.ServerContext;
import org.traceetl.server.config.ConfigSection;
import org.traceetl.server.config.CoreConfig;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.FeatureType;
import org.traceetl.server.profile.ProfileParts;
import org.traceetl.server.window.SeriesDefinition;

/** The live history, the reader of the fleet's windows. */
public final class HistoryType implements FeatureType {
  private static final double NANOS_PER_MILLI = 1e6;

  @Override
  public ConfigSection<HistoryConfig, HistoryConfig> section() {
    return ConfigSection.of("history", HistoryConfig.class, HistoryConfig.defaults());
  }

  @Override
  public Feature create(Record own, ServerContext context) {
    HistoryConfig history = (HistoryConfig) own;
    CoreConfig config = context.config();
    ProfileParts profile = context.profile();
    long[] boundsNanos = config.histogram().boundsNanos();
    History kept =
        history.enabled()
            ? new History(
                history.maxApplications(),
                history.maxOperations(),
                boundsNanos,
                context.clocks().wall(),
                context.random())
            : null;
    return new HistoryFeature(
            kept,
            context::queues,
            config.documents().slowerThan().toNanos() / NANOS_PER_MILLI,
            context::objectives)
        .follow(
            context.journal(),
            config.journal().snapshotInterval(),
            new SeriesRules(
                context.schema(),
                boundsNanos,
                SeriesDefinition.FIXED_DIMENSIONS + config.series().dimensions().size(),
                profile.countsEvents(),
                profile::hasBucketsOfHistory,
                profile::kind),
            history.maxOperations(),
            context.fleet(),
            context.clocks());
  }
}
