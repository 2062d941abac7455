package org.traceetl.server.journal;

import java.io.IOException;
import org.traceetl.server.journal.JournalLog.Entry;
import org.traceetl.server.window.LastMessages;

/** Folds a log, message by message, into a {@link JournalChain}. One thread at a time. */
final class JournalReader {
  /** Told of each record that counts. */
  interface Visitor {
    /** Only the chain is of interest. */
    Visitor NONE = (record, before) -> {};

    /**
     * The next record that counts.
     *
     * @param before the chain without it
     * @throws MalformedRecordException so that it does not count after all
     */
    void counts(LogRecord record, JournalChain before) throws MalformedRecordException;

    /**
     * The owner's claim once more.
     *
     * @throws MalformedRecordException so that it is counted as rejected
     */
    default void renewed(LogRecord record) throws MalformedRecordException {}
  }

  /** Most messages remembered as read last. */
  private static final int LAST_READ = 8;

  private final JournalLog log;
  private final RecordAssembler assembler;
  private final JournalCounters counters;
  private final StepOverSearch steps;

  private JournalChain chain;
  private long next;

  /** Where a window begins that is known to count, or {@link JournalLog#NONE}. */
  private long base = JournalLog.NONE;

  private LastMessages lastRead = LastMessages.NONE;
  private boolean missed;
  private long bytesSinceSnapshot;
  private long snapshotMillis = JournalLog.NONE;

  /**
   * @param next offset of the first message to read
   * @param chain at that place
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
   * A reader that begins at a record which is known to count: its visitor is not told of it.
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

  /** Offset after the last message read. */
  long next() {
    return next;
  }

  /** Some messages of the log, the last ones read: to find out whether the log still has them. */
  LastMessages lastRead() {
    return lastRead;
  }

  /** Whether messages were deleted before they were read. */
  boolean missed() {
    return missed;
  }

  /** Bytes read or written since the last snapshot, or in all without one. */
  long bytesSinceSnapshot() {
    return bytesSinceSnapshot;
  }

  /** When the last snapshot was made, or {@link JournalLog#NONE} without one. */
  long snapshotMillis() {
    return snapshotMillis;
  }

  /**
   * Reads some of the messages that are there.
   *
   * @param until offset of the first message not wanted
   * @return whether there were any
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
          // What came before it is the caller's first.
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
      follow(record, visitor);
    }
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
   * Goes past a record that its own writer knows to be next, without reading it.
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
