package org.traceetl.agent.source.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.FilesConfig;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.telemetry.AgentMetrics;

final class FileSourceTest {
  @TempDir Path directory;

  private final MemoryIntake intake = new MemoryIntake();
  private final AtomicLong passed = new AtomicLong();
  private int pollIntervalMillis = 10;
  private int keptNumbers;
  private AgentMetrics metrics;
  private Path log;
  private FileSource source;

  @BeforeEach
  void makeLog() throws IOException {
    log = directory.resolve("log/checkout/trace/trace.log");
    Files.createDirectories(log.getParent());
  }

  @AfterEach
  void stop() {
    if (source != null) {
      source.close();
    }
  }

  @Test
  void aCompleteLineIsASpanWithoutAnyAfterIt() throws IOException {
    start();
    append(line(1));
    await().until(() -> intake.ids().equals(ids(1, 1)));

    String second = line(2);
    append(second.substring(0, 40));
    append(second.substring(40, second.length() - 1));
    append("\n" + line(3));

    await().until(() -> intake.ids().equals(ids(1, 3)));
  }

  @Test
  void filesThatAppearLaterAreFound() throws IOException {
    start();
    append(line(1));
    Path other = directory.resolve("log/cart/trace/trace.log");
    Files.createDirectories(other.getParent());
    Files.writeString(other, line(2));

    await().until(() -> intake.ids().equals(ids(1, 2)));
  }

  @Test
  void aRotatedFileIsReadToItsEndAndTheNewOneFromItsStart() throws IOException {
    start();
    append(line(1));
    await().until(() -> intake.ids().equals(ids(1, 1)));
    append(line(2));
    Path rotated = log.resolveSibling("trace.log-2026-11-21-10-00");
    Files.move(log, rotated);
    Files.writeString(rotated, line(3), StandardOpenOption.APPEND);
    append(line(4));

    await().until(() -> intake.ids().equals(ids(1, 4)));
    assertThat(intake.spans()).hasSize(4);
  }

  @Test
  void linesWrittenWhileTheFileIsRotatedAgainAndAgainAllArriveOnce() throws IOException {
    start();
    int number = 0;
    for (int rotation = 0; rotation < 20; rotation++) {
      append(line(++number));
      int first = number;
      await().until(() -> intake.ids().size() >= first);
      for (int i = 0; i < 50; i++) {
        append(line(++number));
      }
      Files.move(log, log.resolveSibling("trace.log-" + rotation));
    }
    append(line(++number));
    int last = number;

    await().until(() -> intake.ids().size() == last);
    assertThat(intake.spans()).hasSize(last);
  }

  @Test
  void aTruncatedFileIsReadFromItsStart() throws IOException {
    start();
    append(line(1) + line(2));
    await().until(() -> intake.ids().equals(ids(1, 2)));
    Files.writeString(log, line(3), StandardOpenOption.TRUNCATE_EXISTING);

    await().until(() -> intake.ids().equals(ids(1, 3)));
    assertThat(intake.spans()).hasSize(3);
  }

  @Test
  void aTruncatedFileThatHasGrownPastItsPlaceIsReadFromItsStart() throws IOException {
    start();
    append(line(1));
    await().until(() -> intake.ids().equals(ids(1, 1)));
    // Overwrites the old bytes: a truncation and a write between two looks appear like this.
    try (FileChannel file = FileChannel.open(log, StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap((line(2) + line(3)).getBytes(UTF_8)));
    }

    await().until(() -> intake.ids().equals(ids(1, 3)));
    assertThat(intake.spans()).hasSize(3);
    assertThat(metrics.registry.getSampleValue("trace_etl_agent_file_truncations_total"))
        .isEqualTo(1);
  }

  @Test
  void linesUnderWayWhenTheirFileIsTruncatedDoNotMoveItsPlace() throws IOException {
    intake.hold();
    append(line(1));
    start();
    await().until(() -> intake.ids().equals(ids(1, 1)));
    try (FileChannel file = FileChannel.open(log, StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap((line(2) + line(3)).getBytes(UTF_8)));
    }
    intake.confirmHeld();

    await().until(() -> intake.ids().equals(ids(1, 3)));
    assertThat(intake.spans()).hasSize(3);
  }

  @Test
  void aRestartGoesOnBehindWhatWasKept() throws IOException {
    start();
    append(line(1) + line(2));
    await().until(() -> intake.ids().equals(ids(1, 2)));
    restart();
    append(line(3));

    await().until(() -> intake.ids().equals(ids(1, 3)));
    assertThat(intake.spans()).hasSize(3);
  }

  @Test
  void thePlaceOfAFileIsKeptWhateverItsName() throws IOException {
    log = directory.resolve("log/check\nout\t% ü/trace/trace.log");
    Files.createDirectories(log.getParent());
    start();
    append(line(1));
    await().until(() -> intake.ids().equals(ids(1, 1)));
    restart();
    append(line(2));

    await().until(() -> intake.ids().equals(ids(1, 2)));
    assertThat(intake.spans()).hasSize(2);
  }

  @Test
  void filesThatAreOutOfSightForAWhileAreNotLeft() throws IOException {
    start();
    append(line(1));
    await().until(() -> intake.ids().equals(ids(1, 1)));
    Path away = directory.resolve("away");
    Files.move(log.getParent(), away);
    // The link is a loop, which is unreadable for root too; permissions do not stop root.
    Files.createSymbolicLink(log.getParent(), log.getParent());
    awaitLook(2);
    passGrace();
    awaitLook(3);
    assertThat(gauge("open_files")).isEqualTo(3);

    Files.delete(log.getParent());
    Files.move(away, log.getParent());
    append(line(4));

    await().until(() -> intake.ids().equals(ids(1, 4)));
    assertThat(intake.spans()).hasSize(4);
  }

  @Test
  void aFileThatComesBackGoesOnFromItsPlace() throws IOException {
    start();
    append(line(1));
    await().until(() -> intake.ids().equals(ids(1, 1)));
    Path away = directory.resolve("away");
    Files.move(log, away);
    await()
        .until(() -> {
          passGrace();
          return gauge("open_files") == 0;
        });
    Files.move(away, log);
    append(line(2));

    await().until(() -> intake.ids().equals(ids(1, 2)));
    assertThat(intake.spans()).hasSize(2);
  }

  @Test
  void filesAboveTheBoundWaitUntilOthersAreGone() throws IOException {
    for (int i = 1; i <= FilePositions.MOST + 2; i++) {
      Files.writeString(newLog("app-" + i), line(i));
    }
    start();
    await().until(() -> gauge("open_files") == FilePositions.MOST);
    assertThat(gauge("unfollowed_files")).isEqualTo(2);
    await().until(() -> intake.spans().size() == FilePositions.MOST);

    Files.delete(directory.resolve("log/app-1/trace/trace.log"));
    await()
        .until(() -> {
          passGrace();
          return gauge("unfollowed_files") == 1;
        });
    await().until(() -> intake.spans().size() == FilePositions.MOST + 1);
  }

  @Test
  void whatWasNotKeptIsReadAgainAfterARestart() throws IOException {
    start();
    append(line(1));
    await().until(() -> intake.ids().equals(ids(1, 1)));
    intake.hold();
    append(line(2));
    await().until(() -> intake.ids().equals(ids(1, 2)));
    restart();

    await().until(() -> intake.spans().size() == 3);
    assertThat(intake.spans()).filteredOn(span -> span.spanId() == 2 + 1).hasSize(2);
    assertThat(intake.spans()).filteredOn(span -> span.spanId() == 1 + 1).hasSize(1);
  }

  @Test
  void aFileRotatedWhileTheAgentWasDownIsReadToItsEnd() throws IOException {
    start();
    append(line(1));
    await().until(() -> intake.ids().equals(ids(1, 1)));
    close();
    append(line(2));
    Files.move(log, log.resolveSibling("trace.log-2026-11-21-10-00"));
    append(line(3));
    start();

    await().until(() -> intake.ids().equals(ids(1, 3)));
    assertThat(intake.spans()).hasSize(3);
  }

  @Test
  void thePlaceOfADeletedFileIsForgotten() throws IOException {
    start();
    append(line(1));
    Path other = newLog("cart");
    Files.writeString(other, line(2));
    await().until(() -> intake.places().size() == 2);
    close();
    Files.delete(log);
    Files.writeString(log.resolveSibling("neighbour"), "");
    start();

    await().until(() -> intake.places().size() == 1);
    assertThat(intake.ids()).isEqualTo(ids(1, 2));
  }

  @Test
  void aFileThatGotAnotherNumberGoesOnFromItsPlace() throws IOException {
    start();
    append(line(1));
    await().until(() -> intake.ids().equals(ids(1, 1)));
    close();
    takeAnotherNumber();
    append(line(2));
    start();

    await().until(() -> intake.ids().equals(ids(1, 2)));
    assertThat(intake.spans()).hasSize(2);
  }

  @Test
  void aStrangerWithTheNumberOfADeletedFileIsNotRead() throws IOException {
    start();
    append(line(1));
    await().until(() -> intake.ids().equals(ids(1, 1)));
    close();
    Path stranger = log.resolveSibling("notes.txt");
    Files.move(log, stranger);
    Files.writeString(stranger, line(2) + line(3), StandardOpenOption.TRUNCATE_EXISTING);
    append(line(4));
    start();

    await().until(() -> intake.ids().contains(4L + 1));
    await().until(() -> gauge("open_files") == 1);
    assertThat(intake.ids()).containsExactly(1L + 1, 4L + 1);
  }

  @Test
  void anotherFileOfTheSameNumberIsReadFromItsStart() throws IOException {
    start();
    append(line(1));
    await().until(() -> intake.ids().equals(ids(1, 1)));
    close();
    // The same inode has another content, as after the number of a deleted file is reused.
    Files.writeString(log, line(2) + line(3), StandardOpenOption.TRUNCATE_EXISTING);
    start();

    await().until(() -> intake.ids().equals(ids(1, 3)));
  }

  @Test
  void whileThereIsNoRoomNothingIsLost() throws IOException {
    intake.refuse(Intake.Admission.FULL);
    append(line(1) + line(2));
    start();
    await().until(() -> intake.refusals() > 2);
    intake.refuse(null);

    await().until(() -> intake.ids().equals(ids(1, 2)));
    assertThat(intake.spans()).hasSize(2);
  }

  @Test
  void linesThatFailAreSentAgain() throws IOException {
    intake.failNext();
    append(line(1));
    start();

    await().until(() -> intake.spans().size() == 2);
    assertThat(intake.ids()).isEqualTo(ids(1, 1));
  }

  @Test
  void aBadLineBetweenGoodOnesLosesOnlyItself() throws IOException {
    append(line(1) + "no span\n\n" + line(2));
    start();

    await().until(() -> intake.ids().equals(ids(1, 2)));
    assertThat(intake.rejected()).containsExactly("bad_fields");
  }

  @Test
  void aLineThatIsTooLongIsSkippedAndCounted() throws IOException {
    start();
    append(line(1) + "x".repeat(3 * 1024 * 1024));
    await().until(() -> intake.ids().equals(ids(1, 1)));
    append("x".repeat(1024 * 1024) + "\n" + line(2));

    await().until(() -> intake.ids().equals(ids(1, 2)));
    assertThat(rejectedAs("line_too_long")).isEqualTo(1);
  }

  @Test
  void aLineLongerThanSetIsRejectedAmongOthers() throws IOException {
    append(line(1) + "x".repeat(1024 * 1024 + 1) + "\n" + line(2));
    start();

    await().until(() -> intake.ids().equals(ids(1, 2)));
  }

  @Test
  void aFileLargerThanAChunkIsReadWhole() throws IOException {
    StringBuilder lines = new StringBuilder();
    int count = 10_000;
    for (int i = 1; i <= count; i++) {
      lines.append(line(i));
    }
    append(lines.toString());
    start();

    await().until(() -> intake.ids().size() == count);
    assertThat(intake.spans()).hasSize(count);
  }

  @Test
  void theRestOfAFileThatWasCompressedMeanwhileIsRead() throws IOException {
    append(line(1) + line(2));
    start();
    await().until(() -> intake.ids().equals(ids(1, 2)));
    close();
    append(line(3) + line(4));
    compressTo("trace.log.1.gz");
    Files.writeString(log.resolveSibling("other.gz"), "no gzip at all");
    append(line(5));

    start();

    await().until(() -> intake.ids().equals(ids(1, 5)));
    assertThat(intake.spans()).hasSize(5);
    restart();
    append(line(6));
    await().until(() -> intake.ids().equals(ids(1, 6)));
    assertThat(intake.spans()).hasSize(6);
    // The place of a file that was read completely is not kept.
    assertThat(intake.places()).hasSize(1);
  }

  @Test
  void aCompressedFileThatWasReadWholeIsForgotten() throws IOException {
    append(line(1) + line(2));
    start();
    await().until(() -> intake.ids().equals(ids(1, 2)));
    close();
    compressTo("trace-1.log.gz");
    append(line(3));

    start();

    await().until(() -> intake.ids().equals(ids(1, 3)));
    assertThat(intake.spans()).hasSize(3);
  }

  @Test
  void aRestIsGoneOnWithAfterAnotherRestart() throws IOException {
    int count = 10_000;
    append(line(1));
    start();
    await().until(() -> intake.ids().equals(ids(1, 1)));
    close();
    StringBuilder lines = new StringBuilder();
    for (int i = 2; i <= count; i++) {
      lines.append(line(i));
    }
    append(lines.toString());
    compressTo("trace.log.1.gz");
    append(line(count + 1));
    intake.hold();
    start();
    await().until(() -> intake.ids().size() > 1);
    intake.confirmHeld();
    await().until(() -> intake.spans().size() > 5_000);
    close();
    // The log rotates again meanwhile.
    Files.move(log.resolveSibling("trace.log.1.gz"), log.resolveSibling("trace.log.2.gz"));

    start();

    await().until(() -> intake.ids().size() == count + 1);
    assertThat(intake.spans()).hasSize(count + 1);
  }

  @Test
  void anOlderPlaceOfACompressedFileDoesNotHaveItReadAgain() throws IOException {
    append(line(1));
    start();
    await().until(() -> intake.ids().equals(ids(1, 1)));
    Checkpoint.Position older = intake.places().getFirst();
    close();
    takeAnotherNumber();
    append(line(2));
    start();
    await().until(() -> intake.ids().equals(ids(1, 2)));
    await().until(() -> intake.places().size() == 1);
    close();
    assertThat(intake.places().getFirst().name()).isNotEqualTo(older.name());
    // The place remains, as if it could not be forgotten.
    intake.place(older);
    compressTo("trace.log.1.gz");
    append(line(3));

    start();

    await().until(() -> intake.ids().equals(ids(1, 3)));
    assertThat(intake.spans()).hasSize(3);
    await().until(() -> intake.places().size() == 1);
  }

  @Test
  void theFurthestOfSeveralPlacesOfACompressedFileCounts() throws IOException {
    append(line(1));
    start();
    await().until(() -> intake.ids().equals(ids(1, 1)));
    Checkpoint.Position older = intake.places().getFirst();
    close();
    takeAnotherNumber();
    append(line(2));
    start();
    await().until(() -> intake.ids().equals(ids(1, 2)));
    close();
    intake.place(older);
    append(line(3));
    compressTo("trace.log.1.gz");
    append(line(4));

    start();

    await().until(() -> intake.ids().equals(ids(1, 4)));
    assertThat(intake.spans()).hasSize(4);
    await().until(() -> intake.places().size() == 1);
  }

  @Test
  void anOlderPlaceDoesNotCountWhileTheFileItselfIsBesideItsCompressedCopy() throws IOException {
    append(line(1));
    start();
    await().until(() -> intake.ids().equals(ids(1, 1)));
    Checkpoint.Position older = intake.places().getFirst();
    close();
    takeAnotherNumber();
    append(line(2));
    start();
    await().until(() -> intake.ids().equals(ids(1, 2)));
    close();
    intake.place(older);
    // Both files exist, as after gzip --keep.
    Path rotated = Files.copy(log, directory.resolve("copy"));
    compress(rotated, log.resolveSibling("trace.log.1.gz"));
    Files.move(log, log.resolveSibling("trace.log.1"));
    append(line(3));

    start();

    await().until(() -> intake.ids().equals(ids(1, 3)));
    assertThat(intake.spans()).hasSize(3);
  }

  @Test
  void theFurthestOfSeveralPlacesOfAFileCounts() throws IOException {
    append(line(1));
    start();
    await().until(() -> intake.ids().equals(ids(1, 1)));
    Checkpoint.Position older = intake.places().getFirst();
    close();
    takeAnotherNumber();
    append(line(2));
    start();
    await().until(() -> intake.ids().equals(ids(1, 2)));
    close();
    intake.placeFirst(older);
    takeAnotherNumber();
    append(line(3));

    start();

    await().until(() -> intake.ids().equals(ids(1, 3)));
    assertThat(intake.spans()).hasSize(3);
    await().until(() -> intake.places().size() == 1);
  }

  @Test
  void filesThatAreRotatedAwayWhileARestIsReadAreReadToo() throws IOException {
    append(line(1));
    start();
    await().until(() -> intake.ids().equals(ids(1, 1)));
    close();
    append(line(2));
    compressTo("trace.log.1.gz");
    intake.hold();
    start();
    await().until(() -> intake.ids().equals(ids(1, 2)));
    append(line(3));
    await().until(() -> gauge("open_files") == 1);
    Files.move(log, directory.resolve("away"));
    append(line(4));
    await().until(() -> gauge("open_files") == 2);
    assertThat(intake.ids()).isEqualTo(ids(1, 2));

    intake.confirmHeld();

    await().until(() -> intake.ids().equals(ids(1, 4)));
    assertThat(intake.spans()).hasSize(4);
  }

  @Test
  void aRestIsFoundAnewIfItsFileGotAnotherNameMeanwhile() throws IOException {
    append(line(1));
    Path cart = newLog("cart");
    Files.writeString(cart, line(2));
    start();
    await().until(() -> intake.ids().equals(ids(1, 2)));
    close();
    append(line(3));
    Path first = compressTo("trace.log.1.gz");
    Files.writeString(cart, line(4), StandardOpenOption.APPEND);
    Path second = compress(cart, cart.resolveSibling("trace.log.1.gz"));
    intake.hold();
    start();
    await().until(() -> intake.ids().size() == 3);
    // Replaces both files: one of them is waiting.
    for (Path path : List.of(first, second)) {
      Files.move(path, path.resolveSibling("trace.log.2.gz"));
      Files.writeString(directory.resolve("short"), "short");
      compress(directory.resolve("short"), path);
    }

    intake.confirmHeld();

    await().until(() -> intake.ids().equals(ids(1, 4)));
    assertThat(intake.spans()).hasSize(4);
  }

  @Test
  void aRestOfAFileOfWhichLittleWasReadIsGoneOnWithAfterARestart() throws IOException {
    // Shorter than the longest beginning that identifies a file.
    append("x".repeat(100) + "\n");
    start();
    await().until(() -> intake.places().size() == 1);
    close();
    StringBuilder rest = new StringBuilder();
    for (int i = 1; i <= 10_000; i++) {
      rest.append(line(i));
    }
    append(rest.toString());
    compressTo("trace.log.1.gz");
    intake.hold();
    start();
    await().until(() -> intake.ids().size() > 1);
    intake.confirmHeldAndHold();
    await().until(() -> intake.places().size() == 2);
    close();
    intake.release();

    start();

    await().until(() -> intake.ids().equals(ids(1, 10_000)));
    await().until(() -> intake.places().isEmpty());
    restart();
    append(line(10_001));
    await().until(() -> intake.ids().equals(ids(1, 10_001)));
    // Payloads under way at the stop are repeated; stored ones are not.
    assertThat(intake.spans()).filteredOn(span -> span.spanId() == 1 + 1).hasSize(1);
  }

  @Test
  void thePlaceOfARestIsKeptUntilThatOfItsFileIsForgotten() throws IOException {
    append(line(1));
    start();
    await().until(() -> intake.ids().equals(ids(1, 1)));
    close();
    append(line(2));
    compressTo("trace.log.1.gz");
    intake.failNextForgetting();
    start();
    await().until(() -> intake.forgettings() == 1);
    append(line(3));
    await().until(() -> intake.ids().equals(ids(1, 3)));
    restart();
    append(line(4));

    await().until(() -> intake.ids().equals(ids(1, 4)));
    assertThat(intake.spans()).hasSize(4);
  }

  @Test
  void theNumberOfACompressedFileMayBeAnotherFilesBeforeItsRestIsRead() throws IOException {
    append(line(1));
    start();
    await().until(() -> intake.ids().equals(ids(1, 1)));
    close();
    append(line(2));
    byte[] content = Files.readAllBytes(log);
    Files.write(directory.resolve("copy"), content);
    compress(directory.resolve("copy"), log.resolveSibling("trace.log.1.gz"));
    Files.writeString(log, line(3), StandardOpenOption.TRUNCATE_EXISTING);
    start();
    await().until(() -> intake.ids().equals(ids(1, 3)));
    restart();
    append(line(4));

    await().until(() -> intake.ids().equals(ids(1, 4)));
    assertThat(intake.spans()).hasSize(4);
    await().until(() -> intake.places().size() == 1);
  }

  @Test
  void aDamagedRestIsReadAsFarAsItGoes() throws IOException {
    append(line(1));
    start();
    await().until(() -> intake.ids().equals(ids(1, 1)));
    close();
    StringBuilder lines = new StringBuilder();
    for (int i = 2; i <= 2_000; i++) {
      lines.append(line(i));
    }
    append(lines.toString());
    Path compressed = compressTo("trace.log.1.gz");
    byte[] whole = Files.readAllBytes(compressed);
    Files.write(compressed, Arrays.copyOf(whole, whole.length * 3 / 4));
    append(line(3_000));

    start();

    await().until(() -> intake.ids().contains(3_001L));
    assertThat(intake.ids()).hasSizeBetween(500, 2_000);
  }

  @Test
  void compressedFilesAreNotTakenForLines() throws IOException {
    append(line(1));
    Path compressed = compressTo("trace.log");
    Files.move(compressed, log.resolveSibling("trace.log.gz"));
    append(line(2));
    metrics = new AgentMetrics();
    source =
        new FileSource(
            new FilesConfig(
                List.of(log.getParent() + "/trace.log*"), pollIntervalMillis, 1024 * 1024),
            intake,
            intake.places(),
            metrics,
            System::nanoTime);
    source.start();

    await().until(() -> intake.ids().equals(ids(2, 2)));
    awaitMore();
    assertThat(intake.rejected()).isEmpty();
  }

  private void awaitMore() throws IOException {
    append(line(3));
    await().until(() -> intake.ids().equals(ids(2, 3)));
  }

  /** Compresses the log under another name; the log is then gone. */
  private Path compressTo(String name) throws IOException {
    return compress(log, log.resolveSibling(name));
  }

  private Path compress(Path file, Path compressed) throws IOException {
    byte[] content = Files.readAllBytes(file);
    keepNumber(file);
    Files.delete(file);
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(compressed))) {
      out.write(content);
    }
    return compressed;
  }

  /** Changes the file's number, as a disk does that is mounted under another device number. */
  private void takeAnotherNumber() throws IOException {
    Path copy = Files.copy(log, directory.resolve("copy"));
    keepNumber(log);
    Files.move(copy, log, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Prevents the reuse of the file's number during the test. */
  private void keepNumber(Path file) throws IOException {
    Files.createLink(directory.resolve("kept-" + keptNumbers++), file);
  }

  @Test
  void filesToFollowMayChange() throws IOException {
    append(line(1));
    Path other = Files.createDirectories(directory.resolve("other")).resolve("trace.log");
    Files.writeString(other, line(2));
    start();
    await().until(() -> intake.ids().equals(ids(1, 1)));

    source.follow(List.of(other.toString()));
    await().until(() -> intake.ids().equals(ids(1, 2)));
    append(line(3));
    await().until(() -> intake.ids().equals(ids(1, 3)));
    passGrace();
    await().until(() -> gauge("open_files") == 1);

    // The file continues from its place.
    append(line(4));
    source.follow(List.of(other.toString(), log.toString()));
    await().until(() -> intake.ids().equals(ids(1, 4)));
    assertThat(intake.spans()).hasSize(4);
  }

  @Test
  void aLineThatIsBeingWrittenWhenItsFileIsNotFollowedAnyMoreIsNoBadLine() throws IOException {
    String line = line(2);
    append(line(1) + line.substring(0, 40));
    start();
    await().until(() -> intake.ids().equals(ids(1, 1)));
    source.follow(List.of());
    await()
        .until(() -> {
          passGrace();
          return gauge("open_files") == 0;
        });
    append(line.substring(40));
    source.follow(List.of(log.toString()));

    await().until(() -> intake.ids().equals(ids(1, 2)));
    assertThat(rejectedAs("line_incomplete")).isZero();
  }

  @Test
  void aLineWithoutAnEndOfAFileThatIsGoneIsABadOne() throws IOException {
    append(line(1) + line(2).substring(0, 40));
    start();
    await().until(() -> intake.ids().equals(ids(1, 1)));
    Files.move(log, directory.resolve("away"));
    await()
        .until(() -> {
          passGrace();
          return gauge("open_files") == 0;
        });

    assertThat(rejectedAs("line_incomplete")).isEqualTo(1);
  }

  private int rejectedAs(String reason) {
    return Collections.frequency(intake.rejections, reason);
  }

  @Test
  void anAgentWithoutFilesMayGetSome() throws IOException {
    append(line(1));
    metrics = new AgentMetrics();
    source =
        new FileSource(
            new FilesConfig(List.of(), pollIntervalMillis, 1024 * 1024),
            intake,
            intake.places(),
            metrics,
            System::nanoTime);
    source.start();

    source.follow(List.of(log.toString()));

    await().until(() -> intake.ids().equals(ids(1, 1)));
  }

  @Test
  void aFileThatIsWrittenAnewWithTheSameLengthIsReadAgain() throws IOException {
    append(line(1));
    start();
    await().until(() -> intake.ids().equals(ids(1, 1)));
    awaitLook(7);
    // The source has seen the file and read it to its end.
    awaitLook(8);

    Files.writeString(log, line(2));

    assertThat(line(2)).hasSameSizeAs(line(1));
    await().until(() -> intake.ids().containsAll(ids(1, 2)));
  }

  @Test
  @Timeout(20)
  void aStopDoesNotWaitForTheNextLook() throws IOException {
    pollIntervalMillis = 60_000;
    append(line(1));
    start();
    await().until(() -> intake.ids().equals(ids(1, 1)));

    close();
  }

  private void start() throws IOException {
    metrics = new AgentMetrics();
    FilesConfig config =
        new FilesConfig(
            List.of(directory.resolve("log") + "/*/trace/trace.log"),
            pollIntervalMillis,
            1024 * 1024);
    source =
        new FileSource(
            config, intake, intake.places(), metrics, () -> System.nanoTime() + passed.get());
    source.start();
  }

  private void passGrace() {
    passed.addAndGet(TimeUnit.SECONDS.toNanos(6));
  }

  /** Waits until a look has begun and ended, detected by a new file with the line. */
  private void awaitLook(int number) throws IOException {
    double open = gauge("open_files");
    Files.writeString(newLog("look-" + number), line(number));
    await().until(() -> intake.ids().contains(number + 1L) && gauge("open_files") == open + 1);
  }

  private double gauge(String name) {
    return metrics.registry.getSampleValue("trace_etl_agent_" + name);
  }

  private Path newLog(String application) throws IOException {
    Path trace = directory.resolve("log").resolve(application).resolve("trace");
    return Files.createDirectories(trace).resolve("trace.log");
  }

  private void close() {
    source.close();
  }

  private void restart() throws IOException {
    close();
    intake.release();
    start();
  }

  private void append(String text) throws IOException {
    Files.writeString(log, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  private static String line(int number) {
    return TraceLines.span("checkout", "GET /" + number % 5, number);
  }

  private static Set<Long> ids(int first, int last) {
    Set<Long> ids = new TreeSet<>();
    for (long number = first; number <= last; number++) {
      ids.add(number + 1);
    }
    return ids;
  }

  /** Decodes and keeps offered payloads at once, unless a test changes it. */
  private static final class MemoryIntake implements Intake {
    private final Spans spans = new Spans();
    private final LinkedHashMap<String, Checkpoint.Position> places = new LinkedHashMap<>();
    private final Deque<Completion> held = new ArrayDeque<>();
    private Admission refusal;
    private boolean holding;
    private boolean failing;
    private boolean failingToForget;
    private int forgettings;
    private final List<String> rejections = new CopyOnWriteArrayList<>();
    private int refusals;

    @Override
    public synchronized Admission offer(
        String source, byte[] payload, int length, SpanDecoder decoder, Completion completion) {
      assertThat(source).isEqualTo("file");
      if (refusal != null) {
        refusals++;
        return refusal;
      }
      try {
        decoder.decode(payload, length, spans);
      } catch (MalformedPayloadException e) {
        throw new AssertionError(e);
      }
      if (holding) {
        held.add(completion);
      } else if (failing) {
        failing = false;
        completion.failed("as the test wants it");
      } else if (length == 0 && ++forgettings > 0 && failingToForget) {
        failingToForget = false;
        completion.failed("as the test wants it");
      } else {
        keep(completion);
      }
      return Admission.ACCEPTED;
    }

    @Override
    public void reject(String source, String reason) {
      assertThat(source).isEqualTo("file");
      rejections.add(reason);
    }

    private void keep(Completion completion) {
      Checkpoint.Position place = (Checkpoint.Position) completion.checkpoint();
      places.remove(place.name());
      if (!place.content().isEmpty()) {
        places.put(place.name(), place);
      }
      completion.confirmed(1, 0, "");
    }

    synchronized List<Checkpoint.Position> places() {
      return List.copyOf(places.values());
    }

    synchronized void place(Checkpoint.Position place) {
      places.put(place.name(), place);
    }

    synchronized void placeFirst(Checkpoint.Position place) {
      places.putFirst(place.name(), place);
    }

    synchronized void refuse(Admission with) {
      refusal = with;
    }

    synchronized int refusals() {
      return refusals;
    }

    synchronized void hold() {
      holding = true;
    }

    synchronized void release() {
      holding = false;
      held.clear();
    }

    synchronized void confirmHeld() {
      holding = false;
      held.forEach(this::keep);
      held.clear();
    }

    /** Confirms what is held, and holds later payloads. */
    synchronized void confirmHeldAndHold() {
      List<Completion> now = List.copyOf(held);
      held.clear();
      now.forEach(this::keep);
    }

    synchronized void failNextForgetting() {
      failingToForget = true;
    }

    /** Returns how often a place was to be forgotten. */
    synchronized int forgettings() {
      return forgettings;
    }

    synchronized void failNext() {
      failing = true;
    }

    synchronized List<Spans.Seen> spans() {
      return new ArrayList<>(spans.seen);
    }

    synchronized List<String> rejected() {
      return new ArrayList<>(spans.rejected);
    }

    synchronized Set<Long> ids() {
      Set<Long> ids = new TreeSet<>();
      spans.seen.forEach(span -> ids.add(span.spanId()));
      return ids;
    }
  }
}
