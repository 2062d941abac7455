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
  /** As the file is called now: its owner may have renamed it. */
  String name;

  /** Its file, as it was when its name was last looked at. */
  RingFiles.Status file;

  final RingHeader header;
  final RingCursor cursor;
  final RingDictionary dictionary;
  final RingPayload payload;

  /** Consumed, and free for the writers. */
  long head;

  /** Read: at least the head; beyond it is what is under way. */
  long position;

  /** Claims up to here that were passed over have been counted. */
  long passedUntil;

  /** What was passed over last was a claim of which nothing is there, and it may go on. */
  boolean inEmptyClaim;

  /** Nothing is read before. */
  long pausedUntilNanos;

  /** When it is looked at next whether its writers live. */
  long nextCheckNanos;

  /** What is counted of its dictionary's and its resource's bytes. */
  long chargedBytes;

  /** What is under way of it. */
  int bytesUnderWay;

  /** Faults in memory, one after the other, that no ring could be found guilty of. */
  int faults;

  long droppedRingFull;
  long droppedTooLarge;

  /** The writers' lock is the agent's now: nobody writes any more. */
  boolean dead;

  /** Something about it is in the spool. */
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

  /** Makes the payload of a ring with this resource. */
  interface Payloads {
    RingPayload of(RingSpanDecoder.Resource resource);
  }

  /**
   * Reads and checks the header, without having the file in memory.
   *
   * @throws MalformedRingException when it is wrong, or the file has another length
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
   * Maps it. The file is the ring's from here on, also when this fails.
   *
   * @param header as read and checked
   * @param saved where earlier runs stopped; null for nowhere
   * @param mostDictionaryBytes that its strings may take
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
      // What is missing at the end stays zero.
    }
    return into.array();
  }

  /** Goes on from where earlier runs stopped, or from the head if that is further. */
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
              MalformedRingException.Part.POSITION, "its tail is before what was read of it");
        }
        cursor.consume(head, before.position());
        head = before.position();
        position = head;
      }
    }
    cursor.asleep(false);
  }

  /** Whose file it is. */
  int user() {
    return file.user();
  }

  /** Whether nothing was written and nothing is under way. */
  boolean isQuiet() {
    return !dead && cursor.tail() == position && payload.isSettled() && position == head;
  }

  /** Whether the file has become shorter than what is mapped of it. */
  boolean isCut() throws IOException {
    return channel.size() < header.fileBytes();
  }

  /** Checks that it has not: where it has, its memory is not touched. */
  void checkLength() throws IOException, MalformedRingException {
    if (isCut()) {
      throw new MalformedRingException(
          MalformedRingException.Part.TRUNCATED, "it was cut to " + channel.size() + " B");
    }
  }

  /**
   * Takes the writers' lock if nobody has it: then it is dead.
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
    // What is passed over of the dead is looked through, and would have to have memory for it. To
    // look for it ends the lock, so that it has to be taken again.
    lock.release();
    if (files != null && !files.isWhole(name, file, header.fileBytes())) {
      throw new MalformedRingException(MalformedRingException.Part.HEADER, "its file has holes");
    }
    dead = RingFiles.lockOfWriter(channel) != null;
  }

  /** Where it is read on after the payload that ends there. */
  RingPosition savedAt(long end) {
    return new RingPosition(name, end, droppedRingFull, droppedTooLarge);
  }

  @Override
  public void close() throws IOException {
    arena.close();
    channel.close();
  }
}
