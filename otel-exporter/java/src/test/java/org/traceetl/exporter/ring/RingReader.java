package org.traceetl.exporter.ring;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Closeable;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads a ring as docs/ring.md says, with no constant of the writer's. It trusts the file: what is
 * wrong in it ends the test.
 */
public final class RingReader implements Closeable {
  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private final FileChannel channel;
  private final ByteBuffer file;
  private final int header;
  private final int ring;
  private final int capacity;
  private final List<String> dictionary = new ArrayList<>();
  private int dictionaryRead;
  private long head;
  private long paddings;
  private long uncommitted;

  public RingReader(Path path) throws IOException {
    channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
    ByteBuffer mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size());
    file = mapped.order(ByteOrder.LITTLE_ENDIAN);
    byte[] magic = new byte[8];
    file.get(magic);
    check(new String(magic, UTF_8).equals("TETLRING"), "magic");
    check(file.getInt(8) == 1, "version");
    header = file.getInt(12);
    long dictionaryBytes = file.getLong(16);
    check(dictionaryBytes % 4096 == 0, "dictionary bytes");
    ring = Math.toIntExact(header + dictionaryBytes);
    capacity = Math.toIntExact(file.getLong(24));
    check(Integer.bitCount(capacity) == 1, "ring bytes");
    check(channel.size() == (long) ring + capacity, "length of the file");
    head = (long) LONG.getAcquire(file, 384);
  }

  public ByteBuffer file() {
    return file;
  }

  /** Entries that were read so far. */
  public List<String> dictionary() {
    return dictionary;
  }

  public long paddings() {
    return paddings;
  }

  public long uncommitted() {
    return uncommitted;
  }

  public List<RingSpan.Attribute> resource() {
    Body body = new Body(file.slice(1024, file.getInt(64)).order(ByteOrder.LITTLE_ENDIAN));
    List<RingSpan.Attribute> attributes = body.attributes(file.getInt(68));
    check(!body.bytes.hasRemaining(), "end of the resource");
    return attributes;
  }

  /** All spans that are whole, up to the first that is not; frees what it read. */
  public List<RingSpan> poll() {
    List<RingSpan> spans = new ArrayList<>();
    long tail = (long) LONG.getAcquire(file, 128);
    while (head < tail) {
      int at = ring + (int) (head % capacity);
      int length = (int) INT.getAcquire(file, at);
      if (length <= 0) {
        return spans;
      }
      read(at, length, spans);
      free(at, length);
    }
    return spans;
  }

  /** As {@link #poll}, of a writer that has died: passes over claims that were not committed. */
  public List<RingSpan> drain() {
    List<RingSpan> spans = new ArrayList<>(poll());
    long tail = (long) LONG.getAcquire(file, 128);
    while (head < tail) {
      int at = ring + (int) (head % capacity);
      int length = (int) INT.getAcquire(file, at);
      if (length <= 0) {
        uncommitted++;
        do {
          free(at, length == 0 ? 8 : -length);
          at = ring + (int) (head % capacity);
        } while (head < tail && (length = (int) INT.getAcquire(file, at)) == 0);
      }
      spans.addAll(poll());
    }
    return spans;
  }

  private void read(int at, int length, List<RingSpan> spans) {
    check(at + length <= ring + capacity, "record over the end");
    int type = file.getInt(at + 4);
    if (type == 1) {
      paddings++;
    } else {
      check(type == 2, "type " + type);
      byte[] copy = new byte[length - 8];
      file.get(at + 8, copy);
      Body body = new Body(ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN));
      spans.add(body.span());
      check(!body.bytes.hasRemaining(), "end of the record");
    }
  }

  private void free(int at, int length) {
    int bytes = (length + 7) / 8 * 8;
    file.put(at, new byte[bytes]);
    head += bytes;
    LONG.setRelease(file, 384, head);
  }

  private String entry(int number) {
    int end = Math.toIntExact((long) LONG.getAcquire(file, 256));
    while (dictionaryRead < end) {
      int length = 0;
      for (int shift = 0; ; shift += 7) {
        byte b = file.get(header + dictionaryRead++);
        length |= (b & 0x7F) << shift;
        if (b >= 0) {
          break;
        }
      }
      byte[] text = new byte[length];
      file.get(header + dictionaryRead, text);
      dictionaryRead += length;
      dictionary.add(new String(text, UTF_8));
    }
    return dictionary.get(number);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }

  private static void check(boolean right, String what) {
    if (!right) {
      throw new AssertionError("wrong: " + what);
    }
  }

  private final class Body {
    final ByteBuffer bytes;

    Body(ByteBuffer bytes) {
      this.bytes = bytes;
    }

    RingSpan span() {
      RingSpan span = new RingSpan();
      span.traceHigh = bytes.getLong();
      span.traceLow = bytes.getLong();
      span.id = bytes.getLong();
      span.parent = bytes.getLong();
      span.startNanos = bytes.getLong();
      span.durationNanos = bytes.getLong();
      span.kind = bytes.get();
      span.status = bytes.get();
      int flags = bytes.get();
      int links = bytes.get() & 0xFF;
      check(links <= 128, "number of links");
      int attributes = bytes.getInt();
      span.threshold = (flags & 1) != 0 ? bytes.getLong() : 0;
      span.randomness = (flags & 2) != 0 ? bytes.getLong() : -1;
      span.name = string();
      span.message = (flags & 4) != 0 ? string() : "";
      span.attributes = attributes(attributes);
      if ((flags & 8) != 0) {
        for (long rest = varint(); rest > 0; rest--) {
          String name = string();
          long afterStart = signed();
          span.events.add(
              new RingSpan.Event(name, afterStart, attributes(Math.toIntExact(varint()))));
        }
      }
      for (int rest = links; rest > 0; rest--) {
        span.links.add(
            String.format("%016x%016x/%016x", bytes.getLong(), bytes.getLong(), bytes.getLong()));
      }
      return span;
    }

    List<RingSpan.Attribute> attributes(int count) {
      List<RingSpan.Attribute> attributes = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        attributes.add(new RingSpan.Attribute(string(), value()));
      }
      return attributes;
    }

    private Object value() {
      byte type = bytes.get();
      switch (type) {
        case 0:
          return string();
        case 1:
          return false;
        case 2:
          return true;
        case 3:
          return signed();
        case 4:
          return bytes.getDouble();
        case 5:
          return "JSON " + string();
        case 6:
          return "base64 " + string();
        default:
          throw new AssertionError("type of value " + type);
      }
    }

    private String string() {
      long v = varint();
      if (v % 2 == 0) {
        return entry(Math.toIntExact(v / 2));
      }
      byte[] text = new byte[Math.toIntExact((v - 1) / 2)];
      bytes.get(text);
      return new String(text, UTF_8);
    }

    private long signed() {
      long v = varint();
      return v >>> 1 ^ -(v & 1);
    }

    private long varint() {
      long value = 0;
      for (int shift = 0; ; shift += 7) {
        byte b = bytes.get();
        value |= (b & 0x7FL) << shift;
        if (b >= 0) {
          return value;
        }
      }
    }
  }
}
