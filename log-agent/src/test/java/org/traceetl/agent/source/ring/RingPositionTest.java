package org.traceetl.agent.source.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.flow.Checkpoint;

final class RingPositionTest {
  /** Spools of earlier releases have such notes. */
  @Test
  void aNoteIsThisText() throws IOException {
    RingPosition position = new RingPosition("4711-0123456789abcdef.ring", 65_536, 7, 8);
    Checkpoint.Position note =
        new Checkpoint.Position("ring:4711-0123456789abcdef.ring", "65536\t7\t8");

    assertThat(position.checkpoint()).isEqualTo(note);
    assertThat(RingPosition.isOne(note)).isTrue();
    assertThat(RingPosition.of(note)).isEqualTo(position);
  }
}
