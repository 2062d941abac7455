package org.traceetl.server.features.deploys;

import org.traceetl.server.assembly.ServerContext;
import org.traceetl.server.config.ConfigSection;
import org.traceetl.server.config.CoreConfig;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.FeatureType;

/** Deploys of the last hour, by the fleet's windows. */
public final class DeploysType implements FeatureType {
  @Override
  public ConfigSection<DeploysConfig, DeploysConfig> section() {
    return ConfigSection.of("deploys", DeploysConfig.class, DeploysConfig.defaults());
  }

  @Override
  public Feature create(Record own, ServerContext context) {
    DeploysConfig deploys = (DeploysConfig) own;
    CoreConfig config = context.config();
    // Series of a profile that maps spans have no attributes of their resource.
    if (!deploys.enabled() || !context.fleet().available() || context.profile().mapping() != null) {
      return new DeploysFeature(null);
    }
    Versions versions =
        new Versions(
            new SeriesVersions.Reader(deploys.attribute(), config.series().dimensions()),
            deploys.maxOperations(),
            config.histogram().boundsNanos().length + 1,
            context.schema(),
            context.fleet()::upToDate,
            context.clocks().wall(),
            context.random());
    context.fleet().subscribe(versions);
    return new DeploysFeature(versions);
  }
}
