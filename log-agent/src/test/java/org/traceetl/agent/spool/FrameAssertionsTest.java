package org.traceetl.agent.spool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.state.AgentIdentity;

/** Plants faults of the program, each with valid checksums, where frames are written and read. */
final class FrameAssertionsTest extends SpoolFixture {
  private static final byte[] BODY = {1, 2, 3};

  @ParameterizedTest
  @CsvSource({"0, 0", "0, -1", "3, 2"})
  void aNameThatDoesNotAscendIsNotWritten(long first, long second) throws IOException {
    openSpool();
    frame.add(A, first, BODY, 1);
    frame.add(B, first, BODY, 1);
    spool.commit(frame);
    frame.clear();

    assertThatThrownBy(() -> frame.add(A, second, BODY, 1))
        .isInstanceOf(InconsistentBatchException.class)
        .hasMessageContaining("queue " + A);
    assertThat(sample("spool_batches")).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({"0, 0, 0, 1", "1, -1, 0, 1", "1, 0, -1, 1", "1, 0, 0, -1"})
  void aBatchWithAnImpossibleNumberIsNeitherWrittenNorRead(
      long epoch, int queue, long sequence, int spans) throws IOException {
    AgentIdentity run = new AgentIdentity(7, 8, epoch);
    BrokerQueue to = new BrokerQueue("broker-a", queue);
    Frame impossible = new Frame(run, () -> 0);
    assertThatThrownBy(() -> impossible.add(to, sequence, BODY, spans))
        .isInstanceOf(InconsistentBatchException.class);

    plant(FrameContent.BATCHES, batch(run, to, sequence, spans));
    assertNothingRecovered();
  }

  @Test
  void aBatchWithoutItsBodyIsNotWritten() throws IOException {
    openSpool();
    frame.add(A, 0, BODY, 1);
    for (byte[] wrong : new byte[][] {null, {1}}) {
      frame.batches().getFirst().body(wrong);
      assertThatThrownBy(() -> spool.commit(frame))
          .isInstanceOf(InconsistentBatchException.class)
          .hasMessageContaining("lacks its body");
    }
    frame.batches().getFirst().body(BODY);
    spool.commit(frame);
    kill();
    openSpool();

    assertThat(spool.takeRecovered()).hasSize(1);
    assertThat(sample("spool_damaged_frames_total")).isZero();
  }

  @Test
  void repeatedNamesAreCountedAndNothingIsDropped() throws IOException {
    AgentIdentity run = new AgentIdentity(7, 8, 1);
    plant(FrameContent.BATCHES, batch(run, A, 4, 1), batch(run, B, 0, 1));
    plant(FrameContent.BATCHES, batch(run, A, 3, 1), batch(run, A, 4, 1), batch(run, A, 5, 1));
    plant(FrameContent.BATCHES, batch(new AgentIdentity(7, 8, 2), A, 0, 1));
    openSpool();

    assertThat(spool.takeRecovered())
        .extracting(SpooledBatch::sequence)
        .containsExactly(4L, 0L, 3L, 4L, 5L, 0L);
    assertThat(sample("spool_repeated_batches_total")).isEqualTo(2);
    assertThat(sample("spool_damaged_frames_total")).isZero();
    assertThat(dropped("damaged")).isZero();
  }

  @Test
  void aStateWithBatchesIsDamaged() throws IOException {
    plant(FrameContent.STATE, batch(new AgentIdentity(7, 8, 1), A, 0, 1));
    assertNothingRecovered();
  }

  @ParameterizedTest
  @CsvSource({"2, 1", "1, 2"})
  void aHeadWithOtherNumbersThanItsContentIsDamaged(int batches, int spans) throws IOException {
    plant(FrameContent.BATCHES, batch(new AgentIdentity(7, 8, 1), A, 0, 1));
    Path segment = segments().getFirst();
    byte[] bytes = Files.readAllBytes(segment);
    ByteBuffer head = ByteBuffer.wrap(bytes).putInt(8, batches).putInt(12, spans);
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, 16);
    head.putInt(16, (int) crc.getValue());
    Files.write(segment, bytes);
    openSpool();

    assertThat(spool.takeRecovered()).isEmpty();
    assertThat(dropped("damaged")).isEqualTo(spans);
  }

  @ParameterizedTest
  @CsvSource({"0, 1", "2, 1", "1, 5", "1, 6"})
  void aSegmentThatCannotReplaceOthersDeletesNone(long first, long last) throws IOException {
    AgentIdentity run = new AgentIdentity(7, 8, 1);
    plant(FrameContent.BATCHES, batch(run, A, 0, 1));
    FrameBuffer merged = new FrameBuffer();
    merged.putByte(FrameContent.MERGED).putLong(first).putLong(last);
    append(5, merged, List.of());
    openSpool();

    assertThat(spool.takeRecovered()).hasSize(1);
    assertThat(sample("spool_damaged_frames_total")).isEqualTo(1);
  }

  @Test
  void aMergeRecordOfAnotherLengthDeletesNothing() throws IOException {
    plant(FrameContent.BATCHES, batch(new AgentIdentity(7, 8, 1), A, 0, 1));
    append(5, new FrameBuffer().putByte(FrameContent.MERGED), List.of());
    openSpool();

    assertThat(spool.takeRecovered()).hasSize(1);
    assertThat(sample("spool_damaged_frames_total")).isEqualTo(1);
  }

  @Test
  void aSettledListOfAnotherBatchSettlesNothing() throws IOException {
    AgentIdentity run = new AgentIdentity(7, 8, 1);
    plant(FrameContent.BATCHES, batch(run, A, 0, 3), batch(run, A, 1, 4), batch(run, A, 2, 5));
    FrameBuffer settled = new FrameBuffer();
    settled.putByte(FrameContent.SETTLED).putInt(3);
    settled.putInt(0).putInt(2).putInt(1).putInt(4).putInt(2).putInt(4);
    try (FrameFile file =
        TestSpool.files(directory).create(TestSpool.files(directory).settled(1))) {
      file.append(settled, List.of(), false);
    }
    openSpool();

    assertThat(spool.takeRecovered()).extracting(SpooledBatch::sequence).containsExactly(0L, 2L);
    assertThat(sample("spool_damaged_frames_total")).isEqualTo(1);
    assertThat(sample("spans_recovered_total")).isEqualTo(8);
  }

  private static SpooledBatch batch(
      AgentIdentity run, BrokerQueue queue, long sequence, int spans) {
    CRC32C crc = new CRC32C();
    crc.update(BODY);
    SpooledBatch batch =
        new SpooledBatch(run, queue, sequence, 0, spans, BODY.length, (int) crc.getValue());
    batch.body(BODY);
    return batch;
  }

  /** Appends a frame to the first segment, as a writer without assertions would. */
  private void plant(int kind, SpooledBatch... batches) throws IOException {
    FrameBuffer content = new FrameBuffer();
    FrameContent.write(
        content, kind, batches[0].agent(), Arrays.asList(batches), List.of(), List.of());
    append(1, content, Arrays.asList(batches));
  }

  private void append(long number, FrameBuffer content, List<SpooledBatch> batches)
      throws IOException {
    SpoolFiles files = TestSpool.files(directory);
    Path path = files.segment(number);
    try (FrameFile file = Files.exists(path) ? files.open(path) : files.create(path)) {
      file.append(content, batches, false);
    }
  }

  private void assertNothingRecovered() throws IOException {
    openSpool();
    assertThat(spool.takeRecovered()).isEmpty();
    assertThat(sample("spool_damaged_frames_total")).isEqualTo(1);
  }
}
