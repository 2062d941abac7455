package org.traceetl.agent.config;

import static org.traceetl.common.ConfigException.canonical;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.traceetl.common.ConfigException;
import org.traceetl.common.Secret;

/**
 * A section of the configuration or of a file of rules. Its values are asked for by key; invalid
 * ones are collected as problems and replaced by the default. {@link #check} reports the problems,
 * and the keys that were not asked for.
 *
 * <p>In the configuration, a variable of the environment precedes the key of the file, and a key
 * without a value is absent. In a file of rules it is a problem. Problems have the line.
 */
final class Settings {
  private static final String ENVIRONMENT_PREFIX = "TRACE_ETL_AGENT_";

  /** A comma in braces belongs to a glob: {@code /log/{a,b}/trace.log}. */
  private static final String COMMA_OUTSIDE_BRACES = "\\s*,(?![^{]*})\\s*";

  /**
   * What the sections of a document share.
   *
   * @param file the configuration file's name; empty if problems do not give it
   * @param lines in the configuration file, by whole key
   */
  private record Document(
      boolean rules,
      String file,
      Map<String, Integer> lines,
      List<String> problems,
      List<Settings> sections,
      Map<String, String> environment,
      Set<String> variables,
      Map<String, Object> effective) {}

  private final Document document;
  private final String prefix;
  private final int line;
  private final Map<String, YamlNode> keys;
  private final Set<String> known = new LinkedHashSet<>();

  /** Whether it is an element of a list or of a map by names; such keys have no variables. */
  private final boolean element;

  private Settings(
      Document document, String prefix, int line, Map<String, YamlNode> keys, boolean element) {
    this.document = document;
    this.prefix = prefix;
    this.line = line;
    this.keys = keys;
    this.element = element;
    document.sections.add(this);
  }

  /**
   * Reads the configuration.
   *
   * @param file the file's name for problems; may be empty
   * @param yaml the file's content; may be empty
   * @param environment all variables; those with the prefix count
   */
  static Settings ofConfiguration(String file, String yaml, Map<String, String> environment) {
    Map<String, String> own = new TreeMap<>(environment);
    own.keySet().removeIf(name -> !name.startsWith(ENVIRONMENT_PREFIX));
    Map<String, YamlNode> flat = new LinkedHashMap<>();
    Settings settings = new Settings(document(false, file, own), "", 1, flat, false);
    try {
      flatten("", keys(YamlNode.parse(yaml)), flat);
    } catch (ConfigException e) {
      settings.document.problems.add(
          (file.isEmpty() ? "the configuration file" : file) + ": " + e.getMessage());
    }
    flat.forEach((key, node) -> settings.document.lines.put(key, node.line()));
    return settings;
  }

  /** Keys may be written with dots, as {@code --check-config} prints them. */
  private static void flatten(
      String prefix, Map<String, YamlNode> section, Map<String, YamlNode> flat) {
    section.forEach((name, node) -> {
      String key = prefix + name;
      // Names of applications may have dots.
      if (node.value() instanceof Map && !key.equals("routing.applications")) {
        flatten(key + ".", node.keys(), flat);
      } else {
        flat.put(key, node);
      }
    });
  }

  /**
   * Reads a file of rules.
   *
   * @throws ConfigException if it is not YAML with keys
   */
  static Settings ofRules(byte[] content) {
    Map<String, YamlNode> keys = keys(YamlNode.parse(content));
    return new Settings(document(true, "", Map.of()), "", 1, keys, false);
  }

  private static Map<String, YamlNode> keys(YamlNode root) {
    if (root.keys() == null) {
      throw new ConfigException(List.of("line 1: contains no keys: write `key: value` lines"));
    }
    return root.keys();
  }

  private static Document document(boolean rules, String file, Map<String, String> environment) {
    return new Document(
        rules,
        file,
        new HashMap<>(),
        new ArrayList<>(),
        new ArrayList<>(),
        environment,
        new HashSet<>(),
        new LinkedHashMap<>());
  }

  /** Returns what is written for a key, also if it is invalid; null if nothing is. */
  YamlNode node(String name) {
    known.add(name);
    YamlNode node = keys.get(name);
    if (!element) {
      document.variables.add(variable(name));
      String override = document.environment.get(variable(name));
      node = override == null ? node : ofVariable(override);
    }
    return node == null || node.value() == null && !document.rules ? null : node;
  }

  private static YamlNode ofVariable(String value) {
    if (!value.isBlank()) {
      try {
        YamlNode node = YamlNode.parse(value);
        // A value that is only a comment in YAML is text.
        if (!node.alias() && (node.value() != null || !node.text().isEmpty())) {
          return node.withoutLine();
        }
      } catch (ConfigException e) {
        // Text that is not YAML.
      }
    }
    return YamlNode.ofText(value.isBlank() ? "" : value);
  }

  private String variable(String name) {
    return ENVIRONMENT_PREFIX
        + (prefix + name).toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
  }

  /** Returns whether a key is written. */
  boolean has(String name) {
    return node(name) != null;
  }

  /**
   * Returns a value.
   *
   * @param allowed what a value must be
   * @param convert returns null if a value is invalid
   */
  <T> T value(String name, T fallback, String allowed, Function<YamlNode, T> convert) {
    YamlNode node = node(name);
    T value = fallback;
    if (node != null) {
      T converted = node.alias() ? null : convert.apply(node);
      if (converted == null) {
        invalid(name, node, allowed);
      } else {
        value = converted;
      }
    }
    show(name, value instanceof Enum<?> constant ? canonical(constant.name()) : value);
    return value;
  }

  private void show(String name, Object value) {
    if (!element) {
      document.effective.put(prefix + name, value);
    }
  }

  /** Returns a whole number in {@code [min, max]}. */
  long longInteger(String name, long fallback, long min, long max) {
    return value(
        name,
        fallback,
        "a whole number from " + min + " to " + max,
        node -> node.value() instanceof Long whole && whole >= min && whole <= max ? whole : null);
  }

  /** Returns a whole number in {@code [min, max]}. */
  int integer(String name, int fallback, int min, int max) {
    return (int) longInteger(name, fallback, min, max);
  }

  boolean flag(String name, boolean fallback) {
    return value(
        name, fallback, "true or false", node -> node.value() instanceof Boolean is ? is : null);
  }

  /** Returns a constant by its name in lower case with hyphens. */
  <E extends Enum<E>> E choice(String name, E fallback) {
    List<E> constants = List.of(fallback.getDeclaringClass().getEnumConstants());
    return value(
        name,
        fallback,
        constants.stream().map(each -> canonical(each.name())).collect(Collectors.joining(" or ")),
        node ->
            constants.stream()
                .filter(each -> canonical(each.name()).equals(node.value()))
                .findFirst()
                .orElse(null));
  }

  /** Returns text that is not blank. */
  String text(String name, String fallback) {
    return value(
        name,
        fallback,
        "text; if the key is absent, it is " + fallback,
        node -> node.isScalar() && !node.text().isBlank() ? node.text() : null);
  }

  /** Returns text of a form. */
  String text(String name, String fallback, String regex, String allowed) {
    String text = text(name, fallback);
    if (!text.matches(regex)) {
      problem(name, text, "must be " + allowed);
    }
    return text;
  }

  /** Returns text that may be empty. */
  String optional(String name) {
    return value(name, "", "text", node -> node.isScalar() ? node.text() : null);
  }

  Path path(String name, Path fallback) {
    return asPath(name, text(name, fallback.toString()));
  }

  Optional<Path> optionalPath(String name) {
    String text = optional(name);
    return text.isBlank() ? Optional.empty() : Optional.of(asPath(name, text));
  }

  private Path asPath(String name, String value) {
    try {
      return Path.of(value);
    } catch (InvalidPathException e) {
      problem(name, value, "must be a path: " + e.getReason());
      return Path.of("");
    }
  }

  /** Returns text that may be empty and is never shown. */
  String secret(String name) {
    String value = secretText(name);
    show(name, new Secret(value));
    return value;
  }

  /** Returns text that may be empty and is not shown in problems. */
  String secretText(String name) {
    YamlNode node = node(name);
    if (node != null && !node.isScalar()) {
      problem(name, "", "must be text");
    }
    return node == null || !node.isScalar() ? "" : node.text();
  }

  /**
   * Returns a secret, or the content of the file that the key with {@code -file} names.
   *
   * @return empty for neither
   */
  String secretOrFile(String name) {
    String value = secret(name);
    Optional<Path> file = optionalPath(name + "-file");
    try {
      Secret secret = Secret.of(prefix + name, value.isEmpty() ? null : value, file.orElse(null));
      return secret == null ? "" : secret.value();
    } catch (ConfigException e) {
      String key = file.isPresent() ? name + "-file" : name;
      e.problems().forEach(problem -> document.problems.add(problem + suffix(lineOf(key))));
      return value;
    }
  }

  /** Reports a variable that is set and empty: probably by mistake. */
  void requireVariable(String name, boolean isBlank) {
    if (isBlank && document.environment.containsKey(variable(name))) {
      document.problems.add(
          variable(name) + ": is set but empty: set a value, or unset the variable");
    }
  }

  /** Returns a list of text; one text is a list too, separated by commas outside braces. */
  List<String> texts(String name, List<String> fallback) {
    return value(
        name,
        fallback,
        "a list of text",
        node -> {
          if (node.value() instanceof String text) {
            return text.isBlank() ? List.of() : List.of(text.trim().split(COMMA_OUTSIDE_BRACES));
          }
          return node.isList() && node.elements().stream().allMatch(YamlNode::isScalar)
              ? node.elements().stream().map(YamlNode::text).toList()
              : null;
        });
  }

  /** Returns a section; without keys if it is absent. */
  Settings section(String name) {
    known.add(name);
    YamlNode node = keys.get(name);
    if (node != null && node.keys() == null) {
      invalid(name, node, "a section of keys");
    }
    Map<String, YamlNode> own = new LinkedHashMap<>();
    if (node != null && node.keys() != null) {
      own.putAll(node.keys());
    }
    if (!document.rules) {
      keys.forEach((key, each) -> {
        if (key.startsWith(name + ".")) {
          own.put(key.substring(name.length() + 1), each);
        }
      });
      keys.keySet().removeIf(key -> key.startsWith(name + "."));
    }
    return new Settings(
        document, prefix + name + ".", node == null ? line : node.line(), own, element);
  }

  /**
   * Returns the sections below a key, by their names.
   *
   * @param allowed what a section must be
   */
  <T> Map<String, T> sections(String name, String allowed, Function<Settings, T> read) {
    Map<String, T> sections = new LinkedHashMap<>();
    YamlNode node = node(name);
    // Ordered, because a reload compares it: the order of applications means nothing.
    show(
        name,
        node == null
            ? "{}"
            : node.keys() == null ? node.toString() : new TreeMap<>(node.keys()).toString());
    if (node != null && node.keys() == null) {
      invalid(name, node, "sections by name of the application");
    } else if (node != null) {
      node.keys()
          .forEach((key, each) -> {
            if (each.keys() == null || each.value() == null) {
              invalid(name + "." + key, each, allowed);
            } else {
              sections.put(key, read.apply(element(name + "." + key, each)));
            }
          });
    }
    return sections;
  }

  /** Returns the rules of a list of sections; none if the key has no value. */
  <T> List<T> list(String name, Function<Settings, T> read) {
    YamlNode node = node(name);
    show(name, node == null ? "[]" : node.toString());
    if (node != null && node.value() != null && !node.isList()) {
      invalid(name, node, "a list of rules");
      return new ArrayList<>();
    }
    return elements(name, node, each -> invalid(name, each, "a rule: a section of keys"), read);
  }

  /**
   * Returns the elements of a list of sections that may have secrets. Elements, not what is
   * written, are shown, so their text must mask secrets.
   *
   * @param what the elements are
   */
  <T> List<T> secretList(String name, String what, Function<Settings, T> read) {
    YamlNode node = node(name);
    String allowed = "must be a list of " + what + ", each a section of keys";
    List<T> elements = new ArrayList<>();
    if (node != null && node.value() != null && !node.isList()) {
      problem(name, "", allowed);
    } else {
      elements = elements(name, node, each -> problem(name, "", allowed, each.line()), read);
    }
    show(name, List.copyOf(elements));
    return elements;
  }

  private <T> List<T> elements(
      String name, YamlNode list, Consumer<YamlNode> refuse, Function<Settings, T> read) {
    List<T> elements = new ArrayList<>();
    if (list == null || list.value() == null) {
      return elements;
    }
    for (YamlNode each : list.elements()) {
      if (each.keys() == null || each.value() == null) {
        refuse.accept(each);
      } else {
        elements.add(read.apply(element(name, each)));
      }
    }
    return elements;
  }

  private Settings element(String name, YamlNode node) {
    return new Settings(document, prefix + name + ".", node.line(), node.keys(), true);
  }

  /** Reports a value that is not allowed. */
  void invalid(String name, YamlNode value, String allowed) {
    String hint = value.alias() ? "; quote a value that begins with *" : "";
    problem(name, value.shown(), "must be " + allowed + hint, value.line());
  }

  /** Reports a problem with a value. */
  void problem(String name, Object value, String rule) {
    problem(name, value, rule, lineOf(name));
  }

  /** Reports a problem with a value at a line. */
  void problem(String name, Object value, String rule, int line) {
    document.problems.add(where(line) + prefix + name + " = " + value + ": " + rule + suffix(line));
  }

  /** Reports that a required key is absent. */
  void missing(String names) {
    document.problems.add(
        where(line) + prefix + names + ": is missing in the rule that begins here" + suffix(line));
  }

  /** Returns the line of a key's value; 0 if it is not in the configuration file. */
  private int lineOf(String name) {
    if (document.rules || element) {
      return keys.containsKey(name) ? keys.get(name).line() : line;
    }
    return document.environment.containsKey(variable(name))
        ? 0
        : document.lines.getOrDefault(prefix + name, 0);
  }

  private String where(int line) {
    return document.rules ? "line " + line + ": " : "";
  }

  private String suffix(int line) {
    return document.file.isEmpty() || line == 0 ? "" : "; " + document.file + ":" + line;
  }

  /**
   * Ends the reading of the document.
   *
   * @throws ConfigException with all problems of all sections
   */
  void check() {
    document.sections.forEach(Settings::addUnknown);
    document.environment.keySet().stream()
        .filter(variable -> !document.variables.contains(variable))
        .forEach(variable ->
            document.problems.add(
                variable
                    + (isSection(variable)
                        ? ": is a section of keys: set a variable for each of its keys"
                        : ": this environment variable belongs to no key")));
    if (!document.problems.isEmpty()) {
      throw new ConfigException(document.problems);
    }
  }

  private boolean isSection(String variable) {
    return document.sections.stream()
        .anyMatch(section -> section.variable("").equals(variable + "_"));
  }

  private void addUnknown() {
    // Without values: a mistyped key may have a secret.
    keys.forEach((name, node) -> {
      if (!known.contains(name)) {
        document.problems.add(
            where(node.line())
                + prefix
                + name
                + ": no such key; known are "
                + String.join(", ", known)
                + suffix(node.line()));
      }
    });
  }

  /** Returns the values in force by key, in the order of the questions; secrets are masked. */
  Map<String, Object> effective() {
    return document.effective;
  }
}
