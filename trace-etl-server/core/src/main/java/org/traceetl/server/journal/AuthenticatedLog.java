package org.traceetl.server.journal;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.traceetl.server.journal.AuthenticatedFormat.Sealed;
import org.traceetl.server.journal.JournalKeys.Ring;
import org.traceetl.server.window.QueueId;

/**
 * A log whose messages bear a code of the servers' keys. Whatever does not is left out before
 * anything else looks at it: the entry stays, with {@link #LEFT_OUT} in place of its bytes.
 *
 * <p>A key is announced, under each other key of the writer, before the first message that it is
 * used for. Hence a reader without the key stops before that message, while one of a key that no
 * server has announced is left out.
 */
final class AuthenticatedLog implements JournalLog {
  private final JournalLog log;
  private final QueueId queue;
  private final JournalKeys keys;
  private final AuthenticatedFormat format;
  private final JournalCounters counters;

  /** Keys that servers use, as far as the log has been read: bounded by real keys. */
  private final Set<String> used = new HashSet<>();

  /** Announcements among what has been read and written: bounded by real keys. */
  private final Set<Announcement> announcements = new HashSet<>();

  private long firstRead = Long.MAX_VALUE;

  /** Messages that are left out are counted from here on: those before were counted. */
  private long countedTo;

  private boolean anyAccepted;
  private boolean anyLeftOut;

  /** A key's ID, told to those who have another key. */
  private record Announcement(String announced, String underKey) {}

  /**
   * @param topic of the journal
   */
  AuthenticatedLog(
      JournalLog log, String topic, QueueId queue, JournalKeys keys, JournalCounters counters) {
    this.log = log;
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
      // The next call may go to a broker that lacks messages which were not confirmed.
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
        // What came before it is the caller's first.
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

  /** Refuses a log that was read whole and of which nothing could be verified. */
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

  @Override
  public long begin() throws IOException, InterruptedException {
    return log.begin();
  }

  @Override
  public long end() throws IOException, InterruptedException {
    return log.end();
  }

  @Override
  public long offsetAt(long unixMillis) throws IOException, InterruptedException {
    return log.offsetAt(unixMillis);
  }

  @Override
  public long mark(String group) throws IOException, InterruptedException {
    return log.mark(group);
  }

  @Override
  public void mark(String group, long offset) throws IOException, InterruptedException {
    log.mark(group, offset);
  }
}
