package org.traceetl.server.journal.chain;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.traceetl.server.journal.RecordRejection;
import org.traceetl.server.journal.format.ChunkFormat;
import org.traceetl.server.journal.format.LogRecord;
import org.traceetl.server.journal.format.RecordHeader;
import org.traceetl.server.journal.format.RecordKind;
import org.traceetl.server.window.QueueId;

/** Tests the rules that only faulty writers violate, and those that begin a chain. */
class JournalChainTest {
  private static final UUID ONE = new UUID(0, 1);
  private static final UUID OTHER = new UUID(0, 2);

  private JournalChain chain = JournalChain.FRESH;

  private static RecordHeader header(
      RecordKind kind, UUID writer, long epoch, long number, long from, long to) {
    return new RecordHeader(kind, writer, epoch, number, from, to, 0);
  }

  private static RecordHeader claim(UUID writer, long epoch) {
    return header(RecordKind.CLAIM, writer, epoch, 0, -1, -1);
  }

  private static RecordHeader window(UUID writer, long epoch, long number, long from, long to) {
    return header(RecordKind.WINDOW, writer, epoch, number, from, to);
  }

  private static RecordHeader snapshot(UUID writer, long epoch, long number, long at, long to) {
    return header(RecordKind.SNAPSHOT, writer, epoch, number, at, to);
  }

  private RecordRejection offer(RecordHeader header) {
    return offer(header, 100);
  }

  private RecordRejection offer(RecordHeader header, long first) {
    LogRecord record = new LogRecord(header, first, first + 1, LogRecord.NO_PAYLOAD);
    RecordRejection rejection = chain.rejection(record);
    if (rejection == null) {
      chain = chain.after(header);
    }
    return rejection;
  }

  private void ownerWithOneWindow() {
    assertThat(offer(claim(ONE, 1))).isNull();
    assertThat(offer(window(ONE, 1, 1, 0, 10))).isNull();
  }

  @Test
  void windowsCountOnceAndInOrder() {
    ownerWithOneWindow();

    assertThat(offer(window(ONE, 1, 1, 0, 10))).isEqualTo(RecordRejection.STALE);
    assertThat(offer(window(ONE, 1, 3, 10, 20))).isEqualTo(RecordRejection.OUT_OF_CHAIN);
    assertThat(offer(window(ONE, 1, 2, 11, 20))).isEqualTo(RecordRejection.OUT_OF_CHAIN);
    assertThat(offer(window(ONE, 1, 2, 10, 5))).isNull();
    assertThat(chain.to()).isEqualTo(5);
  }

  @Test
  void onlyTheClaimantsWindowsCount() {
    ownerWithOneWindow();

    assertThat(offer(window(OTHER, 1, 2, 10, 20))).isEqualTo(RecordRejection.STALE);
    assertThat(offer(window(ONE, 2, 2, 10, 20))).isEqualTo(RecordRejection.STALE);
    assertThat(offer(claim(OTHER, 1))).isEqualTo(RecordRejection.STALE);
    assertThat(offer(claim(OTHER, 2))).isNull();
    assertThat(offer(window(ONE, 1, 2, 10, 20))).isEqualTo(RecordRejection.STALE);
    assertThat(offer(window(OTHER, 2, 2, 10, 20))).isNull();
  }

  @Test
  void nothingOfAnEpochCountsAfterItsRelease() {
    ownerWithOneWindow();

    assertThat(offer(header(RecordKind.RELEASE, OTHER, 1, 1, -1, 10)))
        .isEqualTo(RecordRejection.STALE);
    assertThat(offer(header(RecordKind.RELEASE, ONE, 1, 1, -1, 10))).isNull();
    assertThat(chain.released()).isTrue();
    assertThat(offer(window(ONE, 1, 2, 10, 20))).isEqualTo(RecordRejection.STALE);
    assertThat(offer(header(RecordKind.RELEASE, ONE, 1, 1, -1, 10)))
        .isEqualTo(RecordRejection.STALE);
    assertThat(offer(claim(OTHER, 2))).isNull();
    assertThat(chain.released()).isFalse();
  }

  @Test
  void aSnapshotIsABaseOnlyWhereItsWriterMeantIt() {
    chain = JournalChain.UNKNOWN;

    assertThat(offer(snapshot(ONE, 7, 30, 41, 500), 42)).isEqualTo(RecordRejection.OUT_OF_CHAIN);
    assertThat(offer(snapshot(ONE, 7, 30, 42, 500), 42)).isNull();
    assertThat(chain).isEqualTo(new JournalChain(7, ONE, 30, 500, false, true));
    assertThat(offer(snapshot(ONE, 7, 31, 42, 500), 42)).isEqualTo(RecordRejection.OUT_OF_CHAIN);
    assertThat(offer(snapshot(ONE, 7, 30, 43, 500), 43)).isNull();
  }

  @Test
  void toOneWhoIsUnsureTheNewestWindowCounts() {
    chain = JournalChain.UNKNOWN;

    assertThat(offer(window(ONE, 5, 9, 90, 100))).isNull();
    assertThat(offer(window(OTHER, 6, 11, 110, 120))).isNull();
    assertThat(offer(window(ONE, 5, 10, 100, 110))).isEqualTo(RecordRejection.STALE);
    assertThat(offer(window(OTHER, 6, 11, 110, 120))).isEqualTo(RecordRejection.STALE);
    assertThat(offer(window(OTHER, 6, 13, 130, 140))).isNull();
    assertThat(chain.sure()).isFalse();
  }

  @Test
  void aLeapOfTheEpochBeginsAChainAnew() {
    ownerWithOneWindow();
    long leap = JournalChain.UNKNOWN.nextEpoch(1_800_000_000_000L);

    assertThat(leap).isEqualTo(1_800_000_000_000L);
    assertThat(offer(claim(OTHER, leap))).isNull();
    assertThat(offer(window(OTHER, leap, 1, 700, 800))).isNull();
    assertThat(chain.sure()).isFalse();
    assertThat(chain.nextEpoch(0)).isEqualTo(leap + 2);
  }

  @Test
  void aSnapshotOfAnotherStateDoesNotCount() {
    ownerWithOneWindow();

    assertThat(offer(snapshot(OTHER, 1, 1, 42, 10), 42)).isEqualTo(RecordRejection.OUT_OF_CHAIN);
    assertThat(offer(snapshot(ONE, 1, 2, 42, 10), 42)).isEqualTo(RecordRejection.OUT_OF_CHAIN);
    assertThat(offer(snapshot(ONE, 1, 1, 42, 11), 42)).isEqualTo(RecordRejection.OUT_OF_CHAIN);
    assertThat(offer(snapshot(ONE, 1, 1, 42, 10), 42)).isNull();
  }

  @Test
  void onlyAStepOfOneWholeMessageIsAStep() {
    ChunkFormat format = new ChunkFormat("trace-spans", new QueueId("broker-a", 0), 8);
    StepOverRecord step = StepOverRecord.over(7, new byte[] {1}, "");
    RecordHeader header = step.header(ONE, 5);
    byte[] whole = format.write(header, step.payload()).getFirst();

    assertThat(StepOverRecord.read(whole, format)).isEqualTo(step);
    assertThat(StepOverRecord.read(format.write(header, new byte[3]).getFirst(), format)).isNull();
    assertThat(StepOverRecord.read(format.write(header, new byte[9]).getFirst(), format)).isNull();
    assertThat(StepOverRecord.read(format.write(claim(ONE, 1), new byte[4]).getFirst(), format))
        .isNull();
    assertThat(step.isOver(7, new byte[] {1})).isTrue();
    assertThat(step.isOver(7, new byte[] {2})).isFalse();
    assertThat(step.isOver(8, new byte[] {1})).isFalse();
  }
}
