package org.traceetl.agent.publish;

import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.proto.MalformedDecisionsException;
import org.traceetl.proto.RecordFormat;
import org.traceetl.proto.RoutingRecord;

/**
 * One kind of record that is followed: which one holds, by {@link RoutingRecord#holdsOver}, where
 * it is kept and who is told. Owned by the watch's thread, but for {@link #current}.
 */
public final class RecordFollower<R extends RoutingRecord> {
  private static final Logger log = LoggerFactory.getLogger(RecordFollower.class);

  private final RecordFormat<R> format;
  private final DecisionsFile file;
  private final Consumer<R> listener;
  private volatile R current;
  private R kept;

  /**
   * @param none stands for no record
   * @param file null where the kind is not followed: its records are passed by
   * @param listener told of the record each time that another one holds, on the watch's thread
   */
  public RecordFollower(RecordFormat<R> format, R none, DecisionsFile file, Consumer<R> listener) {
    this.format = format;
    this.file = file;
    this.listener = listener;
    current = none;
    kept = none;
  }

  /** The one in force. Any thread. */
  public R current() {
    return current;
  }

  /** Whether its records are read at all. */
  boolean isFollowed() {
    return file != null;
  }

  /** Whether the bytes are to be a record of this kind. */
  boolean begins(byte[] record) {
    return format.begins(record);
  }

  /** Takes over what stands in the topic, if it holds rather than what is known. */
  void take(byte[] record, long nowMillis) throws MalformedDecisionsException {
    if (!isFollowed()) {
      return;
    }
    R read = format.decode(record, nowMillis);
    if (read.holdsOver(current)) {
      current = read;
      log.info("Applied the servers' {} of epoch {}", file.name(), read.epoch());
      listener.accept(read);
    }
  }

  /** Takes over what an earlier run knew. */
  void load(long nowMillis) {
    if (!isFollowed()) {
      return;
    }
    file.load()
        .ifPresent(record -> {
          try {
            take(record, nowMillis);
            kept = current;
          } catch (MalformedDecisionsException e) {
            log.warn("Ignored the stored {} of an earlier run: {}", file.name(), e.getMessage());
          }
        });
  }

  /** Keeps what holds for the next run, if it is not kept yet. */
  void save() {
    if (current != kept) {
      file.save(current.encode());
      kept = current;
    }
  }
}
