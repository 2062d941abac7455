package org.traceetl.agent.source.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.source.file.TailedFile.Fingerprint;

final class FilePositionTest {
  /** Spools of earlier releases have such notes. */
  @Test
  void aNoteIsThisText() throws IOException {
    FilePosition position =
        new FilePosition(
            Path.of("/logs/a b.log"), "(dev=1,ino=2)", 1_024, new Fingerprint(256, 3_735_928_559L));
    Checkpoint.Position note =
        new Checkpoint.Position("(dev=1,ino=2)", "1024\t256\t3735928559\tfile:///logs/a%20b.log");

    assertThat(position.checkpoint()).isEqualTo(note);
    assertThat(FilePosition.of(note)).isEqualTo(position);
  }
}
