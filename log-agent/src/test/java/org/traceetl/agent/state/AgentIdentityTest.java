package org.traceetl.agent.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.disk.Disk;

final class AgentIdentityTest {
  private final RandomGenerator random = new SplittableRandom(1);
  @TempDir Path directory;

  @Test
  void anAgentKeepsItsIdAndRaisesItsEpoch() throws IOException {
    AgentIdentity first = nextOf("a");
    AgentIdentity second = nextOf("a");

    assertThat(first.epoch()).isEqualTo(1);
    assertThat(second).isEqualTo(new AgentIdentity(first.high(), first.low(), 2));
  }

  @Test
  void theFileIsThisText() throws IOException {
    Files.createDirectories(directory.resolve("a"));
    Files.writeString(directory.resolve("a/agent-id"), "0af76519-16cd-43dd-8448-eb211c80319c 41\n");

    assertThat(nextOf("a"))
        .isEqualTo(new AgentIdentity(0x0af7_6519_16cd_43ddL, 0x8448_eb21_1c80_319cL, 42));
    assertThat(directory.resolve("a/agent-id"))
        .hasContent("0af76519-16cd-43dd-8448-eb211c80319c 42\n");
  }

  @Test
  void agentsAreDifferent() throws IOException {
    assertThat(nextOf("a").id()).isNotEqualTo(nextOf("b").id());
  }

  @Test
  void aWriteThatWasCutShortIsNotSeen() throws IOException {
    AgentIdentity first = nextOf("a");
    Files.writeString(directory.resolve("a/agent-id.new"), "torn");

    assertThat(nextOf("a").id()).isEqualTo(first.id());
  }

  @Test
  void invalidIdentityFileIsReportedAndKept() throws IOException {
    Files.createDirectories(directory.resolve("a"));
    Files.writeString(directory.resolve("a/agent-id"), "something else");

    assertThatThrownBy(() -> nextOf("a"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("agent-id does not hold an agent's ID");
    assertThat(directory.resolve("a/agent-id")).hasContent("something else");
  }

  @Test
  void twoAgentsCannotShareADirectory() throws IOException {
    try (StateDirectory held = StateDirectory.open(directory.resolve("a"), Disk.SYSTEM)) {
      assertThatThrownBy(() -> nextOf("a"))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(held.path() + " is used by another running agent");
    }
  }

  private AgentIdentity nextOf(String name) throws IOException {
    try (StateDirectory state = StateDirectory.open(directory.resolve(name), Disk.SYSTEM)) {
      return AgentIdentity.next(state, random);
    }
  }
}
