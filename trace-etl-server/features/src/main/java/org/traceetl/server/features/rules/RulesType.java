package org.traceetl.server.features.rules;

import static java.util.stream.Collectors.toSet;
import static org.traceetl.common.ConfigException.check;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.traceetl.common.ReloadedFile;
import org.traceetl.server.assembly.DecisionsConfig;
import org.traceetl.server.assembly.ServerContext;
import org.traceetl.server.config.ConfigSection;
import org.traceetl.server.config.CoreConfig;
import org.traceetl.server.config.Profile;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.FeatureType;
import org.traceetl.server.profile.MappedSpansProfile;
import org.traceetl.server.rules.EffectiveRules;
import org.traceetl.server.rules.Rules;

/** Rules by application; read before the first span counts, as far as brokers answer. */
public final class RulesType implements FeatureType {
  private static final String FILE = "trace-etl.rules.file";

  /** Reads files of rules. */
  @FunctionalInterface
  public interface Reader {
    /**
     * Returns the whole content of a file.
     *
     * @throws IOException if it cannot be read, or is too long
     */
    byte[] read(Path file) throws IOException;
  }

  private final Reader reader;

  /** A type that reads files of this host. */
  public RulesType() {
    this(file -> ReloadedFile.content(file, RulesConfig.MAX_FILE_BYTES));
  }

  /** A type that reads files elsewhere, for simulations. */
  public RulesType(Reader reader) {
    this.reader = reader;
  }

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

  private record ContextTarget(ServerContext context) implements RulesDecider.Target {
    @Override
    public void check(Rules rules) {
      context.checkRules(rules);
    }

    @Override
    public void thresholds(Rules now) {
      context.rules(now);
    }

    @Override
    public void dimensions(Rules now) {
      context.dimensions(now);
    }

    @Override
    public void needs(Map<String, Set<String>> attributes) {
      context.needs(attributes);
    }

    @Override
    public Boolean labels() {
      return context.labels();
    }

    @Override
    public Boolean forms() {
      return context.forms();
    }

    @Override
    public void lookedFor() {
      context.stopAwaitingRules();
    }
  }

  @Override
  public ConfigSection<RulesConfig, RulesConfig> section() {
    return new Section();
  }

  @Override
  public Feature create(Record own, ServerContext context) {
    RulesConfig config = (RulesConfig) own;
    Path path = config.file();
    boolean isMapped = context.profile().mapping() != null;
    return new RulesFeature(
        isMapped ? null : decider(config, context),
        new RulesResource.Sources(
            path == null ? null : path.toString(), isMapped ? null : configured(context.config())));
  }

  private static EffectiveRules configured(CoreConfig config) {
    return EffectiveRules.of(
        config.series(),
        config.histogram(),
        config.metrics(),
        config.documents(),
        config.measures());
  }

  private static Set<String> labels(CoreConfig config) {
    return config.series().dimensions().stream().map(Dimension::label).collect(toSet());
  }

  /** Returns null if no feature has a topic for decisions. */
  private RulesDecider decider(RulesConfig config, ServerContext context) {
    Path path = config.file();
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
        new DimensionSwitch(config.switchAfter(), labels(context.config())),
        new ContextTarget(context),
        context.decisions(),
        context.clocks());
  }

  private ReloadedFile<Rules> file(Path path, ServerContext context) {
    try {
      return new ReloadedFile<>(
          FILE, () -> reader.read(path), content -> context.parseRules(path, content), rules -> {});
    } catch (IOException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }
}
