package org.traceetl.server.series;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import java.util.List;
import org.traceetl.common.WildcardPattern;
import org.traceetl.server.config.TemplatesConfig;

/** Templates of span names. Matching takes linear time for any name. Immutable. */
public final class NamePatterns {
  private static final Pattern GROUP = Pattern.compile("\\$[1-9]");

  /**
   * @param made matches every name that the template may produce
   */
  record Rule(WildcardPattern application, Pattern pattern, String template, Pattern made) {}

  private final List<Rule> rules;

  public NamePatterns(List<TemplatesConfig.Rule> patterns) {
    rules =
        patterns.stream()
            .map(p ->
                new Rule(
                    new WildcardPattern(p.application()),
                    Pattern.compile(p.pattern(), Pattern.DOTALL),
                    p.template(),
                    made(p.template())))
            .toList();
  }

  private static Pattern made(String template) {
    StringBuilder regex = new StringBuilder();
    Matcher group = GROUP.matcher(template);
    int literal = 0;
    while (group.find()) {
      regex.append(Pattern.quote(template.substring(literal, group.start()))).append(".*");
      literal = group.end();
    }
    regex.append(Pattern.quote(template.substring(literal)));
    return Pattern.compile(regex.toString(), Pattern.DOTALL);
  }

  /** Returns whether a template may produce the name. Templates of only groups produce any. */
  public boolean mayMake(String application, String name) {
    return rules.stream()
        .anyMatch(
            rule -> rule.application.matches(application) && rule.made.matcher(name).matches());
  }

  boolean isEmpty() {
    return rules.isEmpty();
  }

  /** Returns the template of a name, or null if no pattern matches it. */
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

  /** Expands a template; unmatched groups are empty. */
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
