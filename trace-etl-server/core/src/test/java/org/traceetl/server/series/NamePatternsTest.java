package org.traceetl.server.series;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.TemplatesConfig;

class NamePatternsTest {
  private final NamePatterns patterns =
      new NamePatterns(
          List.of(
              new TemplatesConfig.Rule("shop", "/t/([^/]+)/.*", "/t/$1/(any)"),
              new TemplatesConfig.Rule("ba*", "GET (.*)\\?(.*)", "GET $1"),
              new TemplatesConfig.Rule("raw", "(.*)!", "$1")));

  @Test
  void whatAPatternMakesItMayMake() {
    assertThat(patterns.template("shop", "/t/acme/cart")).isEqualTo("/t/acme/(any)");
    assertThat(patterns.mayMake("shop", "/t/acme/(any)")).isTrue();
    assertThat(patterns.mayMake("shop", "/t/acme/any")).isFalse();
    assertThat(patterns.mayMake("shop", "GET /users")).isFalse();
    assertThat(patterns.mayMake("bank", "GET /users")).isTrue();
    assertThat(patterns.mayMake("bank", "POST /users")).isFalse();
    assertThat(patterns.mayMake("raw", "whatever\nit is")).isTrue();
    assertThat(new NamePatterns(List.of()).mayMake("shop", "/t/acme/(any)")).isFalse();
  }
}
