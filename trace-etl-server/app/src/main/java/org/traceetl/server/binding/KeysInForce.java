package org.traceetl.server.binding;

import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertySource;
import org.traceetl.common.Secret;
import org.traceetl.server.config.ConfigSection;
import org.traceetl.server.config.Profile;

/**
 * All keys with their effective values and origins: every key of this server, and the configured
 * keys of Spring Boot. No value is a secret.
 */
public final class KeysInForce {
  /**
   * One key.
   *
   * @param value effective value; {@code ***} for a secret, null for none
   * @param from origin: a line of a file, the environment, the command line; null for a default
   */
  public record Key(String key, String value, String from) {}

  private static final String MASK = "***";
  private static final Pattern SECRET =
      Pattern.compile(".*(password|secret|token|key|credential|json).*");

  /** Keys whose names contain the word of a secret but are not secret. */
  private static final Pattern NO_SECRET =
      Pattern.compile(".*(-file|-location|certificate|-type|-alias|store|private-key|-label)");

  private static final Pattern INLINE = Pattern.compile("-----BEGIN|^base64:");
  private static final Pattern USER_OF_ADDRESS = Pattern.compile("://[^/@\\s]*@");

  /** Behind the host: some receivers have a token in the path. */
  private static final Pattern REST_OF_ADDRESS = Pattern.compile("(://[^/?#\\s]+)[/?#]\\S+");

  private static final List<ConfigurationPropertyName> SPRING =
      List.of(
          ConfigurationPropertyName.of("server"),
          ConfigurationPropertyName.of("spring"),
          ConfigurationPropertyName.of("management"),
          ConfigurationPropertyName.of("logging"));

  /** Names of sources that the operator has not set. */
  private static final List<String> DEFAULTS =
      List.of("defaultProperties", Configuration.PROFILE_SOURCE, "from-configuration");

  private static final List<String> OF_THE_MACHINE =
      List.of(
          "systemProperties",
          "servletConfigInitParams",
          "servletContextInitParams",
          "applicationInfo");

  private final ServerConfig config;
  private final List<ConfigurationPropertySource> sources = new ArrayList<>();
  private final Map<String, Key> keys = new TreeMap<>();

  private KeysInForce(ServerConfig config, ConfigurableEnvironment environment) {
    this.config = config;
    for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
      if (!(source.getUnderlyingSource() instanceof PropertySource<?> told)
          || !DEFAULTS.contains(told.getName())) {
        sources.add(source);
      }
    }
    addOwn(Configuration.PREFIX, ServerProperties.class, List.of());
    for (ConfigSection<?, ?> section : Features.sections()) {
      addOwn(
          Configuration.PREFIX + "." + section.prefix(),
          section.keys(),
          List.of("ofFeatures", section.prefix()));
    }
    for (Profile profile : Profile.all()) {
      if (profile.settings() != null) {
        addOwn(
            Configuration.PREFIX + "." + profile.id(),
            profile.settings(),
            List.of("ofProfiles", profile.id()));
      }
    }
    addSprings();
  }

  /** Returns all keys, sorted. */
  public static List<Key> of(ServerConfig config, ConfigurableEnvironment environment) {
    return List.copyOf(new KeysInForce(config, environment).keys.values());
  }

  /**
   * @param path names of the record components down to this type
   */
  private void addOwn(String prefix, Class<?> type, List<String> path) {
    for (RecordComponent component : type.getRecordComponents()) {
      String key = prefix + "." + kebab(component.getName());
      List<String> here = new ArrayList<>(path);
      here.add(component.getName());
      if (component.getType().isRecord()) {
        addOwn(key, component.getType(), here);
      } else {
        keys.put(key, own(key, here));
      }
    }
  }

  private Key own(String key, List<String> path) {
    ConfigurationPropertyName name = ConfigurationPropertyName.of(key);
    String from = null;
    Object told = null;
    for (ConfigurationPropertySource source : sources) {
      ConfigurationProperty property = source.getConfigurationProperty(name);
      if (property != null) {
        told = property.getValue();
        from = ConfigFile.where(property.getOrigin());
      } else {
        from = ofItem(source, name);
      }
      if (from != null) {
        break;
      }
    }
    Object value = valueAt(path);
    return new Key(key, masked(key, value == null ? told : value), from);
  }

  /**
   * Returns the origin of a list's first item; null if the list is not configured or the value is
   * not a list.
   */
  private static String ofItem(ConfigurationPropertySource source, ConfigurationPropertyName name) {
    ConfigurationPropertyName first = null;
    if (source instanceof IterableConfigurationPropertySource iterable) {
      String item = withoutSeparators(name) + "[";
      for (ConfigurationPropertyName each : iterable) {
        // Environment variables have no order.
        if (withoutSeparators(each).startsWith(item)
            && (first == null || each.compareTo(first) < 0)) {
          first = each;
        }
      }
    }
    return first == null
        ? null
        : ConfigFile.where(source.getConfigurationProperty(first).getOrigin());
  }

  /**
   * Returns the name without separators: an environment variable does not show which of its
   * underscores are dashes.
   */
  private static String withoutSeparators(ConfigurationPropertyName name) {
    return name.toString().replaceAll("[.-]", "");
  }

  /** Returns null if the records have no such value, such as the path of a secret's file. */
  private Object valueAt(List<String> path) {
    Object value = config;
    for (String name : path) {
      if (value == null) {
        return null;
      }
      value = component(value, name);
    }
    return value;
  }

  private static Object component(Object of, String name) {
    if (of instanceof Map<?, ?> map) {
      return map.get(name);
    }
    if (of.getClass().isRecord()) {
      for (RecordComponent component : of.getClass().getRecordComponents()) {
        if (component.getName().equals(name)) {
          return read(of, component);
        }
      }
    }
    return null;
  }

  private static Object read(Object of, RecordComponent component) {
    try {
      return component.getAccessor().invoke(of);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(component + " cannot be read", e);
    }
  }

  private void addSprings() {
    for (ConfigurationPropertySource source : sources) {
      boolean ofTheMachine =
          source.getUnderlyingSource() instanceof PropertySource<?> told
              && OF_THE_MACHINE.contains(told.getName());
      if (!ofTheMachine && source instanceof IterableConfigurationPropertySource iterable) {
        for (ConfigurationPropertyName name : iterable) {
          if (SPRING.stream().anyMatch(section -> section.isAncestorOf(name))) {
            ConfigurationProperty property = source.getConfigurationProperty(name);
            String key = name.toString();
            keys.putIfAbsent(
                key,
                new Key(
                    key, masked(key, property.getValue()), ConfigFile.where(property.getOrigin())));
          }
        }
      }
    }
  }

  private static String masked(String key, Object value) {
    if (value == null) {
      return null;
    }
    String last = key.substring(key.lastIndexOf('.') + 1);
    if (SECRET.matcher(last).matches() && !NO_SECRET.matcher(last).matches()) {
      return MASK;
    }
    String text = text(value);
    if (last.equals("url")) {
      text = REST_OF_ADDRESS.matcher(text).replaceAll("$1/" + MASK);
    }
    // If Spring accepts the path of a key, it accepts the key itself as well.
    return INLINE.matcher(text).find()
        ? MASK
        : USER_OF_ADDRESS.matcher(text).replaceAll("://" + MASK + "@");
  }

  private static String text(Object value) {
    return switch (value) {
      case null -> "";
      case Secret secret -> secret.toString();
      case Profile profile -> profile.id();
      case Duration duration -> text(duration);
      case Enum<?> constant -> constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
      case Collection<?> several ->
          several.stream().map(KeysInForce::text).collect(Collectors.joining(", "));
      case Map<?, ?> map ->
          map.entrySet().stream()
              .map(entry -> text(entry.getKey()) + ": " + text(entry.getValue()))
              .sorted()
              .collect(Collectors.joining(", "));
      case Record several ->
          Arrays.stream(several.getClass().getRecordComponents())
              .map(component -> part(component, read(several, component)))
              .collect(Collectors.joining(", ", "{", "}"));
      default -> String.valueOf(value);
    };
  }

  private static String part(RecordComponent component, Object value) {
    String name = kebab(component.getName());
    return name + ": " + (value == null ? "" : masked(name, value));
  }

  /** Returns the duration as in a configuration: in the largest unit without a remainder. */
  static String text(Duration duration) {
    long millis = duration.toMillis();
    if (millis == 0) {
      return "0s";
    }
    for (TimeUnit unit :
        List.of(TimeUnit.DAYS, TimeUnit.HOURS, TimeUnit.MINUTES, TimeUnit.SECONDS)) {
      if (millis % unit.toMillis(1) == 0) {
        return millis / unit.toMillis(1) + unit.name().substring(0, 1).toLowerCase(Locale.ROOT);
      }
    }
    return millis + "ms";
  }

  private static String kebab(String name) {
    return name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
  }
}
