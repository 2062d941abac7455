package org.traceetl.agent.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class StateDirectoryTest {
  @TempDir private Path directory;

  @Test
  void aFileLeftByAWriteThatFailedIsNotWrittenAgain() throws IOException {
    Path left = Files.writeString(directory.resolve("left"), "left");
    try (StateDirectory state = StateDirectory.open(directory.resolve("state"))) {
      Files.createLink(state.path().resolve("identity.new"), left);
      state.write("identity", new byte[] {1, 2, 3});

      assertThat(state.read("identity")).contains(new byte[] {1, 2, 3});
    }
    assertThat(left).hasContent("left");
  }
}
