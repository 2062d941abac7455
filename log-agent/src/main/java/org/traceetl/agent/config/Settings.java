package org.traceetl.agent.config;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * Values by dotted key, from the environment or else a YAML document, with what is wrong with them
 * collected. Each key is asked for once; what nobody asked for is unknown and a problem as well.
 */
final class Settings {
  static final String ENVIRONMENT_PREFIX = "TRACE_ETL_AGENT_";

  private static final YAMLMapper YAML =
      YAMLMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  /** A comma in braces belongs to a glob: {@code /log/{a,b}/trace.log}. */
  private static final String COMMA_OUTSIDE_BRACES = "\\s*,(?![^{]*})\\s*";

  private final Map<String, Object> file = new TreeMap<>();
  private final Map<String, String> environment = new TreeMap<>();
  private final Map<String, Object> effective = new LinkedHashMap<>();
  private final Set<String> known = new TreeSet<>();
  private final Set<String> knownVariables = new TreeSet<>();
  private final List<String> problems = new ArrayList<>();

  /**
   * @param yaml the document; may be empty
   * @param environment all variables; those with the prefix count
   */
  Settings(String yaml, Map<String, String> environment) {
    environment.forEach((name, value) -> {
      if (name.startsWith(ENVIRONMENT_PREFIX)) {
        this.environment.put(name, value);
      }
    });
    try {
      Object document = yaml.isBlank() ? null : YAML.readValue(yaml, Object.class);
      if (document instanceof Map<?, ?> root) {
        flatten("", root);
      } else if (document != null) {
        problems.add("the file contains no keys: write `key: value` lines");
      }
    } catch (JacksonException e) {
      problems.add(
          "the file is not YAML: "
              + e.getOriginalMessage().lines().findFirst().orElse("")
              + " at line "
              + e.getLocation().getLineNr());
    }
  }

  private void flatten(String prefix, Map<?, ?> section) {
    section.forEach((name, value) -> {
      String key = prefix + name;
      file.put(key, value);
      // A list of applications is a value: its names are not ours.
      if (value instanceof Map<?, ?> child && !key.equals("routing.applications")) {
        file.remove(key);
        flatten(key + ".", child);
      }
    });
  }

  static String variable(String key) {
    return ENVIRONMENT_PREFIX + key.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
  }

  /** The value as it stands, or null. */
  private Object raw(String key) {
    known.add(key);
    knownVariables.add(variable(key));
    String override = environment.get(variable(key));
    if (override == null) {
      return file.get(key);
    }
    try {
      return override.isBlank() ? "" : YAML.readValue(override, Object.class);
    } catch (JacksonException e) {
      // Not YAML, then it is text: "*.log" is one.
      return override;
    }
  }

  private <T> T value(String key, T fallback, String expected, Function<Object, T> convert) {
    Object raw = raw(key);
    T value = fallback;
    if (raw != null) {
      T converted = convert.apply(raw);
      if (converted == null) {
        problem(key, raw, "not " + expected);
      } else {
        value = converted;
      }
    }
    effective.put(key, value);
    return value;
  }

  /** A whole number in {@code [min, max]}. */
  int integer(String key, int fallback, int min, int max) {
    return value(
        key,
        fallback,
        "a whole number from " + min + " to " + max,
        raw -> raw instanceof Integer i && i >= min && i <= max ? i : null);
  }

  /** A whole number in {@code [min, max]} that may be larger than an {@code int}. */
  long longInteger(String key, long fallback, long min, long max) {
    return value(
        key,
        fallback,
        "a whole number from " + min + " to " + max,
        raw ->
            (raw instanceof Integer || raw instanceof Long)
                    && ((Number) raw).longValue() >= min
                    && ((Number) raw).longValue() <= max
                ? ((Number) raw).longValue()
                : null);
  }

  boolean flag(String key, boolean fallback) {
    return value(key, fallback, "true or false", raw -> raw instanceof Boolean b ? b : null);
  }

  /** Text that is not blank. */
  String text(String key, String fallback) {
    return value(
        key,
        fallback,
        "text: set it, or leave the key out for " + fallback,
        raw -> isScalar(raw) && !raw.toString().isBlank() ? raw.toString() : null);
  }

  /** Text that may be empty and is never shown. */
  String secret(String key) {
    Object raw = raw(key);
    String value = raw == null ? "" : raw.toString();
    effective.put(key, new Masked(value));
    return value;
  }

  /** A secret that can be compared, and not seen. */
  private record Masked(String value) {
    @Override
    public String toString() {
      return value.isEmpty() ? "" : "********";
    }
  }

  /** Text that may be empty, but not by a variable: whoever sets one means to have it. */
  String secretOfVariable(String key) {
    return notBlank(key, secret(key));
  }

  /** The same for text that is shown. */
  String optionalOfVariable(String key) {
    return notBlank(key, optional(key));
  }

  private String notBlank(String key, String value) {
    if (value.isBlank() && environment.containsKey(variable(key))) {
      problems.add(variable(key) + ": is set but empty: set a value, or unset the variable");
    }
    return value;
  }

  /** Text that may be empty. */
  String optional(String key) {
    return value(key, "", "text", raw -> isScalar(raw) ? raw.toString() : null);
  }

  /** A list of text; one text alone is a list as well, separated by commas outside braces. */
  List<String> texts(String key, List<String> fallback) {
    return value(
        key,
        fallback,
        "a list of text",
        raw -> {
          if (raw instanceof String text) {
            return text.isBlank() ? List.of() : List.of(text.trim().split(COMMA_OUTSIDE_BRACES));
          }
          return raw instanceof List<?> list && list.stream().allMatch(Settings::isScalar)
              ? list.stream().map(Object::toString).toList()
              : null;
        });
  }

  /** Sections by name. */
  Map<String, Map<?, ?>> sections(String key) {
    return value(
        key,
        Map.of(),
        "sections by name",
        raw -> {
          if (!(raw instanceof Map<?, ?> map)) {
            return null;
          }
          Map<String, Map<?, ?>> sections = new LinkedHashMap<>();
          map.forEach((name, section) -> {
            if (section instanceof Map<?, ?> values) {
              sections.put(name.toString(), values);
            } else {
              problem(key + "." + name, section, "not a section");
            }
          });
          return sections;
        });
  }

  private static boolean isScalar(Object raw) {
    return raw instanceof String || raw instanceof Number || raw instanceof Boolean;
  }

  void problem(String key, Object value, String whatIsWrong) {
    problems.add(key + " = " + value + ": " + whatIsWrong);
  }

  /** Adds what was set and never asked for to the problems, and returns them all. */
  List<String> problems() {
    // Values are left out: what stands under a mistyped key may be a secret.
    for (String key : file.keySet()) {
      if (!known.contains(key)) {
        problems.add(key + ": no such key; " + nearest(key));
      }
    }
    for (String variable : environment.keySet()) {
      if (!knownVariables.contains(variable)) {
        problems.add(variable + ": this environment variable belongs to no key");
      }
    }
    return problems;
  }

  private String nearest(String key) {
    String section = key.contains(".") ? key.substring(0, key.lastIndexOf('.') + 1) : "";
    List<String> candidates = known.stream().filter(k -> k.startsWith(section)).toList();
    return "known are " + String.join(", ", candidates.isEmpty() ? known : candidates);
  }

  /**
   * The values in force by dotted key, in the order they were asked for; secrets show a mask, and
   * are equal if they are.
   */
  Map<String, Object> effective() {
    return effective;
  }
}
