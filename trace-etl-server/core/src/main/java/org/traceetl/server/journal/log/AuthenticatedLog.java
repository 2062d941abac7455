package org.traceetl.server.journal.log;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.traceetl.server.journal.ForwardingLog;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.RecordRejection;
import org.traceetl.server.journal.log.AuthenticatedFormat.Sealed;
import org.traceetl.server.journal.log.JournalKeys.Ring;
import org.traceetl.server.window.QueueId;

/**
 * A log whose messages are authenticated with the servers' keys. A message without a valid code is
 * excluded first: its entry remains, with {@link #LEFT_OUT} instead of its bytes.
 *
 * <p>Before the first message with a key, the writer announces the key under each of its other
 * keys. Hence a reader that lacks the key stops before that message. A message with a key that no
 * server announced is excluded.
 */
public final class AuthenticatedLog extends ForwardingLog {
  private final QueueId queue;
  private final JournalKeys keys;
  private final AuthenticatedFormat format;
  private final JournalCounters counters;

  /** IDs of keys that servers used in what was read; bounded by the real keys. */
  private final Set<String> used = new HashSet<>();

  /** Announcements that were read or written; bounded by the real keys. */
  private final Set<Announcement> announcements = new HashSet<>();

  private long firstRead = Long.MAX_VALUE;

  /** Excluded messages are counted from this offset on; earlier ones were counted before. */
  private long countedTo;

  private boolean anyAccepted;
  private boolean anyLeftOut;

  /** The announcement of a key's ID, authenticated with another key. */
  private record Announcement(String announced, String underKey) {}

  /**
   * @param topic of the journal
   */
  public AuthenticatedLog(
      JournalLog log, String topic, QueueId queue, JournalKeys keys, JournalCounters counters) {
    super(log);
    this.queue = queue;
    this.keys = keys;
    this.counters = counters;
    format = new AuthenticatedFormat(topic, queue);
  }

  @Override
  public long append(byte[] message) throws IOException, InterruptedException {
    Ring ring = keys.ring();
    if (ring.active() == null) {
      return log.append(message);
    }
    try {
      announce(ring);
      return log.append(format.seal(AuthenticatedFormat.MESSAGE, message, ring.active()));
    } catch (IOException e) {
      // The next call may reach a broker that lacks unconfirmed messages.
      announcements.clear();
      throw e;
    }
  }

  private void announce(Ring ring) throws IOException, InterruptedException {
    String id = ring.active().id();
    for (JournalKey key : ring.all()) {
      Announcement announcement = new Announcement(id, key.id());
      if (key != ring.active() && !announcements.contains(announcement)) {
        log.append(format.seal(AuthenticatedFormat.KEY, id.getBytes(US_ASCII), key));
        announcements.add(announcement);
      }
    }
  }

  @Override
  public List<Entry> read(long from) throws IOException, InterruptedException {
    Ring ring = keys.ring();
    firstRead = Math.min(firstRead, from);
    List<Entry> found = log.read(from);
    List<Entry> read = new ArrayList<>(found.size());
    for (Entry entry : found) {
      Sealed sealed = AuthenticatedFormat.parse(entry.body());
      if (sealed != null && isMissing(sealed, ring)) {
        if (read.isEmpty()) {
          throw missing(entry.offset(), sealed.keyId());
        }
        // First return the messages before it.
        return read;
      }
      read.add(new Entry(entry.offset(), opened(entry, sealed, ring)));
    }
    if (!read.isEmpty()) {
      requireAny(read.getLast().offset());
    }
    return read;
  }

  private boolean isMissing(Sealed sealed, Ring ring) {
    return ring.key(sealed.keyId()) == null && used.contains(sealed.keyId());
  }

  private byte[] opened(Entry entry, Sealed sealed, Ring ring) {
    byte[] message = entry.body();
    if (sealed == null) {
      if (!keys.acceptUnsigned() || AuthenticatedFormat.begins(message)) {
        return leftOut(entry, RecordRejection.UNAUTHENTICATED);
      }
      anyAccepted = true;
      return message;
    }
    JournalKey key = ring.key(sealed.keyId());
    if (key == null) {
      return leftOut(entry, RecordRejection.UNKNOWN_KEY);
    }
    if (!format.verifies(sealed, key)) {
      return leftOut(entry, RecordRejection.UNAUTHENTICATED);
    }
    anyAccepted = true;
    used.add(sealed.keyId());
    if (sealed.kind() == AuthenticatedFormat.MESSAGE) {
      return sealed.content();
    }
    if (sealed.kind() == AuthenticatedFormat.KEY) {
      String announced = new String(sealed.content(), US_ASCII);
      used.add(announced);
      announcements.add(new Announcement(announced, sealed.keyId()));
    }
    return LEFT_OUT;
  }

  private byte[] leftOut(Entry entry, RecordRejection reason) {
    if (entry.offset() >= countedTo) {
      counters.rejected(reason);
      countedTo = entry.offset() + 1;
    }
    anyLeftOut = true;
    return LEFT_OUT;
  }

  /** Throws an exception if the log was read completely and no message could be verified. */
  private void requireAny(long last) throws IOException, InterruptedException {
    if (anyLeftOut && !anyAccepted && firstRead <= log.begin() && last + 1 >= log.end()) {
      throw new UnverifiedLogException(
          "No message of the journal of queue "
              + queue
              + " can be verified: the keys in "
              + JournalKeys.KEY
              + " = "
              + keys.file()
              + " are not those that it was written with, or it was written without keys; then"
              + " trace-etl.journal.accept-unsigned has to be true until it is gone");
    }
  }

  private IOException missing(long offset, String keyId) {
    counters.rejected(RecordRejection.UNKNOWN_KEY);
    return new IOException(
        "The message at offset "
            + offset
            + " of the journal of queue "
            + queue
            + " was written with key "
            + keyId
            + ", which this server does not have: add it to "
            + JournalKeys.KEY
            + " = "
            + keys.file());
  }
}
