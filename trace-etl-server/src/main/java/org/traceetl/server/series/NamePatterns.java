package org.traceetl.server.series;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import java.util.List;
import org.traceetl.server.config.Glob;
import org.traceetl.server.config.TemplatesConfig;

/**
 * The configured templates of span names. Their expressions take time linear in the name, whatever
 * it is. Immutable.
 */
public final class NamePatterns {
  record Rule(Glob application, Pattern pattern, String template) {}

  private final List<Rule> rules;

  public NamePatterns(List<TemplatesConfig.Rule> patterns) {
    rules =
        patterns.stream()
            .map(p ->
                new Rule(
                    new Glob(p.application()),
                    Pattern.compile(p.pattern(), Pattern.DOTALL),
                    p.template()))
            .toList();
  }

  boolean isEmpty() {
    return rules.isEmpty();
  }

  /** The template of a name, or null if no pattern matches it. */
  String template(String application, String name) {
    for (Rule rule : rules) {
      if (rule.application.matches(application)) {
        Matcher matcher = rule.pattern.matcher(name);
        if (matcher.matches()) {
          return expand(rule.template, matcher);
        }
      }
    }
    return null;
  }

  /** A group that has no part in the match is nothing. */
  private static String expand(String template, Matcher groups) {
    StringBuilder expanded = new StringBuilder();
    for (int i = 0; i < template.length(); i++) {
      char c = template.charAt(i);
      int group = c == '$' && i + 1 < template.length() ? template.charAt(i + 1) - '0' : 0;
      if (group < 1 || group > 9) {
        expanded.append(c);
        continue;
      }
      String text = groups.group(group);
      expanded.append(text == null ? "" : text);
      i++;
    }
    return expanded.toString();
  }
}
