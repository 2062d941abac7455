package org.traceetl.server.journal.chain;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
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
 * Follows a queue's log for a sink: returns each window that counts, once and in order. The sink
 * marks its progress; a later tail begins at the mark, without gaps. For one thread at a time.
 */
public final class JournalTail implements Tail<JournalTail.Kept> {
  private static final Logger log = LoggerFactory.getLogger(JournalTail.class);

  /**
   * A window that counts.
   *
   * @param offset its position in the log
   */
  public record Kept(long offset, SealedWindow window) {}

  private final QueueId queue;
  private final JournalLog messages;
  private final ChunkFormat format;
  private final RecordPayloads payloads;
  private final JournalCounters counters;
  private final ReadWindows windows;

  /** Null if the tail sets no mark. */
  private final String group;

  private final long sinceMillis;
  private final Consumer<QueueImage> snapshots;

  /** Null before the first call. */
  private JournalReader reader;

  /** Windows read and not yet returned. */
  private List<Kept> kept = new ArrayList<>();

  /** Offset of the last window or snapshot that was read. */
  private long restart = JournalLog.NONE;

  /** {@link #restart} at the end of the last call that returned windows: others are unprocessed. */
  private long returned = JournalLog.NONE;

  /** The chain at {@link #restart}; null if no record was read that sets both. */
  private JournalChain restartChain;

  private boolean missedTold;

  /** Number of the last window when the tail read again because it lacked the next one. */
  private long readAgainAfter = JournalLog.NONE;

  /**
   * Creates a tail that begins at a mark.
   *
   * @param group the sink's own group
   */
  JournalTail(
      QueueId queue,
      JournalLog messages,
      ChunkFormat format,
      RecordPayloads payloads,
      JournalCounters counters,
      String group) {
    this(queue, messages, format, payloads, counters, group, 0, image -> {});
  }

  /**
   * Creates a tail that begins at a time and sets no mark.
   *
   * @param sinceMillis milliseconds since 1970
   * @param snapshots receives the queue's state when the tail learns it
   */
  JournalTail(
      QueueId queue,
      JournalLog messages,
      ChunkFormat format,
      RecordPayloads payloads,
      JournalCounters counters,
      long sinceMillis,
      Consumer<QueueImage> snapshots) {
    this(queue, messages, format, payloads, counters, null, sinceMillis, snapshots);
  }

  private JournalTail(
      QueueId queue,
      JournalLog messages,
      ChunkFormat format,
      RecordPayloads payloads,
      JournalCounters counters,
      String group,
      long sinceMillis,
      Consumer<QueueImage> snapshots) {
    this.queue = queue;
    this.messages = messages;
    this.format = format;
    this.payloads = payloads;
    this.counters = counters;
    windows = new ReadWindows(queue, payloads, counters);
    this.group = group;
    this.sinceMillis = sinceMillis;
    this.snapshots = snapshots;
  }

  /** Returns the next windows after the mark. */
  @Override
  public List<Kept> poll() throws IOException, InterruptedException {
    if (reader == null) {
      reader = begin();
    } else if (lacksWindow() || reader.lostRecord()) {
      readAgain();
    }
    reader.advance(Long.MAX_VALUE, this::follow);
    if (reader.missed() && !missedTold) {
      missedTold = true;
      missed(reader.next());
    }
    // Windows are large: a waiting tail holds none.
    List<Kept> polled = kept;
    kept = new ArrayList<>();
    returned = restart;
    return polled;
  }

  private boolean lacksWindow() {
    return reader.lacksWindow() && reader.chain().number() != readAgainAfter;
  }

  /**
   * Continues at the last window. The broker lost messages that this tail had read: another window
   * took the place of one of them, or the record is lost because of which windows did not count. If
   * that is the last window itself, the chain at its place is not known.
   */
  private void readAgain() throws IOException, InterruptedException {
    JournalReader again =
        restartChain == null
            ? begin()
            : new JournalReader(
                messages, format, counters, Math.max(restart, messages.begin()), chainAtRestart());
    log.warn(
        "The journal of queue {} has other messages than those that were read before offset {}: the"
            + " broker lost some. They are read again from offset {}.",
        queue,
        reader.next(),
        again.next());
    if (lacksWindow()) {
      readAgainAfter = reader.chain().number();
    }
    reader = again;
  }

  private JournalChain chainAtRestart() {
    return reader.lostState() ? restartChain.unsure() : restartChain;
  }

  private JournalReader begin() throws IOException, InterruptedException {
    long begin = messages.begin();
    if (group == null) {
      return readerAt(Math.max(begin, messages.offsetAt(sinceMillis)));
    }
    long mark = messages.mark(group);
    long end = messages.end();
    if (mark >= end) {
      log.warn(
          "The journal of queue {} ends at offset {}, but group {} has read to offset {}: the"
              + " broker lost its newest messages or was superseded. The group reads again from"
              + " offset {}.",
          queue,
          end,
          group,
          mark,
          begin);
      return readerAt(begin);
    }
    if (mark >= begin) {
      restart = mark;
      return JournalReader.behind(mark, messages, format, counters);
    }
    if (mark != JournalLog.NONE) {
      missed(begin);
    }
    return readerAt(begin);
  }

  private JournalReader readerAt(long offset) {
    return new JournalReader(
        messages,
        format,
        counters,
        offset,
        offset == 0 ? JournalChain.FRESH : JournalChain.UNKNOWN);
  }

  private void missed(long offset) {
    counters.historyLost();
    log.error(
        "The journal of queue {} no longer has records before offset {} that group {} has not read."
            + " The group misses their windows. The broker must keep messages longer than the group"
            + " may be away.",
        queue,
        offset,
        group);
  }

  private void follow(LogRecord record, JournalChain before) throws MalformedRecordException {
    switch (record.header().kind()) {
      case WINDOW -> {
        kept.add(new Kept(record.first(), windows.window(record)));
        restartAt(record, before);
      }
      case SNAPSHOT -> {
        if (group == null && !before.sure()) {
          QueueImage image = payloads.image(record, payloads.newSinkImage());
          // The image contains them.
          kept.clear();
          snapshots.accept(image);
        }
        restartAt(record, before);
      }
      case CLAIM, RELEASE, STEP -> {
        // Irrelevant to sinks.
      }
    }
  }

  private void restartAt(LogRecord record, JournalChain before) {
    restart = record.first();
    restartChain = before.after(record.header());
  }

  /** Returns the offset to mark. It also advances in a queue without windows. */
  @Override
  public long restart() {
    return returned;
  }

  @Override
  public void mark(long offset) throws IOException, InterruptedException {
    messages.mark(group, offset);
  }

  @Override
  public long lag() throws IOException, InterruptedException {
    if (reader == null) {
      reader = begin();
    }
    int pending = lacksWindow() || reader.isContradicted() ? 1 : 0;
    return Math.max(pending, messages.end() - reader.next());
  }
}
