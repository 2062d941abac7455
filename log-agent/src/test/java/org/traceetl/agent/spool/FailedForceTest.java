package org.traceetl.agent.spool;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.config.SpoolConfig.Flush;
import org.traceetl.agent.flow.Checkpoint;

/** Tests that after a failed force, later forces prove nothing. */
final class FailedForceTest extends SpoolFixture {
  private static final int BODY_BYTES = 10_000;

  private FailingDisk failing;

  FailedForceTest() {
    flush = Flush.COMMIT;
  }

  @Test
  void batchesAreRewrittenAfterAFailedForce() throws IOException {
    flush = Flush.OS;
    open();
    commit(0, 3);
    failing.failNext(1);
    await().until(() -> failing.failures() == 1);
    int before = failing.successes();
    commit(3, 4);
    await()
        .until(() -> {
          tend();
          return failing.successes() > before;
        });
    losePower();
    open();

    List<SpooledBatch> recovered = spool.takeRecovered();
    assertThat(recovered).extracting(SpooledBatch::sequence).startsWith(0L, 1L, 2L);
    for (SpooledBatch batch : recovered) {
      assertThat(spool.read(batch)).isEqualTo(body(batch.sequence()));
    }
    assertThat(sample("spool_damaged_frames_total")).isZero();
  }

  @Test
  void frameIsRewrittenToANewSegmentAfterAFailedForce() throws IOException {
    open();
    commit(0, 2);
    Path first = segments().getLast();
    failing.failNext(1);
    commit(2, 3);

    assertThat(spool.problem()).isEmpty();
    assertThat(sample("spool_flush_failures_total")).isEqualTo(1);
    assertThat(sample("spool_write_failures_total")).isZero();
    assertThat(sample("spool_batches")).isEqualTo(3);
    assertThat(first).doesNotExist();
    commit(3, 4);
    losePower();
    open();
    assertRecovered(0, 1, 2, 3);
    assertThat(spool.answered().answerAgain(request(2))).isNotNull();
    assertThat(spool.places()).containsExactly(new Checkpoint.Position("file", "3"));
  }

  @Test
  void sendersAreRefusedUntilANewSegmentIsForced() throws IOException {
    open();
    List<SpooledBatch> kept = commit(0, 2);
    failing.failsIf(() -> true);
    assertThatThrownBy(() -> commit(2, 3)).hasMessage("Input/output error");
    assertThat(spool.problem()).isEqualTo("the agent cannot write the spool: Input/output error");
    assertThat(spool.hasRoom(1, true)).isFalse();
    assertThat(sample("spool_writable")).isZero();
    assertThat(sample("spool_write_failures_total")).isEqualTo(1);
    assertThatThrownBy(() -> commit(3, 4)).hasMessage("Input/output error");
    pass(2_000);
    spool.tend();
    assertThat(sample("spool_writable")).isZero();
    assertThat(spool.batches()).isEqualTo(2);
    for (SpooledBatch batch : kept) {
      assertThat(spool.read(batch)).isEqualTo(body(batch.sequence()));
    }

    failing.failsIf(() -> false);
    pass(2_000);
    spool.tend();
    assertThat(spool.problem()).isEmpty();
    assertThat(sample("spool_writable")).isEqualTo(1);
    commit(4, 5);
    losePower();
    open();
    assertRecovered(0, 1, 4);
    assertThat(spool.answered().answerAgain(request(2))).isNull();
    assertThat(spool.answered().answerAgain(request(3))).isNull();
  }

  @Test
  void replacedSegmentIsNotCountedTwice() throws IOException {
    open();
    commit(0, 3);
    Path first = segments().getLast();
    byte[] written = Files.readAllBytes(first);
    failing.failsIf(() -> true);
    assertThatThrownBy(() -> commit(3, 4)).isInstanceOf(IOException.class);
    failing.failsIf(() -> false);
    commit(4, 5);
    assertThat(first).doesNotExist();
    kill();
    // Neither the deletion nor the truncation has reached the failing.
    Files.write(first, withFrame(written, 3));
    open();

    assertRecovered(0, 1, 2, 4);
    assertThat(sample("spool_batches")).isEqualTo(4);
    assertThat(sample("spans_recovered_total")).isEqualTo(4);
    assertThat(first).doesNotExist();
    // Its sender was refused: the spool must not answer as if it had the spans.
    assertThat(spool.answered().answerAgain(request(3))).isNull();
    assertThat(spool.answered().answerAgain(request(2))).isNotNull();
    assertThat(spool.places()).containsExactly(new Checkpoint.Position("file", "4"));
  }

  /** Returns the file with one more frame. */
  private byte[] withFrame(byte[] file, int number) throws IOException {
    Path path = Files.write(directory.resolveSibling("with-frame"), file);
    FrameBuffer content = new FrameBuffer();
    frame = new Frame(agent, () -> unixMillis);
    add(number);
    FrameContent.write(
        content, FrameContent.BATCHES, agent, frame.batches(), frame.requests(), frame.places());
    try (FrameFile frames = TestSpool.files(directory).open(path)) {
      frames.append(content, frame.batches(), false);
    }
    return Files.readAllBytes(path);
  }

  @Test
  void settledBatchesStaySettledInANewSegment() throws IOException {
    open();
    List<SpooledBatch> batches = commit(0, 4);
    spool.settle(batches.get(1), Settlement.PUBLISHED);
    failing.failNext(1);
    commit(4, 5);
    spool.settle(batches.get(2), Settlement.PUBLISHED);
    tend();
    kill();
    open();

    assertRecovered(0, 3, 4);
  }

  @Test
  void batchesWithDroppedPagesAreRewrittenFromMemory() throws IOException {
    open();
    List<SpooledBatch> batches = commit(0, 2);
    batches.get(1).body(null);
    Path segment = segments().getLast();
    failing.failNext(1);
    byte[] bytes = Files.readAllBytes(segment);
    for (SpooledBatch batch : batches) {
      bytes[(int) batch.offset] ^= 1;
    }
    Files.write(segment, bytes);
    commit(2, 3);

    assertThat(spool.read(batches.get(0))).isEqualTo(body(0));
    // No copy exists: the damage is detected and counted when the batch is sent.
    assertThatThrownBy(() -> spool.read(batches.get(1))).isInstanceOf(DamagedBatchException.class);
    assertThat(spool.batches()).isEqualTo(3);
  }

  @Test
  void recoveredSegmentsAreForcedBeforeAnyAnswer() throws IOException {
    flush = Flush.OS;
    open();
    commit(0, 2);
    kill();
    flush = Flush.COMMIT;
    openUnforced(0);
    commit(2, 3);
    losePower();
    open();

    assertRecovered(0, 1, 2);
  }

  @Test
  void earlierSegmentIsReplacedInPlaceAfterAFailedForce() throws IOException {
    open();
    commit(0, 2);
    kill();
    open();
    commit(2, 4);
    kill();
    openUnforced(2);

    assertThat(spool.takeRecovered())
        .extracting(SpooledBatch::sequence)
        .containsExactly(0L, 1L, 2L, 3L);
    assertThat(spool.problem()).isEmpty();
    assertThat(sample("spool_flush_failures_total")).isEqualTo(2);
    losePower();
    open();
    assertRecovered(0, 1, 2, 3);
  }

  @Test
  void repeatedReplacementKeepsTheOrder() throws IOException {
    open();
    for (int run = 0; run < 40; run++) {
      if (run < 3) {
        commit(run, run + 1);
      }
      kill();
      openUnforced(1);
      assertThat(spool.takeRecovered())
          .extracting(SpooledBatch::sequence)
          .containsExactlyElementsOf(LongStream.rangeClosed(0, Math.min(run, 2)).boxed().toList());
      assertThat(spool.problem()).isEmpty();
      assertThat(sample("spool_flush_failures_total")).isEqualTo(1);
    }
    losePower();
    open();
    assertRecovered(0, 1, 2);
  }

  @Test
  void agentSendsItsBatchesWhileForcesFail() throws IOException {
    open();
    commit(0, 2);
    kill();
    openUnforced(100);

    List<SpooledBatch> recovered = spool.takeRecovered();
    assertThat(recovered).hasSize(2);
    assertThat(spool.read(recovered.getFirst())).isEqualTo(body(0));
    assertThat(spool.problem()).isEqualTo("the agent cannot write the spool: Input/output error");
    failing.failsIf(() -> false);
    pass(2_000);
    spool.tend();
    assertThat(spool.problem()).isEmpty();
    losePower();
    open();
    assertRecovered(0, 1);
  }

  @Test
  void closeRewritesBatchesAfterAFailedForce() throws IOException {
    flush = Flush.OS;
    open();
    commit(0, 2);
    failing.failNext(1);
    spool.close();
    restore(failing.afterPowerLoss());
    open();

    assertRecovered(0, 1);
  }

  @Test
  void answeredFramesAreRecoveredOnceAfterAnyFailure() throws IOException {
    for (long seed = 1; seed <= 40; seed++) {
      Random random = new Random(seed);
      TreeSet<Long> expected = new TreeSet<>();
      TreeSet<Long> mayBeThere = new TreeSet<>();
      restore(Map.of());
      open();
      Map<Long, SpooledBatch> unsettled = new HashMap<>();
      int number = 0;
      for (int step = 0; step < 120; step++) {
        switch (random.nextInt(10)) {
          case 0 -> failing.failNext(1 + random.nextInt(4));
          case 1 -> failing.failsIf(() -> false);
          case 2 -> {
            if (!unsettled.isEmpty()) {
              long sequence = List.copyOf(unsettled.keySet()).get(random.nextInt(unsettled.size()));
              spool.settle(unsettled.remove(sequence), Settlement.PUBLISHED);
              expected.remove(sequence);
              mayBeThere.add(sequence);
            }
          }
          case 3 -> {
            pass(1_500);
            spool.tend();
          }
          case 4 -> {
            if (random.nextInt(3) == 0) {
              failing.failsIf(() -> false);
              if (random.nextBoolean()) {
                losePower();
              } else {
                kill();
              }
              open();
              unsettled.clear();
              for (SpooledBatch batch : spool.takeRecovered()) {
                assertThat(unsettled.put(batch.sequence(), batch)).as("seed %d", seed).isNull();
                assertThat(spool.read(batch)).isEqualTo(body(batch.sequence()));
              }
              mayBeThere.retainAll(unsettled.keySet());
              expected.addAll(mayBeThere);
              mayBeThere.clear();
              assertThat(new TreeSet<>(unsettled.keySet()))
                  .as("seed %d, step %d", seed, step)
                  .isEqualTo(expected);
              assertThat(sample("spool_damaged_frames_total")).isZero();
            }
          }
          default -> {
            try {
              SpooledBatch batch = commit(number, number + 1).getFirst();
              unsettled.put(batch.sequence(), batch);
              expected.add(batch.sequence());
            } catch (IOException e) {
              assertThat(e).hasMessage("Input/output error");
            }
            number++;
          }
        }
        assertThat(spool.batches()).isEqualTo(unsettled.size());
      }
      spool.close();
    }
  }

  private void assertRecovered(long... sequences) throws IOException {
    List<SpooledBatch> recovered = spool.takeRecovered();
    assertThat(recovered)
        .extracting(SpooledBatch::sequence)
        .containsExactlyElementsOf(LongStream.of(sequences).boxed().toList());
    for (SpooledBatch batch : recovered) {
      assertThat(spool.read(batch)).isEqualTo(body(batch.sequence()));
    }
  }

  private void open() throws IOException {
    failing = FailingDisk.withAllOf(directory);
    disk = failing;
    openSpool();
  }

  /** Opens the spool on a disk that has none of it yet, and whose first forces fail. */
  private void openUnforced(int failures) throws IOException {
    failing = FailingDisk.withNothingOf(directory);
    failing.failNext(failures);
    disk = failing;
    openSpool();
  }

  /** Continues with the content of the disk, as after a power loss. */
  private void losePower() throws IOException {
    Map<Path, byte[]> found = failing.afterPowerLoss();
    spool.close();
    restore(found);
  }

  /** Commits frames of one batch, one request and one place each. */
  private List<SpooledBatch> commit(int from, int to) throws IOException {
    List<SpooledBatch> batches = new ArrayList<>();
    for (int number = from; number < to; number++) {
      add(number);
      spool.commit(frame);
      batches.addAll(frame.batches());
    }
    return batches;
  }

  private void add(int number) {
    frame.clear();
    frame.add(A, number, body(number), 1);
    frame.add(request(number), 1, 0, "");
    frame.add(new Checkpoint.Position("file", Integer.toString(number)), 0, 0, "");
  }

  private static byte[] body(long number) {
    return Long.toString(number).repeat(BODY_BYTES).substring(0, BODY_BYTES).getBytes(UTF_8);
  }
}
