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
 * Writes to the agent's FIFO on its own thread, because application threads must not block. Opening
 * a FIFO without a reader and writing to a full one block until a process reads.
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

  /** Requests a byte to be written soon; returns immediately. */
  void wake() {
    wanted = true;
    LockSupport.unpark(thread);
  }

  /** Closes without waiting for the thread, which may be blocked. */
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
   * Writes a byte. If the agent has ended, the byte is lost, but a new agent looks at all rings
   * when it starts. Reopens the FIFO only if it was replaced.
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
   * @throws IOException also if it is not a FIFO: another process may have created a file
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
        // No data was to be kept.
      }
    }
  }
}
