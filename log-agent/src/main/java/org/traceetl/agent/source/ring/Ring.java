package org.traceetl.agent.source.ring;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import org.traceetl.proto.ring.MalformedRingException;
import org.traceetl.proto.ring.RingCursor;
import org.traceetl.proto.ring.RingDictionary;
import org.traceetl.proto.ring.RingHeader;
import org.traceetl.proto.ring.RingLayout;

/** A ring that is being read. Owned by the source's thread. */
final class Ring implements AutoCloseable {
  /** The file's current name: its owner may rename it. */
  String name;

  /** The file's status when its name was last checked. */
  RingFiles.Status file;

  final RingHeader header;
  final RingCursor cursor;
  final RingDictionary dictionary;
  final RingPayload payload;

  /** End of the consumed bytes, which writers may reuse. */
  long head;

  /** End of the bytes read; those beyond the head are in progress. */
  long position;

  /** Abandoned claims before this position are already counted. */
  long passedUntil;

  /** True if the last abandoned claim was empty and may continue. */
  boolean inEmptyClaim;

  /** The ring is not read before this time. */
  long pausedUntilNanos;

  /** When the writers are checked next. */
  long nextCheckNanos;

  /** Bytes of the dictionary and resource that count towards the shares. */
  long chargedBytes;

  /** Bytes of records in the pipeline. */
  int bytesUnderWay;

  /** Consecutive memory faults without a known cause. */
  int faults;

  long droppedRingFull;
  long droppedTooLarge;

  /** True if the agent holds the writers' lock: no process writes any more. */
  boolean dead;

  /** True if the spool has a position of the ring. */
  boolean saved;

  private final FileChannel channel;
  private final Arena arena;

  private Ring(
      String name,
      RingHeader header,
      RingFiles.Opened opened,
      Arena arena,
      RingCursor cursor,
      RingDictionary dictionary,
      RingPayload payload) {
    this.name = name;
    this.file = opened.status();
    this.header = header;
    this.channel = opened.channel();
    this.arena = arena;
    this.cursor = cursor;
    this.dictionary = dictionary;
    this.payload = payload;
  }

  /** Creates the payload of a ring with this resource. */
  interface Payloads {
    RingPayload of(RingSpanDecoder.Resource resource);
  }

  /**
   * Reads and checks the header, without mapping the file.
   *
   * @throws MalformedRingException if the header is malformed or the file has another length
   */
  static RingHeader header(FileChannel channel) throws IOException, MalformedRingException {
    RingHeader header =
        RingHeader.read(ByteBuffer.wrap(read(channel, 0, RingLayout.RESOURCE_OFFSET)));
    if (channel.size() != header.fileBytes()) {
      throw new MalformedRingException(
          MalformedRingException.Part.HEADER,
          "it has " + channel.size() + " B, its header says " + header.fileBytes());
    }
    return header;
  }

  /**
   * Maps the file. Takes ownership of the channel, and closes it on failure.
   *
   * @param header as read and checked
   * @param saved position of an earlier run; null for none
   * @param mostDictionaryBytes limit of the memory for the ring's strings
   */
  static Ring map(
      String name,
      RingHeader header,
      RingFiles.Opened opened,
      RingPosition saved,
      long mostDictionaryBytes,
      Payloads payloads)
      throws IOException, MalformedRingException {
    FileChannel channel = opened.channel();
    Arena arena = Arena.ofConfined();
    try {
      RingCursor cursor =
          new RingCursor(
              channel.map(FileChannel.MapMode.READ_WRITE, 0, header.fileBytes(), arena), header);
      RingDictionary dictionary = new RingDictionary();
      dictionary.update(cursor, mostDictionaryBytes);
      RingSpanDecoder.Resource resource =
          RingSpanDecoder.Resource.read(
              read(channel, RingLayout.RESOURCE_OFFSET, header.resourceBytes()),
              header.resourceAttributes(),
              dictionary.strings());
      if (resource == null) {
        throw new MalformedRingException(
            MalformedRingException.Part.RESOURCE, "its resource is malformed");
      }
      Ring ring = new Ring(name, header, opened, arena, cursor, dictionary, payloads.of(resource));
      ring.begin(saved);
      return ring;
    } catch (IOException | MalformedRingException | RuntimeException | InternalError e) {
      arena.close();
      channel.close();
      throw e;
    }
  }

  private static byte[] read(FileChannel channel, long from, int length) throws IOException {
    ByteBuffer into = ByteBuffer.allocate(length);
    while (into.hasRemaining() && channel.read(into, from + into.position()) > 0) {
      // Missing bytes at the end remain zero.
    }
    return into.array();
  }

  /** Continues at the position of an earlier run, or at the head if that is further. */
  private void begin(RingPosition before) throws MalformedRingException {
    head = cursor.head();
    long tail = cursor.tail(head, head);
    position = head;
    if (before != null) {
      saved = true;
      droppedRingFull = before.droppedRingFull();
      droppedTooLarge = before.droppedTooLarge();
      if (before.position() > head) {
        if (before.position() > tail || before.position() % RingLayout.ALIGNMENT != 0) {
          throw new MalformedRingException(
              MalformedRingException.Part.POSITION, "its tail is before the position already read");
        }
        cursor.consume(head, before.position());
        head = before.position();
        position = head;
      }
    }
    cursor.asleep(false);
  }

  /** Returns the ID of the file's owner. */
  int user() {
    return file.user();
  }

  /** Returns whether there is nothing to read and nothing in progress. */
  boolean isQuiet() {
    return !dead && cursor.tail() == position && payload.isSettled() && position == head;
  }

  /** Returns whether the file is now shorter than the mapping. */
  boolean isCut() throws IOException {
    return channel.size() < header.fileBytes();
  }

  /** Fails if the file was cut, so that unmapped memory is not used. */
  void checkLength() throws IOException, MalformedRingException {
    if (isCut()) {
      throw new MalformedRingException(
          MalformedRingException.Part.TRUNCATED, "its file was cut to " + channel.size() + " B");
    }
  }

  /**
   * Marks the ring as dead if no writer holds the lock, and takes the lock.
   *
   * @param files null while there is no directory
   */
  void checkWriters(RingFiles files) throws IOException, MalformedRingException {
    if (dead) {
      return;
    }
    FileLock lock = RingFiles.lockOfWriter(channel);
    if (lock == null) {
      return;
    }
    // Scanning abandoned claims requires a file without holes. The check for holes closes a
    // descriptor, which drops the lock, so the lock is taken again.
    lock.release();
    if (files != null && !files.isWhole(name, file, header.fileBytes())) {
      throw new MalformedRingException(MalformedRingException.Part.HEADER, "its file has holes");
    }
    dead = RingFiles.lockOfWriter(channel) != null;
  }

  /** Returns the position to store for a payload that ends here. */
  RingPosition savedAt(long end) {
    return new RingPosition(name, end, droppedRingFull, droppedTooLarge);
  }

  @Override
  public void close() throws IOException {
    arena.close();
    channel.close();
  }
}
