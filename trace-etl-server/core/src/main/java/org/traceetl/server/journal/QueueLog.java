package org.traceetl.server.journal;

import java.io.IOException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.journal.JournalLog.Entry;
import org.traceetl.server.journal.JournalReader.Visitor;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;

/** One queue's log with all that it takes to write to it and to read it. One thread at a time. */
final class QueueLog {
  private static final Logger log = LoggerFactory.getLogger(QueueLog.class);

  /** How long the log may take to show a message that it has acknowledged. */
  private static final long PATIENCE_NANOS = 5_000_000_000L;

  private static final long POLL_NANOS = 2_000_000;

  /** Most recoveries tried beside the first. */
  private static final int RECOVERIES = 10;

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
   * @param group whose mark names the newest snapshot
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

  /** A state as the log tells it, and the reader that stands behind it. */
  record Recovered(ReplayedState state, JournalReader reader) {}

  /**
   * Reads the queue's state from all that the log shows. If that leaves history out, it may be that
   * the log does not show the marked snapshot yet, or that messages were deleted meanwhile: then
   * once more, some times.
   */
  Recovered recover() throws IOException, InterruptedException {
    Recovered recovered = recover(ALL, counters);
    for (int more = RECOVERIES; more > 0 && !recovered.reader().chain().sure(); more--) {
      timing.pause(PATIENCE_NANOS / RECOVERIES);
      recovered = recover(ALL, counters);
    }
    return recovered;
  }

  /**
   * Reads the queue's state: from the marked snapshot if it is there, else from the begin of the
   * log.
   *
   * @param until offset of the first message that does not matter, or {@link #ALL}
   * @param counters for what is rejected on the way
   */
  Recovered recover(long until, JournalCounters counters) throws IOException, InterruptedException {
    long mark = messages.mark(group);
    long begin = messages.begin();
    // Asked last, so that it is not before either of them even if the process was stopped.
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
    ReplayedState state = new ReplayedState(queue, payloads);
    JournalReader reader = new JournalReader(messages, format, counters, from, chain);
    readUntil(reader, until, state);
    return new Recovered(state, reader);
  }

  /**
   * Reads all messages before an offset, waiting for them if need be.
   *
   * @throws IOException if they do not come
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
   * Compares messages that were read with those that the log has now. If the last ones are there,
   * so are all before them.
   *
   * @throws IOException if the log has others in their place, or none
   */
  void requireUnchanged(LastMessages read) throws IOException, InterruptedException {
    int place = 0;
    while (place < read.size()) {
      List<Entry> entries = messages.read(read.end(place) - 1);
      int before = place;
      for (Entry entry : entries) {
        while (place < read.size() && read.end(place) <= entry.offset()) {
          place++; // deleted since
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

  /** A record made into messages. */
  record Draft(RecordHeader header, byte[] payload, List<byte[]> messages) {
    long bytes() {
      return messages.stream().mapToLong(message -> message.length).sum();
    }
  }

  Draft draft(RecordHeader header, byte[] payload) {
    return new Draft(header, payload, format.write(header, payload));
  }

  /** What a log answered to a record. */
  enum Placed {
    /** It stands right after the last message that was read, and whole. */
    NEXT,

    /** Something else came between. The answer is in the log, all of which has been read. */
    LATER,

    /** The log has lost messages that it had acknowledged. */
    REWOUND
  }

  /**
   * Appends a record. When this returns, the record and all that the reader has read are confirmed.
   *
   * @param reader stands behind the last message known to be confirmed; afterwards behind the
   *     record
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
