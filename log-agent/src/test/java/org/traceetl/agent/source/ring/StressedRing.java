package org.traceetl.agent.source.ring;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.traceetl.exporter.ring.RingSize;
import org.traceetl.exporter.ring.RingWriter;
import org.traceetl.proto.ring.MalformedRingException;
import org.traceetl.proto.ring.RingCursor;
import org.traceetl.proto.ring.RingDictionary;
import org.traceetl.proto.ring.RingHeader;
import org.traceetl.proto.ring.RingLayout;
import org.traceetl.proto.ring.RingRecords;
import org.traceetl.proto.ring.RingSpan;
import org.traceetl.proto.ring.RingSpanReader;

/**
 * A ring that Java's exporter writes and the agent's cursor reads. Its position is just before its
 * end, so that padding precedes the first record.
 */
final class StressedRing {
  private static final int RING_BYTES = 65_536;
  private static final int DICTIONARY_BYTES = 4_096;
  private static final long START = RING_BYTES - 16;
  private static final List<SpanData> SPANS =
      IntStream.rangeClosed(1, 2)
          .mapToObj(number -> JavaExporter.data(RingSpan.numbered(number)))
          .toList();
  private static final byte[] ZEROS = new byte[RING_BYTES];
  private static final Path DIRECTORY = directory();
  private static final Queue<StressedRing> IDLE = new ConcurrentLinkedQueue<>();

  private final RingWriter writer;
  private final MemorySegment file;
  private final RingCursor cursor;
  private final RingDictionary dictionary = new RingDictionary();
  private final RingRecords records = new RingRecords();
  private final RingSpanReader span = new RingSpanReader();
  private final byte[] bytes = new byte[RING_BYTES];
  private long position = START;

  private StressedRing() {
    try {
      writer =
          RingWriter.create(
              DIRECTORY, RingSize.of(RING_BYTES, DICTIONARY_BYTES), Attributes.empty());
      try (FileChannel channel =
          FileChannel.open(writer.file(), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        ByteBuffer header = ByteBuffer.allocate(RingLayout.RESOURCE_OFFSET);
        channel.read(header, 0);
        file = channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size(), Arena.global());
        cursor = new RingCursor(file, RingHeader.read(header.flip()));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (MalformedRingException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns an unused ring in its initial state. */
  static StressedRing take() {
    StressedRing idle = IDLE.poll();
    StressedRing ring = idle == null ? new StressedRing() : idle;
    ring.position = START;
    ring.cursor.asleep(false);
    ring.file.set(ValueLayout.JAVA_LONG, RingLayout.TAIL_OFFSET, START);
    ring.file.set(ValueLayout.JAVA_LONG, RingLayout.HEAD_OFFSET, START);
    return ring;
  }

  /** Returns the ring for reuse; call it when no thread uses the ring. */
  void giveBack() {
    int _ = read();
    if (isClear()) {
      IDLE.add(this);
    }
  }

  private static Path directory() {
    try {
      return Files.createTempDirectory("rings");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Writes span 1 or 2. */
  void write(int number) {
    boolean _ = writer.write(SPANS.get(number - 1));
  }

  /**
   * Reads complete spans, and clears them.
   *
   * @return the sum of the spans' numbers; a damaged span counts as 100
   */
  int read() {
    try {
      long head = position;
      long end = cursor.wholeUntil(position, cursor.tail(position, position), RING_BYTES);
      dictionary.update(cursor, RING_BYTES);
      int sum = sum(cursor.copy(position, end, bytes));
      cursor.consume(head, end);
      position = end;
      return sum;
    } catch (MalformedRingException e) {
      return 1_000;
    }
  }

  private int sum(int length) {
    int sum = records.wrap(bytes, length) ? 0 : 10_000;
    while (records.next()) {
      boolean whole =
          span.span(bytes, records.bodyOffset(), records.bodyEnd(), dictionary.strings())
              && span.spanId == span.traceIdLow
              && span.durationNanos == 1_000 + span.spanId;
      sum += whole ? (int) span.spanId : 100;
    }
    return sum;
  }

  /** Announces the reader's sleep; returns true if it then finds a span. */
  boolean findsOneBeforeItSleeps() {
    cursor.asleep(true);
    return cursor.isWhole(position);
  }

  /** Returns whether no writer has woken the reader. */
  boolean isAsleep() {
    return file.get(ValueLayout.JAVA_INT, RingLayout.ASLEEP_OFFSET) == 1;
  }

  /** Returns whether everything read was cleared. */
  boolean isClear() {
    return cursor.tail() == position
        && file.asSlice(file.byteSize() - RING_BYTES).mismatch(MemorySegment.ofArray(ZEROS)) < 0;
  }
}
