package org.traceetl.agent.state;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * A directory of small files, each written whole or not at all. One agent at a time: two with one
 * identity would give different batches the same name.
 */
public final class StateDirectory implements AutoCloseable {
  private final Path directory;
  private final DirectoryLock lock;

  private StateDirectory(Path directory, DirectoryLock lock) {
    this.directory = directory;
    this.lock = lock;
  }

  /**
   * Opens the directory, makes it if it is missing, and locks it.
   *
   * @throws IOException when it cannot be written, or another agent has it
   */
  public static StateDirectory open(Path directory) throws IOException {
    Files.createDirectories(directory);
    return new StateDirectory(directory, DirectoryLock.take(directory, "state-directory"));
  }

  /** The directory. */
  public Path path() {
    return directory;
  }

  /** The file's bytes; empty when there is no such file. */
  public Optional<byte[]> read(String name) throws IOException {
    try {
      return Optional.of(Files.readAllBytes(directory.resolve(name)));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  /** Replaces the file; after a crash it holds either the old bytes or the new. */
  public void write(String name, byte[] bytes) throws IOException {
    Path temporary = directory.resolve(name + ".new");
    try (FileChannel file =
        FileChannel.open(
            temporary,
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING)) {
      ByteBuffer buffer = ByteBuffer.wrap(bytes);
      while (buffer.hasRemaining()) {
        file.write(buffer);
      }
      file.force(true);
    }
    Files.move(
        temporary,
        directory.resolve(name),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
    // The rename itself is only safe once the directory is on disk.
    try (FileChannel self = FileChannel.open(directory, StandardOpenOption.READ)) {
      self.force(true);
    }
  }

  @Override
  public void close() throws IOException {
    lock.close();
  }
}
