package org.traceetl.agent.config;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.traceetl.agent.config.RoutingRules.Rule;
import org.traceetl.agent.config.RoutingRules.Spread;
import org.traceetl.common.ConfigException;
import tools.jackson.core.JsonToken;

/**
 * The routing file: the same on all agents, and read anew while they run.
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
 * What it does not say is as in the rules beneath it; an application that it names has no other
 * rule than that, and a list of excluded ones replaces the one beneath.
 */
public final class RoutingFile {
  /** More rules, or more excluded names, are refused. */
  static final int MAX_NAMES = 10_000;

  private RoutingFile() {}

  /**
   * What a content of the file says.
   *
   * @param beneath the rules that hold where it says nothing
   * @throws ConfigException with all that is wrong, each with its line
   */
  public static RoutingRules parse(byte[] content, RoutingRules beneath) throws ConfigException {
    return new Reading(beneath).rules(content);
  }

  private static final class Reading extends YamlReading {
    private int queues;
    private Spread spread;
    private final Map<String, Rule> applications;
    private final Map<String, Named> named = new LinkedHashMap<>();
    private Set<String> excluded;

    /** An application's section; null for what it leaves to the standard. */
    private static final class Named {
      private Integer queues;
      private Spread spread;
    }

    Reading(RoutingRules beneath) {
      queues = beneath.standard().queues();
      spread = beneath.standard().spread();
      applications = new LinkedHashMap<>(beneath.applications());
      excluded = beneath.excluded();
    }

    RoutingRules rules(byte[] content) throws ConfigException {
      document(content, "queues-per-application, spread, applications, exclude", this::read);
      if (applications.size() + named.size() > MAX_NAMES || excluded.size() > MAX_NAMES) {
        problem("more than " + MAX_NAMES + " names: use patterns");
      }
      check();
      named.forEach((name, section) ->
          applications.put(
              name,
              new Rule(
                  section.queues == null ? queues : section.queues,
                  section.spread == null ? spread : section.spread,
                  section.queues != null)));
      return new RoutingRules(new Rule(queues, spread, false), applications, excluded);
    }

    private boolean read(String name, String key) {
      switch (name) {
        case "queues-per-application" -> queues = queues(key, queues);
        case "spread" -> spread = choice(key, spread);
        case "applications" -> applications(key);
        case "exclude" ->
            excluded =
                new HashSet<>(
                    texts(key, "a list of names of applications", "names of applications"));
        default -> {
          return false;
        }
      }
      return true;
    }

    private void applications(String key) {
      if (isAt(JsonToken.START_OBJECT)) {
        section(key + ".", "", this::application);
      } else if (!isAt(JsonToken.VALUE_NULL)) {
        problem(key, "sections by name of the application");
      }
    }

    private boolean application(String name, String key) {
      if (isAt(JsonToken.START_OBJECT)) {
        Named section = new Named();
        section(key + ".", "queues, spread", (part, partKey) -> read(section, part, partKey));
        named.put(name, section);
      } else {
        problem(key, "a section with queues, spread or both");
      }
      return true;
    }

    private boolean read(Named section, String name, String key) {
      switch (name) {
        case "queues" -> section.queues = queues(key, 1);
        case "spread" -> section.spread = choice(key, Spread.SERIES);
        default -> {
          return false;
        }
      }
      return true;
    }

    private int queues(String key, int otherwise) {
      return integer(key, 1, RoutingRules.MAX_QUEUES, otherwise);
    }
  }
}
