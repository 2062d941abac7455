package org.traceetl.agent.source.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.agent.source.file.FileAgent.ids;
import static org.traceetl.agent.source.file.FileAgent.lines;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.source.payload.MemoryIntake;

/** Tests what happens to files that are compressed while no agent runs. */
final class CompressedFilesTest {
  @TempDir private Path directory;
  private FileAgent agent;
  private MemoryIntake intake;

  @BeforeEach
  void create() throws IOException {
    agent = new FileAgent(directory);
    intake = agent.intake;
  }

  @AfterEach
  void close() {
    agent.close();
  }

  @Test
  void theRestOfACompressedFileIsRead() throws IOException {
    agent.readAndStop(1, 2);
    agent.append(lines(3, 4));
    agent.compressTo("trace.log.1.gz");
    Files.writeString(agent.log.resolveSibling("other.gz"), "no gzip at all");
    agent.append(lines(5, 5));

    agent.start();

    assertThat(intake.ids()).isEqualTo(ids(1, 5));
    agent.restart();
    agent.write(lines(6, 6));
    assertThat(intake.ids()).isEqualTo(ids(1, 6));
    // The position of a file that was read completely is not kept.
    assertThat(intake.positions()).hasSize(1);
  }

  @Test
  void aCompressedFileThatWasReadCompletelyIsForgotten() throws IOException {
    agent.readAndStop(1, 2);
    agent.compressTo("trace-1.log.gz");
    agent.append(lines(3, 3));

    agent.start();

    assertThat(intake.ids()).isEqualTo(ids(1, 3));
    assertThat(intake.positions()).hasSize(1);
  }

  @Test
  void aRestContinuesAfterAnotherRestart() throws IOException {
    int count = 10_000;
    agent.readAndStop(1, 1);
    agent.append(lines(2, count));
    agent.compressTo("trace.log.1.gz");
    agent.append(lines(count + 1, count + 1));
    intake.hold();
    agent.start();
    intake.keepHeldAndHold();
    agent.run();
    assertThat(intake.size()).isBetween(2, count - 1);
    agent.stop();
    // The log rotates again meanwhile.
    Files.move(
        agent.log.resolveSibling("trace.log.1.gz"), agent.log.resolveSibling("trace.log.2.gz"));

    agent.start();

    assertThat(intake.ids()).isEqualTo(ids(1, count + 1));
  }

  @Test
  void anOlderPositionOfACompressedFileDoesNotHaveItReadAgain() throws IOException {
    Checkpoint.Position older = readUnderTwoKeys();
    assertThat(intake.positions())
        .singleElement()
        .extracting(Checkpoint.Position::name)
        .isNotEqualTo(older.name());
    // The position remains, as if it could not be forgotten.
    intake.putLast(older);
    agent.compressTo("trace.log.1.gz");
    agent.append(lines(3, 3));

    agent.start();

    assertThat(intake.ids()).isEqualTo(ids(1, 3));
    assertThat(intake.positions()).hasSize(1);
  }

  @Test
  void theFurthestOfSeveralPositionsOfACompressedFileCounts() throws IOException {
    intake.putLast(readUnderTwoKeys());
    agent.append(lines(3, 3));
    agent.compressTo("trace.log.1.gz");
    agent.append(lines(4, 4));

    agent.start();

    assertThat(intake.ids()).isEqualTo(ids(1, 4));
    assertThat(intake.positions()).hasSize(1);
  }

  @Test
  void anOlderPositionDoesNotCountWhileTheFileIsNextToItsCompressedCopy() throws IOException {
    intake.putLast(readUnderTwoKeys());
    // Both files exist, as after gzip --keep.
    compressCopy();
    Files.move(agent.log, agent.log.resolveSibling("trace.log.1"));
    agent.append(lines(3, 3));

    agent.start();

    assertThat(intake.ids()).isEqualTo(ids(1, 3));
  }

  @Test
  void filesRotatedWhileARestIsReadAreReadToo() throws IOException {
    agent.readAndStop(1, 1);
    agent.append(lines(2, 2));
    agent.compressTo("trace.log.1.gz");
    intake.hold();
    agent.start();
    agent.write(lines(3, 3));
    assertThat(agent.metrics.open).isEqualTo(1);
    Files.move(agent.log, directory.resolve("away"));
    agent.write(lines(4, 4));
    assertThat(agent.metrics.open).isEqualTo(2);
    assertThat(intake.decodedIds()).isEqualTo(ids(1, 2));

    intake.keepHeld();
    agent.run();

    assertThat(intake.ids()).containsExactlyInAnyOrderElementsOf(ids(1, 4));
  }

  @Test
  void aRestIsFoundAgainIfItsFileWasRenamedMeanwhile() throws IOException {
    Path cart = agent.newLog("cart");
    Files.writeString(cart, lines(2, 2));
    agent.readAndStop(1, 1);
    agent.append(lines(3, 3));
    Path first = agent.compressTo("trace.log.1.gz");
    Files.writeString(cart, lines(4, 4), StandardOpenOption.APPEND);
    Path second = agent.compress(cart, cart.resolveSibling("trace.log.1.gz"));
    intake.hold();
    agent.start();
    assertThat(intake.decodedIds()).hasSize(3);
    // Replaces both files: one of them is waiting.
    for (Path path : List.of(first, second)) {
      Files.move(path, path.resolveSibling("trace.log.2.gz"));
      Files.writeString(directory.resolve("short"), "short");
      agent.compress(directory.resolve("short"), path);
    }

    intake.keepHeld();
    agent.run();

    assertThat(intake.ids()).containsExactlyInAnyOrderElementsOf(ids(1, 4));
  }

  @Test
  void theRestOfAFileWithLittleReadContinuesAfterARestart() throws IOException {
    // Shorter than the longest beginning that identifies a file.
    agent.append("x".repeat(100) + "\n");
    agent.start();
    assertThat(intake.positions()).hasSize(1);
    agent.stop();
    agent.append(lines(1, 10_000));
    agent.compressTo("trace.log.1.gz");
    intake.hold();
    agent.start();
    intake.keepHeldAndHold();
    agent.run();
    assertThat(intake.positions()).hasSize(2);
    agent.stop();

    agent.start();

    assertThat(intake.ids()).isEqualTo(ids(1, 10_000));
    assertThat(intake.positions()).isEmpty();
    agent.restart();
    agent.write(lines(10_001, 10_001));
    assertThat(intake.ids()).isEqualTo(ids(1, 10_001));
  }

  @Test
  void thePositionOfARestIsKeptUntilThatOfItsFileIsForgotten() throws IOException {
    agent.readAndStop(1, 1);
    agent.append(lines(2, 2));
    agent.compressTo("trace.log.1.gz");
    intake.failNextDeletion();
    agent.start();
    assertThat(intake.deletions()).isEqualTo(1);
    agent.write(lines(3, 3));
    assertThat(intake.ids()).isEqualTo(ids(1, 3));
    agent.restart();
    agent.write(lines(4, 4));

    assertThat(intake.ids()).isEqualTo(ids(1, 4));
  }

  @Test
  void anotherFileMayHaveTheKeyOfACompressedFileBeforeItsRestIsRead() throws IOException {
    agent.readAndStop(1, 1);
    agent.append(lines(2, 2));
    compressCopy();
    Files.writeString(agent.log, lines(3, 3), StandardOpenOption.TRUNCATE_EXISTING);
    agent.start();
    assertThat(intake.ids()).isEqualTo(ids(1, 3));
    agent.restart();
    agent.write(lines(4, 4));

    assertThat(intake.ids()).isEqualTo(ids(1, 4));
    assertThat(intake.positions()).hasSize(1);
  }

  @Test
  void aDamagedRestIsReadUpToTheDamage() throws IOException {
    agent.readAndStop(1, 1);
    agent.append(lines(2, 2_000));
    Path compressed = agent.compressTo("trace.log.1.gz");
    byte[] whole = Files.readAllBytes(compressed);
    Files.write(compressed, Arrays.copyOf(whole, whole.length * 3 / 4));
    agent.append(lines(3_000, 3_000));

    agent.start();

    assertThat(intake.ids()).contains(3_000L).hasSizeBetween(500, 2_000);
  }

  @Test
  void compressedFilesAreNotReadAsLines() throws IOException {
    agent.append(lines(1, 1));
    agent.compressTo("trace.log.gz");
    agent.append(lines(2, 2));
    agent.start(agent.log.getParent() + "/trace.log*");
    agent.write(lines(3, 3));

    assertThat(intake.ids()).isEqualTo(ids(2, 3));
    assertThat(intake.rejections()).isEmpty();
  }

  /**
   * Has runs read lines 1 and 2 of the log; between them the log's key changes.
   *
   * @return the position of the first run
   */
  private Checkpoint.Position readUnderTwoKeys() throws IOException {
    agent.readAndStop(1, 1);
    Checkpoint.Position older = intake.positions().getFirst();
    agent.changeKey();
    agent.readAndStop(2, 2);
    return older;
  }

  private void compressCopy() throws IOException {
    Path copy = Files.copy(agent.log, directory.resolve("rotated"));
    agent.compress(copy, agent.log.resolveSibling("trace.log.1.gz"));
  }
}
