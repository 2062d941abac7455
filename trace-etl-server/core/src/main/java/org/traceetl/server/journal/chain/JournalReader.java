package org.traceetl.server.journal.chain;

import java.io.IOException;
import java.util.List;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalLog.Entry;
import org.traceetl.server.journal.RecordRejection;
import org.traceetl.server.journal.format.ChunkFormat;
import org.traceetl.server.journal.format.LogRecord;
import org.traceetl.server.journal.format.MalformedRecordException;
import org.traceetl.server.journal.format.RecordAssembler;
import org.traceetl.server.journal.format.RecordHeader;
import org.traceetl.server.journal.format.RecordKind;
import org.traceetl.server.journal.format.UnknownVersionException;
import org.traceetl.server.window.LastMessages;

/** Applies the messages of a log to a {@link JournalChain}. For one thread at a time. */
public final class JournalReader {
  /** Receives each record that counts. */
  interface Visitor {
    /** Ignores records; only the chain matters. */
    Visitor NONE = (record, before) -> {};

    /**
     * Receives the next record that counts.
     *
     * @param before the chain without it
     * @throws MalformedRecordException to reject the record
     */
    void counts(LogRecord record, JournalChain before) throws MalformedRecordException;

    /**
     * Receives a repetition of the owner's claim.
     *
     * @throws MalformedRecordException to count it as rejected
     */
    default void renewed(LogRecord record) throws MalformedRecordException {}
  }

  /** The last message of a record. */
  private record Place(long offset, int checksum) {
    static final Place NONE = new Place(JournalLog.NONE, 0);
  }

  /** Maximum number of remembered messages. */
  private static final int LAST_READ = 8;

  private final JournalLog log;
  private final RecordAssembler assembler;
  private final JournalCounters counters;
  private final StepOverSearch steps;

  private JournalChain chain;
  private long next;

  /** Offset of a window that is known to count, or {@link JournalLog#NONE}. */
  private long base = JournalLog.NONE;

  private LastMessages lastRead = LastMessages.NONE;
  private boolean missed;
  private boolean lacksWindow;

  /** The last record that counted, and the last one with the state after it. */
  private Place counted = Place.NONE;

  private Place state = Place.NONE;
  private boolean contradicted;
  private boolean lostState;
  private long bytesSinceSnapshot;
  private long snapshotMillis = JournalLog.NONE;

  /**
   * @param next offset of the first message to read
   * @param chain at that position
   */
  JournalReader(
      JournalLog log, ChunkFormat format, JournalCounters counters, long next, JournalChain chain) {
    this.log = log;
    this.assembler = new RecordAssembler(format, counters);
    this.counters = counters;
    steps = new StepOverSearch(log, format);
    this.next = next;
    this.chain = chain;
  }

  /**
   * Returns a reader that begins at a record which is known to count; the visitor does not get it.
   *
   * @param base offset of the record's first chunk
   */
  static JournalReader behind(
      long base, JournalLog log, ChunkFormat format, JournalCounters counters) {
    JournalReader reader = new JournalReader(log, format, counters, base, JournalChain.UNKNOWN);
    reader.base = base;
    return reader;
  }

  JournalChain chain() {
    return chain;
  }

  /** Returns the offset after the last message read. */
  long next() {
    return next;
  }

  /** Returns some of the last messages read; they show whether the log still has them. */
  LastMessages lastRead() {
    return lastRead;
  }

  /** Returns whether messages were deleted before they were read. */
  boolean missed() {
    return missed;
  }

  /** Returns whether the owner's windows continue after one that this reader has not seen. */
  boolean lacksWindow() {
    return lacksWindow;
  }

  /**
   * Returns whether windows did not count that are of a server which does not own the queue, or do
   * not adjoin. Either their writer was superseded, or the log has lost records that counted, see
   * {@link #lostRecord}.
   */
  boolean isContradicted() {
    return contradicted;
  }

  /** Returns whether windows do not count because of a record that the log has lost. */
  boolean lostRecord() throws IOException, InterruptedException {
    if (contradicted) {
      lostState = isLost(state);
      contradicted = lostState || isLost(counted);
    }
    return contradicted;
  }

  /** Returns whether {@link #lostRecord} found that the last window or snapshot is lost. */
  boolean lostState() {
    return lostState;
  }

  private boolean isLost(Place place) throws IOException, InterruptedException {
    if (place.offset == JournalLog.NONE) {
      return false;
    }
    List<Entry> entries = log.read(place.offset);
    return entries.isEmpty()
        || (entries.getFirst().offset() == place.offset
            && LastMessages.checksum(entries.getFirst().body()) != place.checksum);
  }

  /** Returns the bytes read or written since the last snapshot, or in total without one. */
  long bytesSinceSnapshot() {
    return bytesSinceSnapshot;
  }

  /** Returns when the last snapshot was made, or {@link JournalLog#NONE} without one. */
  long snapshotMillis() {
    return snapshotMillis;
  }

  /**
   * Reads some of the available messages.
   *
   * @param until offset after the last message to read
   * @return whether any were read
   * @throws LaterVersionException if the next record is of a version that this server does not
   *     know: the reader stays before it, and every call fails
   */
  boolean advance(long until, Visitor visitor) throws IOException, InterruptedException {
    long begun = next;
    for (Entry entry : log.read(next)) {
      if (entry.offset() >= until) {
        break;
      }
      if (entry.offset() >= next) {
        try {
          accept(entry, visitor);
        } catch (UnknownVersionException e) {
          if (steps.isOver(next)) {
            counters.rejected(RecordRejection.STEPPED_OVER);
            assembler.clear();
            next++;
            return true;
          }
          if (next <= begun) {
            throw stopped(e);
          }
          // First return the records before it.
          break;
        }
      }
    }
    return next > begun;
  }

  private void accept(Entry entry, Visitor visitor) throws UnknownVersionException {
    if (entry.offset() > next) {
      missed = true;
      assembler.clear();
      chain = chain.unsure();
    }
    next = entry.offset();
    LogRecord record = assembler.accept(entry);
    next = entry.offset() + 1;
    lastRead = lastRead.with(next, LastMessages.checksum(entry.body()), LAST_READ);
    bytesSinceSnapshot += entry.body().length;
    if (record != null) {
      JournalChain before = chain;
      follow(record, visitor);
      if (!chain.equals(before)) {
        counted = new Place(entry.offset(), LastMessages.checksum(entry.body()));
        state = isState(record.header().kind()) ? counted : state;
      }
    }
  }

  private static boolean isState(RecordKind kind) {
    return kind == RecordKind.WINDOW || kind == RecordKind.SNAPSHOT;
  }

  private LaterVersionException stopped(UnknownVersionException why) {
    counters.rejected(RecordRejection.VERSION);
    return new LaterVersionException(
        next,
        "The record at offset "
            + next
            + " of the journal "
            + why.getMessage()
            + ". Without it the counts would be wrong; "
            + why.remedy()
            + ".",
        why);
  }

  private void follow(LogRecord record, Visitor visitor) throws UnknownVersionException {
    if (record.first() == base && record.header().kind() == RecordKind.WINDOW) {
      chain = JournalChain.at(record.header());
      return;
    }
    if (chain.isRenewal(record.header())) {
      renew(record, visitor);
      return;
    }
    if (record.header().isBarrier()) {
      return;
    }
    RecordRejection rejection = chain.rejection(record);
    if (rejection == null) {
      try {
        visitor.counts(record, chain);
        count(record.header());
        return;
      } catch (UnknownVersionException e) {
        next = record.first();
        assembler.clear();
        throw e;
      } catch (MalformedRecordException e) {
        rejection = RecordRejection.MALFORMED;
      }
    }
    lacksWindow |= chain.isBefore(record.header());
    contradicted |= chain.isContradictedBy(record.header());
    counters.rejected(rejection);
  }

  private void renew(LogRecord record, Visitor visitor) {
    try {
      visitor.renewed(record);
    } catch (MalformedRecordException e) {
      counters.rejected(RecordRejection.MALFORMED);
    }
  }

  private void count(RecordHeader header) {
    chain = chain.after(header);
    if (header.kind() == RecordKind.SNAPSHOT) {
      bytesSinceSnapshot = 0;
      snapshotMillis = header.writtenMillis();
    }
  }

  /**
   * Skips a record that its own writer knows to be next, without reading it.
   *
   * @param bytes of its messages
   */
  void pass(LogRecord record, long bytes, Visitor visitor) throws IOException {
    assembler.clear();
    next = record.next();
    bytesSinceSnapshot += bytes;
    try {
      follow(record, visitor);
    } catch (UnknownVersionException e) {
      throw stopped(e);
    }
  }
}
