package org.traceetl.server.journal;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Counters of those who read and write logs. Thread-safe. */
public final class JournalCounters {
  private final Map<RecordRejection, LongAdder> rejections =
      new EnumMap<>(
          Arrays.stream(RecordRejection.values())
              .collect(Collectors.toMap(Function.identity(), rejection -> new LongAdder())));

  private final LongAdder fences = new LongAdder();
  private final LongAdder snapshots = new LongAdder();
  private final LongAdder lostHistories = new LongAdder();
  private final LongAdder appendedMessages = new LongAdder();
  private final LongAdder appendedBytes = new LongAdder();

  public void rejected(RecordRejection reason) {
    rejections.get(reason).increment();
  }

  public void fenced() {
    fences.increment();
  }

  public void snapshotWritten() {
    snapshots.increment();
  }

  public void historyLost() {
    lostHistories.increment();
  }

  public void appended(int bytes) {
    appendedMessages.increment();
    appendedBytes.add(bytes);
  }

  /** Returns messages and records that do not count, by reason, once for each read. */
  public Map<String, Long> rejections() {
    return rejections.entrySet().stream()
        .collect(Collectors.toMap(e -> e.getKey().label(), e -> e.getValue().sum()));
  }

  public long rejections(RecordRejection reason) {
    return rejections.get(reason).sum();
  }

  /** Returns the number of queues lost to another owner's claim. */
  public long fences() {
    return fences.sum();
  }

  /** Returns the number of snapshots written and marked. */
  public long snapshots() {
    return snapshots.sum();
  }

  /** Returns how often the log lacked required records. */
  public long lostHistories() {
    return lostHistories.sum();
  }

  /** Returns the number of messages that a log has acknowledged. */
  public long appendedMessages() {
    return appendedMessages.sum();
  }

  /** Returns the number of their bytes. */
  public long appendedBytes() {
    return appendedBytes.sum();
  }
}
