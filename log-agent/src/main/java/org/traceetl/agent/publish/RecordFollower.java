package org.traceetl.agent.publish;

import java.util.function.BiPredicate;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.proto.MalformedDecisionsException;
import org.traceetl.proto.RecordFormat;
import org.traceetl.proto.RoutingRecord;

/**
 * Follows one kind of record: selects the one in force by {@link RoutingRecord#holdsOver}, stores
 * it, and passes it on. Records of a kind may expire. Confined to the watch's thread, except {@link
 * #current}.
 */
public final class RecordFollower<R extends RoutingRecord> {
  private static final Logger log = LoggerFactory.getLogger(RecordFollower.class);

  private final RecordFormat<R, ?> format;
  private final R none;
  private final DecisionsFile file;
  private final Consumer<R> listener;
  private final Consumer<R> renewals;
  private final BiPredicate<R, R> sameContent;
  // Null if records stay in force.
  private final Expiry expiry;
  private volatile R current;
  // The newest, also if it has expired.
  private R newest;
  private R kept;

  /**
   * Creates a follower of records that stay in force until another one comes into force.
   *
   * @param none represents the absence of a record
   * @param file null if the kind is not followed; its records are ignored
   * @param listener receives each record that comes into force, on the watch's thread
   */
  public RecordFollower(
      RecordFormat<R, ?> format, R none, DecisionsFile file, Consumer<R> listener) {
    this(format, none, file, listener, renewal -> {}, (one, other) -> false, null);
  }

  /**
   * Creates a follower of records that expire unless they are renewed: unless newer ones follow,
   * with the same content or another.
   *
   * @param listener also receives {@code none} when a record expires, but no mere renewal
   * @param renewals receives each record that comes into force, also a mere renewal
   * @param sameContent whether one record only renews the other
   */
  public RecordFollower(
      RecordFormat<R, ?> format,
      R none,
      DecisionsFile file,
      Consumer<R> listener,
      Consumer<R> renewals,
      BiPredicate<R, R> sameContent,
      Expiry expiry) {
    this.format = format;
    this.none = none;
    this.file = file;
    this.listener = listener;
    this.renewals = renewals;
    this.sameContent = sameContent;
    this.expiry = expiry;
    current = none;
    newest = none;
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

  /** Puts a record of the topic in force, if it supersedes the newest one. */
  void take(byte[] record, long nowMillis) throws MalformedDecisionsException {
    if (!isFollowed()) {
      return;
    }
    R read = format.decode(record, nowMillis);
    if (read.holdsOver(newest)) {
      newest = read;
      if (expiry != null) {
        expiry.received();
      }
      enforce(read);
    }
  }

  private void enforce(R record) {
    boolean renewal = sameContent.test(record, current);
    current = record;
    if (!renewal) {
      log.info("Applied the servers' {} of epoch {}", file.name(), record.epoch());
      listener.accept(record);
    }
    renewals.accept(record);
  }

  /** Takes the record out of force if it has expired. */
  void expire() {
    if (expiry != null && current != none && expiry.isOver()) {
      log.warn(
          "The servers' {} of epoch {} has expired, because no server renewed it for {} hours",
          file.name(),
          current.epoch(),
          expiry.valid().toHours());
      current = none;
      listener.accept(none);
    }
  }

  /** Loads the record of an earlier run. */
  void load(long nowMillis) {
    if (!isFollowed()) {
      return;
    }
    file.load()
        .ifPresent(stored -> {
          try {
            load(expiry == null ? stored : expiry.opened(stored), nowMillis);
          } catch (MalformedDecisionsException e) {
            log.warn("Ignored the stored {} of an earlier run: {}", file.name(), e.getMessage());
          }
        });
  }

  private void load(byte[] record, long nowMillis) throws MalformedDecisionsException {
    R read = format.decode(record, nowMillis);
    if (read.holdsOver(newest)) {
      newest = read;
      if (expiry == null || !expiry.isOver()) {
        enforce(read);
      }
    }
    kept = newest;
  }

  /** Stores the newest record for the next run, if it is not stored yet. */
  void save() {
    if (newest != kept) {
      byte[] record = newest.encode();
      file.save(expiry == null ? record : expiry.stamped(record));
      kept = newest;
    }
  }
}
