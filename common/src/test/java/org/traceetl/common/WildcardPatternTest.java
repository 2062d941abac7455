package org.traceetl.common;

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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class WildcardPatternTest {
  @ParameterizedTest
  @CsvSource({
    "GET *, GET /a, true",
    "GET *, 'GET ', true",
    "GET *, GET, false",
    "GET /health*, GET /health, true",
    "http.*, httpx, false",
    "*.internal, a.internal, true",
    "*.internal, axinternal, false",
    "größe*, größen, true",
    "a*b*c, 'a\nb\nc', true",
    "'', '', true",
    "*, '', true",
  })
  void starMatchesAnyRunAndOthersThemselves(String pattern, String text, boolean matches) {
    assertThat(matches(pattern, text)).isEqualTo(matches);
    assertThat(new WildcardPattern(pattern).matches(text)).isEqualTo(matches);
  }

  @Test
  void patternsWithOneThatMatchesAllAreNotKept() {
    assertThat(WildcardPattern.unlessAll(List.of("a", "*"))).isNull();
    assertThat(WildcardPattern.unlessAll(List.of())).isEmpty();
    assertThat(WildcardPattern.anyMatches(null, new byte[0], 0, 0)).isTrue();
    assertThat(WildcardPattern.anyMatches(new WildcardPattern[0], new byte[0], 0, 0)).isFalse();
  }

  @Test
  void longTextThatAlmostMatchesIsFast() {
    // Backtracking over each star would take too long.
    assertThat(matches("*a".repeat(200) + "b", "a".repeat(100_000))).isFalse();
  }

  @Property(tries = 3_000)
  void matchesWhatTheRegularExpressionMatches(
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
    return new WildcardPattern(pattern).matches(bytes, 1, bytes.length - 2);
  }
}
