package org.traceetl.server.config;

import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.orElse;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.List;
import org.traceetl.common.ConfigException;

/**
 * The replacement of identifiers in span names: {@code trace-etl.series.templates}. A missing value
 * is its default.
 *
 * @param enabled whether identifiers in span names are replaced
 * @param patterns own templates, at most 100; the first match applies, before the built-in rules
 *     and without them
 */
public record TemplatesConfig(Boolean enabled, List<Rule> patterns) {
  private static final String PREFIX = "trace-etl.series.templates.";
  private static final int MAX_PATTERNS = 100;
  private static final int MAX_LENGTH = 1_000;
  private static final int MAX_INSTRUCTIONS = 1_000;
  private static final int MAX_INSTRUCTIONS_OF_ALL = 10_000;

  public TemplatesConfig {
    enabled = orElse(enabled, true);
    patterns = List.copyOf(orElse(patterns, List.of()));
    check(
        patterns.size() <= MAX_PATTERNS,
        PREFIX + "patterns",
        patterns.size() + " of them",
        "must be at most " + MAX_PATTERNS);
    long instructions = patterns.stream().mapToLong(rule -> PatternSize.of(rule.pattern)).sum();
    check(
        instructions <= MAX_INSTRUCTIONS_OF_ALL,
        PREFIX + "patterns",
        patterns.size() + " of them with about " + instructions + " instructions",
        "must have at most " + MAX_INSTRUCTIONS_OF_ALL + " instructions");
  }

  public static TemplatesConfig defaults() {
    return new TemplatesConfig(null, null);
  }

  /**
   * Names with a template of their own.
   *
   * @param application application, with {@code *} as wildcard; default all
   * @param pattern RE2 expression of 1 to 1000 characters that matches the whole name, about 1000
   *     instructions with its repetitions written out, and all patterns together 10000; required
   * @param template new name of 1 to 1000 characters, with {@code $1} to {@code $9} for groups;
   *     required. Names of this form are not learnt from
   */
  public record Rule(String application, String pattern, String template) {
    public Rule {
      application = orElse(application, "*");
      checkText("pattern", pattern);
      checkText("template", template);
      long instructions = PatternSize.of(pattern);
      check(
          instructions <= MAX_INSTRUCTIONS,
          PREFIX + "patterns.pattern",
          pattern,
          "must have at most "
              + MAX_INSTRUCTIONS
              + " instructions, not about "
              + instructions
              + ": write fewer or smaller counts in braces");
      int groups = groups(pattern);
      for (int i = 0; i + 1 < template.length(); i++) {
        int group = template.charAt(i) == '$' ? template.charAt(i + 1) - '0' : 0;
        check(
            group <= groups || group > 9,
            PREFIX + "patterns.template",
            template,
            "refers to group $" + group + ", but the number of groups in the pattern is " + groups);
      }
    }

    private static void checkText(String name, String text) {
      check(
          text != null && !text.isEmpty() && text.length() <= MAX_LENGTH,
          PREFIX + "patterns." + name,
          text,
          "must be 1 to " + MAX_LENGTH + " characters");
    }

    private static int groups(String pattern) {
      try {
        return Pattern.compile(pattern).groupCount();
      } catch (PatternSyntaxException e) {
        throw new ConfigException(
            PREFIX + "patterns.pattern",
            pattern,
            "must be a regular expression: " + e.getMessage());
      }
    }
  }
}
