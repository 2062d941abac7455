package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NameJoinerTest {
  private static final NameRules RULES =
      new NameRules(
          List.of(
              rule("/users/", 0),
              rule("/users/", 1),
              rule("/users/{*}/orders/", 0),
              rule("/users/", 2),
              rule("GET ", 0),
              rule("GET /größe/", 0),
              rule("/search?q=", 0)));

  private final NameJoiner joiner = new NameJoiner();

  private static NameRule rule(String prefix, int behind) {
    return new NameRule(prefix, behind, 501, 1);
  }

  private String join(NameRules rules, String name) {
    byte[] bytes = ("_" + name + "_").getBytes(UTF_8);
    int length = joiner.write(rules, bytes, 1, bytes.length - 2);
    return length == NameJoiner.UNCHANGED ? name : new String(joiner.buffer(), 0, length, UTF_8);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/users/alice                  | /users/{*}",
        "/users/alice/cart             | /users/{*}/cart",
        "/users/alice/orders/mug       | /users/{*}/orders/{*}",
        "/users/alice/cart/mug         | /users/{*}/cart/mug",
        "GET product-blue-mug          | GET {*}",
        "GET /größe/süß                | GET /größe/{*}",
        "/search?q=mugs                | /search?q={*}",
        "/users/{*}/cart               | /users/{*}/cart",
        "/users/{id}/cart              | /users/{id}/cart",
        "/users/{name}                 | /users/{name}",
        "/users/a/b/c/d                | /users/a/b/c/d",
        "/users                        | /users",
        "//users//alice                | //users//alice",
        "/users/alice/                 | /users/{*}/",
        "users/alice                   | users/alice",
        "GET /health                   | GET /health",
        "alice                         | alice",
      })
  void tokensBehindAPrefixAreJoined(String name, String joined) {
    assertThat(join(RULES, name)).isEqualTo(joined);
    assertThat(join(RULES, joined)).isEqualTo(joined);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "/", "///", "?"})
  void namesOfSeparatorsStay(String name) {
    assertThat(join(RULES, name)).isEqualTo(name);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "/", "users", "{*}/", "{id}/{*} ", "/{x}/"})
  void aPrefixHasATokenOfItsOwnAndEndsWithASeparator(String prefix) {
    assertThat(NameRule.takes(prefix)).isFalse();
    assertThatThrownBy(() -> rule(prefix, 0)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void namesOfManyTokensStay() {
    String name = "/users/alice" + "/x".repeat(NameTokens.MAX - 2);
    NameRules rules = new NameRules(List.of(rule("/users/", NameTokens.MAX - 2)));

    assertThat(join(rules, name)).startsWith("/users/{*}/x/x");
    assertThat(join(rules, name + "/x")).isEqualTo(name + "/x");
  }

  @Property(tries = 2_000)
  void itIsWhatTheDescriptionSays(
      @ForAll("names") String name,
      @ForAll @Size(min = 1, max = 8) List<@From("rules") NameRule> some) {
    NameRules rules = new NameRules(distinct(some));
    String joined = join(rules, name);

    assertThat(joined).isEqualTo(described(rules, name));
    assertThat(join(rules, joined)).isEqualTo(joined);
    assertThat(join(new NameRules(rules.rules().reversed()), name)).isEqualTo(joined);
  }

  @Property(tries = 2_000)
  void anyBytesAreJoinedOrStay(@ForAll byte[] name) {
    int length = joiner.write(RULES, name, 0, name.length);
    if (length != NameJoiner.UNCHANGED) {
      byte[] joined = Arrays.copyOf(joiner.buffer(), length);
      assertThat(joiner.write(RULES, joined, 0, length)).isEqualTo(NameJoiner.UNCHANGED);
    }
  }

  @Provide
  static Arbitrary<String> names() {
    Arbitrary<String> piece = Arbitraries.of("a", "b", "users", "{*}", "{id}", "ü", "/", " ", "?");
    return piece.list().ofMaxSize(12).map(pieces -> String.join("", pieces));
  }

  @Provide
  static Arbitrary<NameRule> rules() {
    return names()
        .map(name -> name + "/")
        .filter(NameRule::takes)
        .flatMap(
            prefix -> Arbitraries.integers().between(0, 3).map(behind -> rule(prefix, behind)));
  }

  private static List<NameRule> distinct(List<NameRule> rules) {
    List<NameRule> distinct = new ArrayList<>();
    for (NameRule rule : rules) {
      if (distinct.stream().noneMatch(other -> other.compareTo(rule) == 0)) {
        distinct.add(rule);
      }
    }
    return distinct;
  }

  /** The same in other words. */
  private static String described(NameRules rules, String name) {
    String[] tokens =
        Arrays.stream(name.split("[ /:?&=,;#|]+")).filter(t -> !t.isEmpty()).toArray(String[]::new);
    StringBuilder joined = new StringBuilder();
    int at = 0;
    for (int i = 0; i < tokens.length; i++) {
      int start = name.indexOf(tokens[i], at);
      joined.append(name, at, start);
      at = start + tokens[i].length();
      String prefix = joined.toString();
      int behind = tokens.length - 1 - i;
      boolean varies =
          tokens.length <= NameTokens.MAX
              && !tokens[i].contains("{")
              && rules.rules().stream()
                  .anyMatch(rule -> rule.prefix().equals(prefix) && rule.behind() == behind);
      joined.append(varies ? "{*}" : tokens[i]);
    }
    return joined + name.substring(at);
  }

  @Test
  void nothingIsAllocated() {
    byte[][] names = new byte[100][];
    for (int i = 0; i < names.length; i++) {
      names[i] = ("/users/alice" + (char) ('a' + i % 26) + "/orders/mug").getBytes(UTF_8);
    }
    Runnable round =
        () -> {
          for (int i = 0; i < 10_000; i++) {
            byte[] name = names[i % names.length];
            joiner.write(RULES, name, 0, name.length);
          }
        };
    round.run();
    AllocatedBytes.by(round);

    assertThat(AllocatedBytes.by(round)).isEqualTo(AllocatedBytes.by(() -> {}));
  }
}
