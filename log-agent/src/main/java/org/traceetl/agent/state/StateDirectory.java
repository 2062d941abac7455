package org.traceetl.agent.state;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import org.traceetl.agent.disk.Disk;
import org.traceetl.common.FileReason;

/**
 * A directory of small files that are replaced atomically. One agent at a time may use it, because
 * two with one identity would give different batches the same name.
 */
public final class StateDirectory implements AutoCloseable {
  /** Deleted if the disk is full, so that the agent can start and send the batches that fill it. */
  private static final String RESERVE = "reserve";

  private static final int RESERVE_BYTES = 64 * 1024;

  private final Path directory;
  private final DirectoryLock lock;
  private final Disk disk;

  private StateDirectory(Path directory, DirectoryLock lock, Disk disk) {
    this.directory = directory;
    this.lock = lock;
    this.disk = disk;
  }

  /**
   * Opens and locks the directory; creates it if it is missing.
   *
   * @throws IOException if it cannot be written, or another agent uses it
   */
  public static StateDirectory open(Path directory, Disk disk) throws IOException {
    try {
      disk.createDirectories(directory);
    } catch (FileSystemException e) {
      throw unusable(directory, "cannot be created", e);
    }
    try {
      return new StateDirectory(
          directory, DirectoryLock.take(directory, "state-directory", disk), disk);
    } catch (FileSystemException e) {
      throw unusable(directory, "cannot be written", e);
    }
  }

  private static IOException unusable(Path directory, String what, FileSystemException e) {
    return new IOException(
        "state-directory = "
            + directory
            + ": "
            + what
            + " ("
            + FileReason.of(e)
            + "): let the agent's user write there, or configure another",
        e);
  }

  public Path path() {
    return directory;
  }

  /** Returns the file's bytes; empty if the file does not exist. */
  public Optional<byte[]> read(String name) throws IOException {
    try {
      return Optional.of(disk.read(directory.resolve(name), Integer.MAX_VALUE));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  /** Replaces the file; after a crash it has either the old or the new bytes. */
  public void write(String name, byte[] bytes) throws IOException {
    Path temporary = directory.resolve(name + ".new");
    try {
      writeWhole(temporary, bytes);
    } catch (IOException e) {
      if (!disk.exists(directory.resolve(RESERVE))) {
        throw e;
      }
      disk.delete(directory.resolve(RESERVE));
      writeWhole(temporary, bytes);
    }
    disk.move(temporary, directory.resolve(name));
    // The rename is durable once the directory is on disk.
    disk.forceDirectory(directory);
    makeReserve();
  }

  /** Writes a new file, because after a failed force a later force of that file proves nothing. */
  private void writeWhole(Path path, byte[] bytes) throws IOException {
    try (Disk.OpenFile file = disk.create(path)) {
      ByteBuffer buffer = ByteBuffer.wrap(bytes);
      while (buffer.hasRemaining()) {
        file.write(buffer, buffer.position());
      }
      file.force();
    }
  }

  private void makeReserve() {
    Path reserve = directory.resolve(RESERVE);
    if (!disk.exists(reserve)) {
      try {
        writeWhole(reserve, new byte[RESERVE_BYTES]);
      } catch (IOException e) {
        // The disk is full; an incomplete reserve is useful too.
      }
    }
  }

  @Override
  public void close() throws IOException {
    lock.close();
  }
}
