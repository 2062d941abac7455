package org.traceetl.agent.source.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.traceetl.agent.source.ring.RingAgent.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.proto.ring.RingGolden;

/** Tests applications and agents of several users and containers. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class RingUsersTest {
  private static final int SHOP = 64_001;
  private static final int CART = 64_002;
  private static final int AGENT = 64_003;

  /** Spans of a ring of {@link JavaExporter}. */
  private static final int SPANS = RingGolden.SPANS.size();

  /** A group of this host. */
  private record Group(String name, int number) {
    static Group any() throws IOException {
      try (Stream<String> lines = Files.lines(Path.of("/etc/group"))) {
        return lines
            .map(line -> line.split(":"))
            .map(fields -> new Group(fields[0], Integer.parseInt(fields[2])))
            .filter(group -> group.number != 0)
            .findFirst()
            .orElseThrow();
      }
    }
  }

  @TempDir private static Path open;

  private static Path classes;
  private Path directory;

  @BeforeAll
  static void copyClasses() throws IOException {
    OtherProcess.assumeRoot();
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxr-xr-x"));
    classes = open.resolve("classes");
    OtherProcess.copyClasses(classes);
  }

  @BeforeEach
  void makeParent() throws IOException {
    Path parent = Files.createTempDirectory(open, "host");
    Files.setPosixFilePermissions(parent, PosixFilePermissions.fromString("rwxr-xr-x"));
    directory = parent.resolve("rings");
  }

  @Test
  void aUserLeavesRoomForOthers() throws Exception {
    try (RingAgent agent = RingAgent.of(directory, 4)) {
      agent.start();
      try (OtherProcess greedy = application(SHOP, SHOP, 4)) {
        greedy.awaitLine("made 4");
        await().until(() -> agent.metrics().reading == 3 && agent.metrics().waiting == 1);
        try (OtherProcess modest = application(CART, CART, 1)) {
          modest.awaitLine("made 1");
          await().until(() -> agent.intake.size() == 4 * SPANS);
          assertThat(agent.metrics().reading).isEqualTo(4);
          assertThat(agent.metrics().waiting).isEqualTo(1);

          greedy.kill();
          await().until(() -> agent.intake.size() == 5 * SPANS && agent.metrics().reading == 1);
        }
      }
    }
  }

  @Test
  void anAgentThatIsNotRootReadsTheRingsOfOthersAndRemovesThem() throws Exception {
    Files.setAttribute(directory.getParent(), "unix:uid", AGENT);
    try (OtherProcess agent =
        OtherProcess.of(AGENT, AGENT, classes, RingAgentProgram.class, directory.toString())) {
      agent.awaitLine("spans 0 rings 0 waiting 0");
      try (OtherProcess application = application(SHOP, SHOP, 1)) {
        application.awaitLine("made 1");
        agent.awaitLine("spans " + SPANS + " rings 1 waiting 0");
      }
      agent.awaitLine("spans " + SPANS + " rings 0 waiting 0");
      assertThatNothingIsLeft();
    }
  }

  @Test
  void onlyTheGroupMakesRings() throws Exception {
    Group group = Group.any();
    try (RingAgent agent = new RingAgent(RingAgent.config(directory, Optional.of(group.name), 4))) {
      agent.start();
      assertThat((int) Files.getAttribute(directory, "unix:mode") & 07777).isEqualTo(03730);
      assertThat((int) Files.getAttribute(directory.resolve("wake"), "unix:mode") & 07777)
          .isEqualTo(0620);
      try (OtherProcess stranger = application(CART, CART, 1)) {
        stranger.awaitLine("refused");
      }
      try (OtherProcess member = application(SHOP, group.number, 1)) {
        member.awaitLine("made 1");
        await().until(() -> agent.intake.size() == SPANS);
      }
      await().until(() -> agent.metrics().reading == 0);
    }
  }

  @Test
  void aGroupThatIsNotThereIsNamed() {
    assertThatThrownBy(() -> RingFiles.open(directory, Optional.of("no-such-group")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("ring.group = no-such-group");
  }

  @Test
  void containersWithProcessIdsOfTheirOwnMeetInTheDirectory() throws Exception {
    OtherProcess.assumeNamespaces();
    try (OtherProcess agent =
        OtherProcess.inNamespaces(classes, RingAgentProgram.class, directory.toString())) {
      agent.awaitLine("spans 0 rings 0 waiting 0");
      try (OtherProcess one = container();
          OtherProcess other = container()) {
        one.awaitLine("made 1");
        other.awaitLine("made 1");
        agent.awaitLine("spans " + 2 * SPANS + " rings 2 waiting 0");

        one.kill();
        agent.awaitLine("spans " + 2 * SPANS + " rings 1 waiting 0");
      }
      agent.awaitLine("spans " + 2 * SPANS + " rings 0 waiting 0");
      assertThatNothingIsLeft();
    }
  }

  private OtherProcess application(int user, int group, int rings) throws IOException {
    return OtherProcess.of(
        user, group, classes, JavaExporter.class, directory.toString(), Integer.toString(rings));
  }

  private OtherProcess container() throws IOException {
    return OtherProcess.inNamespaces(classes, JavaExporter.class, directory.toString(), "1");
  }

  private void assertThatNothingIsLeft() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      assertThat(files).containsExactly(directory.resolve("wake"));
    }
  }
}
