package org.traceetl.agent.spool;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.agent.config.SpoolConfig.Flush;
import org.traceetl.agent.config.SpoolConfig.WhenFull;
import org.traceetl.agent.flow.AnsweredRequests;
import org.traceetl.agent.flow.AnsweredRequests.Answer;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.state.AgentIdentity;

final class SpoolTest extends SpoolFixture {
  private static final int PAGE_BYTES = 4_096;

  @Test
  void committedFramesAreRecoveredWithTheirCheckpoints() throws IOException {
    openSpool();
    frame.add(A, 7, body("first"), 3);
    frame.add(B, 0, body("second"), 4);
    frame.add(request(1), 6, 1, "bad_id");
    frame.add(new Checkpoint.Position("file é", "12\tsome path"), 0, 0, "");
    spool.commit(frame);
    assertThat(outlet.appended).extracting(SpooledBatch::sequence).containsExactly(7L, 0L);
    kill();
    openSpool();

    List<SpooledBatch> recovered = spool.takeRecovered();
    assertThat(recovered).extracting(SpooledBatch::queue).containsExactly(A, B);
    assertThat(recovered).extracting(SpooledBatch::sequence).containsExactly(7L, 0L);
    assertThat(recovered).extracting(SpooledBatch::spans).containsExactly(3, 4);
    assertThat(recovered).extracting(batch -> batch.agent().epoch()).containsOnly(1L);
    assertThat(recovered).extracting(SpooledBatch::createdMillis).containsOnly(unixMillis);
    assertThat(spool.read(recovered.get(0))).isEqualTo(body("first"));
    assertThat(spool.read(recovered.get(1))).isEqualTo(body("second"));
    assertThat(spool.answered().answerAgain(request(1)))
        .isEqualTo(new Answer(unixMillis, 6, 1, "bad_id"));
    assertThat(spool.answered().answerAgain(request(2))).isNull();
    assertThat(spool.places()).containsExactly(new Checkpoint.Position("file é", "12\tsome path"));
    assertThat(sample("spans_recovered_total")).isEqualTo(7);
    assertThat(sample("spool_spans")).isEqualTo(7);
  }

  @Test
  void positionMovesAndIsRemoved() throws IOException {
    openSpool();
    for (String content : List.of("1", "2", "3")) {
      frame.add(new Checkpoint.Position("moves", content), 0, 0, "");
    }
    frame.add(new Checkpoint.Position("goes", "1"), 0, 0, "");
    spool.commit(frame);
    frame.clear();
    frame.add(new Checkpoint.Position("goes", ""), 0, 0, "");
    spool.commit(frame);
    kill();
    openSpool();

    assertThat(spool.places()).containsExactly(new Checkpoint.Position("moves", "3"));
  }

  @Test
  void recordedSettlementsSurviveAKill() throws IOException {
    openSpool();
    List<SpooledBatch> batches = commit(0, 4, 100);
    assertThat(spool.settle(batches.get(1), Settlement.PUBLISHED)).isTrue();
    assertThat(spool.settle(batches.get(1), Settlement.PUBLISHED)).isFalse();
    tend();
    spool.settle(batches.get(2), Settlement.AGE);
    tend();
    spool.settle(batches.get(3), Settlement.PUBLISHED);
    kill();
    openSpool();

    assertThat(spool.takeRecovered()).extracting(SpooledBatch::sequence).containsExactly(0L, 3L);
  }

  @Test
  void settledSegmentsAreDeletedAndCheckpointsStay() throws IOException {
    openSpool();
    frame.add(request(1), 1, 0, "");
    frame.add(new Checkpoint.Position("file", "1"), 0, 0, "");
    spool.commit(frame);
    List<SpooledBatch> batches = commit(0, 60, 100_000);
    assertThat(segments()).hasSizeGreaterThan(5);
    for (SpooledBatch batch : batches) {
      if (batch.sequence() != 30) {
        spool.settle(batch, Settlement.PUBLISHED);
      }
    }
    tend();

    // The segment of the remaining batch, and the newest.
    assertThat(segments()).hasSize(2);
    kill();
    openSpool();
    List<SpooledBatch> recovered = spool.takeRecovered();
    assertThat(recovered).extracting(SpooledBatch::sequence).containsExactly(30L);
    assertThat(spool.read(recovered.getFirst())).hasSize(100_000);
    assertThat(spool.answered().answerAgain(request(1))).isNotNull();
    assertThat(spool.places()).containsExactly(new Checkpoint.Position("file", "1"));
    spool.settle(recovered.getFirst(), Settlement.PUBLISHED);
    tend();
    assertThat(segments()).hasSize(1);
    assertThat(spool.read(recovered.getFirst())).isNull();
  }

  @Test
  void tornTailIsCutOff() throws IOException {
    openSpool();
    commit(0, 1, 50);
    Path segment = segments().getLast();
    long whole = Files.size(segment);
    frame.add(A, 1, body("torn"), 1);
    frame.add(request(9), 1, 0, "");
    frame.add(new Checkpoint.Position("file", "9"), 0, 0, "");
    spool.commit(frame);
    kill();
    byte[] bytes = Files.readAllBytes(segment);
    for (int length = (int) whole; length < bytes.length; length++) {
      Files.write(segment, Arrays.copyOf(bytes, length));
      openSpool();

      assertThat(spool.takeRecovered()).extracting(SpooledBatch::sequence).containsExactly(0L);
      assertThat(spool.answered().answerAgain(request(9))).isNull();
      assertThat(spool.places()).isEmpty();
      assertThat(Files.size(segment)).isEqualTo(whole);
      assertThat(sample("spool_damaged_frames_total")).isZero();
      kill();
      deleteNewest();
    }
  }

  @Test
  void unfinishedSegmentReplacesNoEarlierOne() throws IOException {
    openSpool();
    frame.add(request(1), 1, 0, "");
    frame.add(new Checkpoint.Position("file", "1"), 0, 0, "");
    spool.commit(frame);
    kill();
    Path begun = directory.resolve("0000000002.seg");
    Files.write(begun, Arrays.copyOf(Files.readAllBytes(segments().getFirst()), 30));
    openSpool();

    assertThat(spool.places()).containsExactly(new Checkpoint.Position("file", "1"));
    assertThat(spool.answered().answerAgain(request(1))).isNotNull();
    assertThat(segments()).hasSize(1);
  }

  @Test
  void rememberedRequestsDoNotFillSmallSegments() throws IOException {
    openSpool();
    for (int i = 0; i < 100_000; i++) {
      frame.add(request(i), 1, 0, "");
    }
    spool.commit(frame);
    List<SpooledBatch> batches = commit(0, 20, 100_000);
    settle(batches);
    tend();
    kill();
    openSpool();

    assertThat(spool.bytes()).isLessThan(2 << 20);
    assertThat(spool.answered().answerAgain(request(99_999))).isNotNull();
    assertThat(spool.answered().answerAgain(request(95_000))).isNotNull();
    assertThat(spool.answered().answerAgain(request(0))).isNull();
  }

  @Test
  void flippedBitLosesItsFrameAndIsCounted() throws IOException {
    openSpool();
    List<SpooledBatch> batches = commit(0, 3, 60);
    spool.settle(batches.get(1), Settlement.PUBLISHED);
    spool.settle(batches.get(2), Settlement.PUBLISHED);
    tend();
    frame.add(A, 3, body("to be damaged"), 5);
    frame.add(A, 4, body("too"), 6);
    Path segment = segments().getLast();
    int start = (int) Files.size(segment);
    spool.commit(frame);
    int end = (int) Files.size(segment);
    SpooledBatch settled = frame.batches().getFirst();
    spool.settle(settled, Settlement.PUBLISHED);
    commit(5, 6, 60);
    kill();
    byte[] whole = Files.readAllBytes(segment);

    for (int bit = 8 * start; bit < 8 * end; bit += 11) {
      byte[] damaged = whole.clone();
      damaged[bit / 8] ^= (byte) (1 << bit % 8);
      Files.write(segment, damaged);
      openSpool();
      List<SpooledBatch> recovered = spool.takeRecovered();
      boolean inHead = bit / 8 < start + 20;
      if (inHead) {
        // A damaged length cannot be trusted: the rest of the segment is lost.
        assertThat(recovered).extracting(SpooledBatch::sequence).containsExactly(0L);
      } else {
        assertThat(recovered).extracting(SpooledBatch::sequence).containsExactly(0L, 5L);
        assertThat(dropped("damaged")).isEqualTo(11);
      }
      assertThat(sample("spool_damaged_frames_total")).isEqualTo(1);
      assertThat(sample("spans_recovered_total"))
          .isEqualTo(sample("spool_spans") + dropped("damaged"));
      kill();
      deleteNewest();
    }
  }

  @Test
  void aPageThatTheDiskNeverGotIsNoLossIfFramesAreForced() throws IOException {
    flush = Flush.COMMIT;
    openSpool();
    commit(0, 1, 5_000);
    Path segment = segments().getLast();
    int start = (int) Files.size(segment);
    commit(1, 2, 9_000);
    kill();
    byte[] whole = Files.readAllBytes(segment);
    for (int page = start / PAGE_BYTES; page * PAGE_BYTES < whole.length; page++) {
      byte[] left = whole.clone();
      int from = Math.max(start, page * PAGE_BYTES);
      Arrays.fill(left, from, Math.min(left.length, (page + 1) * PAGE_BYTES), (byte) 0);
      Files.write(segment, left);
      openSpool();

      assertThat(spool.takeRecovered()).extracting(SpooledBatch::sequence).containsExactly(0L);
      assertThat(Files.size(segment)).isEqualTo(start);
      assertThat(sample("spool_damaged_frames_total")).isZero();
      assertThat(dropped("damaged")).isZero();
      kill();
      deleteNewest();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "OS, 1, 4096", // The agent may have confirmed the frame.
    "COMMIT, 0, 4096", // It was forced, because another frame follows.
    "COMMIT, 1, 4095" // A page is written as a whole.
  })
  void otherZerosAreALoss(Flush when, int damaged, int zeros) throws IOException {
    flush = when;
    openSpool();
    Path segment = segments().getLast();
    List<Long> starts = new ArrayList<>();
    for (int number = 0; number < 2; number++) {
      starts.add(Files.size(segment));
      commit(number, number + 1, 9_000);
    }
    kill();
    byte[] left = Files.readAllBytes(segment);
    int page = (int) (starts.get(damaged) / PAGE_BYTES + 1) * PAGE_BYTES;
    Arrays.fill(left, page, page + zeros, (byte) 0);
    Files.write(segment, left);
    openSpool();

    assertThat(spool.takeRecovered())
        .extracting(SpooledBatch::sequence)
        .containsExactly(1L - damaged);
    assertThat(sample("spool_damaged_frames_total")).isEqualTo(1);
    assertThat(dropped("damaged")).isEqualTo(1);
  }

  @Test
  void aFewZerosAtTheEndOfADamagedFrameAreALoss() throws IOException {
    flush = Flush.COMMIT;
    openSpool();
    Path segment = segments().getLast();
    int start = (int) Files.size(segment);
    commit(0, 1, 9_000);
    int end = (int) Files.size(segment);
    int bytes = 9_000 + Math.floorMod(8 - end - (end - start), PAGE_BYTES);
    commit(1, 2, bytes);
    kill();
    byte[] left = Files.readAllBytes(segment);
    assertThat(left.length % PAGE_BYTES).isEqualTo(8);
    Arrays.fill(left, left.length - 8, left.length, (byte) 0);
    Files.write(segment, left);
    openSpool();

    assertThat(sample("spool_damaged_frames_total")).isEqualTo(1);
    assertThat(dropped("damaged")).isEqualTo(1);
  }

  @Test
  void aZeroHeadBeforeAnotherFrameIsADamage() throws IOException {
    flush = Flush.COMMIT;
    openSpool();
    Path segment = segments().getLast();
    int start = (int) Files.size(segment);
    commit(0, 2, 9_000);
    kill();
    byte[] left = Files.readAllBytes(segment);
    Arrays.fill(left, start, (start / PAGE_BYTES + 1) * PAGE_BYTES, (byte) 0);
    Files.write(segment, left);
    openSpool();

    assertThat(sample("spool_damaged_frames_total")).isEqualTo(1);
  }

  @Test
  void textThatLooksLikeAHeadIsNone() throws IOException {
    flush = Flush.COMMIT;
    openSpool();
    Path segment = segments().getLast();
    int start = (int) Files.size(segment);
    commit(0, 1, 9_000);
    kill();
    byte[] left = Files.readAllBytes(segment);
    int page = (start / PAGE_BYTES + 1) * PAGE_BYTES;
    Arrays.fill(left, start, page, (byte) 0);
    System.arraycopy("TSP1".getBytes(StandardCharsets.US_ASCII), 0, left, page + 10, 4);
    Files.write(segment, left);
    openSpool();

    assertThat(sample("spool_damaged_frames_total")).isZero();
    assertThat(dropped("damaged")).isZero();
  }

  @Test
  void aZeroPageOfAnOlderSegmentIsALoss() throws IOException {
    flush = Flush.COMMIT;
    openSpool();
    Path older = segments().getLast();
    int start = (int) Files.size(older);
    commit(0, 1, 9_000);
    kill();
    openSpool();
    kill();
    assertThat(segments().getLast()).isNotEqualTo(older);
    byte[] left = Files.readAllBytes(older);
    int page = (start / PAGE_BYTES + 1) * PAGE_BYTES;
    Arrays.fill(left, page, page + PAGE_BYTES, (byte) 0);
    Files.write(older, left);
    openSpool();

    assertThat(dropped("damaged")).isEqualTo(1);
  }

  @Test
  void settledBatchesOfADamagedFrameAreNotCountedAsLost() throws IOException {
    openSpool();
    frame.add(A, 0, body("confirmed"), 5);
    frame.add(A, 1, body("waits"), 6);
    Path segment = segments().getLast();
    int start = (int) Files.size(segment);
    spool.commit(frame);
    List<SpooledBatch> batches = frame.batches();
    frame.clear();
    commit(2, 3, 10);
    spool.settle(batches.getFirst(), Settlement.PUBLISHED);
    tend();
    kill();
    byte[] bytes = Files.readAllBytes(segment);
    bytes[start + FrameFile.HEAD_BYTES + 40] ^= 1;
    Files.write(segment, bytes);
    openSpool();

    assertThat(dropped("damaged")).isEqualTo(6);
    assertThat(spool.takeRecovered()).extracting(SpooledBatch::sequence).containsExactly(2L);
  }

  @Test
  void foreignFilesAreIgnored() throws IOException {
    openSpool();
    commit(0, 1, 10);
    kill();
    Random random = new Random(7);
    byte[] noise = new byte[10_000];
    random.nextBytes(noise);
    Files.write(directory.resolve("0000000000.seg"), noise);
    Files.write(directory.resolve("0000000001.settled"), noise);
    Files.writeString(directory.resolve("notes.seg"), "none of ours");
    Files.write(directory.resolve("0000000077.settled"), noise);
    openSpool();

    assertThat(spool.takeRecovered()).extracting(SpooledBatch::sequence).containsExactly(0L);
    assertThat(sample("spool_damaged_frames_total")).isEqualTo(1);
    assertThat(directory.resolve("notes.seg")).exists();
    assertThat(directory.resolve("0000000077.settled")).doesNotExist();
  }

  @Test
  void arbitraryContentOfFramesIsRejected() throws IOException {
    Random random = new Random(8);
    FrameBuffer content = new FrameBuffer();
    Path path = directory.resolve("0000000001.seg");
    try (FrameFile file = TestSpool.files(directory).create(path)) {
      for (int i = 0; i < 2_000; i++) {
        content.clear();
        content.putByte(random.nextInt(4));
        for (int length = random.nextInt(60); length > 0; length--) {
          content.putByte(random.nextInt(4) == 0 ? random.nextInt() : 0);
        }
        file.append(content, List.of(), false);
      }
    }
    openSpool();

    assertThat(spool.takeRecovered()).isEmpty();
    assertThat(sample("spool_damaged_frames_total")).isPositive();
  }

  @Test
  void changedBytesAreDetectedOnRead() throws IOException {
    openSpool();
    SpooledBatch batch = commit(0, 1, 1_000).getFirst();
    Path segment = segments().getLast();
    byte[] bytes = Files.readAllBytes(segment);
    bytes[bytes.length - 10] ^= 1;
    Files.write(segment, bytes);

    assertThatThrownBy(() -> spool.read(batch))
        .isInstanceOf(DamagedBatchException.class)
        .hasMessageContaining(segment.toString());
  }

  @Test
  void fullSpoolRefusesPayloadsAndKeepsItsBatches() throws IOException {
    openSpool();
    List<SpooledBatch> batches = new ArrayList<>();
    while (spool.hasRoom(300_000, false)) {
      batches.addAll(commit(batches.size(), batches.size() + 1, 300_000));
      assertThat(spool.isScarce()).isEqualTo(spool.bytes() > maxBytes / 2);
    }
    assertThat(spool.problem()).isEqualTo("the spool is full");
    assertThatThrownBy(() -> commit(99, 100, 1 << 20))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("spool.max-bytes = " + maxBytes);
    assertThat(spool.bytes()).isLessThanOrEqualTo(maxBytes);
    assertThat(spool.batches()).isEqualTo(batches.size());

    settle(batches.subList(0, 5));
    tend();
    assertThat(spool.problem()).isEmpty();
    assertThat(spool.hasRoom(300_000, false)).isTrue();
  }

  @ParameterizedTest
  @EnumSource(WhenFull.class)
  void theStateOfANewSegmentStaysWithinTheLimit(WhenFull mode) throws IOException {
    whenFull = mode;
    openSpool();
    boolean full = false;
    for (int i = 0; i < 300 && !full; i++) {
      for (int j = 0; j < 100; j++) {
        frame.add(request(100 * i + j), 0, 1, "attributes_missing");
      }
      frame.add(new Checkpoint.Position("file " + i, "é".repeat(2_000)), 0, 0, "");
      frame.add(A, i, new byte[50_000], 1);
      try {
        spool.commit(frame);
      } catch (IOException e) {
        full = true;
      }
      frame.clear();
      assertThat(spool.bytes()).isLessThanOrEqualTo(maxBytes);
    }
    assertThat(full).isEqualTo(mode == WhenFull.REFUSE);
    for (int restarts = 0; restarts < 3; restarts++) {
      kill();
      openSpool();
      assertThat(spool.bytes()).isLessThanOrEqualTo(maxBytes);
    }
  }

  /** The last frame that fits begins a segment, which has a state; so does the next run's. */
  @ParameterizedTest
  @ValueSource(ints = {26_000, 34_000, 40_000})
  void aRestartWithAFullSpoolStaysWithinTheLimit(int bodyBytes) throws IOException {
    maxBytes = 3 << 19;
    openSpool();
    boolean full = false;
    for (int i = 0; !full; i++) {
      for (int j = 0; j < 8; j++) {
        frame.add(request(100 * i + j), 0, 1, "attributes_missing");
      }
      frame.add(A, i, new byte[bodyBytes], 1);
      try {
        spool.commit(frame);
      } catch (IOException e) {
        full = true;
      }
      frame.clear();
    }
    kill();
    openSpool();
    assertThat(spool.bytes()).isLessThanOrEqualTo(maxBytes);
  }

  @Test
  void spoolAtItsBatchLimitRefusesPayloads() throws IOException {
    maxBatches = 64;
    openSpool();
    int committed = 0;
    while (spool.hasRoom(1, false)) {
      commit(committed, committed + 8, 1);
      committed += 8;
      assertThat(spool.isScarce()).isEqualTo(committed > maxBatches / 2);
    }
    assertThat(committed).isEqualTo(maxBatches);
    assertThat(sample("spool_batches")).isEqualTo(maxBatches);
    assertThat(sample("spool_limit_batches")).isEqualTo(maxBatches);
    assertThat(spool.problem()).isEqualTo("the spool is full");
    assertThatThrownBy(() -> commit(64, 65, 1))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("64 of spool.max-batches = 64");
  }

  @Test
  void batchesForOneBrokerDoNotKeepConfirmedBytes() throws IOException {
    openSpool();
    List<Long> waiting = new ArrayList<>();
    for (long sequence = 0; sequence < 300; sequence++) {
      waiting.add(sequence);
      commitForBoth(sequence);
    }
    assertThat(spool.problem()).isEmpty();
    assertThat(segments()).hasSizeLessThan(20);
    kill();
    openSpool();

    List<SpooledBatch> recovered = spool.takeRecovered();
    assertThat(recovered).extracting(SpooledBatch::queue).containsOnly(B);
    assertThat(recovered).extracting(SpooledBatch::sequence).containsExactlyElementsOf(waiting);
    for (SpooledBatch batch : recovered) {
      assertThat(spool.read(batch)).isEqualTo(body("waits " + batch.sequence()));
    }
  }

  /**
   * Commits a large batch, which is confirmed at once, and a small one for an unreachable broker.
   */
  private List<SpooledBatch> commitForBoth(long sequence) throws IOException {
    frame.clear();
    frame.add(A, sequence, new byte[100_000], 1);
    frame.add(B, sequence, body("waits " + sequence), 1);
    spool.commit(frame);
    spool.settle(frame.batches().getFirst(), Settlement.PUBLISHED);
    tend();
    return frame.batches();
  }

  @Test
  void spoolHasRoomWhenOneOfTwoBrokersIsBack() throws IOException {
    openSpool();
    List<SpooledBatch> batches = new ArrayList<>();
    for (long sequence = 0; spool.hasRoom(400_000, false); sequence++) {
      frame.clear();
      frame.add(A, sequence, new byte[100_000], 1);
      frame.add(B, sequence, new byte[50_000], 1);
      spool.commit(frame);
      batches.addAll(frame.batches());
      tend();
    }
    assertThat(spool.partOf("broker-b")).isBetween(0.25, 0.34);
    for (SpooledBatch batch : batches) {
      if (batch.queue().equals(A)) {
        spool.settle(batch, Settlement.PUBLISHED);
      }
    }
    tend();
    int next = batches.size() / 2;
    for (int sequence = next; sequence < next + 30; sequence++) {
      commit(sequence, sequence + 1, 100_000);
      tend();
    }

    assertThat(spool.partOf("broker-a")).isBetween(0.35, 0.36);
    kill();
    openSpool();
    assertThat(spool.takeRecovered())
        .filteredOn(batch -> batch.queue().equals(B))
        .hasSize(batches.size() / 2);
  }

  @Test
  void killBetweenMergeAndDeletionDuplicatesNothing(@TempDir Path before) throws IOException {
    openSpool();
    List<SpooledBatch> waiting = new ArrayList<>();
    long sequence = 0;
    while (waiting.isEmpty() || merged().isEmpty()) {
      for (Path file : files("")) {
        Files.copy(file, before.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
      }
      waiting.add(commitForBoth(sequence++).get(1));
    }
    spool.settle(waiting.getFirst(), Settlement.PUBLISHED);
    tend();
    Path merged = merged().getFirst();
    kill();
    // The merged segments are restored; another merge has only begun.
    try (Stream<Path> files = Files.list(before)) {
      for (Path file : files.toList()) {
        if (!Files.exists(directory.resolve(file.getFileName()))) {
          Files.copy(file, directory.resolve(file.getFileName()));
        }
      }
    }
    Files.copy(merged, merged.resolveSibling("0000000500.seg.tmp"));
    openSpool();

    assertThat(spool.takeRecovered())
        .extracting(SpooledBatch::sequence)
        .containsExactlyElementsOf(waiting.stream().skip(1).map(SpooledBatch::sequence).toList());
    assertThat(files(".tmp")).isEmpty();
    assertThat(sample("spool_damaged_frames_total")).isZero();
  }

  /** Returns merged segments, whose numbers are between those of others. */
  private List<Path> merged() throws IOException {
    return segments().stream()
        .filter(path -> Integer.parseInt(path.getFileName().toString().substring(0, 10)) % 16 != 1)
        .toList();
  }

  @Test
  void oldestBatchesAreDroppedIfConfigured() throws IOException {
    whenFull = WhenFull.DROP_OLDEST;
    openSpool();
    List<SpooledBatch> batches = commit(0, 60, 300_000);

    assertThat(spool.bytes()).isLessThanOrEqualTo(maxBytes);
    assertThat(outlet.forgotten).isNotEmpty().allMatch(SpooledBatch::isSettled);
    assertThat(outlet.forgotten)
        .containsExactlyElementsOf(batches.subList(0, outlet.forgotten.size()));
    assertThat(dropped("full")).isEqualTo(outlet.forgotten.size());
    assertThat(spool.spans() + dropped("full")).isEqualTo(60);
  }

  @Test
  void nothingIsDroppedForATooLargeFrame() throws IOException {
    whenFull = WhenFull.DROP_OLDEST;
    openSpool();
    commit(0, 10, 300_000);
    assertThatThrownBy(() -> commit(10, 11, (int) maxBytes))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("spool.max-bytes = " + maxBytes);

    assertThat(outlet.forgotten).isEmpty();
    assertThat(spool.batches()).isEqualTo(10);
    frame.clear();
    commit(11, 12, 300_000);
    assertThat(spool.problem()).isEmpty();
  }

  @Test
  void downtimeDoesNotAgeRequests() throws IOException {
    openSpool();
    frame.add(request(1), 6, 1, "bad_id");
    spool.commit(frame);
    pass(AnsweredRequests.MOST_AGE_MILLIS / 2);
    frame.clear();
    frame.add(request(2), 5, 0, "");
    spool.commit(frame);
    kill();
    pass(10 * AnsweredRequests.MOST_AGE_MILLIS);
    openSpool();
    frame.add(request(3), 4, 0, "");
    spool.commit(frame);
    kill();
    openSpool();

    assertThat(spool.answered().answerAgain(request(1)).accepted()).isEqualTo(6);
    assertThat(spool.answered().answerAgain(request(2)).accepted()).isEqualTo(5);
    assertThat(spool.answered().answerAgain(request(3)).accepted()).isEqualTo(4);
    pass(AnsweredRequests.MOST_AGE_MILLIS + 1);
    frame.add(request(4), 3, 0, "");
    spool.commit(frame);
    assertThat(spool.answered().size()).isEqualTo(1);
  }

  @Test
  void repeatedRequestsAreRememberedThroughKills() throws IOException {
    openSpool();
    frame.add(request(1), 6, 1, "bad_id");
    spool.commit(frame);
    for (int i = 2; i < 10; i++) {
      pass(AnsweredRequests.MOST_RECORD_AGE_MILLIS - 1_000);
      assertThat(spool.answered().answerAgain(request(1)))
          .isEqualTo(new Answer(spool.nowMillis(), 6, 1, "bad_id"));
      tend();
      commitRequest(i);
      kill();
      openSpool();
    }

    pass(AnsweredRequests.MOST_AGE_MILLIS);
    commitRequest(10);
    assertThat(spool.answered().answerAgain(request(1))).isNull();
  }

  @Test
  void aRepeatIsRecordedOnce() throws IOException {
    openSpool();
    frame.add(request(1), 6, 1, "bad_id");
    spool.commit(frame);
    double before = sample("spool_frames_total");
    spool.answered().answerAgain(request(1));
    tend();
    assertThat(sample("spool_frames_total")).isEqualTo(before);
    pass(AnsweredRequests.MOST_AGE_MILLIS);
    for (int i = 0; i < 100; i++) {
      spool.answered().answerAgain(request(1));
      tend();
    }

    assertThat(sample("spool_frames_total")).isEqualTo(before + 1);
  }

  @Test
  void repeatsStayDueWhileTheSpoolHasNoRoom() throws IOException {
    maxBytes = 16 << 20;
    openSpool();
    frame.add(request(1), 6, 1, "bad_id");
    frame.add(A, 0, new byte[3 << 20], 1);
    spool.commit(frame);
    for (int i = 1; spool.problem().isEmpty(); i++) {
      frame.clear();
      frame.add(A, i, new byte[3 << 20], 1);
      spool.commit(frame);
    }
    pass(AnsweredRequests.MOST_AGE_MILLIS);
    spool.answered().answerAgain(request(1));
    double before = sample("spool_frames_total");
    tend();
    assertThat(sample("spool_frames_total")).isEqualTo(before);
    assertThat(spool.answered().due()).hasSize(1);

    settle(outlet.appended);
    pass(1_000);
    tend();
    assertThat(sample("spool_frames_total")).isEqualTo(before + 1);
    assertThat(spool.answered().due()).isEmpty();
  }

  private void commitRequest(int number) throws IOException {
    frame.clear();
    frame.add(request(number), 5, 0, "");
    spool.commit(frame);
  }

  @Test
  void wallClockStepAgesNoRequestAndNoBatch() throws IOException {
    openSpool();
    frame.add(request(1), 6, 1, "bad_id");
    spool.commit(frame);
    frame.clear();
    unixMillis += 10 * AnsweredRequests.MOST_AGE_MILLIS;
    frame.add(request(2), 5, 0, "");
    frame.add(A, 0, new byte[1], 1);
    spool.commit(frame);
    unixMillis -= 20 * AnsweredRequests.MOST_AGE_MILLIS;
    frame.clear();
    frame.add(request(3), 4, 0, "");
    spool.commit(frame);

    assertThat(spool.answered().size()).isEqualTo(3);
    pass(2_000);
    assertThat(sample("spool_oldest_seconds")).isEqualTo(2);
    kill();
    unixMillis += 100 * AnsweredRequests.MOST_AGE_MILLIS;
    openSpool();
    assertThat(spool.answered().size()).isEqualTo(3);
    pass(3_000);
    assertThat(sample("spool_oldest_seconds")).isEqualTo(3);
  }

  @Test
  void oldestSmallBatchesAreDroppedInParts() throws IOException {
    whenFull = WhenFull.DROP_OLDEST;
    maxBytes = 1L << 30;
    openSpool();
    int frames = 300;
    int framesBatches = 1_000;
    for (int number = 0; number < frames; number++) {
      frame.clear();
      for (int i = 0; i < framesBatches; i++) {
        frame.add(A, (long) number * framesBatches + i, new byte[1], 1);
      }
      spool.commit(frame);
    }

    int dropped = outlet.forgotten.size();
    assertThat(dropped).isBetween(1, frames * framesBatches / 4);
    assertThat(spool.batches() + dropped).isEqualTo(frames * framesBatches);
    assertThat(dropped("full")).isEqualTo(dropped);
  }

  @Test
  void twoAgentsDoNotShareASpool() throws IOException {
    openSpool();

    assertThatThrownBy(() -> TestSpool.open(directory, agent, new SpoolMetrics()))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("spool.directory " + directory.toAbsolutePath())
        .hasMessageContaining("another running agent");
  }

  @Test
  void unwritableDirectoryIsNamedWithTheRemedy() throws IOException {
    // Permissions do not stop root, but a file in place of the directory does.
    Path file = Files.writeString(directory.resolve("file"), "");

    assertThatThrownBy(() ->
            TestSpool.open(file.resolve("spool"), new AgentIdentity(1, 2, 3), new SpoolMetrics()))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("spool.directory = " + file.resolve("spool"))
        .hasMessageContaining("set spool.directory to another one");
  }

  @Test
  void batchesForcedAtCommitAreRecovered() throws IOException {
    flush = Flush.COMMIT;
    openSpool();
    commit(0, 30, 100_000);
    kill();
    openSpool();

    assertThat(spool.takeRecovered())
        .extracting(SpooledBatch::sequence)
        .containsExactlyElementsOf(IntStream.range(0, 30).mapToObj(i -> (long) i).toList());
  }

  @Test
  void ageOfTheOldestBatchIsMeasured() throws IOException {
    openSpool();
    assertThat(sample("spool_oldest_seconds")).isZero();
    List<SpooledBatch> batches = commit(0, 1, 10);
    pass(5_000);
    batches.addAll(commit(1, 2, 10));
    pass(2_000);
    assertThat(sample("spool_oldest_seconds")).isEqualTo(7);
    spool.settle(batches.getFirst(), Settlement.PUBLISHED);
    assertThat(sample("spool_oldest_seconds")).isEqualTo(2);
  }

  private List<SpooledBatch> commit(int from, int to, int bytes) throws IOException {
    List<SpooledBatch> batches = new ArrayList<>();
    for (int sequence = from; sequence < to; sequence++) {
      frame.clear();
      frame.add(A, sequence, body("x".repeat(bytes)), 1);
      spool.commit(frame);
      batches.addAll(frame.batches());
    }
    frame.clear();
    return batches;
  }

  private void deleteNewest() throws IOException {
    Files.delete(segments().getLast());
  }

  private static byte[] body(String text) {
    return text.getBytes(UTF_8);
  }
}
