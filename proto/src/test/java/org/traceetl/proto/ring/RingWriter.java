package org.traceetl.proto.ring;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes a ring as {@code docs/ring.md} says, step by step and without any haste. Spans may be
 * written from several threads.
 */
public final class RingWriter implements AutoCloseable {
  private static final VarHandle LONGS =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
  private static final VarHandle INTS =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  /**
   * What a ring is made with.
   *
   * @param resource values as those of {@link RingSpan#attributes}
   */
  public record Shape(
      int headerBytes,
      int dictionaryBytes,
      long ringBytes,
      long processId,
      long processStartMillis,
      long bootIdHigh,
      long bootIdLow,
      Map<String, Object> resource) {
    /** Of the least size, for one service. */
    public static Shape smallest(String service) {
      return new Shape(4_096, 4_096, 65_536, 7, 0, 0, 0, Map.of("service.name", service));
    }

    /** With so much room. */
    public Shape ringBytes(long bytes) {
      return new Shape(
          headerBytes,
          dictionaryBytes,
          bytes,
          processId,
          processStartMillis,
          bootIdHigh,
          bootIdLow,
          resource);
    }
  }

  private final Path path;
  private final Shape shape;
  private final FileChannel channel;
  private final FileLock lock;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment file;
  private final Map<String, Integer> dictionary = new HashMap<>();
  private int dictionaryEnd;

  private RingWriter(Path path, Shape shape, FileChannel channel, FileLock lock)
      throws IOException {
    this.path = path;
    this.shape = shape;
    this.channel = channel;
    this.lock = lock;
    this.file = channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size(), arena);
  }

  /**
   * Makes a ring.
   *
   * @param name {@code PID-NONCE.ring}
   */
  public static RingWriter create(Path directory, String name, Shape shape) throws IOException {
    Path temporary = directory.resolve("." + name.replace(".ring", ".tmp"));
    FileChannel channel =
        FileChannel.open(
            temporary,
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE);
    Files.setAttribute(temporary, "unix:mode", 0660);
    FileLock lock = channel.lock(0, 1, false);
    ByteBuffer header = header(shape);
    channel.write(header, 0);
    ByteBuffer zeros = ByteBuffer.allocate(64 * 1024);
    long size = shape.headerBytes() + shape.dictionaryBytes() + shape.ringBytes();
    for (long at = shape.headerBytes(); at < size; at += zeros.limit()) {
      zeros.clear().limit((int) Math.min(zeros.capacity(), size - at));
      channel.write(zeros, at);
    }
    Path path = directory.resolve(name);
    Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE);
    RingWriter writer = new RingWriter(path, shape, channel, lock);
    wake(directory);
    return writer;
  }

  private static ByteBuffer header(Shape shape) {
    ByteBuffer header = ByteBuffer.allocate(shape.headerBytes()).order(ByteOrder.LITTLE_ENDIAN);
    header.put(0, "TETLRING".getBytes(UTF_8));
    header.putInt(8, 1);
    header.putInt(12, shape.headerBytes());
    header.putLong(16, shape.dictionaryBytes());
    header.putLong(24, shape.ringBytes());
    header.putLong(32, shape.processId());
    header.putLong(40, shape.processStartMillis());
    header.duplicate().order(ByteOrder.BIG_ENDIAN).putLong(48, shape.bootIdHigh());
    header.duplicate().order(ByteOrder.BIG_ENDIAN).putLong(56, shape.bootIdLow());
    Output resource = new Output();
    // No dictionary yet.
    shape
        .resource()
        .forEach((key, value) -> {
          resource.inlined(key);
          resource.value(value, null);
        });
    byte[] bytes = resource.toByteArray();
    header.putInt(64, bytes.length);
    header.putInt(68, shape.resource().size());
    header.put(1_024, bytes);
    return header;
  }

  /** Never waits; wakes a reader only if there is one. */
  private static void wake(Path directory) throws IOException {
    Path fifo = directory.resolve("wake");
    if (Files.exists(fifo)) {
      // For reading as well, so that opening it does not wait for a reader.
      try (FileChannel wake =
          FileChannel.open(fifo, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        wake.write(ByteBuffer.allocate(1));
      }
    }
  }

  /** The file. */
  public Path path() {
    return path;
  }

  /** The file in memory. */
  public MemorySegment file() {
    return file;
  }

  /**
   * Writes a span.
   *
   * @return false when it was dropped
   */
  public boolean write(RingSpan span) {
    byte[] body = body(span);
    int length = 8 + body.length;
    long at = claim(length);
    if (at < 0) {
      return false;
    }
    begin(at, length);
    commit(at, RingLayout.TYPE_SPAN, body);
    try {
      wakeIfAsleep();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return true;
  }

  /**
   * Claims space for a record, and fills the space before it.
   *
   * @return its position, or below 0 when it was dropped
   */
  public long claim(int length) {
    if (length > Math.min(shape.ringBytes() / 4, 65_536)) {
      LONGS.getAndAdd(file, 272L, 1L);
      return -1;
    }
    long taken = length + 7 & -8;
    while (true) {
      long head = (long) LONGS.getAcquire(file, 384L);
      long tail = (long) LONGS.getAcquire(file, 128L);
      long rest = shape.ringBytes() - (tail & shape.ringBytes() - 1);
      long padding = taken > rest ? rest : 0;
      if (padding + taken > shape.ringBytes() - (tail - head)) {
        LONGS.getAndAdd(file, 264L, 1L);
        return -1;
      }
      if (LONGS.compareAndSet(file, 128L, tail, tail + padding + taken)) {
        if (padding > 0) {
          INTS.set(file, offset(tail) + 4, 1);
          INTS.setRelease(file, offset(tail), (int) padding);
        }
        return tail + padding;
      }
    }
  }

  /** Says how long the record will be. */
  public void begin(long at, int length) {
    INTS.setOpaque(file, offset(at), -length);
    VarHandle.releaseFence();
  }

  /** Writes the record and says that it is whole. */
  public void commit(long at, int type, byte[] body) {
    INTS.set(file, offset(at) + 4, type);
    MemorySegment.copy(body, 0, file, ValueLayout.JAVA_BYTE, offset(at) + 8, body.length);
    INTS.setRelease(file, offset(at), 8 + body.length);
  }

  private void wakeIfAsleep() throws IOException {
    VarHandle.fullFence();
    if ((int) INTS.getVolatile(file, 392L) == 1 && INTS.compareAndSet(file, 392L, 1, 0)) {
      wake(path.getParent());
    }
  }

  private long offset(long position) {
    return shape.headerBytes() + shape.dictionaryBytes() + (position & shape.ringBytes() - 1);
  }

  /** The span's bytes; new strings are put into the dictionary while there is room. */
  public synchronized byte[] body(RingSpan span) {
    Output out = new Output();
    out.fixed64(span.traceIdHigh());
    out.fixed64(span.traceIdLow());
    out.fixed64(span.spanId());
    out.fixed64(span.parentSpanId());
    out.fixed64(span.startUnixNanos());
    out.fixed64(span.durationNanos());
    out.write(span.kind());
    out.write(span.status());
    out.write(
        (span.samplingThreshold() > 0 ? 1 : 0)
            | (span.randomness() >= 0 ? 2 : 0)
            | (span.statusMessage().isEmpty() ? 0 : 4)
            | (span.events().isEmpty() ? 0 : 8));
    out.write(span.links().size());
    out.fixed32(span.attributes().size());
    if (span.samplingThreshold() > 0) {
      out.fixed64(span.samplingThreshold());
    }
    if (span.randomness() >= 0) {
      out.fixed64(span.randomness());
    }
    string(out, span.name());
    if (!span.statusMessage().isEmpty()) {
      out.inlined(span.statusMessage());
    }
    attributes(out, span.attributes());
    if (!span.events().isEmpty()) {
      out.varint(span.events().size());
      for (RingSpan.Event event : span.events()) {
        string(out, event.name());
        out.zigzag(event.offsetNanos());
        out.varint(event.attributes().size());
        attributes(out, event.attributes());
      }
    }
    for (RingSpan.Link link : span.links()) {
      out.fixed64(link.traceIdHigh());
      out.fixed64(link.traceIdLow());
      out.fixed64(link.spanId());
    }
    return out.toByteArray();
  }

  private void attributes(Output out, Map<String, Object> attributes) {
    attributes.forEach((key, value) -> {
      string(out, key);
      out.value(value, this);
    });
  }

  /** By its number if the dictionary has it or has room for it, else as it is. */
  private void string(Output out, String text) {
    Integer known = dictionary.get(text);
    if (known == null) {
      Output entry = new Output();
      byte[] bytes = text.getBytes(UTF_8);
      entry.varint(bytes.length);
      entry.writeBytes(bytes);
      if (bytes.length == 0
          || bytes.length > 65_535
          || entry.size() > shape.dictionaryBytes() - dictionaryEnd) {
        out.inlined(text);
        return;
      }
      known = dictionary.size();
      dictionary.put(text, known);
      entry(entry.toByteArray());
    }
    out.varint(2L * known);
  }

  /** Puts bytes into the dictionary, whatever they are. */
  public synchronized void entry(byte[] bytes) {
    MemorySegment.copy(
        bytes,
        0,
        file,
        ValueLayout.JAVA_BYTE,
        shape.headerBytes() + (long) dictionaryEnd,
        bytes.length);
    dictionaryEnd += bytes.length;
    LONGS.setRelease(file, 256L, (long) dictionaryEnd);
  }

  /** What the file holds now. */
  public byte[] content() {
    return file.toArray(ValueLayout.JAVA_BYTE);
  }

  /** Ends as a process does: it lets go of the lock. */
  @Override
  public void close() throws IOException {
    if (channel.isOpen()) {
      lock.release();
      arena.close();
      channel.close();
    }
  }

  private static final class Output extends ByteArrayOutputStream {
    void fixed64(long value) {
      for (int i = 0; i < 8; i++) {
        write((int) (value >>> 8 * i));
      }
    }

    void fixed32(int value) {
      for (int i = 0; i < 4; i++) {
        write(value >>> 8 * i);
      }
    }

    void varint(long value) {
      long rest = value;
      while ((rest & ~0x7fL) != 0) {
        write((int) (rest & 0x7f | 0x80));
        rest >>>= 7;
      }
      write((int) rest);
    }

    void zigzag(long value) {
      varint(value << 1 ^ value >> 63);
    }

    void inlined(String text) {
      byte[] bytes = text.getBytes(UTF_8);
      varint(2L * bytes.length + 1);
      writeBytes(bytes);
    }

    /**
     * @param writer whose dictionary keeps texts; null for none
     */
    void value(Object value, RingWriter writer) {
      switch (value) {
        case String text -> {
          write(0);
          if (writer == null) {
            inlined(text);
          } else {
            writer.string(this, text);
          }
        }
        case Boolean bool -> write(bool ? 2 : 1);
        case Long integer -> {
          write(3);
          zigzag(integer);
        }
        case Double real -> {
          write(4);
          fixed64(Double.doubleToRawLongBits(real));
        }
        case RingSpan.Json json -> {
          write(5);
          inlined(json.text());
        }
        case RingSpan.Base64 base64 -> {
          write(6);
          inlined(base64.text());
        }
        default -> throw new IllegalArgumentException(List.of(value).toString());
      }
    }
  }
}
