package org.traceetl.server.journal;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.stream.Collectors;

/** What those who read and write logs count. Safe for any thread. */
public final class JournalCounters {
  private final Map<RecordRejection, LongAdder> rejections =
      new EnumMap<>(
          Arrays.stream(RecordRejection.values())
              .collect(Collectors.toMap(Function.identity(), rejection -> new LongAdder())));

  private final LongAdder takes = new LongAdder();
  private final LongAdder fences = new LongAdder();
  private final LongAdder snapshots = new LongAdder();
  private final LongAdder lostHistories = new LongAdder();
  private final LongAdder appendedMessages = new LongAdder();
  private final LongAdder appendedBytes = new LongAdder();

  void rejected(RecordRejection reason) {
    rejections.get(reason).increment();
  }

  void taken() {
    takes.increment();
  }

  void fenced() {
    fences.increment();
  }

  void snapshotWritten() {
    snapshots.increment();
  }

  void historyLost() {
    lostHistories.increment();
  }

  void appended(int bytes) {
    appendedMessages.increment();
    appendedBytes.add(bytes);
  }

  /** Messages and records that do not count, by reason, each time that one of them was read. */
  public Map<String, Long> rejections() {
    return rejections.entrySet().stream()
        .collect(Collectors.toMap(e -> e.getKey().label(), e -> e.getValue().sum()));
  }

  long rejections(RecordRejection reason) {
    return rejections.get(reason).sum();
  }

  /** Queues taken over. */
  public long takes() {
    return takes.sum();
  }

  /** Queues lost to the claim of another owner. */
  public long fences() {
    return fences.sum();
  }

  /** Snapshots written and marked. */
  public long snapshots() {
    return snapshots.sum();
  }

  /** How often the log lacked records that would have been needed. */
  public long lostHistories() {
    return lostHistories.sum();
  }

  /** Messages that a log has acknowledged. */
  public long appendedMessages() {
    return appendedMessages.sum();
  }

  /** Their bytes. */
  public long appendedBytes() {
    return appendedBytes.sum();
  }
}
