package org.traceetl.server.journal.chain;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.format.ChunkFormat;
import org.traceetl.server.journal.format.LogRecord;
import org.traceetl.server.journal.format.MalformedRecordException;
import org.traceetl.server.journal.format.RecordPayloads;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Follows a queue's log for a sink that needs the queue's state: returns the state of a snapshot,
 * and each later window that counts, once and in order. For one thread at a time.
 *
 * <p>The sink has two marks. Its group marks the last record that it has processed; a group whose
 * name ends with {@value #SNAPSHOT_SUFFIX} marks the last snapshot before that record. A later tail
 * begins at the snapshot, and returns the windows up to the record as known. A sink without marks
 * begins with what the journal receives after the first poll.
 *
 * <p>If the log has other messages than those that were read, or has lost unread ones, the tail
 * returns a state again, which replaces everything before.
 */
public final class SnapshotTail implements Tail<SnapshotTail.Event> {
  /** End of the name of the group whose mark is the offset of a snapshot. */
  public static final String SNAPSHOT_SUFFIX = "-snapshot";

  private static final Logger log = LoggerFactory.getLogger(SnapshotTail.class);

  /** What the sink receives. */
  public sealed interface Event {}

  /**
   * The state before the next window, which replaces all earlier ones.
   *
   * @param image keeps open panes; belongs to the receiver
   */
  public record State(QueueImage image) implements Event {}

  /**
   * A window that counts.
   *
   * @param offset its position in the log
   * @param number as of {@link QueueImage#number}
   * @param known whether the sink has processed it: then it only continues the state
   */
  public record Window(long offset, long number, SealedWindow window, boolean known)
      implements Event {}

  /**
   * A snapshot of the state that the sink has. It changes nothing; the sink marks it as processed.
   *
   * @param offset its position in the log
   * @param known whether the sink has processed it
   */
  public record Snapshot(long offset, boolean known) implements Event {}

  private final QueueId queue;
  private final JournalLog messages;
  private final ChunkFormat format;
  private final RecordPayloads payloads;
  private final JournalCounters counters;
  private final ReadWindows windows;
  private final String group;

  /** Its mark identifies the newest snapshot. */
  private final String snapshotGroup;

  /** Null before the first call, and after the log has contradicted what was read. */
  private JournalReader reader;

  /** What was read and not yet returned. */
  private List<Event> events = new ArrayList<>();

  /** Offset of the last processed record. */
  private long processed = JournalLog.NONE;

  /** Offsets of the snapshots that were read, from the marked one on. */
  private final TreeSet<Long> snapshots = new TreeSet<>();

  private long markedSnapshot = JournalLog.NONE;

  /** Offset of the last event. */
  private long last = JournalLog.NONE;

  private boolean missedTold;

  /** Number of the last window when the tail read again because it lacked the next one. */
  private long readAgainAfter = JournalLog.NONE;

  /**
   * @param group the sink's own group
   * @param snapshotGroup the servers' group, whose mark identifies the newest snapshot
   */
  SnapshotTail(
      QueueId queue,
      JournalLog messages,
      ChunkFormat format,
      RecordPayloads payloads,
      JournalCounters counters,
      String group,
      String snapshotGroup) {
    this.queue = queue;
    this.messages = messages;
    this.format = format;
    this.payloads = payloads;
    this.counters = counters;
    windows = new ReadWindows(queue, payloads, counters);
    this.group = group;
    this.snapshotGroup = snapshotGroup;
  }

  @Override
  public List<Event> poll() throws IOException, InterruptedException {
    begin();
    reader.advance(Long.MAX_VALUE, this::follow);
    if (reader.missed() && !missedTold) {
      missedTold = true;
      missed(reader.next());
    }
    // Windows are large: a waiting tail holds none.
    List<Event> polled = events;
    events = new ArrayList<>();
    return polled;
  }

  private boolean lacksWindow() {
    return reader.lacksWindow() && reader.chain().number() != readAgainAfter;
  }

  private void begin() throws IOException, InterruptedException {
    if (reader == null) {
      reader = newReader();
    } else if (lacksWindow() || reader.lostRecord()) {
      long lacking = lacksWindow() ? reader.chain().number() : readAgainAfter;
      JournalReader again = newReader();
      log.warn(
          "The journal of queue {} has other messages than those that were read before offset {}:"
              + " the broker lost some. Group {} reads them again from offset {}.",
          queue,
          reader.next(),
          group,
          again.next());
      readAgainAfter = lacking;
      reader = again;
    }
  }

  private JournalReader newReader() throws IOException, InterruptedException {
    long begin = messages.begin();
    long marked = messages.mark(group);
    long snapshot = messages.mark(group + SNAPSHOT_SUFFIX);
    long newest = messages.mark(snapshotGroup);
    // Read last, so that it is not before the marks.
    long end = messages.end();
    long known = Math.max(marked, processed);
    if (known >= end) {
      log.warn(
          "The journal of queue {} ends at offset {}, but group {} has read to offset {}: the"
              + " broker lost its newest messages or was superseded.",
          queue,
          end,
          group,
          known);
    }
    boolean isNew = known == JournalLog.NONE;
    processed = isNew ? end - 1 : Math.min(known, end - 1);
    // The sink needs no earlier state at its first start.
    long wanted = isNew ? newest : snapshot;
    boolean isThere = wanted >= begin && wanted < end && wanted <= processed;
    long from = isThere ? wanted : begin;
    if (!isNew && processed + 1 < begin) {
      missed(begin);
    }
    if (isNew && processed != JournalLog.NONE) {
      messages.mark(group, processed);
    }
    markedSnapshot = snapshot;
    snapshots.clear();
    events.clear();
    if (from == 0) {
      events.add(new State(payloads.newSinkImage().keepPanes()));
    }
    return new JournalReader(
        messages, format, counters, from, from == 0 ? JournalChain.FRESH : JournalChain.UNKNOWN);
  }

  private void missed(long offset) {
    counters.historyLost();
    log.error(
        "The journal of queue {} no longer has records before offset {} that group {} has not read."
            + " The group continues at the next snapshot. The broker must keep messages longer than"
            + " the group may be away.",
        queue,
        offset,
        group);
  }

  private void follow(LogRecord record, JournalChain before) throws MalformedRecordException {
    switch (record.header().kind()) {
      case WINDOW -> {
        // Without a state, windows mean nothing; the next snapshot contains them.
        if (before.sure()) {
          SealedWindow window = windows.window(record);
          boolean known = record.first() <= processed;
          add(new Window(record.first(), record.header().number(), window, known), record);
        }
      }
      case SNAPSHOT -> {
        if (!before.sure()) {
          QueueImage image = payloads.image(record, payloads.newSinkImage().keepPanes());
          events.clear();
          events.add(new State(image));
        }
        snapshots.add(record.first());
        add(new Snapshot(record.first(), record.first() <= processed), record);
      }
      case CLAIM, RELEASE, STEP -> {
        // Irrelevant to sinks.
      }
    }
  }

  private void add(Event event, LogRecord record) {
    events.add(event);
    last = record.first();
  }

  @Override
  public long restart() {
    return last;
  }

  @Override
  public void mark(long offset) throws IOException, InterruptedException {
    messages.mark(group, offset);
    processed = Math.max(processed, offset);
    Long snapshot = snapshots.floor(processed);
    // In this order: the snapshot must not be after the record.
    if (snapshot != null && snapshot != markedSnapshot) {
      messages.mark(group + SNAPSHOT_SUFFIX, snapshot);
      markedSnapshot = snapshot;
      snapshots.headSet(snapshot).clear();
    }
  }

  @Override
  public long lag() throws IOException, InterruptedException {
    if (reader == null) {
      begin();
    }
    int pending = lacksWindow() || reader.isContradicted() ? 1 : 0;
    return Math.max(pending, messages.end() - reader.next());
  }
}
