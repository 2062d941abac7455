package org.traceetl.agent.publish;

import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.proto.MalformedDecisionsException;
import org.traceetl.proto.RecordFormat;
import org.traceetl.proto.RoutingRecord;

/**
 * Follows one kind of record: selects the one in force by {@link RoutingRecord#holdsOver}, stores
 * it, and passes it on. Confined to the watch's thread, except {@link #current}.
 */
public final class RecordFollower<R extends RoutingRecord> {
  private static final Logger log = LoggerFactory.getLogger(RecordFollower.class);

  private final RecordFormat<R, ?> format;
  private final DecisionsFile file;
  private final Consumer<R> listener;
  private volatile R current;
  private R kept;

  /**
   * @param none represents the absence of a record
   * @param file null if the kind is not followed; its records are ignored
   * @param listener receives each record that comes into force, on the watch's thread
   */
  public RecordFollower(
      RecordFormat<R, ?> format, R none, DecisionsFile file, Consumer<R> listener) {
    this.format = format;
    this.file = file;
    this.listener = listener;
    current = none;
    kept = none;
  }

  /** Returns the record in force. Safe for any thread. */
  public R current() {
    return current;
  }

  /** Returns whether records of this kind are read. */
  boolean isFollowed() {
    return file != null;
  }

  /** Returns whether the bytes begin like a record of this kind. */
  boolean begins(byte[] record) {
    return format.begins(record);
  }

  /** Puts a record of the topic in force, if it supersedes the current one. */
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

  /** Loads the record of an earlier run. */
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

  /** Stores the record in force for the next run, if it is not stored yet. */
  void save() {
    if (current != kept) {
      file.save(current.encode());
      kept = current;
    }
  }
}
