package org.traceetl.server.binding;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.core.env.ConfigurableEnvironment;
import org.traceetl.common.ConfigException;
import org.traceetl.server.config.SeriesConfig;

/**
 * Collects everything that is wrong with a configuration, so that one check shows all of it. Used
 * for all records of a configuration: keys that one of them has are not unknown to the others.
 */
final class Refusals extends NoUnboundElementsBindHandler {
  private static final Pattern KEY = Pattern.compile("([^\\s:=]+)(?: = |: )");
  private static final Pattern ISO_DURATION = Pattern.compile(" = (PT[-.\\dHMS]+): ");

  /** In all lists together. */
  private static final int MAX_FURTHER_ITEMS = 100;

  private final ConfigurableEnvironment environment;

  /** What an unknown key is not a key of. */
  private final String owner;

  private final Set<String> messages = new LinkedHashSet<>();
  private final Set<ConfigurationPropertyName> refused = new HashSet<>();

  /** The first failure. */
  private Exception cause;

  private int furtherItems;

  Refusals(ConfigurableEnvironment environment) {
    this(environment, "this server");
  }

  /**
   * @param owner what an unknown key is not a key of, for messages
   */
  Refusals(ConfigurableEnvironment environment, String owner) {
    super(BindHandler.DEFAULT, new UnboundElementsSourceFilter());
    this.environment = environment;
    this.owner = owner;
  }

  /** Returns all problems. */
  List<String> problems() {
    return List.copyOf(messages);
  }

  /** Adds a failed value, which counts as absent. */
  @Override
  public Object onFailure(
      ConfigurationPropertyName name, Bindable<?> target, BindContext context, Exception error) {
    // Its key is known.
    onSuccess(name, target, context, null);
    // A record without a refused value may fail for that reason alone.
    if (error instanceof UnboundConfigurationPropertiesException unbound) {
      if (refused.stream().anyMatch(name::isAncestorOf)) {
        bindFurtherItems(name, target, context, unbound);
      } else {
        addUnknown(unbound);
      }
    } else if (refused.stream().noneMatch(name::isAncestorOf)) {
      explain(name, target, error);
    }
    return null;
  }

  /** Adds the unknown keys, without which the rest can still be checked. */
  @Override
  public void onFinish(
      ConfigurationPropertyName name, Bindable<?> target, BindContext context, Object result)
      throws Exception {
    try {
      super.onFinish(name, target, context, result);
    } catch (UnboundConfigurationPropertiesException e) {
      addUnknown(e);
    }
  }

  private void addUnknown(UnboundConfigurationPropertiesException unbound) {
    for (ConfigurationProperty unknown : unbound.getUnboundProperties()) {
      add(unknown(unknown), unbound);
    }
  }

  /**
   * Checks the items of a list after a refused one, at which the binder ends the list, and that one
   * again. Not all of a long list, because each takes time in proportion to the list.
   */
  private void bindFurtherItems(
      ConfigurationPropertyName list,
      Bindable<?> target,
      BindContext context,
      UnboundConfigurationPropertiesException further) {
    Bindable<?> item = Bindable.of(target.getType().asCollection().getGeneric());
    Set<ConfigurationPropertyName> checked = new HashSet<>();
    for (ConfigurationProperty property : further.getUnboundProperties()) {
      ConfigurationPropertyName name = property.getName().chop(list.getNumberOfElements() + 1);
      if (furtherItems == MAX_FURTHER_ITEMS && !checked.contains(name)) {
        // Its key counts as known.
        onSuccess(property.getName(), target, context, null);
      } else if (checked.add(name)) {
        furtherItems++;
        context.getBinder().bind(name, item, this);
      }
    }
  }

  private void explain(ConfigurationPropertyName name, Bindable<?> target, Exception error) {
    for (Throwable root = error; root != null; root = root.getCause()) {
      if (root instanceof ConfigException several) {
        refused.add(name);
        several.problems().forEach(problem -> add(located(indexed(name, problem)), error));
        return;
      }
    }
    refused.add(name);
    ConfigurationProperty property = given(name);
    String where = property == null ? name.toString() : shown(property);
    add(located(where + ": must be " + expected(target.getType().resolve(Object.class))), error);
  }

  /** Adds a problem of the form {@code key = value: what is allowed}. */
  void add(String problem) {
    add(located(problem), null);
  }

  private void add(String message, Exception reason) {
    messages.add(message);
    cause = cause == null ? reason : cause;
  }

  /** Returns what the part is made of; null if it is refused. */
  <T> T of(Supplier<T> part) {
    try {
      return part.get();
    } catch (ConfigException e) {
      e.problems().forEach(problem -> add(located(qualified(problem)), e));
    } catch (IllegalArgumentException e) {
      add(located(qualified(e.getMessage())), e);
    }
    return null;
  }

  /** Checks the part. */
  void check(Runnable part) {
    of(() -> {
      part.run();
      return null;
    });
  }

  /** The same for a section; null also if one of its keys is refused already. */
  <T> T section(String prefix, Supplier<T> part) {
    ConfigurationPropertyName name =
        ConfigurationPropertyName.of(Configuration.PREFIX + "." + prefix);
    boolean wrong = refused.stream().anyMatch(key -> key.equals(name) || name.isAncestorOf(key));
    return wrong ? null : of(part);
  }

  /**
   * @throws ConfigurationRefused with all problems, one a line, if there are some
   */
  void throwIfAny() {
    if (!messages.isEmpty()) {
      throw new ConfigurationRefused(String.join("\n", messages), cause);
    }
  }

  private static String expected(Class<?> type) {
    if (type == Duration.class) {
      return "a duration, such as 500ms, 15s or 10m";
    }
    if (type.isEnum()) {
      return "one of "
          + constants(type)
              .map(constant -> constant.toString().toLowerCase(Locale.ROOT).replace('_', '-'))
              .collect(Collectors.joining(", "));
    }
    if (type == Boolean.class) {
      return "true or false";
    }
    if (Collection.class.isAssignableFrom(type)) {
      return "a list";
    }
    if (type.isRecord() || Map.class.isAssignableFrom(type)) {
      return "a section of keys";
    }
    return Number.class.isAssignableFrom(type) ? "a number" : "valid: " + type.getSimpleName();
  }

  private static Stream<?> constants(Class<?> type) {
    // The other sources are those of trace-etl.events.
    return type == SeriesConfig.From.class
        ? Stream.of(SeriesConfig.From.SPAN, SeriesConfig.From.RESOURCE, SeriesConfig.From.ANY)
        : Arrays.stream(type.getEnumConstants());
  }

  /** Describes an unknown key without its value, which may be a secret under a misspelt key. */
  private String unknown(ConfigurationProperty property) {
    return property.getName()
        + ": is not a key of "
        + owner
        + "; "
        + ConfigFile.where(property.getOrigin());
  }

  private static String shown(ConfigurationProperty property) {
    String name = property.getName().toString();
    boolean secret = name.matches(".*(password|secret|token|api-?key).*|.*\\.url");
    return name + " = " + (secret ? "***" : property.getValue());
  }

  private static String qualified(String message) {
    return message.startsWith(Configuration.PREFIX)
        ? message
        : Configuration.PREFIX + "." + message;
  }

  /** Adds the index of a list's item, which its record does not know. */
  private static String indexed(ConfigurationPropertyName item, String message) {
    String plain = item.toString().replaceAll("\\[\\d+]", "");
    return message.matches("(?s)" + Pattern.quote(plain) + "[. :].*")
        ? item + message.substring(plain.length())
        : message;
  }

  /** Returns the message with durations as configured, and file and line if they are known. */
  private String located(String message) {
    Matcher key = KEY.matcher(message);
    if (!key.lookingAt() || !ConfigurationPropertyName.isValid(key.group(1))) {
      return message;
    }
    ConfigurationPropertyName name = ConfigurationPropertyName.of(key.group(1));
    ConfigurationProperty given = given(name);
    String as =
        ISO_DURATION
            .matcher(message)
            .replaceFirst(iso ->
                Matcher.quoteReplacement(
                    " = "
                        + (given != null && given.getValue() instanceof CharSequence text
                            ? text
                            : KeysInForce.text(Duration.parse(iso.group(1))))
                        + ": "));
    Optional<String> line =
        given == null
            ? line(ConfigurationPropertySources.get(environment), name)
            : ConfigFile.line(given.getOrigin());
    return line.map(at -> as + "; " + at).orElse(as);
  }

  /** Returns the property of the first source that has it: the value after it was not read. */
  private ConfigurationProperty given(ConfigurationPropertyName name) {
    for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
      ConfigurationProperty property = source.getConfigurationProperty(name);
      if (property != null) {
        return property;
      }
    }
    return null;
  }

  /**
   * Returns the file and line of a key. A key without a value of its own is where the first one
   * below it is, or else the first one of the list or item in which it should be. Empty if none of
   * these has a value from a file.
   */
  private static Optional<String> line(
      Iterable<ConfigurationPropertySource> sources, ConfigurationPropertyName key) {
    for (ConfigurationPropertyName at = key; !at.isEmpty(); at = at.getParent()) {
      for (ConfigurationPropertySource source : sources) {
        Optional<String> line = line(source, at, at == key || at.isLastElementIndexed());
        if (line.isPresent()) {
          return line;
        }
      }
      if (at.isLastElementIndexed()) {
        break;
      }
    }
    return Optional.empty();
  }

  /** The same for a key as text; a file without the line if no line is known. */
  static String line(Iterable<ConfigurationPropertySource> sources, String key, Path file) {
    return line(sources, ConfigurationPropertyName.adapt(key, '.')).orElse(file.toString());
  }

  /** Returns the line of the first value that a key or what is below it has, or only an item. */
  private static Optional<String> line(
      ConfigurationPropertySource source, ConfigurationPropertyName key, boolean any) {
    if (!(source instanceof IterableConfigurationPropertySource iterable)) {
      return Optional.empty();
    }
    int size = key.getNumberOfElements() + 1;
    return iterable.stream()
        .filter(each -> any && key.equals(each) || key.isAncestorOf(each))
        .filter(each -> any || each.chop(size).isLastElementIndexed())
        .findFirst()
        .flatMap(each -> ConfigFile.line(source.getConfigurationProperty(each).getOrigin()));
  }
}
