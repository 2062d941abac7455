package org.traceetl.server.features.discovery;

import org.traceetl.server.assembly.ServerContext;
import org.traceetl.server.config.ConfigSection;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.FeatureType;

/** The list of the fleet's servers. */
public final class DiscoveryType implements FeatureType {
  @Override
  public ConfigSection<DiscoveryConfig, DiscoveryConfig> section() {
    return ConfigSection.of("discovery", DiscoveryConfig.class, DiscoveryConfig.defaults());
  }

  @Override
  public Feature create(Record own, ServerContext context) {
    return new DiscoveryFeature(
        (DiscoveryConfig) own, context.journal().logs()::members, context.clocks());
  }

  @Override
  public boolean startsBeforeSpans() {
    return false;
  }
}
