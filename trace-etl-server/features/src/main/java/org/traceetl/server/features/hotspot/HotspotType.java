package org.traceetl.server.features.hotspot;

import static org.traceetl.common.ConfigException.check;

import java.util.Set;
import org.traceetl.server.assembly.ServerContext;
import org.traceetl.server.config.ConfigSection;
import org.traceetl.server.config.Profile;
import org.traceetl.server.decisions.SignedLog;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.FeatureType;

/** Automatic hotspots, and the topic of the decisions. */
public final class HotspotType implements FeatureType {
  private static final class Section implements ConfigSection<HotspotsConfig, HotspotsConfig> {
    @Override
    public String prefix() {
      return "hotspots";
    }

    @Override
    public Class<HotspotsConfig> keys() {
      return HotspotsConfig.class;
    }

    @Override
    public Class<HotspotsConfig> type() {
      return HotspotsConfig.class;
    }

    @Override
    public HotspotsConfig config(HotspotsConfig keys, Profile profile) {
      return keys == null ? HotspotsConfig.defaults() : keys;
    }

    @Override
    public void validate(HotspotsConfig own, Profile profile, Set<String> topics) {
      check(
          !topics.contains(own.topic()),
          "trace-etl.hotspots.topic",
          own.topic(),
          "must be a topic that nothing else uses");
    }

    @Override
    public void checkFiles(HotspotsConfig own) {
      SignedLog.check(own.signing(), own.topic());
    }
  }

  @Override
  public ConfigSection<HotspotsConfig, HotspotsConfig> section() {
    return new Section();
  }

  @Override
  public Feature create(Record own, ServerContext context) {
    HotspotsConfig config = ((HotspotsConfig) own).over(context.config().window().length());
    HotspotDecider decider = null;
    if (config.enabled() && context.decides()) {
      decider = new HotspotDecider(config, context.decisions(), context.clocks());
      context.fleet().subscribe(decider);
    }
    HotspotFeature feature = new HotspotFeature(decider);
    context.growing(feature::growing);
    return feature;
  }

  @Override
  public boolean startsBeforeSpans() {
    return false;
  }
}
