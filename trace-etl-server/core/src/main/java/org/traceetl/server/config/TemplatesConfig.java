package org.traceetl.server.config;

import static org.traceetl.server.config.ConfigException.check;
import static org.traceetl.server.config.ConfigException.orElse;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.List;

/**
 * What becomes of span names with identifiers in them: {@code trace-etl.series.templates}. A
 * missing value is its default.
 *
 * @param enabled whether numbers, UUIDs, hashes, e-mail addresses and dates in names are replaced;
 *     default true
 * @param patterns names that match one of these are replaced by its template instead, the first
 *     that matches decides; in force also where {@code enabled} is false; default none
 * @param learn names that are learnt; not in force where {@code enabled} is false
 */
public record TemplatesConfig(Boolean enabled, List<Rule> patterns, LearnConfig learn) {
  private static final String PREFIX = "trace-etl.series.templates.";
  private static final int MAX_PATTERNS = 100;
  private static final int MAX_LENGTH = 1_000;

  public TemplatesConfig {
    enabled = orElse(enabled, true);
    patterns = List.copyOf(orElse(patterns, List.of()));
    learn = orElse(learn, LearnConfig.defaults());
    check(
        patterns.size() <= MAX_PATTERNS,
        PREFIX + "patterns",
        patterns.size() + " of them",
        "must be at most " + MAX_PATTERNS);
  }

  public static TemplatesConfig defaults() {
    return new TemplatesConfig(null, null, null);
  }

  /**
   * Names that get a template of their own.
   *
   * @param application {@code *} in it stands for any characters; default {@code *}
   * @param pattern a regular expression of RE2 that the whole name must match
   * @param template what the name becomes; {@code $1} to {@code $9} stand for the pattern's groups
   */
  public record Rule(String application, String pattern, String template) {
    public Rule {
      application = orElse(application, "*");
      checkText("pattern", pattern);
      checkText("template", template);
      int groups = groups(pattern);
      for (int i = 0; i + 1 < template.length(); i++) {
        int group = template.charAt(i) == '$' ? template.charAt(i + 1) - '0' : 0;
        check(
            group <= groups || group > 9,
            PREFIX + "patterns.template",
            template,
            "names group $" + group + ", and the pattern has " + groups);
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
