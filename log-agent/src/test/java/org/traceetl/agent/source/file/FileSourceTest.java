package org.traceetl.agent.source.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.traceetl.agent.source.file.FileAgent.ids;
import static org.traceetl.agent.source.file.FileAgent.lines;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.FilesConfig;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.source.payload.MemoryIntake;
import org.traceetl.common.Clocks;

@Timeout(60)
final class FileSourceTest {
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
  void aLineIsReadAsSoonAsItsEndIsWritten() throws IOException {
    agent.start();
    agent.write(lines(1, 1));
    assertThat(intake.ids()).isEqualTo(ids(1, 1));

    String second = lines(2, 2);
    agent.write(second.substring(0, 40));
    agent.write(second.substring(40, second.length() - 1));
    assertThat(intake.ids()).isEqualTo(ids(1, 1));
    agent.write("\n" + lines(3, 3));

    assertThat(intake.ids()).isEqualTo(ids(1, 3));
  }

  @Test
  void filesThatAppearLaterAreFound() throws IOException {
    agent.start();
    agent.write(lines(1, 1));
    Files.writeString(agent.newLog("cart"), lines(2, 2));
    agent.run();

    assertThat(intake.ids()).isEqualTo(ids(1, 2));
  }

  @Test
  void aRotatedFileIsReadToItsEndAndTheNewOneFromItsStart() throws IOException {
    agent.start();
    agent.write(lines(1, 1));
    agent.append(lines(2, 2));
    Path rotated = agent.log.resolveSibling("trace.log-2026-11-21-10-00");
    Files.move(agent.log, rotated);
    Files.writeString(rotated, lines(3, 3), StandardOpenOption.APPEND);
    agent.write(lines(4, 4));

    assertThat(intake.ids()).containsExactlyInAnyOrderElementsOf(ids(1, 4));
  }

  @Test
  void linesWrittenDuringManyRotationsAllArriveOnce() throws IOException {
    int last = 20 * 51;
    try (FileSource source =
        new FileSource(
            new FilesConfig(List.of(agent.glob()), 10, 1024 * 1024),
            intake,
            List.of(),
            new FileMetrics(),
            Clocks.SYSTEM)) {
      source.start();
      for (int first = 1; first < last; first += 51) {
        agent.append(lines(first, first));
        int begun = first;
        await().until(() -> intake.size() >= begun);
        for (int number = first + 1; number <= first + 50; number++) {
          agent.append(lines(number, number));
        }
        Files.move(agent.log, agent.log.resolveSibling("trace.log-" + first));
      }
      agent.append(lines(last + 1, last + 1));

      await().until(() -> intake.size() > last);
    }
    assertThat(intake.ids()).containsExactlyInAnyOrderElementsOf(ids(1, last + 1));
  }

  @Test
  void aTruncatedFileIsReadFromItsStart() throws IOException {
    agent.start();
    agent.write(lines(1, 2));
    Files.writeString(agent.log, lines(3, 3), StandardOpenOption.TRUNCATE_EXISTING);
    agent.run();

    assertThat(intake.ids()).isEqualTo(ids(1, 3));
  }

  @Test
  void aTruncatedFileThatGrewPastItsPositionIsReadFromItsStart() throws IOException {
    agent.start();
    agent.write(lines(1, 1));
    overwrite(lines(2, 3));
    agent.run();

    assertThat(intake.ids()).isEqualTo(ids(1, 3));
    assertThat(agent.metrics.truncations.sum()).isEqualTo(1);
  }

  @Test
  void linesInProgressDuringATruncationDoNotMoveThePosition() throws IOException {
    intake.hold();
    agent.start();
    agent.write(lines(1, 1));
    assertThat(intake.decodedIds()).isEqualTo(ids(1, 1));
    overwrite(lines(2, 3));
    agent.run();
    intake.keepHeld();
    agent.run();

    assertThat(intake.ids()).isEqualTo(ids(1, 3));
  }

  @Test
  void aRestartContinuesAfterTheStoredLines() throws IOException {
    agent.readAndStop(1, 2);
    agent.start();
    agent.write(lines(3, 3));

    assertThat(intake.ids()).isEqualTo(ids(1, 3));
  }

  @Test
  void anyPathKeepsItsPosition() throws IOException {
    agent.log = agent.newLog("check\nout\t% ü");
    agent.readAndStop(1, 1);
    agent.start();
    agent.write(lines(2, 2));

    assertThat(intake.ids()).isEqualTo(ids(1, 2));
  }

  @Test
  void filesInAnUnreadableDirectoryStayOpen() throws IOException {
    agent.start();
    agent.write(lines(1, 1));
    Path away = directory.resolve("away");
    Files.move(agent.log.getParent(), away);
    // The link is a loop, which is unreadable for root too; permissions do not stop root.
    Files.createSymbolicLink(agent.log.getParent(), agent.log.getParent());
    agent.passGrace();
    assertThat(agent.metrics.open).isEqualTo(1);

    Files.delete(agent.log.getParent());
    Files.move(away, agent.log.getParent());
    agent.write(lines(2, 2));

    assertThat(intake.ids()).isEqualTo(ids(1, 2));
  }

  @Test
  void aFileThatReturnsContinuesAtItsPosition() throws IOException {
    agent.start();
    agent.write(lines(1, 1));
    Path away = directory.resolve("away");
    Files.move(agent.log, away);
    agent.passGrace();
    assertThat(agent.metrics.open).isZero();
    Files.move(away, agent.log);
    agent.write(lines(2, 2));

    assertThat(intake.ids()).isEqualTo(ids(1, 2));
  }

  @Test
  void filesAboveTheLimitWaitUntilOthersAreGone() throws IOException {
    for (int i = 1; i <= FilePositions.MOST + 2; i++) {
      Files.writeString(agent.newLog("app-" + i), lines(i, i));
    }
    agent.start();
    assertThat(agent.metrics.open).isEqualTo(FilePositions.MOST);
    assertThat(agent.metrics.unfollowed).isEqualTo(2);
    assertThat(intake.ids()).hasSize(FilePositions.MOST);

    Files.delete(directory.resolve("log/app-1/trace/trace.log"));
    agent.passGrace();

    assertThat(agent.metrics.unfollowed).isEqualTo(1);
    assertThat(intake.ids()).hasSize(FilePositions.MOST + 1).doesNotHaveDuplicates();
  }

  @Test
  void linesThatWereNotStoredAreReadAgainAfterARestart() throws IOException {
    agent.start();
    agent.write(lines(1, 1));
    intake.hold();
    agent.write(lines(2, 2));
    assertThat(intake.decodedIds()).isEqualTo(ids(1, 2));
    agent.restart();

    assertThat(intake.decodedIds()).containsExactly(1L, 2L, 2L);
    assertThat(intake.ids()).isEqualTo(ids(1, 2));
  }

  @Test
  void aFileRotatedWhileNoAgentRanIsReadToItsEnd() throws IOException {
    agent.readAndStop(1, 1);
    agent.append(lines(2, 2));
    Files.move(agent.log, agent.log.resolveSibling("trace.log-2026-11-21-10-00"));
    agent.append(lines(3, 3));
    agent.start();

    assertThat(intake.ids()).containsExactlyInAnyOrderElementsOf(ids(1, 3));
  }

  @Test
  void thePositionOfADeletedFileIsForgotten() throws IOException {
    Files.writeString(agent.newLog("cart"), lines(2, 2));
    agent.readAndStop(1, 1);
    assertThat(intake.positions()).hasSize(2);
    Files.delete(agent.log);
    Files.writeString(agent.log.resolveSibling("neighbour"), "");
    agent.start();

    assertThat(intake.positions()).hasSize(1);
    assertThat(intake.ids()).hasSize(2);
  }

  @Test
  void aFileWithAChangedKeyContinuesAtItsPosition() throws IOException {
    agent.readAndStop(1, 1);
    agent.changeKey();
    agent.append(lines(2, 2));
    agent.start();

    assertThat(intake.ids()).isEqualTo(ids(1, 2));
  }

  @Test
  void theFurthestOfSeveralPositionsOfAFileCounts() throws IOException {
    agent.readAndStop(1, 1);
    Checkpoint.Position older = intake.positions().getFirst();
    agent.changeKey();
    agent.readAndStop(2, 2);
    intake.putFirst(older);
    agent.changeKey();
    agent.append(lines(3, 3));
    agent.start();

    assertThat(intake.ids()).isEqualTo(ids(1, 3));
    assertThat(intake.positions()).hasSize(1);
  }

  @Test
  void anotherFileWithTheKeyOfADeletedOneIsNotRead() throws IOException {
    agent.readAndStop(1, 1);
    Path other = agent.log.resolveSibling("notes.txt");
    Files.move(agent.log, other);
    Files.writeString(other, lines(2, 3), StandardOpenOption.TRUNCATE_EXISTING);
    agent.append(lines(4, 4));
    agent.start();

    assertThat(agent.metrics.open).isEqualTo(1);
    assertThat(intake.ids()).containsExactly(1L, 4L);
  }

  @Test
  void anotherFileAtThePathWithTheSameKeyIsReadFromItsStart() throws IOException {
    agent.readAndStop(1, 1);
    // The same inode has another content, as after the number of a deleted file is reused.
    Files.writeString(agent.log, lines(2, 3), StandardOpenOption.TRUNCATE_EXISTING);
    agent.start();

    assertThat(intake.ids()).isEqualTo(ids(1, 3));
  }

  @Test
  void aFullPipelineLosesNoLine() throws IOException {
    intake.refuse(Intake.Admission.FULL);
    agent.start();
    agent.write(lines(1, 2));
    assertThat(intake.offers()).isGreaterThan(2);
    assertThat(intake.ids()).isEmpty();
    intake.refuse(null);
    agent.run();

    assertThat(intake.ids()).isEqualTo(ids(1, 2));
  }

  @Test
  void linesWhosePayloadFailsAreSentAgain() throws IOException {
    intake.failNext();
    agent.start();
    agent.write(lines(1, 1));

    assertThat(intake.decodedIds()).containsExactly(1L, 1L);
    assertThat(intake.ids()).isEqualTo(ids(1, 1));
  }

  @Test
  void aBadLineBetweenGoodOnesLosesOnlyItself() throws IOException {
    agent.start();
    agent.write(lines(1, 1) + "no span\n\n" + lines(2, 2));

    assertThat(intake.ids()).isEqualTo(ids(1, 2));
    assertThat(intake.rejections()).containsExactly("bad_fields");
  }

  @Test
  void aLineThatIsLongerThanAChunkIsSkippedAndCounted() throws IOException {
    agent.start();
    agent.write(lines(1, 1) + "x".repeat(3 * 1024 * 1024));
    agent.write("x".repeat(1024 * 1024) + "\n" + lines(2, 2));

    assertThat(intake.ids()).isEqualTo(ids(1, 2));
    assertThat(intake.rejections()).containsExactly("line_too_long");
  }

  @Test
  void aLineAboveTheLimitIsRejectedAmongOthers() throws IOException {
    agent.start();
    agent.write(lines(1, 1) + "x".repeat(1024 * 1024 + 1) + "\n" + lines(2, 2));

    assertThat(intake.ids()).isEqualTo(ids(1, 2));
  }

  @Test
  void aFileLargerThanAChunkIsReadToItsEnd() throws IOException {
    agent.append(lines(1, 10_000));
    agent.start();

    assertThat(intake.ids()).isEqualTo(ids(1, 10_000));
  }

  @Test
  void filesToFollowMayChange() throws IOException {
    agent.append(lines(1, 1));
    Path other = Files.createDirectories(directory.resolve("other")).resolve("trace.log");
    Files.writeString(other, lines(2, 2));
    FileSource source = agent.start();
    assertThat(intake.ids()).isEqualTo(ids(1, 1));

    source.follow(List.of(other.toString()));
    agent.run();
    assertThat(intake.ids()).isEqualTo(ids(1, 2));
    agent.write(lines(3, 3));
    assertThat(intake.ids()).isEqualTo(ids(1, 3));
    agent.passGrace();
    assertThat(agent.metrics.open).isEqualTo(1);

    // The file continues from its position.
    source.follow(List.of(other.toString(), agent.log.toString()));
    agent.write(lines(4, 4));
    assertThat(intake.ids()).isEqualTo(ids(1, 4));
  }

  @Test
  void anIncompleteLineOfAFileThatIsNotFollowedIsNoBadLine() throws IOException {
    String line = lines(2, 2);
    FileSource source = agent.start();
    agent.write(lines(1, 1) + line.substring(0, 40));
    source.follow(List.of());
    agent.passGrace();
    assertThat(agent.metrics.open).isZero();
    agent.write(line.substring(40));
    source.follow(List.of(agent.log.toString()));
    agent.run();

    assertThat(intake.ids()).isEqualTo(ids(1, 2));
    assertThat(intake.rejections()).isEmpty();
  }

  @Test
  void anIncompleteLineOfAFileThatIsGoneIsCounted() throws IOException {
    agent.start();
    agent.write(lines(1, 1) + lines(2, 2).substring(0, 40));
    Files.move(agent.log, directory.resolve("away"));
    agent.passGrace();

    assertThat(agent.metrics.open).isZero();
    assertThat(intake.rejections()).containsExactly("line_incomplete");
  }

  @Test
  void aFileRewrittenWithTheSameLengthIsReadAgain() throws IOException {
    agent.start();
    agent.write(lines(1, 1));

    assertThat(lines(2, 2)).hasSameSizeAs(lines(1, 1));
    Files.writeString(agent.log, lines(2, 2));
    agent.run();

    assertThat(intake.ids()).isEqualTo(ids(1, 2));
  }

  @Test
  void aThreadStartsWithTheFirstFilesAndStopsBeforeItsNextLook() throws IOException {
    agent.append(lines(1, 1));
    try (FileSource source =
        new FileSource(
            new FilesConfig(List.of(), 60_000, 1024 * 1024),
            intake,
            List.of(),
            new FileMetrics(),
            Clocks.SYSTEM)) {
      source.start();
      source.follow(List.of(agent.log.toString()));

      await().until(() -> intake.ids().equals(ids(1, 1)));
    }
  }

  /** Overwrites the old bytes: a truncation and a write between two looks appear like this. */
  private void overwrite(String text) throws IOException {
    try (FileChannel file = FileChannel.open(agent.log, StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap(text.getBytes(UTF_8)));
    }
  }
}
