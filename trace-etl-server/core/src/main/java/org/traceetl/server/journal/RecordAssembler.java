package org.traceetl.server.journal;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.traceetl.server.journal.JournalLog.Entry;

/**
 * Puts records together from the messages of a log. The chunks of a record stand side by side; an
 * exact repeat of the chunk before is passed over, as a writer without an answer sends a chunk
 * again; with anything else in between, the record is torn. What does not become a record is
 * counted. One thread at a time.
 */
final class RecordAssembler {
  private final ChunkFormat format;
  private final JournalCounters counters;

  /** The chunks so far of a record that is not whole. */
  private final List<RecordChunk> parts = new ArrayList<>();

  private long first;

  /** The message before, if it was a chunk; else null. */
  private byte[] before;

  RecordAssembler(ChunkFormat format, JournalCounters counters) {
    this.format = format;
    this.counters = counters;
  }

  /**
   * Takes the log's next message. Null as long as no record is whole with it.
   *
   * @throws UnknownVersionException if it is of a later version; then it is not taken
   */
  LogRecord accept(Entry entry) throws UnknownVersionException {
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

  /** What comes next does not stand beside what came before. */
  void clear() {
    if (!parts.isEmpty()) {
      counters.rejected(RecordRejection.TORN);
      parts.clear();
    }
    before = null;
  }
}
