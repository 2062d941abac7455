package org.traceetl.agent.spool;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.Golden;
import org.traceetl.agent.config.SpoolConfig.Flush;
import org.traceetl.agent.flow.AnsweredRequests.Answer;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.BrokerQueue.Topic;

/** The bytes of a spool stay what they are: an agent reads the spools of all earlier releases. */
final class SpoolGoldenTest extends SpoolFixture {
  private static final BrokerQueue EDGES = new BrokerQueue(Topic.EDGES, "größe", 1);
  private static final Checkpoint.Position POSITION =
      new Checkpoint.Position("files:2049:77", "1024\t256\t3735928559\tfile:///logs/trace.log");

  /** The first segment, of a run that was killed, and the list of its settled batches. */
  private static final List<String> KILLED = List.of("0000000001.seg", "0000000001.settled");

  /** The segment that replaces the first one and the one that began after the kill. */
  private static final String MERGED = "0000000033.seg";

  private void commitTwoFrames() throws IOException {
    openSpool();
    frame.add(A, 4, "spans".getBytes(UTF_8), 3);
    frame.add(B, 0, "more spans".getBytes(UTF_8), 2);
    frame.add(request(5), 4, 1, "bad_value");
    frame.add(POSITION, 0, 0, "");
    spool.commit(frame);
    settle(List.of(frame.batches().getFirst()));
    frame.clear();
    frame.add(A, 6, "later".getBytes(UTF_8), 1);
    frame.add(EDGES, 0, "halves".getBytes(UTF_8), 5);
    spool.commit(frame);
    tend();
    kill();
  }

  @Test
  void theSpoolIsTheseBytes() throws IOException {
    commitTwoFrames();

    assertThat(files("").stream().map(file -> file.getFileName().toString()))
        .containsExactlyInAnyOrder(KILLED.getFirst(), KILLED.getLast(), "lock");
    assertGolden(KILLED.getFirst());
    assertGolden(KILLED.getLast());

    openSpool();
    assertGolden("0000000017.seg");
  }

  @Test
  void aSegmentThatReplacesAnotherIsTheseBytes() throws IOException {
    commitTwoFrames();
    flush = Flush.COMMIT;
    FailingDisk failing = FailingDisk.withAllOf(directory);
    disk = failing;
    openSpool();
    failing.failNext(1);
    frame.add(A, 0, "again".getBytes(UTF_8), 1);
    spool.commit(frame);

    assertGolden(MERGED);
  }

  private void assertGolden(String name) throws IOException {
    assertThat(Golden.text(directory.resolve(name))).isEqualTo(Golden.text(getClass(), name));
  }

  @Test
  void theseBytesAreASpool() throws IOException {
    for (String name : KILLED) {
      plant(name);
    }
    openSpool();

    List<SpooledBatch> recovered = spool.takeRecovered();
    assertThat(recovered)
        .extracting(
            SpooledBatch::agent,
            SpooledBatch::queue,
            SpooledBatch::sequence,
            SpooledBatch::createdMillis,
            SpooledBatch::spans,
            SpooledBatch::halfEdges,
            this::text)
        .containsExactly(
            tuple(agent, B, 0L, unixMillis, 2, 0, "more spans"),
            tuple(agent, A, 6L, unixMillis, 1, 0, "later"),
            tuple(agent, EDGES, 0L, unixMillis, 0, 5, "halves"));
    assertThat(spool.places()).containsExactly(POSITION);
    assertThat(spool.answered().answerAgain(request(5)))
        .isEqualTo(new Answer(unixMillis, 4, 1, "bad_value"));
    assertThat(sample("spool_damaged_frames_total")).isZero();
  }

  @Test
  void theseBytesAreAStateOfAllPositionsAndRequests() throws IOException {
    plant("0000000017.seg");
    openSpool();

    assertThat(spool.takeRecovered()).isEmpty();
    assertThat(spool.places()).containsExactly(POSITION);
    assertThat(spool.answered().answerAgain(request(5))).isNotNull();
    assertThat(sample("spool_damaged_frames_total")).isZero();
  }

  @Test
  void theseBytesAreASegmentThatReplacesAnother() throws IOException {
    plant("0000000017.seg");
    plant(MERGED);
    openSpool();

    assertThat(directory.resolve("0000000017.seg")).doesNotExist();
    assertThat(spool.takeRecovered())
        .extracting(SpooledBatch::queue, this::text)
        .containsExactly(tuple(A, "again"));
    assertThat(spool.places()).containsExactly(POSITION);
    assertThat(sample("spool_damaged_frames_total")).isZero();
  }

  private String text(SpooledBatch batch) {
    try {
      return new String(spool.read(batch), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void plant(String name) throws IOException {
    Files.write(directory.resolve(name), Golden.bytes(getClass(), name));
  }
}
