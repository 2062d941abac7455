package org.traceetl.server.binding;

import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.traceetl.common.Secret;
import org.traceetl.server.config.Profile;

/**
 * A configuration as lines {@code key = value}, in the form of a properties file, for an operator
 * who wants to see the effective values. Secrets are asterisks; absent values are left out.
 */
public final class KeyLines {
  private final List<String> lines = new ArrayList<>();

  private KeyLines() {}

  public static List<String> of(ServerConfig config) {
    KeyLines keys = new KeyLines();
    keys.add("trace-etl", config);
    return keys.lines;
  }

  private void add(String key, Object value) {
    switch (value) {
      case null -> {}
      case Secret secret -> lines.add(key + " = " + secret);
      case Record parts -> addParts(key, parts);
      case List<?> list when !list.isEmpty() && list.getFirst() instanceof Record -> {
        for (int i = 0; i < list.size(); i++) {
          add(key + "[" + i + "]", list.get(i));
        }
      }
      default -> {
        String shown = shown(value);
        if (!shown.isEmpty()) {
          lines.add(key + " = " + shown);
        }
      }
    }
  }

  private void addParts(String key, Record parts) {
    for (RecordComponent part : parts.getClass().getRecordComponents()) {
      try {
        Object value = part.getAccessor().invoke(parts);
        if (value instanceof Map<?, ?> ofParts) {
          ofParts.forEach((id, own) -> add(key + "." + id, own));
        } else {
          add(key + "." + dashed(part.getName()), value);
        }
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(key + "." + part.getName() + " cannot be read", e);
      }
    }
  }

  private static String dashed(String name) {
    return name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
  }

  private static String shown(Object value) {
    return switch (value) {
      case Profile profile -> profile.id();
      case Enum<?> constant -> constant.name().toLowerCase(Locale.ROOT);
      case Duration duration -> shown(duration);
      case Collection<?> all -> all.stream().map(KeyLines::shown).collect(Collectors.joining(","));
      default -> value.toString();
    };
  }

  /** Returns the duration in the largest unit without a remainder. */
  private static String shown(Duration duration) {
    long millis = duration.toMillis();
    if (!Duration.ofMillis(millis).equals(duration)) {
      return duration.toNanos() + "ns";
    }
    String[] units = {"d", "h", "m", "s"};
    long[] ofUnit = {86_400_000, 3_600_000, 60_000, 1_000};
    for (int i = 0; i < units.length; i++) {
      if (millis != 0 && millis % ofUnit[i] == 0) {
        return millis / ofUnit[i] + units[i];
      }
    }
    return millis + "ms";
  }
}
