package org.traceetl.server.journal.format;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalLog.Entry;
import org.traceetl.server.journal.RecordRejection;

/**
 * Assembles records from the messages of a log. The chunks of a record are adjacent. An exact
 * repeat of the previous chunk is skipped, because a writer without an answer sends a chunk again.
 * With any other message in between, the record is torn. Messages that do not form a record are
 * counted. For one thread at a time.
 */
public final class RecordAssembler {
  private final ChunkFormat format;
  private final JournalCounters counters;

  /** The chunks so far of an incomplete record. */
  private final List<RecordChunk> parts = new ArrayList<>();

  private long first;

  /** The previous message if it was a chunk; else null. */
  private byte[] before;

  public RecordAssembler(ChunkFormat format, JournalCounters counters) {
    this.format = format;
    this.counters = counters;
  }

  /**
   * Accepts the log's next message; returns the record that it completes, or null.
   *
   * @throws UnknownVersionException if it is of a later version; then it is not accepted
   */
  public LogRecord accept(Entry entry) throws UnknownVersionException {
    if (entry.body() == JournalLog.LEFT_OUT) {
      clear();
      return null;
    }
    RecordRejection rejection = format.rejection(entry.body());
    if (rejection == RecordRejection.VERSION) {
      throw ChunkFormat.unknownVersion(entry.body());
    }
    if (rejection != null) {
      counters.rejected(rejection);
      clear();
      return null;
    }
    if (Arrays.equals(entry.body(), before)) {
      return null;
    }
    RecordChunk chunk = format.read(entry.body());
    if (!goesOn(chunk)) {
      clear();
      if (chunk.index() != 0) {
        counters.rejected(RecordRejection.TORN);
        return null;
      }
      first = entry.offset();
    }
    before = entry.body();
    parts.add(chunk);
    return parts.size() == chunk.count() ? whole(entry.offset() + 1) : null;
  }

  private boolean goesOn(RecordChunk chunk) {
    if (parts.isEmpty()) {
      return false;
    }
    RecordChunk last = parts.getLast();
    return chunk.index() == parts.size()
        && chunk.count() == last.count()
        && chunk.header().equals(last.header());
  }

  private LogRecord whole(long next) {
    int length = parts.stream().mapToInt(RecordChunk::payloadLength).sum();
    byte[] payload = new byte[length];
    int at = 0;
    for (RecordChunk part : parts) {
      System.arraycopy(part.message(), ChunkFormat.HEADER_BYTES, payload, at, part.payloadLength());
      at += part.payloadLength();
    }
    LogRecord whole = new LogRecord(parts.getFirst().header(), first, next, payload);
    parts.clear();
    return whole;
  }

  /** Forgets the previous messages: the next one is not adjacent to them. */
  public void clear() {
    if (!parts.isEmpty()) {
      counters.rejected(RecordRejection.TORN);
      parts.clear();
    }
    before = null;
  }
}
