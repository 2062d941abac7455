package org.traceetl.agent.state;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
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

  private StateDirectory(Path directory, DirectoryLock lock) {
    this.directory = directory;
    this.lock = lock;
  }

  /**
   * Opens and locks the directory; creates it if it is missing.
   *
   * @throws IOException if it cannot be written, or another agent uses it
   */
  public static StateDirectory open(Path directory) throws IOException {
    try {
      Files.createDirectories(directory);
    } catch (FileSystemException e) {
      throw unusable(directory, "cannot be created", e);
    }
    try {
      return new StateDirectory(directory, DirectoryLock.take(directory, "state-directory"));
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
      return Optional.of(Files.readAllBytes(directory.resolve(name)));
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
      if (!Files.deleteIfExists(directory.resolve(RESERVE))) {
        throw e;
      }
      writeWhole(temporary, bytes);
    }
    Files.move(
        temporary,
        directory.resolve(name),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
    // The rename is durable once the directory is on disk.
    try (FileChannel self = FileChannel.open(directory, StandardOpenOption.READ)) {
      self.force(true);
    }
    makeReserve();
  }

  /** Writes a new file, because after a failed force a later force of that file proves nothing. */
  private static void writeWhole(Path path, byte[] bytes) throws IOException {
    Files.deleteIfExists(path);
    try (FileChannel file =
        FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      ByteBuffer buffer = ByteBuffer.wrap(bytes);
      while (buffer.hasRemaining()) {
        file.write(buffer);
      }
      file.force(true);
    }
  }

  private void makeReserve() {
    Path reserve = directory.resolve(RESERVE);
    if (!Files.exists(reserve)) {
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
