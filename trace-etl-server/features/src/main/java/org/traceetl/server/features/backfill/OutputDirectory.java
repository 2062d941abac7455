package org.traceetl.server.features.backfill;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.stream.Stream;
import org.traceetl.common.ConfigException;
import org.traceetl.common.FileReason;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The directory of one backfill: its plan, and its files. A file gets its name when it is complete
 * and on the disk, so a file that exists is complete after a crash, too. A lock keeps a second
 * process away. For one thread at a time.
 */
final class OutputDirectory implements Closeable {
  private static final String OPTION = "--output";
  private static final String PLAN = "plan.json";
  private static final String SENT = "sent.json";
  private static final String LOCK = ".lock";
  private static final String UNFINISHED = ".tmp";
  private static final JsonMapper JSON = new JsonMapper();

  private final Path directory;
  private final FileChannel lock;

  private OutputDirectory(Path directory, FileChannel lock) {
    this.directory = directory;
    this.lock = lock;
  }

  /**
   * Opens a directory, which is created if it is absent.
   *
   * @throws ConfigException if another process uses it, or it has files and no plan
   */
  static OutputDirectory open(Path directory) throws IOException {
    try {
      Files.createDirectories(directory);
      ConfigException.check(
          Files.exists(directory.resolve(PLAN)) || isEmpty(directory),
          OPTION,
          directory,
          "must be empty, or have the plan of this backfill");
      FileChannel lock =
          FileChannel.open(
              directory.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      if (!isLocked(lock)) {
        lock.close();
        throw new ConfigException(
            OPTION, directory, "is in use by another backfill; wait for its end");
      }
      return new OutputDirectory(directory, lock);
    } catch (IOException e) {
      throw failed(directory, e);
    }
  }

  private static boolean isLocked(FileChannel lock) throws IOException {
    try {
      return lock.tryLock() != null;
    } catch (OverlappingFileLockException e) {
      return false;
    }
  }

  private static IOException failed(Path directory, IOException e) {
    return new IOException(
        OPTION + " = " + directory + ": cannot be written (" + FileReason.of(e) + ")", e);
  }

  /** Returns the failure of a write to a file from {@link #create}, for the user. */
  IOException failed(IOException e) {
    return failed(directory, e);
  }

  /** Returns whether no file is finished. */
  private static boolean isEmpty(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .map(file -> file.getFileName().toString())
          .allMatch(name -> name.equals(LOCK) || name.endsWith(UNFINISHED));
    }
  }

  /**
   * Returns the plan; null without one.
   *
   * @throws ConfigException if it cannot be read, or is malformed
   */
  BackfillPlan plan() {
    return has(PLAN) ? read(PLAN, BackfillPlan.class) : null;
  }

  private <T> T read(String name, Class<T> type) {
    try {
      return JSON.readValue(Files.readAllBytes(directory.resolve(name)), type);
    } catch (IOException e) {
      throw new ConfigException(OPTION, directory, name + " " + FileReason.unreadable(e));
    } catch (JacksonException e) {
      throw new ConfigException(
          OPTION, directory, "has a malformed " + name + "; use an empty directory");
    }
  }

  void write(BackfillPlan plan) throws IOException {
    write(PLAN, plan);
  }

  private void write(String name, Object content) throws IOException {
    OutputStream out = create(name);
    try {
      out.write(JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(content));
    } catch (IOException e) {
      throw failed(e);
    }
    finish(name, out);
  }

  /** What a receiver has. */
  private record Sent(String receiver, long untilMillis) {}

  /**
   * Returns until when a receiver has all samples, milliseconds since 1970; 0 for never.
   *
   * @param receiver its id
   * @throws ConfigException if it cannot be read, or is malformed
   */
  long sentMillis(String receiver) {
    Sent sent = has(SENT) ? read(SENT, Sent.class) : null;
    return sent != null && receiver.equals(sent.receiver) ? sent.untilMillis : 0;
  }

  /** Marks until when a receiver has all samples. */
  void sent(String receiver, long untilMillis) throws IOException {
    write(SENT, new Sent(receiver, untilMillis));
  }

  /** Returns whether a file is finished. */
  boolean has(String name) {
    return Files.exists(directory.resolve(name));
  }

  /** Returns a file to write, which has another name until {@link #finish}. */
  OutputStream create(String name) throws IOException {
    try {
      return Channels.newOutputStream(
          FileChannel.open(
              directory.resolve(name + UNFINISHED),
              StandardOpenOption.CREATE,
              StandardOpenOption.TRUNCATE_EXISTING,
              StandardOpenOption.WRITE));
    } catch (IOException e) {
      throw failed(e);
    }
  }

  /** Closes a file from {@link #create}, and gives it its name once it is on the disk. */
  void finish(String name, OutputStream out) throws IOException {
    try {
      out.close();
      Path unfinished = directory.resolve(name + UNFINISHED);
      force(unfinished, StandardOpenOption.WRITE);
      Files.move(unfinished, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
      force(directory, StandardOpenOption.READ);
    } catch (IOException e) {
      throw failed(e);
    }
  }

  private static void force(Path path, StandardOpenOption access) throws IOException {
    try (FileChannel channel = FileChannel.open(path, access)) {
      channel.force(true);
    }
  }

  @Override
  public void close() throws IOException {
    lock.close();
  }
}
