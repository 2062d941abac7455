package org.traceetl.agent.config;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.traceetl.agent.config.RoutingRules.Rule;
import org.traceetl.agent.config.RoutingRules.Spread;
import org.traceetl.common.ConfigException;

/**
 * The routing file. All agents have the same, and reload it.
 *
 * <pre>
 * queues-per-application: 2
 * spread: series
 * applications:
 *   checkout: {queues: 8}
 *   "batch-*": {queues: 1}
 * exclude: [load-test, "canary-*"]
 * </pre>
 *
 * The rules below the file apply to everything that it omits. An application in the file has only
 * the rule of the file, and a list of excluded applications replaces the one below.
 */
public final class RoutingFile {
  /** Most rules, and most excluded names. */
  private static final int MAX_NAMES = 10_000;

  private RoutingFile() {}

  /**
   * Reads the content of the file.
   *
   * @param below the rules where the file has none
   * @throws ConfigException with all problems, each with its line
   */
  public static RoutingRules parse(byte[] content, RoutingRules below) {
    Settings file = Settings.ofRules(content);
    RoutingRules read = read(file, below);
    Set<String> excluded = excluded(file, below.excluded());
    if (read.applications().size() > MAX_NAMES || excluded.size() > MAX_NAMES) {
      file.problem(
          "applications, exclude",
          read.applications().size() + " and " + excluded.size() + " names",
          "must be at most " + MAX_NAMES + ": use patterns");
    }
    file.check();
    return new RoutingRules(read.standard(), read.applications(), excluded);
  }

  /** Reads the keys that the file and the section {@code routing} have in common. */
  static RoutingRules read(Settings section, RoutingRules below) {
    Rule standard =
        new Rule(
            queues(section, "queues-per-application", below.standard().queues()),
            section.choice("spread", below.standard().spread()),
            false);
    Map<String, Rule> applications = new LinkedHashMap<>(below.applications());
    applications.putAll(
        section.sections(
            "applications",
            "a section with queues, spread or both",
            rule -> {
              int queues = queues(rule, "queues", standard.queues());
              Spread spread = rule.choice("spread", standard.spread());
              return new Rule(queues, spread, rule.has("queues"));
            }));
    return new RoutingRules(standard, applications, below.excluded());
  }

  private static int queues(Settings section, String key, int fallback) {
    return section.integer(key, fallback, 1, RoutingRules.MAX_QUEUES);
  }

  private static Set<String> excluded(Settings file, Set<String> below) {
    YamlNode node = file.node("exclude");
    if (node == null) {
      return below;
    }
    Set<String> names = new HashSet<>();
    if (!node.isList()) {
      file.invalid("exclude", node, "a list of names of applications");
      return names;
    }
    for (YamlNode name : node.elements()) {
      if (name.isScalar() && !name.text().isEmpty()) {
        names.add(name.text());
      } else {
        file.invalid("exclude", name, "the name of an application");
      }
    }
    return names;
  }
}
