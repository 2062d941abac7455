package org.traceetl.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.re2j.Pattern;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.common.ConfigException;

class TemplatesConfigTest {
  private static final String[] PARTS = {
    "a",
    "[^]b]",
    "[[:alpha:]]",
    "\\d",
    "\\{",
    "\\Q(]\\E",
    "(",
    ")",
    "(?:",
    "|",
    "*",
    "{3}",
    "{2,5}",
    "{4,}",
    "{",
    "]",
    "\\]",
    ".",
    "{7}",
    "?"
  };

  private static TemplatesConfig.Rule rule(String pattern) {
    return new TemplatesConfig.Rule(null, pattern, "x");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        "(a{20}){20}",
        "\\{1000}{9}",
        "[{1000}]{9}",
        "\\Q(((a{1000}\\E{9}"
      })
  void usualPatternsAreAllowed(String pattern) {
    assertThat(rule(pattern).pattern()).isEqualTo(pattern);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '!',
      value = {
        "((a{1000}){1000}){1000}",
        "a{1001}",
        "(?:(a|b{30}){30}|c){30}",
        "[]a]{1000}{2}",
        "((x{1000}\\Q)\\E){1000}){1000}",
        "a{99999999999999999999}"
      })
  void patternsThatNeedMuchMemoryAreRefusedBeforeTheyAreCompiled(String pattern) {
    assertThatThrownBy(() -> rule(pattern))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("must have at most 1000 instructions");
  }

  @Test
  void allPatternsTogetherAreBounded() {
    List<TemplatesConfig.Rule> patterns = Collections.nCopies(11, rule("a{990}"));
    assertThatThrownBy(() -> new TemplatesConfig(null, patterns))
        .hasMessageContaining("must have at most 10000 instructions");
  }

  /** The estimate may be too high, and is too low by no more than what RE2 adds to each part. */
  @Property(tries = 2_000)
  void theEstimateIsNotMuchLessThanTheProgram(@ForAll long seed) {
    Random random = new Random(seed);
    StringBuilder pattern = new StringBuilder();
    for (int parts = random.nextInt(1, 14); parts > 0; parts--) {
      pattern.append(PARTS[random.nextInt(PARTS.length)]);
    }
    long estimate = PatternSize.of(pattern.toString());
    if (estimate > 100_000) {
      return;
    }
    int program;
    try {
      program = Pattern.compile(pattern.toString()).programSize();
    } catch (RuntimeException e) {
      return;
    }
    assertThat(estimate).as("%s", pattern).isGreaterThanOrEqualTo((program - 8) / 4);
  }
}
