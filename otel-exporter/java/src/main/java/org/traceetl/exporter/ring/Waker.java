package org.traceetl.exporter.ring;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * Writes into the agent's FIFO by a thread of its own, as an application's thread must not wait:
 * opening a FIFO that nobody reads, and writing into one that is full, last until somebody reads.
 */
final class Waker implements Closeable {
  private final Path fifo;
  private final Thread thread;
  private volatile boolean wanted;
  private volatile boolean closed;

  /** Owned by the thread. */
  private WritableByteChannel channel;

  private Object opened;

  Waker(Path fifo) {
    this.fifo = fifo;
    thread = new Thread(this::run, "trace-etl-wake");
    thread.setDaemon(true);
    thread.setContextClassLoader(null);
    thread.start();
  }

  /** Sees to it that a byte is written soon; returns at once. */
  void wake() {
    wanted = true;
    LockSupport.unpark(thread);
  }

  /** Does not wait for the thread, which may be waiting for a reader itself. */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }

  private void run() {
    while (!closed) {
      if (wanted) {
        wanted = false;
        write();
      } else {
        LockSupport.park(this);
      }
    }
    closeChannel();
  }

  /**
   * An agent that ended takes no byte, and the next one looks at all rings when it starts; so it is
   * left at that, unless the FIFO is another one than the one that was open.
   */
  private void write() {
    try {
      if (channel != null && !identity().equals(opened)) {
        closeChannel();
      }
      if (channel == null) {
        Object identity = identity();
        channel = Files.newByteChannel(fifo, Set.of(StandardOpenOption.WRITE, NOFOLLOW_LINKS));
        opened = identity;
      }
      channel.write(ByteBuffer.allocate(1));
    } catch (IOException | UnsupportedOperationException | SecurityException e) {
      closeChannel();
    }
  }

  /**
   * @throws IOException also if it is no FIFO: anybody may have put a file there before the agent
   */
  private Object identity() throws IOException {
    BasicFileAttributes attributes =
        Files.readAttributes(fifo, BasicFileAttributes.class, NOFOLLOW_LINKS);
    Object key = attributes.fileKey();
    if (!attributes.isOther() || key == null) {
      throw new IOException(fifo + " is no FIFO");
    }
    return key;
  }

  private void closeChannel() {
    WritableByteChannel open = channel;
    channel = null;
    if (open != null) {
      try {
        open.close();
      } catch (IOException e) {
        // Nothing was to be kept in it.
      }
    }
  }
}
