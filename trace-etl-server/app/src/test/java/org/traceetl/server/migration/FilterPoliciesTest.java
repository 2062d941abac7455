package org.traceetl.server.migration;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.re2j.Pattern;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.common.WildcardPattern;

class FilterPoliciesTest {
  private static final List<String> NAMES =
      List.of(
          "",
          "a",
          "b",
          "ab",
          "ba",
          "a.b",
          "axb",
          "a|b",
          "GET /",
          "GET /health",
          "/healthz",
          "xax",
          "a$b");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a",
        "^a",
        "a$",
        "^a$",
        "a.*b",
        "^a.*?b$",
        "a\\.b",
        "health",
        "^(a|b)$",
        "^(?:a|GET /)",
        "a|b",
        ".*",
        "^.*health.*$",
        "GET /",
        "a\\$"
      })
  void wildcardsMatchWhatTheExpressionFinds(String regex) {
    List<WildcardPattern> wildcards =
        FilterPolicies.wildcards(regex).stream().map(WildcardPattern::new).toList();
    Pattern pattern = Pattern.compile(regex);
    for (String name : NAMES) {
      assertThat(wildcards.stream().anyMatch(one -> one.matches(name)))
          .as("%s finds '%s'", regex, name)
          .isEqualTo(pattern.matcher(name).find());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", "a+", "[ab]", "a?", "a.b", "^a|b$", "(a)(b)", "a\\d", "a\\*b", "a\\|b", "a\\", "a{2}",
        "(?i)a", "^^a", "*"
      })
  void otherExpressionsHaveNoWildcards(String regex) {
    assertThat(FilterPolicies.wildcards(regex)).isNull();
  }
}
