package org.traceetl.agent.disk;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The disk under the agent's state, spool and rules. Tests and simulations replace it. Safe for any
 * thread.
 */
public interface Disk {
  /** The disk of this machine. */
  Disk SYSTEM = new SystemDisk();

  /** An open file. One thread writes; any thread may read and force. */
  interface OpenFile extends Closeable {
    long size() throws IOException;

    /** Reads at most the remaining bytes; returns how many, or -1 at the end of the file. */
    int read(ByteBuffer into, long at) throws IOException;

    /** Writes at most the remaining bytes; returns how many. */
    int write(ByteBuffer from, long at) throws IOException;

    void truncate(long size) throws IOException;

    /** Forces the content to the disk, and the metadata needed to read it. */
    void force() throws IOException;
  }

  /** Creates a directory and its parents, if they are missing. */
  void createDirectories(Path directory) throws IOException;

  /**
   * Takes the lock of a file, which is created if it is missing. The lock ends when it is closed or
   * the process ends.
   *
   * @return empty if another agent has the lock
   */
  Optional<Closeable> lock(Path path) throws IOException;

  /**
   * Returns the file's bytes, at most a number of them.
   *
   * @throws java.nio.file.NoSuchFileException if it does not exist
   */
  byte[] read(Path path, int most) throws IOException;

  /** Creates an empty file; replaces an existing one. */
  OpenFile create(Path path) throws IOException;

  /** Opens an existing file. */
  OpenFile open(Path path) throws IOException;

  /** Returns the directory's files whose names have the suffix, in any order. */
  List<Path> list(Path directory, String suffix) throws IOException;

  boolean exists(Path path);

  /** Renames a file atomically; replaces an existing one. */
  void move(Path from, Path to) throws IOException;

  /** Deletes a file, if it exists. */
  void delete(Path path) throws IOException;

  /** Forces the names of a directory's files to the disk. */
  void forceDirectory(Path directory) throws IOException;

  /** Returns the bytes that can still be written. */
  long usableBytes(Path directory);
}
