package org.traceetl.server.binding;

import com.google.common.primitives.Ints;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.traceetl.common.ConfigException;
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
   * @throws ConfigurationRefused with the key, its value and what is allowed
   */
  public static ServerConfig bind(ConfigurableEnvironment environment) {
    checkPort(environment);
    addDefaultsOfProfile(environment);
    try {
      Binder binder = Binder.get(environment);
      // One handler for all records: keys that it has bound for a part are not unknown
      // afterwards.
      BindHandler known =
          new NoUnboundElementsBindHandler(BindHandler.DEFAULT, new UnboundElementsSourceFilter());
      Map<String, Record> ofFeatures = new HashMap<>();
      for (ConfigSection<?, ?> section : Features.sections()) {
        String prefix = PREFIX + "." + section.prefix();
        ofFeatures.put(
            section.prefix(), binder.bindOrCreate(prefix, Bindable.of(section.keys()), known));
      }
      Map<String, Record> ofProfiles = new HashMap<>();
      for (Profile profile : Profile.all()) {
        if (profile.settings() != null) {
          String prefix = PREFIX + "." + profile.id();
          ofProfiles.put(
              profile.id(), binder.bindOrCreate(prefix, Bindable.of(profile.settings()), known));
        }
      }
      return binder
          .bindOrCreate(PREFIX, Bindable.of(ServerProperties.class), known)
          .toConfig(ofFeatures, ofProfiles);
    } catch (BindException e) {
      throw new ConfigurationRefused(located(environment, explain(e)), e);
    } catch (IllegalArgumentException e) {
      throw new ConfigurationRefused(located(environment, qualified(e.getMessage())), e);
    }
  }

  /** Returns the message with file and line, if the refused value is in a file. */
  private static String located(ConfigurableEnvironment environment, String message) {
    int end = message.indexOf(" = ");
    String key = message.substring(0, Math.max(0, end));
    if (key.isEmpty() || !ConfigurationPropertyName.isValid(key)) {
      return message;
    }
    ConfigurationPropertyName name = ConfigurationPropertyName.of(key);
    for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
      ConfigurationProperty property = source.getConfigurationProperty(name);
      if (property != null) {
        // The first source applies; the value after it was not read.
        return ConfigFile.line(property.getOrigin())
            .map(line -> message + "; " + line)
            .orElse(message);
      }
    }
    return message;
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

  private static void checkPort(ConfigurableEnvironment environment) {
    String port = environment.getProperty("server.port", "0");
    Integer number = Ints.tryParse(port);
    if (number == null || number < 0 || number > MAX_PORT) {
      throw new ConfigurationRefused(
          located(
              environment,
              "server.port = "
                  + port
                  + ": must be a port, 1 to "
                  + MAX_PORT
                  + ", or 0 for a free one"),
          null);
    }
  }

  private static String explain(BindException failure) {
    Throwable root = failure;
    while (root.getCause() != null) {
      root = root.getCause();
      if (root instanceof UnboundConfigurationPropertiesException unbound) {
        return unbound.getUnboundProperties().stream()
            .map(Configuration::unknown)
            .collect(Collectors.joining("\n"));
      }
      if (root instanceof ConfigException) {
        return root.getMessage();
      }
    }
    ConfigurationProperty property = failure.getProperty();
    String where = property == null ? failure.getName().toString() : shown(property);
    return where + ": must be " + expected(failure.getTarget().getType().resolve(Object.class));
  }

  private static String expected(Class<?> type) {
    if (type == Duration.class) {
      return "a duration, such as 500ms, 15s or 10m";
    }
    if (type.isEnum()) {
      return "one of "
          + Arrays.stream(type.getEnumConstants())
              .map(constant -> constant.toString().toLowerCase(Locale.ROOT))
              .collect(Collectors.joining(", "));
    }
    return Number.class.isAssignableFrom(type) ? "a number" : "a " + type.getSimpleName();
  }

  /** Describes an unknown key without its value, which may be a secret under a misspelt key. */
  private static String unknown(ConfigurationProperty property) {
    return property.getName()
        + ": is not a key of this server; "
        + ConfigFile.where(property.getOrigin());
  }

  private static String shown(ConfigurationProperty property) {
    String name = property.getName().toString();
    boolean secret = name.matches(".*(password|secret|token|api-?key).*");
    return name + " = " + (secret ? "***" : property.getValue());
  }

  private static String qualified(String message) {
    return message.startsWith(PREFIX) ? message : PREFIX + "." + message;
  }
}
