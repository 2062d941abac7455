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
 * The directory that applications make their rings in, kept for this agent, with the FIFO that they
 * wake it by. Anyone of the host may put anything there, so nothing in it is followed or believed.
 */
final class RingFiles implements AutoCloseable {
  private static final String WAKE = "wake";
  private static final Pattern RING = Pattern.compile("\\d{1,20}-[0-9a-f]{16}\\.ring");
  private static final Pattern UNFINISHED = Pattern.compile("\\.\\d{1,20}-[0-9a-f]{16}\\.tmp");

  /** Above it the rest is not looked at: one who makes more keeps others from being found. */
  private static final int MOST_ENTRIES = 16_384;

  // Of st_mode.
  private static final int TYPE = 0170000;
  private static final int TYPE_DIRECTORY = 0040000;
  private static final int TYPE_REGULAR = 0100000;
  private static final int TYPE_FIFO = 0010000;
  private static final int PERMISSIONS = 07777;

  /** What the file system says of a file itself, links not followed. */
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
   * The names that are there.
   *
   * @param all false when there were too many to look at
   */
  record Found(List<String> rings, List<String> unfinished, boolean all) {}

  /** A ring's file. */
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
   * Makes the directory if it is missing, checks it and takes it.
   *
   * @param group of those who may make rings in it; empty: all may
   * @throws IOException when it cannot be had: what is wrong, and what to do
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
      // Who is no owner could neither list it nor remove others' files.
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

  /** One that is there already is kept: writers may have it open. */
  private static int openWake(Path path, Optional<String> group, int user) throws IOException {
    boolean there = false;
    try {
      Status status = Status.of(path);
      there = status.is(TYPE_FIFO) && status.user() == user;
      if (!there) {
        Files.delete(path);
      }
    } catch (NoSuchFileException e) {
      // As at the first start.
    }
    if (!there) {
      Posix.makeFifo(path);
    }
    permit(path, group, Status.of(path), group.isPresent() ? 0620 : 0622);
    // For writing as well: then opening it does not wait, and it has no end.
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

  Path path() {
    return path;
  }

  /** Whether its path still leads to it. */
  boolean isInPlace() {
    try {
      return Status.of(path).isSameFile(status);
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Whether files were made or removed in it since {@link #list} was called, as far as it shows.
   */
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
   * @throws IOException when it cannot be, or is no plain file with this one name
   */
  Opened openRing(String name) throws IOException {
    Path ring = path.resolve(name);
    Status before = plain(ring);
    FileChannel channel = open(ring);
    try {
      Status status = plain(ring);
      // Who took its place by something else could not put it back: that would not be theirs.
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

  /** For both, also where only one is needed: then not even a FIFO can make it wait. */
  private static FileChannel open(Path file) throws IOException {
    return FileChannel.open(
        file, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
  }

  /**
   * Whether all of a ring has memory: reading what has none takes it, on the reader's account.
   *
   * @param status of the file that is meant
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
   * The lock that a writer holds while it lives.
   *
   * @return null while one does
   */
  static FileLock lockOfWriter(FileChannel ring) throws IOException {
    try {
      return ring.tryLock(0, 1, false);
    } catch (OverlappingFileLockException e) {
      // A writer in this very process.
      return null;
    }
  }

  /**
   * Removes a file that nobody writes.
   *
   * @return false if it is still there
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

  /** Removes a ring, unless its name leads to another file by now. */
  void remove(String name, Status status) throws IOException {
    Path file = path.resolve(name);
    try {
      if (Status.of(file).isSameFile(status)) {
        Files.delete(file);
      }
    } catch (NoSuchFileException e) {
      // As it was to be.
    }
  }

  /** When it was made or last written, milliseconds since 1970; 0 if it is gone. */
  long writtenMillis(String name) {
    try {
      return Files.getLastModifiedTime(path.resolve(name), LinkOption.NOFOLLOW_LINKS).toMillis();
    } catch (IOException e) {
      return 0;
    }
  }

  /** Waits until a writer wakes the agent; true if one did. */
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

  /** Leaves all in its place: applications go on, and the next start reads what they wrote. */
  @Override
  public void close() {
    Posix.close(wake);
    Posix.close(self);
  }
}
