package org.traceetl.agent.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

final class BearerTokensTest {
  @TempDir private Path directory;

  @Test
  void everyoneIsAdmittedWithoutTokens() throws IOException {
    BearerTokens tokens = new BearerTokens(TokenSource.none());

    assertThat(tokens.admit(null)).isTrue();
    assertThat(tokens.reload()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"Bearer hunter2", "bearer hunter2", "BEARER   hunter2 "})
  void validTokenIsAdmitted(String authorization) throws IOException {
    assertThat(hunter2().admit(authorization)).isTrue();
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(
      strings = {
        "",
        "hunter2",
        "Bearer",
        "Bearer ",
        "Bearer hunter",
        "Bearer hunter22",
        "Bearer Hunter2",
        "Basic hunter2",
        "Bearer \u00e9"
      })
  void otherAuthorizationIsRefused(String authorization) throws IOException {
    assertThat(hunter2().admit(authorization)).isFalse();
  }

  @Test
  void oldAndNewTokenAreAdmittedTogether() throws IOException {
    Path file = Files.writeString(directory.resolve("token"), "old\n");
    BearerTokens tokens = new BearerTokens(new TokenSource("", Optional.of(file)));
    assertThat(tokens.reload()).isFalse();

    Files.writeString(file, "old\r\n\n  new\n");
    assertThat(tokens.admit("Bearer new")).isFalse();
    assertThat(tokens.reload()).isTrue();
    assertThat(tokens.admit("Bearer old")).isTrue();
    assertThat(tokens.admit("Bearer new")).isTrue();

    Files.writeString(file, "new");
    assertThat(tokens.reload()).isTrue();
    assertThat(tokens.admit("Bearer old")).isFalse();
    assertThat(tokens.admit("Bearer new")).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " \n ", "two words", "t\u00f6ken", "a\nb c"})
  void invalidTokenIsRefusedAndNotShown(String content) throws IOException {
    Path file = Files.writeString(directory.resolve("token"), "hunter2");
    BearerTokens tokens = new BearerTokens(new TokenSource("", Optional.of(file)));
    Files.writeString(file, content);

    assertThatThrownBy(tokens::reload)
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(file + ": ")
        .hasMessageNotContainingAny("words", "ken is", "b c");
    assertThat(tokens.admit("Bearer hunter2")).isTrue();
  }

  @Test
  void endlessFileIsRefused() throws IOException {
    Path file = Files.writeString(directory.resolve("token"), "x".repeat(70_000));

    assertThatThrownBy(() -> new BearerTokens(new TokenSource("", Optional.of(file))))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("1 to 16 tokens");
  }

  private static BearerTokens hunter2() throws IOException {
    return new BearerTokens(new TokenSource("hunter2", Optional.empty()));
  }
}
