package org.traceetl.exporter;

import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * The SDK's keys from system properties, else from environment variables, as the SDK's
 * autoconfiguration reads them. It is for applications without autoconfiguration.
 */
final class Environment implements ConfigProperties {
  private final UnaryOperator<String> properties;
  private final UnaryOperator<String> variables;

  /**
   * @param properties returns a system property, or null
   * @param variables returns an environment variable, or null
   */
  Environment(UnaryOperator<String> properties, UnaryOperator<String> variables) {
    this.properties = properties;
    this.variables = variables;
  }

  static Environment ofProcess() {
    return new Environment(System::getProperty, System::getenv);
  }

  @Override
  public String getString(String name) {
    String property = properties.apply(name);
    return property != null
        ? property
        : variables.apply(name.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_'));
  }

  @Override
  public Boolean getBoolean(String name) {
    return parsed(name, "true or false", value -> Boolean.parseBoolean(value));
  }

  @Override
  public Integer getInt(String name) {
    return parsed(name, "an integer", Integer::valueOf);
  }

  @Override
  public Long getLong(String name) {
    return parsed(name, "an integer", Long::valueOf);
  }

  @Override
  public Double getDouble(String name) {
    return parsed(name, "a number", Double::valueOf);
  }

  @Override
  public Duration getDuration(String name) {
    return parsed(
        name,
        "a number of milliseconds, or with a unit: ns, us, ms, s, m, h, d",
        value -> {
          int end = value.length();
          while (end > 0 && !Character.isDigit(value.charAt(end - 1))) {
            end--;
          }
          long count = Long.parseLong(value.substring(0, end));
          return Duration.ofNanos(unit(value.substring(end).trim()).toNanos(count));
        });
  }

  @Override
  public List<String> getList(String name) {
    List<String> list = new ArrayList<>();
    String value = getString(name);
    if (value != null) {
      for (String element : value.split(",")) {
        if (!element.isBlank()) {
          list.add(element.trim());
        }
      }
    }
    return list;
  }

  @Override
  public Map<String, String> getMap(String name) {
    Map<String, String> map = new LinkedHashMap<>();
    for (String entry : getList(name)) {
      int equals = entry.indexOf('=');
      if (equals <= 0) {
        throw invalid(name, getString(name), "a list of key=value");
      }
      String value = entry.substring(equals + 1).trim();
      if (!value.isEmpty()) {
        map.put(entry.substring(0, equals).trim(), value);
      }
    }
    return map;
  }

  private <T> T parsed(String name, String allowed, Function<String, T> parse) {
    String value = getString(name);
    if (value == null || value.isBlank()) {
      return null;
    }
    try {
      return parse.apply(value.trim());
    } catch (IllegalArgumentException e) {
      ConfigurationException invalid = invalid(name, value, allowed);
      invalid.initCause(e);
      throw invalid;
    }
  }

  static ConfigurationException invalid(String name, String value, String allowed) {
    return new ConfigurationException(
        "Invalid value for property " + name + "=" + value + ". Must be " + allowed + ".");
  }

  private static TimeUnit unit(String text) {
    switch (text) {
      case "ns":
        return TimeUnit.NANOSECONDS;
      case "us":
        return TimeUnit.MICROSECONDS;
      case "":
      case "ms":
        return TimeUnit.MILLISECONDS;
      case "s":
        return TimeUnit.SECONDS;
      case "m":
        return TimeUnit.MINUTES;
      case "h":
        return TimeUnit.HOURS;
      case "d":
        return TimeUnit.DAYS;
      default:
        throw new IllegalArgumentException(text);
    }
  }
}
