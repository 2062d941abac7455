package org.traceetl.server.binding;

import com.google.common.primitives.Ints;
import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.traceetl.server.config.ConfigSection;
import org.traceetl.server.config.Profile;

/** Binds the configuration that Spring has read from files, environment and arguments. */
public final class Configuration {
  static final String PREFIX = "trace-etl";

  /** Name of the source with the defaults of a profile. */
  static final String PROFILE_SOURCE = "defaults of the profile";

  private static final int MAX_PORT = 65_535;

  private Configuration() {}

  /**
   * Refuses unknown keys, except in the environment: orchestrators set variables there that only
   * look like keys of this server.
   *
   * @throws ConfigurationRefused with each refused key, its value and what is allowed
   */
  public static ServerConfig bind(ConfigurableEnvironment environment) {
    Refusals refusals = new Refusals(environment);
    checkPort(environment, refusals);
    addDefaultsOfProfile(environment);
    Binder binder = Binder.get(environment);
    Map<String, Record> ofFeatures = new HashMap<>();
    for (ConfigSection<?, ?> section : Features.sections()) {
      String prefix = PREFIX + "." + section.prefix();
      ofFeatures.put(
          section.prefix(), binder.bindOrCreate(prefix, Bindable.of(section.keys()), refusals));
    }
    Map<String, Record> ofProfiles = new HashMap<>();
    for (Profile profile : Profile.all()) {
      if (profile.settings() != null) {
        String prefix = PREFIX + "." + profile.id();
        ofProfiles.put(
            profile.id(), binder.bindOrCreate(prefix, Bindable.of(profile.settings()), refusals));
      }
    }
    ServerProperties properties =
        binder.bindOrCreate(PREFIX, Bindable.of(ServerProperties.class), refusals);
    if (properties == null) {
      refusals.throwIfAny();
    }
    return properties.toConfig(ofFeatures, ofProfiles, refusals);
  }

  /**
   * Adds the defaults that depend on the profile, as the last source, so that configured values are
   * still recognizable.
   */
  private static void addDefaultsOfProfile(ConfigurableEnvironment environment) {
    String name =
        Binder.get(environment).bind(PREFIX + ".metrics.profile", String.class).orElse("");
    Map<String, Object> defaults = new HashMap<>();
    for (Profile profile : Profile.all()) {
      if (profile.id().equalsIgnoreCase(name)) {
        profile.defaults().forEach((key, value) -> defaults.put(PREFIX + "." + key, value));
      }
    }
    environment.getPropertySources().addLast(new MapPropertySource(PROFILE_SOURCE, defaults));
  }

  private static void checkPort(ConfigurableEnvironment environment, Refusals refusals) {
    String port = environment.getProperty("server.port", "0");
    Integer number = Ints.tryParse(port);
    if (number == null || number < 0 || number > MAX_PORT) {
      refusals.add(
          "server.port = " + port + ": must be a port, 1 to " + MAX_PORT + ", or 0 for a free one");
    }
  }
}
