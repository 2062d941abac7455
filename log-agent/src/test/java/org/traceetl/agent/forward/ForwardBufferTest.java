package org.traceetl.agent.forward;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.flow.OtlpFormat;
import org.traceetl.agent.forward.ForwardMetrics.Drop;

final class ForwardBufferTest {
  /** Four segments of 250 bytes: each has room for one request of 200 bytes. */
  private static final long MAX_BYTES = 1_000;

  private static final String LONG = "x".repeat(200);

  @TempDir private Path directory;

  @Test
  void eachEndpointReadsAllRequestsInTheirOrder() throws Exception {
    TestBuffer test = open("a", "b");
    test.append("1", "2");
    assertThat(test.drain("a")).containsExactly("1", "2");
    test.append("3");

    assertThat(test.drain("a")).containsExactly("3");
    assertThat(test.drain("b")).containsExactly("1", "2", "3");
  }

  @Test
  void headKeepsTimeAndFormat() throws Exception {
    TestBuffer test = open("a");
    test.buffer.append(new byte[] {'{', '}', 7}, 2, 1_795_255_028_312L, OtlpFormat.JSON);

    ForwardBuffer.Read<?> read = test.buffer.cursor("a").read(_ -> new ByteArrayOutputStream());
    assertThat(read.request().millis()).isEqualTo(1_795_255_028_312L);
    assertThat(read.request().format()).isEqualTo(OtlpFormat.JSON);
    assertThat(read.request().length()).isEqualTo(2);
    assertThat(read.body()).hasToString("{}");
  }

  @Test
  void aRestartContinuesAfterTheRequestsThatWereDone() throws Exception {
    TestBuffer test = open("a");
    test.append("1", "2", "3");
    test.read("a");
    test.buffer.cursor("a").allDone();
    test.read("a");
    test.buffer.close();

    test = open("a");
    test.append("4");
    assertThat(test.drain("a")).containsExactly("2", "3", "4");
  }

  @Test
  void aKilledRunForwardsAgainWhatWasDoneSinceThePositionsWereStored() throws Exception {
    TestBuffer test = open("a");
    test.append("1", "2");
    test.read("a");
    test.buffer.cursor("a").allDone();
    test.buffer.tidy();
    test.read("a");
    test.buffer.cursor("a").allDone();

    assertThat(open("a").drain("a")).containsExactly("2");
  }

  @Test
  void aSegmentThatCannotBeOpenedNowIsReadLater() throws Exception {
    FullDisk disk = new FullDisk();
    TestBuffer test = new TestBuffer(directory, MAX_BYTES, disk.disk(), "a");
    test.append("1", "2");
    disk.refusesToOpen = true;
    assertThatThrownBy(() -> test.read("a")).hasMessageContaining("Too many open files");
    disk.refusesToOpen = false;

    assertThat(test.drain("a")).containsExactly("1", "2");
    assertThat(test.dropped("a", Drop.DAMAGED)).isZero();
  }

  @Test
  void aStartWithoutASegmentThatCannotBeReadContinues() throws Exception {
    TestBuffer test = open("a");
    test.append("1");
    test.buffer.close();
    FullDisk disk = new FullDisk();
    disk.refusesToOpen = true;

    test = new TestBuffer(directory, MAX_BYTES, disk.disk(), "a");
    disk.refusesToOpen = false;
    test.append("2");
    assertThat(test.drain("a")).containsExactly("2");
    assertThat(test.dropped("a", Drop.DAMAGED)).isOne();
  }

  @Test
  void withoutStoredPositionsAllIsForwardedAgain() throws Exception {
    TestBuffer test = open("a");
    test.append("1", "2");
    test.drain("a");
    test.append("3");
    test.buffer.tidy();
    Files.writeString(directory.resolve("positions"), "a one two\n");

    assertThat(open("a").drain("a")).containsExactly("1", "2", "3");
    Files.delete(directory.resolve("positions"));
    assertThat(open("a").drain("a")).containsExactly("1", "2", "3");
  }

  @Test
  void aNewEndpointGetsOnlyNewRequests() throws Exception {
    TestBuffer test = open("a");
    test.append("1");
    test.buffer.close();

    test = open("a", "b");
    test.append("2");
    assertThat(test.drain("b")).containsExactly("2");
    assertThat(test.drain("a")).containsExactly("1", "2");
  }

  @Test
  void segmentsThatAllEndpointsHavePassedAreDeleted() throws Exception {
    TestBuffer test = open("a", "b");
    test.append(LONG, LONG, LONG);
    test.drain("a");
    test.buffer.tidy();
    assertThat(segments()).hasSize(3);
    test.drain("b");
    test.buffer.tidy();
    // The last one is still written.
    assertThat(segments()).containsExactly("0000000003.seg");
    test.buffer.close();
    assertThat(segments()).isEmpty();

    test = open("a", "b");
    test.append("next");
    assertThat(segments()).containsExactly("0000000004.seg");
    assertThat(test.drain("a")).containsExactly("next");
  }

  @Test
  void aRemovedEndpointHoldsNothingBack() throws Exception {
    TestBuffer test = open("a", "b");
    test.append("1");
    test.drain("a");
    test.buffer.close();
    assertThat(segments()).hasSize(1);

    open("a").buffer.tidy();
    assertThat(segments()).isEmpty();
  }

  @Test
  void aFullBufferDropsTheOldestSegmentAndCountsWhatEachEndpointMisses() throws Exception {
    TestBuffer test = open("a", "b");
    List<String> texts = IntStream.range(0, 6).mapToObj(i -> i + LONG).toList();
    test.append(texts.get(0), texts.get(1));
    test.read("a");
    test.append(texts.get(2), texts.get(3), texts.get(4), texts.get(5));

    assertThat(segments()).hasSize(4);
    // The endpoint that has read the oldest request still sends it.
    assertThat(test.dropped("a", Drop.BUFFER_FULL)).isEqualTo(1);
    assertThat(test.dropped("b", Drop.BUFFER_FULL)).isEqualTo(2);
    assertThat(test.drain("a")).isEqualTo(texts.subList(2, 6));
    assertThat(test.drain("b")).isEqualTo(texts.subList(2, 6));
    assertThat(test.buffer.cursor("a").backlogBytes()).isZero();
  }

  @Test
  void aRequestAboveTheSizeOfASegmentGetsOneOfItsOwn() throws Exception {
    TestBuffer test = open("a");
    String large = "y".repeat(480);
    test.append("1", large, "2");

    assertThat(segments()).hasSize(3);
    assertThat(test.drain("a")).containsExactly("1", large, "2");
  }

  @Test
  void backlogIsWhatTheEndpointHasNotAccepted() throws Exception {
    TestBuffer test = open("a");
    test.append("12", LONG);
    assertThat(test.buffer.cursor("a").backlogBytes()).isEqualTo(2 * 17 + 2 + 200);
    test.read("a");
    assertThat(test.buffer.cursor("a").backlogBytes()).isEqualTo(2 * 17 + 2 + 200);
    test.buffer.cursor("a").allDone();
    assertThat(test.buffer.cursor("a").backlogBytes()).isEqualTo(17 + 200);
    test.drain("a");
    assertThat(test.buffer.cursor("a").backlogBytes()).isZero();
  }

  @Test
  void damagedContentCostsTheRestOfItsSegmentAndIsCounted() throws Exception {
    TestBuffer test = open("a");
    test.append("1", "2", "3", LONG, "5");
    byte[] segment = Files.readAllBytes(directory.resolve("0000000001.seg"));
    segment[2 * 17 + 1] ^= 1;
    Files.write(directory.resolve("0000000001.seg"), segment);

    assertThat(test.drain("a")).containsExactly("1", LONG, "5");
    assertThat(test.dropped("a", Drop.DAMAGED)).isEqualTo(2);
    assertThat(test.buffer.cursor("a").backlogBytes()).isZero();
  }

  @Test
  void aFailedWriteCostsOneRequest() throws Exception {
    FullDisk disk = new FullDisk();
    TestBuffer test = new TestBuffer(directory, MAX_BYTES, disk.disk(), "a");
    test.append("1");
    disk.room = 20;
    assertThatThrownBy(() -> test.append("longer than the room")).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> test.append("longer than the room")).isInstanceOf(IOException.class);
    disk.room = Integer.MAX_VALUE;
    test.append("3");

    assertThat(test.drain("a")).containsExactly("1", "3");
    test.append("4");
    TestBuffer restarted = open("a");
    assertThat(restarted.drain("a")).contains("4");
    assertThat(segments()).hasSizeLessThanOrEqualTo(2);
  }

  @Test
  void theLastFreeBytesAreLeftToTheSpool() throws Exception {
    FullDisk disk = new FullDisk();
    disk.usable = 64 << 20;
    TestBuffer test = new TestBuffer(directory, MAX_BYTES, disk.disk(), "a");

    assertThatThrownBy(() -> test.append("1")).hasMessageContaining("of the disk are free");
    assertThat(segments()).isEmpty();
  }

  private TestBuffer open(String... endpoints) throws IOException {
    return new TestBuffer(directory, MAX_BYTES, Disk.SYSTEM, endpoints);
  }

  private List<String> segments() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .map(path -> path.getFileName().toString())
          .filter(name -> name.endsWith(".seg"))
          .sorted()
          .toList();
    }
  }
}
