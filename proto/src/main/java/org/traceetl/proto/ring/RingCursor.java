package org.traceetl.proto.ring;

import static org.traceetl.proto.ring.MalformedRingException.Part.POSITION;
import static org.traceetl.proto.ring.MalformedRingException.Part.RECORD;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A ring's file in memory, for its only reader. Writers may change the memory at any time.
 * Nevertheless no access leaves the memory, and every call does a bounded amount of work, because
 * each value is checked after each read. Positions count bytes from the ring's beginning and never
 * wrap. Allocates nothing. One thread at a time.
 */
public final class RingCursor {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONGS = LONG.varHandle();
  private static final VarHandle INTS = INT.varHandle();

  private final MemorySegment file;
  private final long dictionaryOffset;
  private final int dictionaryBytes;
  private final long ringOffset;
  private final long ringBytes;
  private final int maxRecordBytes;

  /**
   * @param file mapped, aligned to 8 bytes, of the header's {@link RingHeader#fileBytes}
   */
  public RingCursor(MemorySegment file, RingHeader header) {
    if (file.byteSize() != header.fileBytes()) {
      throw new IllegalArgumentException(
          "the file has " + file.byteSize() + " B, its header says " + header.fileBytes());
    }
    this.file = file;
    this.dictionaryOffset = header.headerBytes();
    this.dictionaryBytes = header.dictionaryBytes();
    this.ringOffset = dictionaryOffset + dictionaryBytes;
    this.ringBytes = header.ringBytes();
    this.maxRecordBytes = RingLayout.maxRecordBytes(ringBytes);
  }

  /** Reads the head from the file. */
  public long head() throws MalformedRingException {
    long head = (long) LONGS.getAcquire(file, (long) RingLayout.HEAD_OFFSET);
    check(
        head >= 0 && head % RingLayout.ALIGNMENT == 0,
        POSITION,
        "its head is not a valid position");
    return head;
  }

  /**
   * Reads and checks the tail, the end of the claimed bytes.
   *
   * @param head bytes consumed
   * @param position bytes read, at least the head
   * @throws MalformedRingException if it is before the position, or more than a ring after the head
   */
  public long tail(long head, long position) throws MalformedRingException {
    long tail = tail();
    check(
        tail >= position && tail - head <= ringBytes && tail % RingLayout.ALIGNMENT == 0,
        POSITION,
        "its tail is not a valid position");
    return tail;
  }

  /** Reads the tail without a check. */
  public long tail() {
    return (long) LONGS.getAcquire(file, (long) RingLayout.TAIL_OFFSET);
  }

  /**
   * Returns the end of the complete records, at an incomplete one or one above the limit.
   *
   * @param from a position
   * @param tail a later position
   * @param mostBytes limit of the records, at least 64 KiB
   */
  public long wholeUntil(long from, long tail, int mostBytes) throws MalformedRingException {
    long at = from;
    while (at < tail) {
      int length = length(at);
      if (length <= 0) {
        break;
      }
      long taken = taken(at, length, tail);
      if (at + taken - from > mostBytes) {
        break;
      }
      at += taken;
    }
    return at;
  }

  /**
   * Skips a claim of dead writers that was never committed. Ends at a complete record, at the next
   * claim, or at the tail.
   *
   * @param from a position at which no complete record begins
   * @param mostBytes bytes to scan for the end of an empty claim
   * @return a later position; an empty claim may continue there
   */
  public long passOver(long from, long tail, long mostBytes) throws MalformedRingException {
    int length = length(from);
    if (length < 0) {
      check(length != Integer.MIN_VALUE, RECORD, "a claim has no length");
      return from + taken(from, -length, tail);
    }
    long at = from;
    long most = Math.min(tail, from + mostBytes);
    do {
      at += RingLayout.ALIGNMENT;
    } while (at < most && length(at) == 0);
    return at;
  }

  /** Returns whether a claim's length or a record is at the position. */
  public boolean isBegun(long at) {
    return length(at) != 0;
  }

  /** Returns whether a complete record begins at the position. */
  public boolean isWhole(long at) {
    return tail() != at && length(at) > 0;
  }

  private int length(long at) {
    return (int) INTS.getAcquire(file, ringOffset + (at & ringBytes - 1));
  }

  /** Returns the bytes that a record takes, if its length is valid. */
  private long taken(long at, int length, long tail) throws MalformedRingException {
    long taken = RingLayout.takenBytes(length);
    check(
        length >= RingLayout.RECORD_HEADER_BYTES && length <= maxRecordBytes,
        RECORD,
        "a record has an invalid length");
    check(
        (at & ringBytes - 1) + taken <= ringBytes && taken <= tail - at,
        RECORD,
        "a record extends past the ring or its tail");
    return taken;
  }

  /**
   * Copies bytes between two positions, less than a ring apart, to the array's beginning.
   *
   * @return number of bytes
   */
  public int copy(long from, long to, byte[] into) {
    int length = Math.toIntExact(to - from);
    long start = from & ringBytes - 1;
    int first = (int) Math.min(length, ringBytes - start);
    MemorySegment.copy(file, ValueLayout.JAVA_BYTE, ringOffset + start, into, 0, first);
    MemorySegment.copy(file, ValueLayout.JAVA_BYTE, ringOffset, into, first, length - first);
    return length;
  }

  /**
   * Clears consumed bytes, and frees them for the writers.
   *
   * @param head start of the bytes
   * @param to end of the bytes, at most a ring later
   */
  public void consume(long head, long to) {
    long length = to - head;
    long start = head & ringBytes - 1;
    long first = Math.min(length, ringBytes - start);
    file.asSlice(ringOffset + start, first).fill((byte) 0);
    file.asSlice(ringOffset, length - first).fill((byte) 0);
    head(to);
  }

  /** Moves the head without clearing bytes. Use it only if the ring has no writer any more. */
  public void head(long to) {
    LONGS.setRelease(file, (long) RingLayout.HEAD_OFFSET, to);
  }

  /**
   * Sets whether the reader sleeps; a full fence follows. Before it sleeps, the reader must check
   * each ring once more with {@link #isWhole}.
   */
  public void asleep(boolean sleeps) {
    INTS.setVolatile(file, (long) RingLayout.ASLEEP_OFFSET, sleeps ? 1 : 0);
    VarHandle.fullFence();
  }

  /** Returns the spans that the writers report as dropped because the ring was full. */
  public long droppedRingFull() {
    return (long) LONGS.getOpaque(file, (long) RingLayout.DROPPED_RING_FULL_OFFSET);
  }

  /** Returns the spans that the writers report as dropped because they were too large. */
  public long droppedTooLarge() {
    return (long) LONGS.getOpaque(file, (long) RingLayout.DROPPED_TOO_LARGE_OFFSET);
  }

  /** Returns the valid bytes of the dictionary, as the writers report. */
  long dictionaryEnd() {
    return (long) LONGS.getAcquire(file, (long) RingLayout.DICTIONARY_END_OFFSET);
  }

  int dictionaryBytes() {
    return dictionaryBytes;
  }

  void copyDictionary(long from, byte[] into) {
    MemorySegment.copy(file, ValueLayout.JAVA_BYTE, dictionaryOffset + from, into, 0, into.length);
  }

  private static void check(boolean right, MalformedRingException.Part part, String problem)
      throws MalformedRingException {
    if (!right) {
      throw new MalformedRingException(part, problem);
    }
  }
}
