package org.traceetl.server.features.rules;

import static org.traceetl.common.ConfigException.check;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.traceetl.common.ReloadedFile;
import org.traceetl.server.assembly.DecisionsConfig;
import org.traceetl.server.assembly.ServerContext;
import org.traceetl.server.config.ConfigSection;
import org.traceetl.server.config.Profile;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.FeatureType;
import org.traceetl.server.profile.MappedSpansProfile;
import org.traceetl.server.rules.Rules;

/** Rules by application; read before the first span counts, as far as brokers answer. */
public final class RulesType implements FeatureType {
  private static final String FILE = "trace-etl.rules.file";

  private static final class Section implements ConfigSection<RulesConfig, RulesConfig> {
    @Override
    public String prefix() {
      return "rules";
    }

    @Override
    public Class<RulesConfig> keys() {
      return RulesConfig.class;
    }

    @Override
    public Class<RulesConfig> type() {
      return RulesConfig.class;
    }

    @Override
    public RulesConfig config(RulesConfig keys, Profile profile) {
      return keys == null ? RulesConfig.defaults() : keys;
    }

    @Override
    public void validate(RulesConfig own, Profile profile, Set<String> topics) {
      check(
          own.file() == null || !(profile instanceof MappedSpansProfile),
          FILE,
          own.file(),
          "must be absent with profile " + profile.id() + ", which has rules of its own");
    }
  }

  @Override
  public ConfigSection<RulesConfig, RulesConfig> section() {
    return new Section();
  }

  @Override
  public Feature create(Record own, ServerContext context) {
    Path path = ((RulesConfig) own).file();
    boolean isMapped = context.profile().mapping() != null;
    return new RulesFeature(
        isMapped ? null : decider(path, context),
        new RulesResource.Sources(
            path == null ? null : path.toString(),
            isMapped ? List::of : () -> context.slow().applications()));
  }

  /** Returns null if no feature has a topic for decisions. */
  private static RulesDecider decider(Path path, ServerContext context) {
    DecisionsConfig decisions = context.decisionsConfig();
    check(
        path == null || decisions != null,
        FILE,
        path,
        "must be absent if servers have no topic of decisions");
    if (decisions == null) {
      return null;
    }
    context.awaitRules();
    return new RulesDecider(
        decisions.topic(),
        decisions.interval(),
        path == null ? null : file(path, context),
        context::rules,
        context::stopAwaitingRules,
        context.decisions(),
        context.clocks());
  }

  private static ReloadedFile<Rules> file(Path path, ServerContext context) {
    try {
      return new ReloadedFile<>(
          FILE,
          () -> ReloadedFile.content(path, RulesConfig.MAX_FILE_BYTES),
          content -> context.parseRules(path, content),
          rules -> {});
    } catch (IOException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }
}
