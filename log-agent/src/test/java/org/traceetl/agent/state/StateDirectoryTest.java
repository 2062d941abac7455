package org.traceetl.agent.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.disk.Disk;

final class StateDirectoryTest {
  @TempDir private Path directory;

  @Test
  void anUnusableDirectoryIsReportedWithItsKeyAndTheReason() throws IOException {
    assertRefused(Path.of("/proc/x"), "cannot be created (No such file or directory)");
    Path file = Files.writeString(directory.resolve("file"), "");
    assertRefused(file, "cannot be created (File exists)");
    assertRefused(file.resolve("below"), "cannot be created (Not a directory)");
    Path unwritable = Files.createDirectory(directory.resolve("unwritable"));
    Files.createDirectory(unwritable.resolve("lock"));
    assertRefused(unwritable, "cannot be written (Is a directory)");
  }

  private static void assertRefused(Path state, String problem) {
    assertThatThrownBy(() -> StateDirectory.open(state, Disk.SYSTEM))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "state-directory = "
                + state
                + ": "
                + problem
                + ": let the agent's user write there, or configure another");
  }

  @Test
  void aFileLeftByAWriteThatFailedIsNotWrittenAgain() throws IOException {
    Path left = Files.writeString(directory.resolve("left"), "left");
    try (StateDirectory state = StateDirectory.open(directory.resolve("state"), Disk.SYSTEM)) {
      Files.createLink(state.path().resolve("identity.new"), left);
      state.write("identity", new byte[] {1, 2, 3});

      assertThat(state.read("identity")).contains(new byte[] {1, 2, 3});
    }
    assertThat(left).hasContent("left");
  }
}
