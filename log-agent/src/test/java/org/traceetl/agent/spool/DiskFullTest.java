package org.traceetl.agent.spool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.config.SpoolConfig.Flush;
import org.traceetl.agent.config.SpoolConfig.WhenFull;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.flow.AnsweredRequests;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.agent.state.StateDirectory;

/** Tests a spool on a small disk of its own. Mounting requires root; other users skip the test. */
final class DiskFullTest extends SpoolFixture {
  private static final int DISK_BYTES = 8 << 20;
  private static final int BODY_BYTES = 100_000;

  private volatile boolean failNextForce;

  DiskFullTest() {
    maxBytes = 1L << 30;
    disk = new ForcedDisk(this::force);
  }

  @BeforeEach
  void mountDisk() throws Exception {
    directory = Files.createDirectory(directory.resolve("disk"));
    String size = "size=" + DISK_BYTES;
    assumeThat(run("mount", "-t", "tmpfs", "-o", size, "tmpfs", directory.toString())).isZero();
  }

  @AfterEach
  void unmountDisk() throws Exception {
    stop();
    run("umount", directory.toString());
  }

  @Test
  void fullDiskRefusesPayloadsUntilSentBatchesMakeRoom() throws Exception {
    openSpool();
    List<SpooledBatch> kept = fill();
    assertThat(kept.size()).isGreaterThan(40);
    assertThat(spool.problem()).contains("cannot write the spool", "No space left");
    assertThat(spool.hasRoom(1, true)).isFalse();
    assertThat(sample("spool_write_failures_total")).isEqualTo(1);
    for (SpooledBatch batch : kept) {
      assertThat(spool.read(batch)).hasSize(BODY_BYTES);
    }

    // After a while the spool accepts one payload as a trial.
    pass(2_000);
    assertThat(spool.hasRoom(1, false)).isFalse();
    assertThat(spool.hasRoom(1, true)).isTrue();
    assertThatThrownBy(() -> commit(1_000)).isInstanceOf(IOException.class);

    settle(kept.subList(0, 20));
    pass(2_000);
    spool.tend();
    SpooledBatch after = commit(1_001);
    assertThat(spool.problem()).isEmpty();

    spool.close();
    openSpool();
    List<SpooledBatch> expected = new ArrayList<>(kept.subList(20, kept.size()));
    expected.add(after);
    assertThat(spool.takeRecovered())
        .extracting(SpooledBatch::sequence)
        .containsExactlyElementsOf(expected.stream().map(SpooledBatch::sequence).toList());
    assertThat(spool.answered().answerAgain(request(1_000))).isNull();
    assertThat(spool.answered().answerAgain(request(1_001))).isNotNull();
  }

  @Test
  void freedSpaceIsDetectedWithoutAPayload() throws Exception {
    openSpool();
    List<SpooledBatch> kept = fill();
    pass(2_000);
    spool.tend();
    assertThat(spool.problem()).contains("No space left");

    settle(kept.subList(0, 40));
    pass(2_000);
    spool.tend();
    assertThat(spool.problem()).isEmpty();
    assertThat(sample("spool_writable")).isEqualTo(1);
    for (SpooledBatch batch : kept.subList(40, kept.size())) {
      assertThat(spool.read(batch)).hasSize(BODY_BYTES);
    }
  }

  @Test
  void failedRewriteIsRepeatedWhenThereIsSpace() throws Exception {
    flush = Flush.COMMIT;
    openSpool();
    List<SpooledBatch> kept = new ArrayList<>();
    for (int sequence = 0; sequence < 48; sequence++) {
      kept.add(commit(sequence));
    }
    Path room = Files.write(directory.resolve("room"), new byte[BODY_BYTES + 50_000]);
    Path filler = fillDisk();
    Files.delete(room);
    failNextForce = true;
    assertThatThrownBy(() -> commit(48)).isInstanceOf(IOException.class);
    assertThat(spool.problem()).contains("cannot write the spool", "No space left");
    pass(2_000);
    spool.tend();
    assertThat(sample("spool_writable")).isZero();
    assertThat(spool.batches()).isEqualTo(48);
    for (SpooledBatch batch : kept) {
      assertThat(spool.read(batch)).hasSize(BODY_BYTES);
    }

    Files.delete(filler);
    pass(2_000);
    spool.tend();
    assertThat(spool.problem()).isEmpty();
    kept.add(commit(49));
    spool.close();
    openSpool();
    assertThat(spool.takeRecovered())
        .extracting(SpooledBatch::sequence)
        .containsExactlyElementsOf(kept.stream().map(SpooledBatch::sequence).toList());
  }

  @Test
  void oldestBatchesAreDroppedOnAFullDisk() throws Exception {
    whenFull = WhenFull.DROP_OLDEST;
    openSpool();
    for (int sequence = 0; sequence < 200; sequence++) {
      commit(sequence);
    }

    assertThat(spool.problem()).isEmpty();
    assertThat(sample("spool_spans")).isBetween(40.0, 100.0);
    assertThat(dropped("full") + sample("spool_spans")).isEqualTo(200);
  }

  @Test
  void repeatsDropNoBatchOnAFullDisk() throws Exception {
    whenFull = WhenFull.DROP_OLDEST;
    openSpool();
    for (int sequence = 0; sequence < 20; sequence++) {
      commit(sequence);
    }
    Path filler = fillDisk();
    pass(AnsweredRequests.MOST_AGE_MILLIS);
    assertThat(spool.answered().answerAgain(request(1))).isNotNull();
    pass(2_000);
    spool.tend();

    assertThat(spool.answered().due()).hasSize(1);
    assertThat(sample("spool_spans")).isEqualTo(20);
    assertThat(spool.problem()).isEmpty();

    Files.delete(filler);
    pass(2_000);
    spool.tend();
    assertThat(spool.answered().due()).isEmpty();
    assertThat(sample("spool_spans")).isEqualTo(20);
  }

  @Test
  void fullDiskPreventsTheStartUnlessBatchesWait() throws Exception {
    openSpool();
    commit(0);
    spool.close();
    Path filler = fillDisk();
    openSpool();
    assertThat(spool.problem()).contains("No space left");
    List<SpooledBatch> recovered = spool.takeRecovered();
    assertThat(spool.read(recovered.getFirst())).hasSize(BODY_BYTES);

    Files.delete(filler);
    pass(2_000);
    commit(1);
    assertThat(spool.problem()).isEmpty();
    spool.settle(recovered.getFirst(), Settlement.PUBLISHED);
    spool.close();
    openSpool();
    assertThat(spool.takeRecovered()).extracting(SpooledBatch::sequence).containsExactly(1L);
    spool.close();
    try (var files = Files.list(directory)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    fillDisk();

    assertThatThrownBy(this::openSpool)
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("spool.directory = " + directory)
        .hasMessageContaining("free space on its disk");
  }

  @Test
  void failedStartDeletesNothingThatIsNeeded() throws Exception {
    openSpool();
    commit(0);
    spool.settle(takeOnly(), Settlement.PUBLISHED);
    spool.close();
    // A kill during the creation of a segment leaves an empty file.
    Files.createFile(directory.resolve("0000000009.seg"));
    fillDisk();
    assertThatThrownBy(this::openSpool).isInstanceOf(IOException.class);
    emptyFillers();
    openSpool();

    assertThat(spool.answered().answerAgain(request(0))).isNotNull();
  }

  @Test
  void epochIsIncrementedOnAFullDisk() throws Exception {
    RandomGenerator random = new SplittableRandom(1);
    try (StateDirectory state = StateDirectory.open(directory.resolve("state"), Disk.SYSTEM)) {
      AgentIdentity.next(state, random);
      fillDisk();
      for (int expected = 2; expected < 5; expected++) {
        assertThat(AgentIdentity.next(state, random).epoch()).isEqualTo(expected);
        fillDisk();
      }
    }
  }

  @Test
  void readOnlyDiskIsNamedWithTheRemedy() throws Exception {
    assumeThat(run("mount", "-o", "remount,ro", directory.toString())).isZero();

    assertThatThrownBy(this::openSpool)
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("spool.directory = " + directory)
        .hasMessageContaining("Read-only file system")
        .hasMessageContaining("set spool.directory to another one");
  }

  private SpooledBatch takeOnly() throws IOException {
    spool.close();
    openSpool();
    return spool.takeRecovered().getFirst();
  }

  private void emptyFillers() throws IOException {
    try (var files = Files.list(directory)) {
      for (Path file : files.filter(f -> f.toString().contains("filler")).toList()) {
        Files.delete(file);
      }
    }
  }

  private Path fillDisk() throws IOException {
    Path filler = directory.resolve("filler-" + System.nanoTime());
    int bytes = 64 * 1024;
    try (var out = Files.newOutputStream(filler)) {
      while (bytes > 0) {
        try {
          out.write(new byte[bytes]);
        } catch (IOException e) {
          bytes /= 2;
        }
      }
    }
    return filler;
  }

  /** Commits until the disk is full. */
  private List<SpooledBatch> fill() throws IOException {
    List<SpooledBatch> kept = new ArrayList<>();
    while (spool.problem().isEmpty()) {
      try {
        kept.add(commit(kept.size()));
      } catch (IOException e) {
        assertThat(e).hasMessageContaining("No space left");
      }
    }
    return kept;
  }

  private void force(Disk.OpenFile file) throws IOException {
    if (failNextForce) {
      failNextForce = false;
      throw new IOException("Input/output error");
    }
    file.force();
  }

  private SpooledBatch commit(int number) throws IOException {
    frame.clear();
    frame.add(A, number, new byte[BODY_BYTES], 1);
    frame.add(request(number), 1, 0, "");
    spool.commit(frame);
    return frame.batches().getFirst();
  }

  private static int run(String... command) throws Exception {
    try {
      return new ProcessBuilder(command)
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start()
          .waitFor();
    } catch (IOException e) {
      return -1;
    }
  }
}
