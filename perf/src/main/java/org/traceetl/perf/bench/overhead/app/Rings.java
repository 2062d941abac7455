package org.traceetl.perf.bench.overhead.app;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.traceetl.proto.ring.RingLayout;

/** The headers of this process' rings, which show how full they are. */
final class Rings implements Outlet {
  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** More than a span of 12 attributes takes. */
  private static final int MOST_SPAN_BYTES = 1_024;

  private final List<ByteBuffer> headers = new ArrayList<>();

  /**
   * Stay open: if a process closes any descriptor of a file, the kernel drops the record lock that
   * its writer has on it, and the agent takes the writer for dead.
   */
  private final List<FileChannel> channels = new ArrayList<>();

  /** Opens the rings that exist in a directory. */
  Rings(Path directory) throws IOException {
    String names = ProcessHandle.current().pid() + "-[0-9a-f]+\\.ring";
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        if (file.getFileName().toString().matches(names)) {
          FileChannel channel = FileChannel.open(file);
          channels.add(channel);
          headers.add(channel.map(MapMode.READ_ONLY, 0, RingLayout.RESOURCE_OFFSET));
        }
      }
    }
  }

  int count() {
    return channels.size();
  }

  @Override
  public void ended(int application, int spans) {}

  @Override
  public boolean hasRoom(int spans) {
    for (ByteBuffer header : headers) {
      // The head only grows: read first, it makes a ring look fuller than it is, never emptier.
      long head = value(header, RingLayout.HEAD_OFFSET);
      long unread = value(header, RingLayout.TAIL_OFFSET) - head;
      if (unread + (long) spans * MOST_SPAN_BYTES > value(header, RingLayout.RING_BYTES_OFFSET)) {
        return false;
      }
    }
    return true;
  }

  /** Does nothing: an ended span is in its ring. */
  @Override
  public void flush() {}

  @Override
  public long dropped() {
    return headers.stream()
        .mapToLong(header ->
            value(header, RingLayout.DROPPED_RING_FULL_OFFSET)
                + value(header, RingLayout.DROPPED_TOO_LARGE_OFFSET))
        .sum();
  }

  @Override
  public long failed() {
    return 0;
  }

  private static long value(ByteBuffer header, int offset) {
    return (long) LONG.getAcquire(header, offset);
  }
}
