package org.traceetl.perf.simulate.mutation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class MutationTest {
  private static final String TEXT =
      """
      # Comment
      == Section ==

      1 Adds one too many
      breaks: The sum.
      shown by: Any sum.
      was: "Add one"
      class: a.B
      - one
      -   two
      + three
      - four
      + five
      + six
      """;

  @TempDir private static Path folder;

  static List<Mutation> mutations() {
    return Mutation.all();
  }

  @ParameterizedTest
  @MethodSource("mutations")
  void mutationFitsItsSourceOnceAndCompiles(Mutation mutation) throws IOException {
    Path classes = folder.resolve(Integer.toString(mutation.number()));

    new SourceMutants(Path.of("..")).of(mutation).write(classes);

    assertThat(classes.resolve(mutation.className().replace('.', '/') + ".class")).exists();
  }

  @Test
  void changesReplaceWholeLinesWhateverTheirIndentation() {
    Mutation mutation = Mutation.parse(TEXT.lines().toList()).getFirst();

    assertThat(mutation.name()).isEqualTo("Adds one too many");
    assertThat(mutation.applyTo("zero\n  one\n  two\nfour\n"))
        .isEqualTo("zero\nthree\nfive\nsix\n");
  }

  @Test
  void linesThatOccurTwiceAreRefused() {
    Mutation mutation = Mutation.parse(TEXT.lines().toList()).getFirst();

    assertThatThrownBy(() -> mutation.applyTo("one\ntwo\nfour\none\ntwo\n"))
        .hasMessageContaining("occur 2 times");
  }

  @Test
  void mutationThatDoesNotCompileIsRefused() throws IOException {
    Path module = Files.createDirectories(folder.resolve("module/src/main/java/a"));
    Files.writeString(module.resolve("B.java"), "one\ntwo\nfour\n");
    Mutation mutation = Mutation.parse(TEXT.lines().toList()).getFirst();

    assertThatThrownBy(() -> new SourceMutants(folder).of(mutation).write(folder.resolve("out")))
        .hasMessageContaining("does not compile");
  }
}
