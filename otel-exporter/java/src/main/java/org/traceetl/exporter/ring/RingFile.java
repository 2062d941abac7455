package org.traceetl.exporter.ring;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.opentelemetry.api.common.Attributes;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Set;

/**
 * A ring's file, completed before it gets its final name, and locked until it is closed. The kernel
 * drops the lock when the process closes any descriptor of the file, so no other code here may open
 * it.
 */
final class RingFile implements Closeable {
  private static final Set<PosixFilePermission> OWN = PosixFilePermissions.fromString("rw-------");
  private static final Set<PosixFilePermission> WITH_THE_AGENT =
      PosixFilePermissions.fromString("rw-rw----");
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
  private static final int BOOT_ID_BYTES = 16;
  private static final int CHUNK_BYTES = 64 << 10;

  private final Path path;
  private final FileChannel channel;
  private final MappedByteBuffer memory;
  private final int headerBytes;

  private RingFile(Path path, FileChannel channel, MappedByteBuffer memory, int headerBytes) {
    this.path = path;
    this.channel = channel;
    this.memory = memory;
    this.headerBytes = headerBytes;
  }

  /**
   * @throws IOException if the directory is missing, may not be written to, or is full
   */
  static RingFile create(Path directory, RingSize size, Attributes resource) throws IOException {
    ByteBuffer header = header(size, resource);
    String name =
        ProcessHandle.current().pid() + "-" + String.format("%016x", new SecureRandom().nextLong());
    Path made = directory.resolve("." + name + ".tmp");
    Path path = directory.resolve(name + RingFormat.SUFFIX);
    FileChannel channel =
        FileChannel.open(
            made,
            Set.of(
                StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(OWN));
    boolean complete = false;
    try {
      if (channel.tryLock(0, 1, false) == null) {
        throw new IOException(made + " is locked by another process");
      }
      // Not set at creation, because the process's umask would remove the group's permissions.
      Files.setPosixFilePermissions(made, WITH_THE_AGENT);
      int headerBytes = header.limit();
      int fileBytes = headerBytes + size.dictionaryBytes + size.ringBytes;
      write(channel, header);
      writeZeros(channel, fileBytes - headerBytes);
      MappedByteBuffer memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, fileBytes);
      memory.load();
      Files.move(made, path, StandardCopyOption.ATOMIC_MOVE);
      complete = true;
      return new RingFile(path, channel, memory, headerBytes);
    } finally {
      if (!complete) {
        try {
          Files.deleteIfExists(made);
        } finally {
          channel.close();
        }
      }
    }
  }

  Path path() {
    return path;
  }

  MappedByteBuffer memory() {
    return memory;
  }

  int headerBytes() {
    return headerBytes;
  }

  /** Drops the lock. The memory remains usable. */
  @Override
  public void close() throws IOException {
    channel.close();
  }

  private static ByteBuffer header(RingSize size, Attributes resource) {
    SpanEncoder encoder = new SpanEncoder(null, RingFormat.MAX_HEADER_BYTES - RingFormat.RESOURCE);
    int resourceBytes = encoder.encodeWhatFits(resource);
    int pages = (RingFormat.RESOURCE + resourceBytes + RingFormat.PAGE - 1) / RingFormat.PAGE;
    ByteBuffer header = ByteBuffer.allocate(pages * RingFormat.PAGE).order(ByteOrder.LITTLE_ENDIAN);
    header.put(RingFormat.MAGIC).putInt(RingFormat.VERSION);
    header.putInt(RingFormat.HEADER_BYTES, header.capacity());
    header.putLong(RingFormat.DICTIONARY_BYTES, size.dictionaryBytes);
    header.putLong(RingFormat.RING_BYTES, size.ringBytes);
    ProcessHandle process = ProcessHandle.current();
    header.putLong(RingFormat.PROCESS_ID, process.pid());
    header.putLong(
        RingFormat.PROCESS_START,
        process.info().startInstant().map(Instant::toEpochMilli).orElse(0L));
    header.position(RingFormat.BOOT_ID);
    header.put(bootId());
    header.putInt(RingFormat.RESOURCE_BYTES, resourceBytes);
    header.putInt(RingFormat.RESOURCE_ATTRIBUTES, encoder.attributes());
    header.position(RingFormat.RESOURCE);
    header.put(encoder.bytes(), 0, resourceBytes);
    header.rewind();
    return header;
  }

  /** Returns the host's boot ID; zeros if unknown. */
  private static byte[] bootId() {
    byte[] id = new byte[BOOT_ID_BYTES];
    try {
      byte[] digits =
          new String(Files.readAllBytes(BOOT_ID), US_ASCII)
              .trim()
              .replace("-", "")
              .getBytes(US_ASCII);
      if (digits.length == 2 * BOOT_ID_BYTES) {
        ByteBuffer.wrap(id)
            .putLong(Hex.parse(digits, 0))
            .putLong(Hex.parse(digits, Hex.DIGITS_OF_LONG));
      }
    } catch (IOException | SecurityException e) {
      return new byte[BOOT_ID_BYTES];
    }
    return id;
  }

  private static void writeZeros(FileChannel channel, int count) throws IOException {
    ByteBuffer zeros = ByteBuffer.allocateDirect(CHUNK_BYTES);
    for (int rest = count; rest > 0; rest -= CHUNK_BYTES) {
      zeros.clear().limit(Math.min(rest, CHUNK_BYTES));
      write(channel, zeros);
    }
  }

  private static void write(FileChannel channel, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }
}
