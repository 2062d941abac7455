package org.traceetl.agent.source.ring;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The directory in which applications create rings, locked for this agent, and the FIFO that wakes
 * the agent. Any process of the host may put files there: links are not followed, nothing is
 * trusted.
 */
final class RingFiles implements AutoCloseable {
  private static final String WAKE = "wake";
  private static final Pattern RING = Pattern.compile("\\d{1,20}-[0-9a-f]{16}\\.ring");
  private static final Pattern UNFINISHED = Pattern.compile("\\.\\d{1,20}-[0-9a-f]{16}\\.tmp");

  /** Most entries examined; a process that creates more hides other rings. */
  private static final int MOST_ENTRIES = 16_384;

  // Bits of st_mode.
  private static final int TYPE = 0170000;
  private static final int TYPE_DIRECTORY = 0040000;
  private static final int TYPE_REGULAR = 0100000;
  private static final int TYPE_FIFO = 0010000;
  private static final int PERMISSIONS = 07777;

  /** Status of a file; of a link, not of its target. */
  record Status(int mode, int user, int links, long device, long number) {
    static Status of(Path path) throws IOException {
      Map<String, Object> all =
          Files.readAttributes(path, "unix:mode,uid,nlink,dev,ino", LinkOption.NOFOLLOW_LINKS);
      return new Status(
          (int) all.get("mode"),
          (int) all.get("uid"),
          (int) all.get("nlink"),
          (long) all.get("dev"),
          (long) all.get("ino"));
    }

    boolean is(int type) {
      return (mode & TYPE) == type;
    }

    boolean isSameFile(Status other) {
      return device == other.device && number == other.number;
    }
  }

  /**
   * The names in the directory.
   *
   * @param all false if there were too many to examine
   */
  record Found(List<String> rings, List<String> unfinished, boolean all) {}

  /** An open ring file. */
  record Opened(FileChannel channel, Status status) {}

  private final Path path;
  private final Status status;
  private final int self;
  private final int wake;
  private FileTime listed;

  private RingFiles(Path path, Status status, int self, int wake) {
    this.path = path;
    this.status = status;
    this.self = self;
    this.wake = wake;
  }

  /**
   * Creates the directory if it is missing, checks it and locks it.
   *
   * @param group whose members may create rings; empty: everyone
   * @throws IOException if it is not usable; the message says why and what to do
   */
  static RingFiles open(Path path, Optional<String> group) throws IOException {
    int user = Posix.effectiveUser();
    try {
      Files.createDirectory(path);
    } catch (FileAlreadyExistsException e) {
      // Checked below, whatever it is.
    }
    Status status = Status.of(path);
    if (!status.is(TYPE_DIRECTORY)) {
      throw new IOException(path + " is not a directory");
    }
    if (status.user() != user) {
      // Only the owner can list the directory and remove files of other users.
      throw new IOException(
          path
              + " belongs to user "
              + status.user()
              + " and the agent is user "
              + user
              + ": change its owner to the agent's user, or remove it so that the agent creates"
              + " it");
    }
    permit(path, group, status, group.isPresent() ? 03730 : 03733);
    int self = Posix.open(path, Posix.O_RDONLY | Posix.O_CLOEXEC);
    try {
      if (!Posix.lock(self)) {
        throw new IOException(path + " is used by another running agent");
      }
      int wake = openWake(path.resolve(WAKE), group, user);
      return new RingFiles(path, Status.of(path), self, wake);
    } catch (IOException | RuntimeException e) {
      Posix.close(self);
      throw e;
    }
  }

  /** Opens the FIFO; keeps an existing one because writers may have it open. */
  private static int openWake(Path path, Optional<String> group, int user) throws IOException {
    boolean there = false;
    try {
      Status status = Status.of(path);
      there = status.is(TYPE_FIFO) && status.user() == user;
      if (!there) {
        Files.delete(path);
      }
    } catch (NoSuchFileException e) {
      // Normal at the first start.
    }
    if (!there) {
      Posix.makeFifo(path);
    }
    permit(path, group, Status.of(path), group.isPresent() ? 0620 : 0622);
    // Opening for writing as well does not block, and reads never reach the end.
    return Posix.open(path, Posix.O_RDWR | Posix.O_NONBLOCK | Posix.O_CLOEXEC);
  }

  private static void permit(Path path, Optional<String> group, Status status, int permissions)
      throws IOException {
    if (group.isPresent()) {
      Files.getFileAttributeView(path, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
          .setGroup(group(path, group.get()));
    }
    if (group.isPresent() || (status.mode() & PERMISSIONS) != permissions) {
      Files.setAttribute(path, "unix:mode", permissions);
    }
  }

  private static GroupPrincipal group(Path path, String name) throws IOException {
    try {
      return path.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByGroupName(name);
    } catch (UserPrincipalNotFoundException e) {
      throw new IOException(
          "ring.group = "
              + name
              + ": this group does not exist on the host or in the agent's container",
          e);
    }
  }

  /** Returns whether the path still leads to this directory. */
  boolean isInPlace() {
    try {
      return Status.of(path).isSameFile(status);
    } catch (IOException e) {
      return false;
    }
  }

  /** Returns whether the modification time has changed since {@link #list}. */
  boolean hasChanged() throws IOException {
    return !Files.getLastModifiedTime(path).equals(listed);
  }

  Found list() throws IOException {
    listed = Files.getLastModifiedTime(path);
    List<String> rings = new ArrayList<>();
    List<String> unfinished = new ArrayList<>();
    int seen = 0;
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
      for (Path entry : entries) {
        if (++seen > MOST_ENTRIES) {
          break;
        }
        String name = entry.getFileName().toString();
        if (RING.matcher(name).matches()) {
          rings.add(name);
        } else if (UNFINISHED.matcher(name).matches()) {
          unfinished.add(name);
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    return new Found(rings, unfinished, seen <= MOST_ENTRIES);
  }

  /**
   * Opens a ring for reading and writing.
   *
   * @throws IOException if it cannot be opened, or is not a regular file with exactly one name
   */
  Opened openRing(String name) throws IOException {
    Path ring = path.resolve(name);
    Status before = plain(ring);
    FileChannel channel = open(ring);
    try {
      Status status = plain(ring);
      // A user who replaces the file cannot put it back, because it belongs to another user.
      if (!status.isSameFile(before)) {
        throw new IOException("the file was replaced while the agent opened it");
      }
      return new Opened(channel, status);
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  private static Status plain(Path ring) throws IOException {
    Status status = Status.of(ring);
    if (!status.is(TYPE_REGULAR) || status.links() != 1) {
      throw new IOException("it is not a regular file with exactly one link");
    }
    return status;
  }

  /** Opens for reading and writing in any case: even a FIFO then opens without blocking. */
  private static FileChannel open(Path file) throws IOException {
    return FileChannel.open(
        file, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
  }

  /**
   * Returns whether the file has no holes: reading a hole allocates memory, charged to the reader.
   *
   * @param status of the expected file
   * @param bytes its length
   */
  boolean isWhole(String name, Status status, long bytes) throws IOException {
    int descriptor =
        Posix.open(path.resolve(name), Posix.O_RDONLY | Posix.O_NONBLOCK | Posix.O_CLOEXEC);
    try {
      Map<String, Object> opened =
          Files.readAttributes(Path.of("/proc/self/fd/" + descriptor), "unix:dev,ino");
      return status.device() == (long) opened.get("dev")
          && status.number() == (long) opened.get("ino")
          && Posix.firstHole(descriptor) == bytes;
    } finally {
      Posix.close(descriptor);
    }
  }

  /**
   * Takes the lock that a writer holds while it lives.
   *
   * @return null while a writer holds it
   */
  static FileLock lockOfWriter(FileChannel ring) throws IOException {
    try {
      return ring.tryLock(0, 1, false);
    } catch (OverlappingFileLockException e) {
      // A writer in this process holds the lock.
      return null;
    }
  }

  /**
   * Removes a file that has no writer.
   *
   * @return false if it has one
   */
  boolean removeIfDead(String name) throws IOException {
    Path file = path.resolve(name);
    try {
      if (!Status.of(file).is(TYPE_REGULAR)) {
        Files.delete(file);
        return true;
      }
      try (FileChannel channel = open(file)) {
        if (lockOfWriter(channel) == null) {
          return false;
        }
        Files.delete(file);
        return true;
      }
    } catch (NoSuchFileException e) {
      return true;
    }
  }

  /** Removes a ring, unless its name now leads to another file. */
  void remove(String name, Status status) throws IOException {
    Path file = path.resolve(name);
    try {
      if (Status.of(file).isSameFile(status)) {
        Files.delete(file);
      }
    } catch (NoSuchFileException e) {
      // The file is already gone.
    }
  }

  /** Returns the time of the last modification, milliseconds since 1970; 0 if the file is gone. */
  long writtenMillis(String name) {
    try {
      return Files.getLastModifiedTime(path.resolve(name), LinkOption.NOFOLLOW_LINKS).toMillis();
    } catch (IOException e) {
      return 0;
    }
  }

  /** Waits until a writer wakes the agent; returns true if one did. */
  boolean awaitWake(int mostMillis) throws IOException {
    boolean woken = Posix.awaitReadable(wake, mostMillis);
    if (woken) {
      Posix.discard(wake);
    }
    return woken;
  }

  /** Ends a wait in another thread. */
  void wake() throws IOException {
    Posix.writeByte(wake);
  }

  /** Closes the directory. Files remain: applications keep writing until the next start. */
  @Override
  public void close() {
    Posix.close(wake);
    Posix.close(self);
  }
}
