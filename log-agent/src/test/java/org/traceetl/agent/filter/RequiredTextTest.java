package org.traceetl.agent.filter;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RequiredTextTest {
  /** Parts of expressions, including those that are easily misread. */
  private static final List<String> PARTS =
      List.of(
          "a",
          "b",
          "ab",
          "@",
          "-",
          " ",
          "=",
          ".",
          "*",
          "+",
          "?",
          "{2}",
          "{0}",
          "{0,1}",
          "{,2}",
          "{",
          "}",
          "[ab]",
          "[^a]",
          "[]a]",
          "[[:alpha:]]",
          "[2-[:a]",
          ":]",
          "[]ab]",
          "[\\]a]",
          "(",
          ")",
          "(a)",
          "(ab)?",
          "|",
          "\\.",
          "\\d",
          "\\w",
          "\\b",
          "\\x61",
          "\\x{61}",
          "\\pL",
          "\\p{Greek}",
          "\\101",
          "\\-",
          "\\a",
          "^",
          "$",
          "(?i)",
          "(?:a)",
          "\\Qa*\\E",
          "]",
          "ü");

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          token=[^&]+                     | token=
          [\\w.+-]+@[\\w-]+\\.[a-z]+      | @
          Bearer [A-Za-z0-9._-]+          | `Bearer `
          ab+cd                           | cd
          ab*cde?f                        | cd
          x(yz)+w                         | x
          a\\.b                           | a.b
          [0-9]{13,19}                    | ``
          `cat|dog`                       | ``
          (?i)token                       | ``
          \\x41bc                         | ``
          [A-[:x]:][]abc]                 | ``
          """)
  void theLongestPlainTextIsFound(String expression, String required) {
    assertThat(RequiredText.of(expression)).isEqualTo(required);
  }

  @Property(tries = 5_000)
  void everyMatchHasIt(@ForAll("expressions") String expression, @ForAll("texts") String text) {
    Pattern pattern;
    try {
      pattern = Pattern.compile(expression);
    } catch (PatternSyntaxException e) {
      return;
    }
    String required = RequiredText.of(expression);
    Matcher matcher = pattern.matcher(text);
    if (matcher.find()) {
      assertThat(matcher.group()).as(expression).contains(required);
    }
  }

  @Provide
  Arbitrary<String> expressions() {
    return Arbitraries.of(PARTS)
        .list()
        .ofMinSize(1)
        .ofMaxSize(6)
        .map(parts -> String.join("", parts));
  }

  @Provide
  Arbitrary<String> texts() {
    return Arbitraries.strings()
        .withChars('a', 'b', '@', '-', ' ', '=', '{', '}', '2', ',')
        .ofMaxLength(12);
  }
}
