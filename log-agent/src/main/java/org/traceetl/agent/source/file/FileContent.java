package org.traceetl.agent.source.file;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/** What is read of a trace log. */
interface FileContent extends Closeable {
  /** Bytes there are now; one more than is known of while the end is not. */
  long size() throws IOException;

  /**
   * Reads from a position on.
   *
   * @return bytes read, 0 when there are none yet, -1 at the end
   */
  int read(ByteBuffer into, long position) throws IOException;

  /** True if nobody writes to it any more. */
  boolean isFinal();

  /** A file as it is. */
  record Plain(FileChannel channel) implements FileContent {
    @Override
    public long size() throws IOException {
      return channel.size();
    }

    @Override
    public int read(ByteBuffer into, long position) throws IOException {
      return channel.read(into, position);
    }

    @Override
    public boolean isFinal() {
      return false;
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }
}
