package org.traceetl.agent.source.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.traceetl.agent.source.ring.RingAgent.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.source.payload.MemoryIntake;
import org.traceetl.agent.source.ring.RingMetrics.GivenUp;
import org.traceetl.proto.ring.RingLayout;
import org.traceetl.proto.ring.RingSpan;
import org.traceetl.proto.ring.RingWriter;

/** Tests that damage to a ring, or foreign files in the directory, ends that ring only. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class RingHostileTest {
  private static final String NAME = "77-00000000000000ff.ring";

  @TempDir private Path temporary;

  private RingAgent agent;
  private MemoryIntake intake;
  private Path directory;
  private RingWriter good;
  private int written;

  @BeforeEach
  void start() throws IOException {
    directory = temporary.resolve("rings");
    agent = RingAgent.of(directory, 64);
    intake = agent.intake;
    agent.start();
    good = agent.writer("1-0000000000000001.ring", RingWriter.Shape.smallest("checkout"));
  }

  @AfterEach
  void close() throws IOException {
    agent.close();
  }

  @ParameterizedTest
  @CsvSource({
    "0, 8, 7, HEADER",
    "8, 4, 2, HEADER",
    "12, 4, 4095, HEADER",
    "12, 4, 1073741824, HEADER",
    "12, 4, -4096, HEADER",
    "16, 8, 1099511627776, HEADER",
    "16, 8, 8192, HEADER",
    "24, 8, 65537, HEADER",
    "24, 8, 4611686018427387904, HEADER",
    "24, 8, 131072, HEADER",
    "64, 4, -1, HEADER",
    "64, 4, 3073, HEADER",
    "68, 4, 1000, RESOURCE",
    "128, 8, -8, POSITION",
    "128, 8, 65544, POSITION",
    "128, 8, 4, POSITION",
    "256, 8, 4097, DICTIONARY",
    "256, 8, -1, DICTIONARY",
    "384, 8, 8, POSITION",
    "384, 8, -8, POSITION",
    "384, 8, 4, POSITION"
  })
  void aRingWithAnInvalidHeaderIsGivenUp(int offset, int bytes, long value, GivenUp reason)
      throws Exception {
    RingWriter bad = hidden();
    write(bad, offset, bytes, value);
    show(bad);

    await().until(() -> agent.metrics().givenUp(reason) == 1);
    assertOtherRingsAreRead();
    bad.close();
    await().until(() -> !Files.exists(directory.resolve(NAME)));
  }

  @ParameterizedTest
  @CsvSource({"7", "65545", "32776", "2147483647"})
  void aRingWithAnInvalidRecordIsGivenUp(int length) throws Exception {
    RingWriter bad = hidden();
    assertThat(bad.write(RingSpan.numbered(1_000))).isTrue();
    write(bad, 8_192, 4, length);
    show(bad);

    await().until(() -> agent.metrics().givenUp(GivenUp.RECORD) == 1);
    assertOtherRingsAreRead();
  }

  @Test
  void aRingWithAChangedPositionIsGivenUp() throws Exception {
    RingWriter bad = agent.writer(NAME, RingWriter.Shape.smallest("bad"));
    assertThat(bad.write(RingSpan.numbered(1_000_000))).isTrue();
    await().until(() -> intake.ids().contains(1_000_000L));
    // The position is behind what was read.
    write(bad, 128, 8, 0);

    await().until(() -> agent.metrics().givenUp(GivenUp.POSITION) == 1);
    assertOtherRingsAreRead();
  }

  @Test
  void aMissingStringRejectsItsSpan() throws Exception {
    RingWriter bad = agent.writer(NAME, RingWriter.Shape.smallest("bad"));
    byte[] body = bad.body(RingSpan.numbered(1_000));
    body[RingLayout.SPAN_FIXED_BYTES] = 120;
    long claim = bad.claim(8 + body.length);
    bad.begin(claim, 8 + body.length);
    bad.commit(claim, RingLayout.TYPE_SPAN, body);

    assertOtherRingsAreRead();
    await().until(() -> intake.rejections().equals(List.of("malformed_span")));
  }

  @Test
  void linksAreNotFollowed() throws Exception {
    Path victim = temporary.resolve("victim");
    RingWriter writer =
        agent.writer(temporary, "1-0000000000000002.ring", RingWriter.Shape.smallest("victim"));
    assertThat(writer.write(RingSpan.numbered(1_000))).isTrue();
    Files.move(writer.path(), victim);
    Files.createSymbolicLink(directory.resolve("5-0000000000000001.ring"), victim);
    Files.createLink(directory.resolve("5-0000000000000002.ring"), victim);
    Files.createDirectory(directory.resolve("5-0000000000000003.ring"));

    await().until(() -> agent.metrics().givenUp(GivenUp.UNREADABLE) == 3);
    assertOtherRingsAreRead();
    assertThat(victim).exists();
    assertThat(intake.ids()).doesNotContain(1_000L);
  }

  @Test
  void aFileWithHolesIsGivenUp() throws Exception {
    RingWriter whole = hidden();
    try (FileChannel sparse =
        FileChannel.open(
            temporary.resolve("sparse"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      sparse.write(ByteBuffer.wrap(whole.content(), 0, 4_096));
      sparse.write(ByteBuffer.allocate(1), whole.file().byteSize() - 1);
    }
    Files.move(temporary.resolve("sparse"), directory.resolve("7-0000000000000001.ring"));

    await().until(() -> agent.metrics().givenUp(GivenUp.HEADER) == 1);
    await().until(() -> !Files.exists(directory.resolve("7-0000000000000001.ring")));
    assertOtherRingsAreRead();
  }

  @Test
  void ringsWithTooManyStringsDelayOtherRingsAtMost() throws Exception {
    for (int name = 0; name < 5; name++) {
      assertOtherRingsAreRead();
    }
    // All rings share a mebibyte; a user may have half of it, a ring a quarter.
    List<RingWriter> greedy = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      RingWriter writer =
          agent.writer(
              String.format("8-%016x.ring", i),
              new RingWriter.Shape(
                  4_096, 1 << 18, 65_536, 7, 0, 0, 0, Map.of("service.name", "greedy")));
      greedy.add(writer);
      for (int number = 0; number < 3; number++) {
        byte[] _ = writer.body(named(1, i + "x".repeat(60_000) + number));
        assertThat(writer.write(RingSpan.numbered(2_000_000L + 10L * i + number))).isTrue();
      }
    }
    await().until(() -> agent.metrics().waiting > 0);
    assertOtherRingsAreRead();
    assertThat(good.write(named(3_000_000, "a new name"))).isTrue();
    for (RingWriter writer : greedy) {
      writer.close();
    }

    await().until(() -> intake.ids().contains(3_000_000L));
    await().until(() -> intake.ids().stream().filter(id -> id / 1_000_000 == 2).count() == 24);
    assertThat(agent.metrics().givenUp(GivenUp.DICTIONARY)).isZero();
  }

  private static RingSpan named(long id, String name) {
    return new RingSpan(1, 1, id, 0, 1, 1, 0, 0, 0, -1, name, "", Map.of(), List.of());
  }

  @Test
  void filesWithOtherNamesStay() throws Exception {
    for (String name : List.of("x", "1.ring", "1-00.ring", ".1-0000000000000001.tmp", "lock")) {
      Files.writeString(directory.resolve(name), "x");
    }
    assertOtherRingsAreRead();
    try (Stream<Path> files = Files.list(directory)) {
      assertThat(files).hasSize(7);
    }
  }

  @Test
  void randomDamageEndsOnlyTheDamagedRings() throws Exception {
    Random random = new Random(7);
    for (int i = 0; i < 300; i++) {
      String name = String.format("9-%016x.ring", i);
      RingWriter bad = RingWriter.create(temporary, name, RingWriter.Shape.smallest("bad"));
      for (int number = 0; number < 200; number++) {
        assertThat(bad.write(RingSpan.numbered(1_000_000 + number))).isTrue();
      }
      for (int change = random.nextInt(6); change >= 0; change--) {
        // Sensitive places: lengths, positions, records, the dictionary.
        int offset =
            switch (random.nextInt(4)) {
              case 0 -> 8 * random.nextInt(50);
              case 1 -> 1_024 + random.nextInt(64);
              case 2 -> 4_096 + random.nextInt(64);
              default -> 8_192 + random.nextInt(16_000);
            };
        write(bad, offset, 1 << random.nextInt(4), random.nextLong());
      }
      bad.close();
      Files.move(bad.path(), directory.resolve(name));
    }

    assertOtherRingsAreRead();
    // All writers are dead: their rings are finally removed, read or given up.
    await().until(() -> agent.metrics().reading == 1 && agent.metrics().unread == 0);
    assertOtherRingsAreRead();
  }

  @Test
  void aLongEmptyClaimDoesNotBlockOtherRings() throws Exception {
    RingWriter bad =
        RingWriter.create(temporary, NAME, RingWriter.Shape.smallest("bad").ringBytes(64 << 20));
    write(bad, 128, 8, 64 << 20);
    bad.close();
    Files.move(bad.path(), directory.resolve(NAME));

    assertOtherRingsAreRead();
    await().until(() -> !Files.exists(directory.resolve(NAME)));
  }

  @Test
  void aKilledProcessLeavesItsCommittedSpans() throws Exception {
    Process application = RingApplication.start("claim", directory);
    try (BufferedReader output = application.inputReader()) {
      assertThat(output.readLine()).startsWith("claimed");
    }
    application.destroyForcibly().waitFor();

    await().until(() -> intake.ids().equals(LongStream.rangeClosed(1, 10).boxed().toList()));
    await().until(() -> agent.metrics().reading == 1);
    assertThat(agent.metrics().claimsAbandoned.sum()).isEqualTo(2);
    // The spool forgets the ring after its removal.
    await().until(() -> intake.positions().isEmpty());
  }

  @Test
  void aProcessKilledAtAnyMomentLosesNoCommittedSpan() throws Exception {
    for (int kill = 1; kill <= 3; kill++) {
      int before = intake.size();
      Process application = RingApplication.start("write", directory);
      int told = 0;
      try (BufferedReader output = application.inputReader()) {
        for (int i = 0; i < 5 * kill; i++) {
          told = Integer.parseInt(output.readLine());
        }
        application.destroyForcibly().waitFor();
      }
      await().until(() -> agent.metrics().reading == 1);
      List<Long> ids = intake.ids().subList(before, intake.size());
      assertThat(ids).hasSizeGreaterThanOrEqualTo(told);
      assertThat(ids).isEqualTo(LongStream.rangeClosed(1, ids.size()).boxed().toList());
    }
  }

  @Test
  void ringsCutDuringAReadAreGivenUp() throws Exception {
    Process application = RingApplication.start("cut", directory);
    try (BufferedReader output = application.inputReader()) {
      assertThat(output.readLine()).isEqualTo("cut");
      assertOtherRingsAreRead();
      await().until(() -> agent.metrics().reading == 1);
      assertOtherRingsAreRead();
    } finally {
      application.destroyForcibly().waitFor();
    }
    await().until(() -> agent.metrics().unread == 0);
  }

  @Test
  void aRingCutWithSpansInProgressIsGivenUp() throws Exception {
    intake.hold();
    RingWriter bad = agent.writer(NAME, RingWriter.Shape.smallest("bad"));
    RingAgent.write(bad, 1_000, 1_400);
    await().until(() -> intake.heldPayloads() == 1);
    // The room of stored spans is cleared, but no longer exists.
    try (FileChannel file = FileChannel.open(bad.path(), StandardOpenOption.WRITE)) {
      file.truncate(RingLayout.PAGE_BYTES);
    }
    intake.keepHeld();

    await().until(() -> agent.metrics().givenUp(GivenUp.TRUNCATED) == 1);
    assertOtherRingsAreRead();
    assertThat(intake.ids()).contains(1_000L);
  }

  @Test
  void aRenamedRingIsReadOnce() throws Exception {
    RingWriter writer = agent.writer(NAME, RingWriter.Shape.smallest("renamed"));
    RingAgent.write(writer, 1_000, 1_000);
    await().until(() -> intake.ids().contains(1_000L));
    intake.hold();
    RingAgent.write(writer, 1_001, 1_001);
    await().until(() -> intake.heldPayloads() == 1);
    Path renamed = directory.resolve("78-00000000000000ff.ring");
    Files.move(writer.path(), renamed);
    // No ring is read twice, and no other ring's file is removed.
    RingWriter other = agent.writer(NAME, RingWriter.Shape.smallest("other"));
    RingAgent.write(other, 2_000, 2_000);
    // The place under the old name is forgotten too.
    await().until(() -> intake.heldPayloads() == 3);
    intake.keepHeld();
    RingAgent.write(writer, 1_002, 1_002);
    writer.close();

    await().until(() -> !Files.exists(renamed));
    assertOtherRingsAreRead();
    assertThat(other.path()).exists();
    assertThat(intake.ids()).containsOnlyOnce(1_000L, 1_001L, 1_002L, 2_000L);
    await().until(() -> intake.positions().size() == 2);
    assertThat(intake.positions())
        .extracting(Checkpoint.Position::name)
        .containsExactlyInAnyOrder("ring:" + NAME, "ring:" + good.path().getFileName());
    assertThat(agent.metrics().unread).isZero();
  }

  @Test
  void unsafePermissionsOfTheDirectoryAreCorrected() throws Exception {
    agent.stop();
    Files.setAttribute(directory, "unix:mode", 0777);

    try (RingFiles files = RingFiles.open(directory, Optional.empty())) {
      assertThat((int) Files.getAttribute(directory, "unix:mode") & 07777).isEqualTo(03733);
      assertThat((int) Files.getAttribute(directory.resolve("wake"), "unix:mode") & 07777)
          .isEqualTo(0622);
      assertThat(files.isInPlace()).isTrue();
    }
  }

  @Test
  void aPathThatIsNotADirectoryIsRefused() throws Exception {
    Path file = Files.createFile(temporary.resolve("file"));
    Path link = Files.createSymbolicLink(temporary.resolve("link"), directory);

    for (Path path : List.of(file, link)) {
      assertThatThrownBy(() -> RingFiles.open(path, Optional.empty()))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("is not a directory");
    }
  }

  @Test
  void anotherFileInPlaceOfTheFifoIsReplaced() throws Exception {
    agent.stop();
    Files.delete(directory.resolve("wake"));
    Files.createSymbolicLink(directory.resolve("wake"), temporary.resolve("nowhere"));

    try (RingFiles files = RingFiles.open(directory, Optional.empty())) {
      files.wake();
      assertThat(files.awaitWake(10_000)).isTrue();
    }
  }

  /** Creates a ring of a living writer outside the directory. */
  private RingWriter hidden() throws IOException {
    return agent.writer(temporary, NAME, RingWriter.Shape.smallest("bad"));
  }

  private void show(RingWriter writer) throws IOException {
    Files.move(writer.path(), directory.resolve(NAME));
  }

  private static void write(RingWriter ring, int offset, int bytes, long value) {
    ByteBuffer number = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(0, value);
    for (int i = 0; i < bytes; i++) {
      ring.file().set(ValueLayout.JAVA_BYTE, offset + i, number.get(i));
    }
  }

  private void assertOtherRingsAreRead() {
    long next = 10_000_000L + ++written;
    assertThat(good.write(RingSpan.numbered(next))).isTrue();
    await().until(() -> new HashSet<>(intake.ids()).contains(next));
  }
}
