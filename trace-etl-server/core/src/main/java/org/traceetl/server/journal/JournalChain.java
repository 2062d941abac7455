package org.traceetl.server.journal;

import java.util.UUID;

/**
 * What a reader knows of a log up to some place in it: who owns the queue, and how far its windows
 * have come. Everyone who reads a log folds it by the rules that are here and nowhere else, so that
 * all see the same windows count. Immutable.
 *
 * <p>A claim counts if its epoch is above all before. Then only the claimant's windows count, each
 * once, in order, and only until the next claim or its own release.
 *
 * <p>A reader that does not know what was before its first record is unsure. To it, any window
 * newer than the last counts; it has the log's word again at the first snapshot that stands where
 * its writer meant it to stand, as nobody can have come between the state that is in it and itself.
 *
 * @param epoch of the last claim, 0 without one
 * @param writer whose claim it was, null without one
 * @param number windows so far
 * @param to offset of the span queue after the last of them, {@link JournalLog#NONE} without one
 * @param released whether the claimant has ended
 * @param sure whether it is known what was before
 */
record JournalChain(long epoch, UUID writer, long number, long to, boolean released, boolean sure) {
  /** At the begin of a log that still has all its records. */
  static final JournalChain FRESH = new JournalChain(0, null, 0, JournalLog.NONE, false, true);

  /** Anywhere else. */
  static final JournalChain UNKNOWN = new JournalChain(0, null, 0, JournalLog.NONE, false, false);

  /** After a window that counts, or a snapshot. */
  static JournalChain at(RecordHeader header) {
    return new JournalChain(
        header.epoch(), header.writer(), header.number(), header.to(), false, true);
  }

  /** Why the next record does not count; null if it does. */
  RecordRejection rejection(LogRecord record) {
    RecordHeader header = record.header();
    return switch (header.kind()) {
      case CLAIM -> header.epoch() > epoch ? null : RecordRejection.STALE;
      case WINDOW -> sure ? windowRejection(header) : unsureWindowRejection(header);
      case RELEASE -> isOwner(header) && !released ? null : RecordRejection.STALE;
      case STEP -> null;
      case SNAPSHOT ->
          header.from() == record.first() && !contradicts(header)
              ? null
              : RecordRejection.OUT_OF_CHAIN;
    };
  }

  private RecordRejection windowRejection(RecordHeader window) {
    if (!isOwner(window) || released || window.number() <= number) {
      return RecordRejection.STALE;
    }
    boolean adjoins = to == JournalLog.NONE || window.from() == to;
    return window.number() == number + 1 && adjoins ? null : RecordRejection.OUT_OF_CHAIN;
  }

  private RecordRejection unsureWindowRejection(RecordHeader window) {
    boolean newer = window.epoch() > epoch || (window.epoch() == epoch && window.number() > number);
    return newer ? null : RecordRejection.STALE;
  }

  private boolean contradicts(RecordHeader snapshot) {
    return sure && !(isOwner(snapshot) && snapshot.number() == number && snapshot.to() == to);
  }

  /**
   * Whether a record repeats the claim of the owner. It changes nothing: its writer learns from the
   * answer that the log still takes what it appends.
   */
  boolean isRenewal(RecordHeader header) {
    return header.kind() == RecordKind.CLAIM && isOwner(header);
  }

  private boolean isOwner(RecordHeader header) {
    return isOwner(header.epoch(), header.writer());
  }

  boolean isOwner(long claimed, UUID claimant) {
    return epoch == claimed && claimant.equals(writer);
  }

  /** The chain with the next record, which counts. */
  JournalChain after(RecordHeader header) {
    return switch (header.kind()) {
      case CLAIM -> claimed(header);
      case WINDOW ->
          new JournalChain(
              header.epoch(), header.writer(), header.number(), header.to(), false, sure);
      case RELEASE -> new JournalChain(epoch, writer, number, to, true, sure);
      case STEP -> this;
      case SNAPSHOT -> sure ? this : at(header);
    };
  }

  private JournalChain claimed(RecordHeader claim) {
    // Whoever knows the last epoch claims the next one. A leap says that the claimant did not, or
    // that this reader does not.
    return claim.epoch() == epoch + 1
        ? new JournalChain(claim.epoch(), claim.writer(), number, to, false, sure)
        : new JournalChain(claim.epoch(), claim.writer(), 0, JournalLog.NONE, false, false);
  }

  /**
   * The epoch of a claim after this chain.
   *
   * @param nowMillis milliseconds since 1970: above any epoch that was counted up
   */
  long nextEpoch(long nowMillis) {
    return sure ? epoch + 1 : Math.max(epoch + 2, nowMillis);
  }

  /** The same without being sure. */
  JournalChain unsure() {
    return new JournalChain(epoch, writer, number, to, released, false);
  }
}
