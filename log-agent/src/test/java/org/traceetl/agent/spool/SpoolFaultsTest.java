package org.traceetl.agent.spool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.agent.config.SpoolConfig.Flush;
import org.traceetl.agent.config.SpoolConfig.WhenFull;
import org.traceetl.agent.disk.Disk.OpenFile;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.common.LogThrottle;

/** Lets single operations of the disk fail. */
final class SpoolFaultsTest extends SpoolFixture {
  private static final AgentIdentity RUN = new AgentIdentity(7, 8, 1);

  /** Failures of the next operations, by operation. */
  private final Map<String, List<IOException>> failures = new HashMap<>();

  /** Runs before each rename. */
  private Runnable beforeMove = () -> {};

  /** Bytes by which files seem longer. */
  private long missing;

  private void fails(String operation, IOException... with) {
    failures.computeIfAbsent(operation, absent -> new ArrayList<>()).addAll(List.of(with));
  }

  private void meet(String operation) throws IOException {
    List<IOException> due = failures.getOrDefault(operation, List.of());
    if (!due.isEmpty()) {
      throw due.removeFirst();
    }
  }

  private static IOException error() {
    return new IOException("Input/output error");
  }

  private static IOException noSpace() {
    return new IOException("No space left on device");
  }

  /** A file whose operations fail as the test says. */
  private final class FaultyFile implements OpenFile {
    private final OpenFile file;

    FaultyFile(OpenFile file) {
      this.file = file;
    }

    @Override
    public long size() throws IOException {
      meet("size");
      return file.size() + missing;
    }

    @Override
    public int read(ByteBuffer into, long at) throws IOException {
      return file.read(into, at);
    }

    @Override
    public int write(ByteBuffer from, long at) throws IOException {
      meet("write");
      return file.write(from, at);
    }

    @Override
    public void truncate(long size) throws IOException {
      meet("truncate");
      file.truncate(size);
    }

    @Override
    public void force() throws IOException {
      meet("force");
      file.force();
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }

  private final class FaultyDisk extends ForcedDisk {
    FaultyDisk() {
      super(OpenFile::force);
    }

    @Override
    public void createDirectories(Path path) throws IOException {
      meet("directories");
      super.createDirectories(path);
    }

    @Override
    public OpenFile create(Path path) throws IOException {
      meet("create");
      return new FaultyFile(super.create(path));
    }

    @Override
    public OpenFile open(Path path) throws IOException {
      return new FaultyFile(super.open(path));
    }

    @Override
    public void move(Path from, Path to) throws IOException {
      beforeMove.run();
      super.move(from, to);
    }

    @Override
    public void delete(Path path) throws IOException {
      meet("delete");
      super.delete(path);
    }
  }

  @BeforeEach
  void useFaultyDisk() {
    disk = new FaultyDisk();
  }

  private List<SpooledBatch> commit(int from, int to, int bytes) throws IOException {
    List<SpooledBatch> batches = new ArrayList<>();
    for (int sequence = from; sequence < to; sequence++) {
      frame.clear();
      frame.add(A, sequence, new byte[bytes], 1);
      spool.commit(frame);
      batches.addAll(frame.batches());
    }
    frame.clear();
    return batches;
  }

  private void assertRecovered(Long... sequences) throws IOException {
    kill();
    openSpool();
    assertThat(spool.takeRecovered()).extracting(SpooledBatch::sequence).containsExactly(sequences);
  }

  @Test
  void anUncutFrameIsCutBeforeTheNextOne() throws IOException {
    openSpool();
    fails("write", error());
    fails("truncate", error());
    assertThatThrownBy(() -> commit(0, 1, 10)).isInstanceOf(IOException.class);
    pass(1_000);
    commit(1, 2, 10);
    assertRecovered(1L);
  }

  @Test
  void anUncutFrameIsCutBeforeTheNextSegment() throws IOException {
    openSpool();
    fails("write", error());
    fails("truncate", error(), error());
    assertThatThrownBy(() -> commit(0, 1, 10)).isInstanceOf(IOException.class);
    tend();
    assertThat(sample("spool_writable")).isZero();
    pass(1_000);
    tend();
    tend();
    assertThat(sample("spool_writable")).isZero();
    pass(1_000);
    tend();
    assertThat(sample("spool_writable")).isEqualTo(1);
    commit(1, 2, 10);
    assertRecovered(1L);
  }

  @Test
  void whatCannotBeUsedIsNamed() {
    for (IOException why :
        List.of(
            new AccessDeniedException("here"),
            new FileSystemException("here"),
            new FileSystemException("here", null, "read-only"),
            new IOException("Disk quota exceeded"))) {
      fails("directories", why);
      assertThatThrownBy(this::openSpool)
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith("spool.directory = ")
          .hasMessageContaining("cannot be used");
    }
    fails("directories", error());
    assertThatThrownBy(this::openSpool).hasMessage("Input/output error");
  }

  @ParameterizedTest
  @CsvSource({"0, 0, 0", "268435457, 0, 0", "1, -1, 0", "1, 0, -1"})
  void anImpossibleHeadIsDamaged(int length, int batches, int spans) throws IOException {
    byte[] head = new byte[25];
    CRC32C crc = new CRC32C();
    ByteBuffer.wrap(head)
        .put(new byte[] {'T', 'S', 'P', '1'})
        .putInt(length)
        .putInt(batches)
        .putInt(spans);
    crc.update(head, 0, 16);
    ByteBuffer.wrap(head).putInt(16, (int) crc.getValue());
    Files.write(TestSpool.files(directory).segment(1), head);
    openSpool();

    assertThat(sample("spool_damaged_frames_total")).isEqualTo(1);
  }

  @Test
  void aFileThatEndsWhileItIsReadFailsTheStart() throws IOException {
    openSpool();
    commit(0, 1, 10);
    kill();
    missing = 100;
    assertThatThrownBy(this::openSpool).hasMessageContaining("ends at byte");
    missing = 0;
    fails("size", error());
    assertThatThrownBy(this::openSpool).hasMessage("Input/output error");
    openSpool();
    assertThat(spool.takeRecovered()).hasSize(1);
  }

  @Test
  void startWithBatchesNeedsNoRoomButASoundDisk() throws IOException {
    openSpool();
    commit(0, 1, 10);
    kill();
    fails("create", error());
    assertThatThrownBy(this::openSpool).hasMessage("Input/output error");
    fails("create", noSpace());
    openSpool();
    assertThat(sample("spool_writable")).isZero();
    kill();
    flush = Flush.COMMIT;
    fails("force", error());
    fails("create", error());
    openSpool();
    assertThat(sample("spool_writable")).isZero();
    pass(1_000);
    commit(0, 1, 10);
    assertThat(sample("spool_writable")).isEqualTo(1);
    assertRecovered(0L, 0L);
  }

  @Test
  void aGroupAboveTheLimitOfBatchesIsRefused() throws IOException {
    maxBatches = 2;
    openSpool();
    for (int sequence = 0; sequence < 3; sequence++) {
      frame.add(A, sequence, new byte[1], 1);
    }
    assertThatThrownBy(() -> spool.commit(frame)).hasMessageContaining("too large");
  }

  @Test
  void withoutAnOlderSegmentNothingIsDropped() throws IOException {
    whenFull = WhenFull.DROP_OLDEST;
    maxBatches = 20;
    openSpool();
    frame.add(A, 0, new byte[1], 1);
    spool.commit(frame);
    frame.clear();
    for (int sequence = 1; sequence <= 20; sequence++) {
      frame.add(A, sequence, new byte[1], 1);
    }
    assertThatThrownBy(() -> spool.commit(frame)).hasMessageContaining("the spool is full");
    frame.clear();
    fails("write", noSpace());
    assertThatThrownBy(() -> commit(21, 22, 1)).hasMessageContaining("No space left");
    fails("write", error());
    assertThatThrownBy(() -> commit(22, 23, 1)).hasMessage("Input/output error");
  }

  @Test
  void settledListsAndDeletionsThatFailAreRepeated() throws IOException {
    openSpool();
    List<SpooledBatch> batches = commit(0, 3, 10);
    spool.tend();
    spool.tend();
    for (int i = 0; i < 2; i++) {
      spool.settle(batches.get(i), Settlement.PUBLISHED);
      fails("create", error());
      tend();
    }
    assertThat(files(".settled")).isEmpty();
    tend();
    assertThat(files(".settled")).hasSize(1);
    assertRecovered(2L);
  }

  @Test
  void aClosedSpoolReadsNothing() throws IOException {
    openSpool();
    SpooledBatch batch = commit(0, 1, 10).getFirst();
    assertThat(spool.partOf("unknown")).isZero();
    spool.close();

    assertThatThrownBy(() -> spool.read(batch)).isInstanceOf(ClosedChannelException.class);
    assertThat(frame.isEmpty()).isTrue();
  }

  @Test
  void aFailedMergeIsRepeatedAfterAPause() throws IOException {
    openSpool();
    List<SpooledBatch> batches = commit(0, 60, 100_000);
    for (SpooledBatch batch : batches) {
      if (batch.sequence() % 3 != 0) {
        spool.settle(batch, Settlement.PUBLISHED);
      }
    }
    int segments = segments().size();
    for (int errors = 0; errors < 50; errors++) {
      fails("create", error());
    }
    tend();
    tend();
    pass(1_100);
    tend();
    failures.clear();
    pass(1_100);
    tend();
    assertThat(segments()).hasSizeLessThan(segments);
  }

  @Test
  void aBatchSettledWhileItIsCopiedStaysSettled() throws IOException {
    openSpool();
    List<SpooledBatch> batches = commit(0, 60, 100_000);
    beforeMove = () -> settle(batches.subList(0, 60));
    for (SpooledBatch batch : batches) {
      if (batch.sequence() % 3 != 0) {
        spool.settle(batch, Settlement.PUBLISHED);
      }
    }
    for (int times = 0; times < 3; times++) {
      tend();
    }
    assertThat(spool.batches()).isZero();
    assertRecovered();
  }

  @Test
  void onlySomePositionsAreRemembered() throws IOException {
    openSpool();
    for (int number = 0; number < 8_200; number++) {
      frame.add(new Checkpoint.Position("file " + number, "1"), 0, 0, "");
    }
    spool.commit(frame);

    assertThat(spool.places()).hasSize(8_192);
    assertThat(spool.places().getFirst().name()).isEqualTo("file 8");
  }

  @Test
  void aFileIsNotForcedAgainAfterAFailure() throws IOException {
    SpoolFiles files = new SpoolFiles(directory, disk, new SpoolMetrics());
    Flusher flusher = new Flusher(new LogThrottle(() -> 0));
    try (FrameFile file = files.create(files.segment(1))) {
      fails("force", error(), error());
      flusher.force(file);
      flusher.force(file);
    }
    assertThat(failures.get("force")).hasSize(1);
  }

  @Test
  void damagedAndForeignSettledListsSettleNothing() throws IOException {
    openSpool();
    List<SpooledBatch> batches = commit(0, 4, 10);
    spool.settle(batches.getFirst(), Settlement.PUBLISHED);
    tend();
    kill();
    Path list = files(".settled").getFirst();
    SpoolFiles files = TestSpool.files(directory);
    FrameBuffer content = new FrameBuffer();
    try (FrameFile file = files.open(list)) {
      content.putByte(FrameContent.STATE).putInt(1).putInt(1).putInt(1);
      file.append(content, List.of(), false);
      content.clear();
      content.putByte(FrameContent.SETTLED).putInt(2).putInt(2).putInt(1);
      file.append(content, List.of(), false);
      content.clear();
      content.putByte(FrameContent.SETTLED).putInt(1).putInt(3).putInt(1);
      file.append(content, List.of(), false);
    }
    byte[] bytes = Files.readAllBytes(list);
    bytes[bytes.length - 1]++;
    Files.write(list, bytes);
    openSpool();

    assertThat(spool.takeRecovered()).extracting(SpooledBatch::sequence).containsExactly(1L, 3L);
  }

  @Test
  void largeMergesAreCopiedInParts() throws IOException {
    maxBytes = 32 << 20;
    openSpool();
    List<SpooledBatch> batches = commit(0, 200, 100_000);
    int segments = segments().size();
    List<Long> left = settleButEach(3, batches);
    assertThat(segments()).hasSizeLessThan(segments);
    assertRecovered(left.toArray(Long[]::new));
  }

  @Test
  void aSegmentThatCannotBeDeletedIsLeft() throws IOException {
    openSpool();
    List<SpooledBatch> batches = commit(0, 60, 100_000);
    int segments = segments().size();
    settle(batches.subList(0, 30));
    fails("delete", error(), error());
    tend();

    assertThat(segments()).hasSizeBetween(3, segments - 1);
    assertThat(spool.batches()).isEqualTo(30);
  }

  @Test
  void aSegmentThatRemainsAfterTwoMergesIsNotReadAgain() throws IOException {
    openSpool();
    List<SpooledBatch> batches = commit(0, 60, 100_000);
    Path source = segments().getFirst();
    byte[] content = Files.readAllBytes(source);
    settleButEach(3, batches);
    assertThat(segments()).isNotEmpty().doesNotContain(source);
    Path merged = segments().getFirst();
    List<Long> left = settleButEach(6, batches);
    assertThat(segments()).doesNotContain(merged);
    kill();
    Files.write(source, content);
    openSpool();

    assertThat(spool.takeRecovered())
        .extracting(SpooledBatch::sequence)
        .containsExactlyElementsOf(left);
    assertThat(sample("spool_repeated_batches_total")).isZero();
  }

  /** Settles each batch but those whose sequence is a multiple; returns the sequences left. */
  private List<Long> settleButEach(int multiple, List<SpooledBatch> batches) {
    List<Long> left = new ArrayList<>();
    for (SpooledBatch batch : batches) {
      if (batch.sequence() % multiple == 0) {
        left.add(batch.sequence());
      } else {
        spool.settle(batch, Settlement.PUBLISHED);
      }
    }
    tend();
    return left;
  }

  @Test
  void aFrameWithAnyContentIsNotEmpty() {
    Frame empty = new Frame(RUN, () -> 0);
    assertThat(empty.isEmpty()).isTrue();
    empty.add(request(1), 1, 0, "");
    assertThat(empty.isEmpty()).isFalse();
    empty.clear();
    empty.add(new Checkpoint.Position("file", "1"), 0, 0, "");
    assertThat(empty.isEmpty()).isFalse();
    empty.clear();
    empty.add(A, 0, new byte[1], 1);
    assertThat(empty.isEmpty()).isFalse();
    assertThat(empty.batches().getFirst().isBody(new byte[2])).isFalse();
  }

  @Test
  void segmentsMergeOnlyWithinTheirLimitsAndNumbers() {
    assertThat(plan(1_000, 100, 1, 17).sources()).hasSize(2);
    assertThat(plan(1, 100, 1, 17).sources()).isEmpty();
    assertThat(plan(1_000, 0, 1, 17).sources()).isEmpty();
    assertThat(plan(1_000, 100, 1, 2).sources()).hasSize(2);
    assertThat(plan(1_000, 100, 1, 2, 1).sources()).isEmpty();
  }

  /** Returns a plan for two segments with one batch each, most of whose bytes are settled. */
  private MergePlan plan(long mostBytes, int mostBatches, long first, long second) {
    return plan(mostBytes, mostBatches, first, second, 2);
  }

  private MergePlan plan(long mostBytes, int mostBatches, long first, long second, int mergeable) {
    List<Segment> segments = new ArrayList<>();
    for (long number : new long[] {first, second}) {
      SpoolFiles files = TestSpool.files(directory);
      Segment segment =
          new Segment(number, new FrameFile(files.segment(number), null, 10_000, files), files);
      segment.add(TestSpool.batch(RUN, A, number, new byte[10]));
      segments.add(segment);
    }
    return new MergePlan(segments, mergeable, mostBytes, mostBatches);
  }
}
