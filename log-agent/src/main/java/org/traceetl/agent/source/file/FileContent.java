package org.traceetl.agent.source.file;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/** The readable content of a trace log. */
interface FileContent extends Closeable {
  /** Returns the current size, bytes; while the end is unknown, one more than the known bytes. */
  long size() throws IOException;

  /**
   * Reads from a position.
   *
   * @return bytes read, 0 if there are none yet, -1 at the end
   */
  int read(ByteBuffer into, long position) throws IOException;

  /** Returns whether no program writes to the content any more. */
  boolean isFinal();

  /** An uncompressed file. */
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
