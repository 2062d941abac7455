package org.traceetl.agent.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import java.util.function.BiFunction;

/** Reads lists of rules that give applications another choice than the default. */
final class ApplicationRules {
  private static final String LIST = "applications";
  private static final String APPLICATION = "application";
  private static final int MAX_RULES = 1_000;

  /** Most bytes of a pattern of application names. */
  private static final int MAX_PATTERN_BYTES = 1_024;

  private ApplicationRules() {}

  /**
   * Reads the list {@code applications} of a section.
   *
   * @param key of the choice in a rule
   * @param fallback for a rule without it, which is a problem
   * @param rule creates a rule from a pattern of application names and a choice
   */
  static <C extends Enum<C>, R> List<R> read(
      Settings section, String key, C fallback, BiFunction<String, C, R> rule) {
    List<R> rules = section.list(LIST, one -> rule(one, key, fallback, rule));
    if (rules.size() > MAX_RULES) {
      section.problem(
          LIST, rules.size() + " rules", "must be at most " + MAX_RULES + ": use patterns");
    }
    return rules;
  }

  private static <C extends Enum<C>, R> R rule(
      Settings settings, String key, C fallback, BiFunction<String, C, R> rule) {
    for (String required : List.of(APPLICATION, key)) {
      if (!settings.has(required)) {
        settings.missing(required);
      }
    }
    return rule.apply(
        settings.value(
            APPLICATION,
            "*",
            "a name or a pattern of 1 to " + MAX_PATTERN_BYTES + " bytes",
            node -> isPattern(node) ? node.text() : null),
        settings.choice(key, fallback));
  }

  private static boolean isPattern(YamlNode node) {
    return node.isScalar()
        && !node.text().isBlank()
        && node.text().getBytes(UTF_8).length <= MAX_PATTERN_BYTES;
  }
}
