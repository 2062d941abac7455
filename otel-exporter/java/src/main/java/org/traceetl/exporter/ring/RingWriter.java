package org.traceetl.exporter.ring;

import static org.traceetl.exporter.ring.RingFormat.INT;
import static org.traceetl.exporter.ring.RingFormat.LONG;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.io.Closeable;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Writes spans into its own ring, from any number of threads. When {@link #write} has returned
 * true, the span is in the ring and survives the process. Nothing blocks: if there is no room, the
 * span is dropped and counted.
 */
public final class RingWriter implements Closeable {
  private static final long FULL = -1;

  /** Distance of idle encoders, so that each has its own cache line. */
  private static final int SPACING = 16;

  private static final int PROBES = 4;

  private final RingFile file;
  private final ByteBuffer memory;
  private final int ring;
  private final int capacity;
  private final int maxRecordBytes;
  private final Dictionary dictionary;
  private final Waker waker;

  /**
   * Encoders that no thread uses. Not thread-local, because each request may have a virtual thread.
   */
  private final AtomicReferenceArray<Encoder> idle;

  private final int slots;

  /** A lower bound of the reader's head. */
  private volatile long knownHead;

  private volatile boolean closed;

  private RingWriter(RingFile file, RingSize size, Waker waker) {
    this.file = file;
    this.waker = waker;
    memory = file.memory();
    ring = file.headerBytes() + size.dictionaryBytes;
    capacity = size.ringBytes;
    maxRecordBytes = Math.min(capacity / 4, RingFormat.MAX_RECORD_BYTES);
    dictionary = new Dictionary(memory, file.headerBytes(), size.dictionaryBytes);
    slots = Integer.highestOneBit(Math.min(64, 4 * Runtime.getRuntime().availableProcessors()));
    idle = new AtomicReferenceArray<>(slots * SPACING);
  }

  /**
   * Creates a ring in the agent's directory.
   *
   * @param resource of all spans; if it exceeds 127 KiB, the attributes that fit
   * @throws IOException if the directory is missing, not writable or full
   */
  public static RingWriter create(Path directory, RingSize size, Attributes resource)
      throws IOException {
    RingFile file = RingFile.create(directory, size, resource);
    Waker waker = new Waker(directory.resolve(RingFormat.WAKE));
    // The agent cannot have marked a new ring as asleep.
    waker.wake();
    return new RingWriter(file, size, waker);
  }

  public Path file() {
    return file.path();
  }

  /** Returns false if no agent will read the ring: it was removed, cut or closed. */
  public boolean isThere() {
    try {
      return !closed && Files.size(file.path()) == memory.capacity();
    } catch (IOException e) {
      return false;
    }
  }

  public boolean isClosed() {
    return closed;
  }

  /** Returns whether the agent has read all spans whose {@link #write} has returned. */
  public boolean isRead() {
    // The tail first: the head never passes it.
    long tail = (long) LONG.getAcquire(memory, RingFormat.TAIL);
    return (long) LONG.getAcquire(memory, RingFormat.HEAD) >= tail;
  }

  /** Returns the spans dropped so far because the ring was full. */
  public long droppedAsFull() {
    return (long) LONG.getVolatile(memory, RingFormat.DROPPED_RING_FULL);
  }

  /** Returns the spans dropped so far because they exceeded a record's limit. */
  public long droppedAsTooLarge() {
    return (long) LONG.getVolatile(memory, RingFormat.DROPPED_TOO_LARGE);
  }

  /**
   * Writes an ended span.
   *
   * @return false if it was dropped and counted, or if this is closed
   */
  public boolean write(SpanData span) {
    if (closed) {
      return false;
    }
    int slot = (int) Thread.currentThread().getId();
    Encoder encoder = take(slot);
    boolean written = write(encoder.spans.encode(span), encoder);
    giveBack(slot, encoder);
    return written;
  }

  /**
   * Writes an ended span of the exporter's own provider.
   *
   * @return false if it was dropped and counted, or if this is closed
   */
  public boolean write(EndedSpan span) {
    if (closed) {
      return false;
    }
    int slot = (int) Thread.currentThread().getId();
    Encoder encoder = take(slot);
    boolean written = write(encoder.spans.encode(span), encoder);
    giveBack(slot, encoder);
    return written;
  }

  /**
   * Closes the ring. The agent reads it to its end, then removes the file. Spans that other threads
   * are writing may be lost.
   */
  @Override
  public void close() throws IOException {
    if (!closed) {
      closed = true;
      waker.close();
      file.close();
    }
  }

  private Encoder take(int first) {
    for (int probe = 0; probe < PROBES; probe++) {
      Encoder encoder = idle.getAndSet((first + probe & slots - 1) * SPACING, null);
      if (encoder != null) {
        return encoder;
      }
    }
    return new Encoder(dictionary, maxRecordBytes - RingFormat.RECORD_HEADER_BYTES, memory);
  }

  private void giveBack(int slot, Encoder encoder) {
    idle.lazySet((slot & slots - 1) * SPACING, encoder);
  }

  /**
   * Writes a record with the encoder's last result.
   *
   * @param bodyBytes below 0: the span is too large
   */
  private boolean write(int bodyBytes, Encoder encoder) {
    if (bodyBytes < 0) {
      LONG.getAndAdd(memory, RingFormat.DROPPED_TOO_LARGE, 1L);
      return false;
    }
    int recordBytes = RingFormat.RECORD_HEADER_BYTES + bodyBytes;
    long position = claim(RingFormat.aligned(recordBytes));
    if (position == FULL) {
      LONG.getAndAdd(memory, RingFormat.DROPPED_RING_FULL, 1L);
      return false;
    }
    // Nothing may fail before the last store; otherwise the reader waits for this record until the
    // process ends. Encoding has already used more stack than the following calls.
    int record = at(position);
    INT.setOpaque(memory, record, -recordBytes);
    VarHandle.storeStoreFence();
    INT.set(memory, record + 4, RingFormat.TYPE_SPAN);
    encoder.memory.position(record + RingFormat.RECORD_HEADER_BYTES);
    encoder.memory.put(encoder.spans.bytes(), 0, bodyBytes);
    INT.setRelease(memory, record, recordBytes);
    wakeReader();
    return true;
  }

  /** Claims contiguous {@code bytes} for this thread; returns their position, or {@link #FULL}. */
  private long claim(int bytes) {
    while (true) {
      long tail = (long) LONG.getAcquire(memory, RingFormat.TAIL);
      int room = capacity - (int) (tail & capacity - 1);
      int padding = bytes <= room ? 0 : room;
      if (padding + bytes > capacity - (tail - knownHead)) {
        long head = (long) LONG.getAcquire(memory, RingFormat.HEAD);
        knownHead = head;
        if (padding + bytes > capacity - (tail - head)) {
          return FULL;
        }
      }
      if (LONG.compareAndSet(memory, RingFormat.TAIL, tail, tail + padding + bytes)) {
        if (padding > 0) {
          int record = at(tail);
          INT.set(memory, record + 4, RingFormat.TYPE_PADDING);
          INT.setRelease(memory, record, padding);
        }
        return tail + padding;
      }
    }
  }

  private int at(long position) {
    return ring + (int) (position & capacity - 1);
  }

  /** Wakes a sleeping reader. The fence orders the record before the read of {@code asleep}. */
  private void wakeReader() {
    VarHandle.fullFence();
    if ((int) INT.getOpaque(memory, RingFormat.ASLEEP) == 1
        && INT.compareAndSet(memory, RingFormat.ASLEEP, 1, 0)) {
      waker.wake();
    }
  }

  /** The objects that a thread needs to write a span. */
  private static final class Encoder {
    final SpanEncoder spans;
    final ByteBuffer memory;

    Encoder(Dictionary dictionary, int maxBodyBytes, ByteBuffer memory) {
      spans = new SpanEncoder(dictionary, maxBodyBytes);
      this.memory = memory.duplicate();
    }
  }
}
