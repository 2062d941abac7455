package org.traceetl.perf.simulate.mutation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PitMutantsTest {
  @TempDir private Path folder;

  @Test
  void seedDrawsTheSameMutantsAgain() throws IOException {
    List<String> drawn = names(7);

    assertThat(drawn).hasSize(10).isEqualTo(names(7)).isNotEqualTo(names(8));
  }

  @Test
  void mutantIsAnotherClassFile() throws IOException {
    new PitMutants().draw(1, 7).getFirst().write(folder);

    try (Stream<Path> files = Files.walk(folder)) {
      Path written = files.filter(Files::isRegularFile).findFirst().orElseThrow();
      String name = folder.relativize(written).toString();
      try (var built = getClass().getClassLoader().getResourceAsStream(name)) {
        assertThat(Files.readAllBytes(written)).isNotEqualTo(built.readAllBytes());
      }
    }
  }

  private static List<String> names(long seed) throws IOException {
    return new PitMutants().draw(10, seed).stream().map(Mutant::name).toList();
  }
}
