package org.traceetl.agent.filter;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.Chars;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;

final class TextPatternTest {
  @Test
  void aStarIsAnyRunAndAllElseIsItself() {
    assertThat(matches("GET *", "GET /a")).isTrue();
    assertThat(matches("GET *", "GET ")).isTrue();
    assertThat(matches("GET *", "GET")).isFalse();
    assertThat(matches("http.*", "httpx")).isFalse();
    assertThat(matches("größe*", "größen")).isTrue();
    assertThat(matches("", "")).isTrue();
    assertThat(matches("*", "")).isTrue();
  }

  @Test
  void patternsOfWhichOneMatchesAllAreNotLookedAt() {
    assertThat(TextPattern.unlessAll(List.of("a", "*"))).isNull();
    assertThat(TextPattern.unlessAll(List.of())).isEmpty();
    assertThat(TextPattern.anyMatches(null, new byte[0], 0, 0)).isTrue();
    assertThat(TextPattern.anyMatches(new TextPattern[0], new byte[0], 0, 0)).isFalse();
  }

  @Test
  void aLongTextThatAlmostMatchesIsNoBurden() {
    // Backtracking over each star would take too long.
    assertThat(matches("*a".repeat(200) + "b", "a".repeat(100_000))).isFalse();
  }

  @Property(tries = 3_000)
  void itMatchesWhatTheRegularExpressionMatches(
      @ForAll @Chars({'a', 'b', '*'}) @StringLength(max = 8) String pattern,
      @ForAll @CharRange(from = 'a', to = 'b') @StringLength(max = 12) String text) {
    String expression =
        Arrays.stream(pattern.split("\\*", -1))
            .map(Pattern::quote)
            .collect(Collectors.joining(".*"));

    assertThat(matches(pattern, text)).isEqualTo(Pattern.matches(expression, text));
  }

  private static boolean matches(String pattern, String text) {
    byte[] bytes = ("<" + text + ">").getBytes(UTF_8);
    return new TextPattern(pattern).matches(bytes, 1, bytes.length - 2);
  }
}
