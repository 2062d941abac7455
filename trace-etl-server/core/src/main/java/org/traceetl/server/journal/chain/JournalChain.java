package org.traceetl.server.journal.chain;

import java.util.UUID;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.RecordRejection;
import org.traceetl.server.journal.format.LogRecord;
import org.traceetl.server.journal.format.RecordHeader;
import org.traceetl.server.journal.format.RecordKind;

/**
 * State of a log up to a position in it: the queue's owner and its last window. Every reader of a
 * log applies these rules, so that all count the same windows. Immutable.
 *
 * <p>A claim counts if its epoch is higher than all before. Then only the claimant's windows count,
 * each once and in order, until the next claim or its own release.
 *
 * <p>A reader that does not know the records before its first one is unsure. It counts any window
 * newer than the last. It becomes sure at the first snapshot at the position that its writer
 * intended: then no other record is between the snapshot and the state in it.
 *
 * @param epoch of the last claim, 0 without one
 * @param writer that made the claim, null without one
 * @param number windows so far
 * @param to offset of the span queue after the last of them, {@link JournalLog#NONE} without one
 * @param released whether the claimant has released the queue
 * @param sure whether the earlier records are known
 */
public record JournalChain(
    long epoch, UUID writer, long number, long to, boolean released, boolean sure) {
  /** State at the beginning of a log that still has all its records. */
  static final JournalChain FRESH = new JournalChain(0, null, 0, JournalLog.NONE, false, true);

  /** State at any other position. */
  static final JournalChain UNKNOWN = new JournalChain(0, null, 0, JournalLog.NONE, false, false);

  /** Returns the state after a window that counts, or a snapshot. */
  static JournalChain at(RecordHeader header) {
    return new JournalChain(
        header.epoch(), header.writer(), header.number(), header.to(), false, true);
  }

  /** Returns why the next record does not count; null if it does. */
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
   * Returns whether a record repeats the owner's claim. It changes nothing; the broker's answer
   * shows its writer that the log still accepts records.
   */
  boolean isRenewal(RecordHeader header) {
    return header.kind() == RecordKind.CLAIM && isOwner(header);
  }

  /** Returns whether a record is the owner's next window. */
  boolean isNext(RecordHeader window) {
    return isOwner(window) && window.number() == number + 1;
  }

  /** Returns whether a claimant knows the last epoch, and so all records before its claim. */
  boolean isKnownTo(RecordHeader claim) {
    return claim.epoch() == epoch + 1;
  }

  /** Returns whether a window is the owner's, but not its next one: others are between. */
  boolean isBefore(RecordHeader window) {
    return window.kind() == RecordKind.WINDOW
        && sure
        && isOwner(window)
        && window.number() > number + 1;
  }

  /**
   * Returns whether a window that does not count is of a server that does not own the queue, or is
   * the next one but does not adjoin.
   */
  boolean isContradictedBy(RecordHeader window) {
    return window.kind() == RecordKind.WINDOW
        && (released || !isOwner(window) || window.number() == number + 1);
  }

  private boolean isOwner(RecordHeader header) {
    return isOwner(header.epoch(), header.writer());
  }

  boolean isOwner(long claimed, UUID claimant) {
    return epoch == claimed && claimant.equals(writer);
  }

  /** Returns the state after the next record, which counts. */
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
    // A claimant that knows the last epoch uses the next one. A larger step shows that the
    // claimant, or this reader, lacks records.
    return isKnownTo(claim)
        ? new JournalChain(claim.epoch(), claim.writer(), number, to, false, sure)
        : new JournalChain(claim.epoch(), claim.writer(), 0, JournalLog.NONE, false, false);
  }

  /**
   * Returns the epoch of a claim after this state.
   *
   * @param nowMillis milliseconds since 1970: higher than any epoch that was counted up
   */
  long nextEpoch(long nowMillis) {
    return sure ? epoch + 1 : Math.max(epoch + 2, nowMillis);
  }

  /** Returns the same state, but unsure. */
  JournalChain unsure() {
    return new JournalChain(epoch, writer, number, to, released, false);
  }
}
