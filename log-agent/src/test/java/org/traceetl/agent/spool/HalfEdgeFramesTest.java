package org.traceetl.agent.spool;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.traceetl.agent.telemetry.MetricValues.value;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.agent.config.SpoolConfig.WhenFull;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.BrokerQueue.Topic;

/** Frames with batches of half-edges, whose queues have the names and numbers of those of spans. */
final class HalfEdgeFramesTest extends SpoolFixture {
  private static final BrokerQueue EDGES = new BrokerQueue(Topic.EDGES, A.broker(), A.id());

  @Test
  void topicsAndCountsSurviveAKill() throws IOException {
    openSpool();
    frame.add(A, 4, body("spans"), 3);
    frame.add(EDGES, 0, body("halves"), 5);
    frame.add(B, 1, body("more spans"), 2);
    assertThat(frame.halfEdges()).isEqualTo(5);
    spool.commit(frame);
    assertThat(outlet.appended)
        .extracting(SpooledBatch::spans, SpooledBatch::halfEdges)
        .containsExactly(tuple(3, 0), tuple(0, 5), tuple(2, 0));
    frame.clear();
    assertThat(frame.halfEdges()).isZero();
    for (int run = 0; run < 2; run++) {
      kill();
      openSpool();

      List<SpooledBatch> recovered = spool.takeRecovered();
      assertThat(recovered)
          .extracting(
              SpooledBatch::queue,
              SpooledBatch::sequence,
              SpooledBatch::spans,
              SpooledBatch::halfEdges)
          .containsExactly(tuple(A, 4L, 3, 0), tuple(EDGES, 0L, 0, 5), tuple(B, 1L, 2, 0));
      assertThat(spool.read(recovered.get(1))).isEqualTo(body("halves"));
      assertThat(sample("spans_recovered_total")).isEqualTo(5);
      assertThat(spool.spans()).isEqualTo(5);
      assertThat(sample("spool_damaged_frames_total")).isZero();
      assertThat(sample("spool_repeated_batches_total")).isZero();
    }
  }

  /** Equal names in the queues of both topics are different batches. */
  @Test
  void theQueuesOfBothTopicsHaveTheirOwnNames() throws IOException {
    openSpool();
    for (int sequence = 0; sequence < 3; sequence++) {
      frame.add(A, sequence, body("spans " + sequence), 1);
      frame.add(EDGES, sequence, body("halves " + sequence), 1);
    }
    spool.commit(frame);
    settle(frame.batches().stream().filter(batch -> batch.queue().equals(A)).toList());
    tend();
    kill();
    openSpool();

    assertThat(spool.takeRecovered())
        .extracting(SpooledBatch::queue, SpooledBatch::sequence)
        .containsExactly(tuple(EDGES, 0L), tuple(EDGES, 1L), tuple(EDGES, 2L));
    assertThat(sample("spans_recovered_total")).isZero();
  }

  @Test
  void aSettledBatchOfHalfEdgesSurvivesAKill() throws IOException {
    openSpool();
    frame.add(A, 0, body("spans"), 1);
    frame.add(EDGES, 0, body("halves"), 7);
    spool.commit(frame);
    settle(List.of(frame.batches().getLast()));
    tend();
    kill();
    openSpool();

    assertThat(spool.takeRecovered()).extracting(SpooledBatch::queue).containsExactly(A);
    assertThat(sample("spool_damaged_frames_total")).isZero();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aMergeKeepsTopics(boolean spansWaitToo) throws IOException {
    openSpool();
    List<SpooledBatch> waiting = new ArrayList<>();
    int frames = 0;
    for (; merged().isEmpty(); frames++) {
      frame.clear();
      frame.add(B, frames, new byte[300_000], 1);
      frame.add(EDGES, frames, body("halves " + frames), frames);
      frame.add(A, frames, body("spans " + frames), frames);
      spool.commit(frame);
      List<SpooledBatch> batches = List.copyOf(frame.batches());
      waiting.add(batches.get(1));
      if (spansWaitToo) {
        waiting.add(batches.get(2));
      } else {
        settle(batches.subList(2, 3));
      }
      settle(batches.subList(0, 1));
      tend();
    }
    assertThat(frames).isGreaterThan(5);
    assertThat(spool.read(waiting.getFirst())).isEqualTo(body("halves 0"));
    kill();
    openSpool();

    List<SpooledBatch> recovered = spool.takeRecovered();
    assertThat(recovered)
        .extracting(SpooledBatch::queue, SpooledBatch::sequence, SpooledBatch::count)
        .containsExactlyInAnyOrderElementsOf(
            waiting.stream()
                .map(batch -> tuple(batch.queue(), batch.sequence(), batch.count()))
                .toList());
    for (SpooledBatch batch : recovered) {
      String content = batch.queue().equals(EDGES) ? "halves " : "spans ";
      assertThat(spool.read(batch)).isEqualTo(body(content + batch.sequence()));
    }
    assertThat(sample("spool_damaged_frames_total")).isZero();
  }

  /** Returns merged segments, whose numbers are between those of others. */
  private List<Path> merged() throws IOException {
    return segments().stream()
        .filter(path -> Integer.parseInt(path.getFileName().toString().substring(0, 10)) % 16 != 1)
        .toList();
  }

  /** Earlier agents read these frames, after a downgrade. */
  @Test
  void aFrameWithoutHalfEdgesIsWrittenAsByEarlierAgents() throws IOException {
    openSpool();
    Path segment = segments().getLast();
    int start = (int) Files.size(segment);
    frame.add(A, 4, body("spans"), 3);
    frame.add(B, 1, body("more"), 2);
    spool.commit(frame);

    ByteBuffer expected = ByteBuffer.allocate(1_000);
    expected.put((byte) 2).putLong(7).putLong(8).putLong(1).putInt(2);
    for (SpooledBatch batch : frame.batches()) {
      expected.putInt(batch.queue().broker().length()).put(body(batch.queue().broker()));
      expected.putInt(batch.queue().id()).putLong(batch.sequence());
      expected.putLong(batch.createdMillis()).putInt(batch.spans());
      expected.putInt(batch.length()).putInt(batch.crc());
    }
    expected.putInt(0).putInt(0).put(body("spans")).put(body("more"));
    byte[] bytes = Files.readAllBytes(segment);
    assertThat(Arrays.copyOfRange(bytes, start + FrameFile.HEAD_BYTES, bytes.length))
        .isEqualTo(Arrays.copyOf(expected.array(), expected.position()));
  }

  @Test
  void aFrameWithHalfEdgesHasTheTopicOfEachBatch() throws IOException {
    openSpool();
    frame.add(A, 4, body("spans"), 3);
    frame.add(EDGES, 1, body("halves"), 2);

    ByteBuffer written = written();
    assertThat(written.get()).isEqualTo((byte) 5);
    written.position(1 + 24 + 4);
    assertThat(written.get()).isZero();
    int bytesOfABatch = 4 + A.broker().length() + 4 + 8 + 8 + 4 + 4 + 4;
    written.position(written.position() + bytesOfABatch);
    assertThat(written.get()).isEqualTo((byte) 1);
    assertThat(written.remaining()).isEqualTo(bytesOfABatch + 4 + 4);
  }

  private ByteBuffer written() {
    FrameBuffer content = new FrameBuffer();
    FrameContent.write(
        content,
        FrameContent.kind(frame.batches()),
        frame.agent(),
        frame.batches(),
        List.of(),
        List.of());
    return ByteBuffer.wrap(Arrays.copyOf(content.array(), content.length()));
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 127, -128, -1})
  void anUnknownTopicIsADamage(int topic) throws IOException {
    openSpool();
    frame.add(EDGES, 1, body("halves"), 2);
    ByteBuffer content = written().put(1 + 24 + 4, (byte) topic);
    FrameBuffer planted = new FrameBuffer();
    while (content.hasRemaining()) {
      planted.putByte(content.get());
    }
    SpoolFiles files = TestSpool.files(directory);
    kill();
    try (FrameFile file = files.open(segments().getFirst())) {
      file.append(planted, frame.batches(), false);
    }
    openSpool();

    assertThat(spool.takeRecovered()).isEmpty();
    assertThat(sample("spool_damaged_frames_total")).isEqualTo(1);
    assertThat(value(metrics, "batches_dropped_total", "reason", "damaged")).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource(names = "PUBLISHED", mode = EnumSource.Mode.EXCLUDE)
  void droppedHalfEdgesAreCountedByReason(Settlement reason) throws IOException {
    openSpool();
    frame.add(A, 0, body("spans"), 3);
    frame.add(EDGES, 0, body("halves"), 5);
    spool.commit(frame);
    frame
        .batches()
        .forEach(batch -> {
          spool.settle(batch, reason);
          spool.settle(batch, reason);
        });

    for (Settlement other : Settlement.values()) {
      if (other != Settlement.PUBLISHED) {
        assertThat(droppedHalfEdges(other)).isEqualTo(other == reason ? 5 : 0);
        assertThat(dropped(other.label())).isEqualTo(other == reason ? 3 : 0);
      }
    }
  }

  @Test
  void theOldestHalfEdgesAreDroppedIfConfigured() throws IOException {
    whenFull = WhenFull.DROP_OLDEST;
    openSpool();
    for (int sequence = 0; sequence < 60; sequence++) {
      frame.clear();
      frame.add(EDGES, sequence, new byte[300_000], 10);
      spool.commit(frame);
    }

    assertThat(spool.bytes()).isLessThanOrEqualTo(maxBytes);
    assertThat(outlet.forgotten).isNotEmpty();
    assertThat(droppedHalfEdges(Settlement.FULL)).isEqualTo(10 * outlet.forgotten.size());
    assertThat(dropped("full")).isZero();
  }

  private double droppedHalfEdges(Settlement reason) {
    return value(metrics, "half_edges_dropped_total", "reason", reason.label());
  }

  private static byte[] body(String text) {
    return text.getBytes(UTF_8);
  }
}
