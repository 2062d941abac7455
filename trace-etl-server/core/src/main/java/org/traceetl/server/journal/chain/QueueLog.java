package org.traceetl.server.journal.chain;

import java.io.IOException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalLog.Entry;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.chain.JournalReader.Visitor;
import org.traceetl.server.journal.format.ChunkFormat;
import org.traceetl.server.journal.format.LogRecord;
import org.traceetl.server.journal.format.RecordHeader;
import org.traceetl.server.journal.format.RecordPayloads;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;

/** One queue's log with everything needed to write and read it. For one thread at a time. */
public final class QueueLog {
  private static final Logger log = LoggerFactory.getLogger(QueueLog.class);

  /** Maximum time until the log shows a message that it has acknowledged. */
  private static final long PATIENCE_NANOS = 5_000_000_000L;

  private static final long POLL_NANOS = 2_000_000;

  /** Maximum number of repeated recoveries. */
  private static final int RECOVERIES = 10;

  /** Pause before a repeated recovery. */
  static final long RECOVERY_NANOS = PATIENCE_NANOS / RECOVERIES;

  /** Instead of an offset: all messages that the log shows. */
  private static final long ALL = Long.MAX_VALUE;

  private final QueueId queue;
  private final JournalLog messages;
  private final ChunkFormat format;
  private final RecordPayloads payloads;
  private final JournalTiming timing;
  private final JournalCounters counters;
  private final String group;

  /**
   * @param group whose mark identifies the newest snapshot
   */
  QueueLog(
      QueueId queue,
      JournalLog messages,
      ChunkFormat format,
      RecordPayloads payloads,
      JournalTiming timing,
      JournalCounters counters,
      String group) {
    this.queue = queue;
    this.messages = messages;
    this.format = format;
    this.payloads = payloads;
    this.timing = timing;
    this.counters = counters;
    this.group = group;
  }

  QueueId queue() {
    return queue;
  }

  RecordPayloads payloads() {
    return payloads;
  }

  JournalTiming timing() {
    return timing;
  }

  JournalCounters counters() {
    return counters;
  }

  long end() throws IOException, InterruptedException {
    return messages.end();
  }

  void mark(long offset) throws IOException, InterruptedException {
    messages.mark(group, offset);
  }

  /** A state recovered from the log, and the reader positioned after it. */
  record Recovered(ReplayedState state, JournalReader reader) {}

  /** Reads the queue's state from all that the log shows. */
  Recovered recoverOnce() throws IOException, InterruptedException {
    return recover(ALL, counters);
  }

  /**
   * Returns whether a recovery is to be repeated: if history is missing, the log may not show the
   * marked snapshot yet, or messages were deleted meanwhile.
   *
   * @param recoveries number of recoveries so far
   */
  static boolean mayBeIncomplete(JournalChain chain, int recoveries) {
    return !chain.sure() && recoveries <= RECOVERIES;
  }

  /**
   * Reads the queue's state from the marked snapshot, or from the beginning of the log.
   *
   * @param until offset after the last message to read, or {@link #ALL}
   * @param counters for rejected messages
   */
  Recovered recover(long until, JournalCounters counters) throws IOException, InterruptedException {
    long mark = messages.mark(group);
    long begin = messages.begin();
    // Read last, so that it is not before the other two even if the process was suspended.
    long end = until == ALL ? messages.end() : until;
    if (mark >= begin && mark < end) {
      Recovered recovered = recover(mark, JournalChain.UNKNOWN, end, counters);
      if (recovered.reader().chain().sure()) {
        return recovered;
      }
      log.warn(
          "No snapshot of queue {} at offset {} of its journal, although the offset is marked; the journal is read from its beginning",
          queue,
          mark);
    }
    return recover(begin, begin == 0 ? JournalChain.FRESH : JournalChain.UNKNOWN, end, counters);
  }

  private Recovered recover(long from, JournalChain chain, long until, JournalCounters counters)
      throws IOException, InterruptedException {
    ReplayedState state = new ReplayedState(queue, payloads, counters);
    JournalReader reader = new JournalReader(messages, format, counters, from, chain);
    readUntil(reader, until, state);
    return new Recovered(state, reader);
  }

  /**
   * Reads all messages before an offset; waits for them if necessary. The wait is within the step:
   * the broker has acknowledged the messages, and a caller that appends has no outcome before. A
   * repeated append would write again.
   *
   * @throws IOException if they do not arrive
   */
  void readUntil(JournalReader reader, long until, Visitor visitor)
      throws IOException, InterruptedException {
    long beganNanos = timing.nowNanos();
    while (reader.next() < until) {
      if (reader.advance(until, visitor)) {
        beganNanos = timing.nowNanos();
      } else if (timing.nowNanos() - beganNanos > PATIENCE_NANOS) {
        throw new IOException(
            "The journal of queue "
                + queue
                + " does not show its message "
                + reader.next()
                + ", though there are some up to "
                + until);
      } else {
        timing.pause(POLL_NANOS);
      }
    }
  }

  /**
   * Compares messages that were read with those in the log now. If the last ones are unchanged, all
   * before them are.
   *
   * @throws IOException if the log has other messages, or none, at their offsets
   */
  void requireUnchanged(LastMessages read) throws IOException, InterruptedException {
    int place = 0;
    while (place < read.size()) {
      List<Entry> entries = messages.read(read.end(place) - 1);
      int before = place;
      for (Entry entry : entries) {
        while (place < read.size() && read.end(place) <= entry.offset()) {
          place++; // deleted since then
        }
        if (place < read.size() && read.end(place) == entry.offset() + 1) {
          requireSame(entry, read.checksum(place));
          place++;
        }
      }
      if (place == before) {
        throw lost(read.end(place) - 1);
      }
    }
  }

  private void requireSame(Entry entry, int checksum) throws IOException {
    if (LastMessages.checksum(entry.body()) != checksum) {
      throw lost(entry.offset());
    }
  }

  private IOException lost(long offset) {
    return new IOException(
        "The journal of queue "
            + queue
            + " lost its message "
            + offset
            + ", which had been read and was not confirmed; the take-over must be repeated");
  }

  /** A record as messages. */
  record Draft(RecordHeader header, byte[] payload, List<byte[]> messages) {
    long bytes() {
      return messages.stream().mapToLong(message -> message.length).sum();
    }
  }

  Draft draft(RecordHeader header, byte[] payload) {
    return new Draft(header, payload, format.write(header, payload));
  }

  /** Where the log placed a record. */
  enum Placed {
    /** Directly after the last message that was read, and whole. */
    NEXT,

    /** After other messages. All messages up to it were read; the chain shows the outcome. */
    LATER,

    /** At an earlier offset: the log lost acknowledged messages. */
    REWOUND
  }

  /**
   * Appends a record. Then the record and everything the reader has read are confirmed.
   *
   * @param reader positioned after the last message known to be confirmed; moves after the record
   * @throws IOException if the record is not confirmed
   */
  Placed append(Draft draft, JournalReader reader, Visitor visitor)
      throws IOException, InterruptedException {
    long first = reader.next();
    long expected = first;
    for (byte[] message : draft.messages()) {
      long offset = messages.append(message);
      counters.appended(message.length);
      if (offset < expected) {
        return Placed.REWOUND;
      }
      if (offset > expected) {
        readUntil(reader, offset + 1, visitor);
        return Placed.LATER;
      }
      expected++;
    }
    LogRecord record = new LogRecord(draft.header(), first, expected, draft.payload());
    reader.pass(record, draft.bytes(), visitor);
    return Placed.NEXT;
  }
}
