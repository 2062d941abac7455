package org.traceetl.agent.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.agent.config.RoutingRules.Rule;
import org.traceetl.agent.config.RoutingRules.Spread;

final class RoutingRulesTest {
  @ParameterizedTest
  @CsvSource({
    "pay, 1", // An exact name precedes matching patterns.
    "pay-eu-web, 3", // 7 bytes without * against 4.
    "pay-us, 2",
    "cart-us, 4", // Equal numbers of bytes: "*-us" precedes "cart*", by bytes.
    "cart-eu, 5",
    "other, 6",
    "x.y, 6", // Only * is special.
    "größe, 8",
  })
  void theExactNameWinsThenTheNarrowestPattern(String application, int queues) {
    Map<String, Rule> rules = new LinkedHashMap<>();
    rules.put("*", rule(6));
    rules.put("pay", rule(1));
    rules.put("pay-*", rule(2));
    rules.put("pay-*web", rule(3));
    rules.put("cart*", rule(5));
    rules.put("*art-us", rule(4));
    rules.put("gr*ße", rule(8));
    rules.put("x?y", rule(7));

    assertThat(rules(rules, Set.of()).rule(application).queues()).isEqualTo(queues);
  }

  @Test
  void aPatternOfManyStarsIsNotSlow() {
    String pattern = "*a".repeat(200) + "b";

    assertThat(rules(Map.of(), Set.of(pattern)).excludes("a".repeat(100_000))).isFalse();
  }

  @Test
  void rulesThatDifferHaveAnotherFingerprintWhateverTheirOrder() {
    Map<String, Rule> one = new LinkedHashMap<>();
    one.put("a", rule(1));
    one.put("b", rule(2));
    Map<String, Rule> other = new LinkedHashMap<>();
    other.put("b", rule(2));
    other.put("a", rule(1));

    long fingerprint = rules(one, Set.of("x", "y")).fingerprint();
    assertThat(rules(other, Set.of("y", "x")).fingerprint()).isEqualTo(fingerprint).isNotNegative();
    assertThat(rules(other, Set.of("x")).fingerprint()).isNotEqualTo(fingerprint);
    assertThat(rules(Map.of("a", rule(1)), Set.of("x", "y")).fingerprint())
        .isNotEqualTo(fingerprint);
  }

  private static RoutingRules rules(Map<String, Rule> applications, Set<String> excluded) {
    return new RoutingRules(new Rule(2, Spread.SERIES, false), applications, excluded);
  }

  private static Rule rule(int queues) {
    return new Rule(queues, Spread.SERIES, true);
  }
}
