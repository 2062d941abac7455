package org.traceetl.agent.disk;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The disk of this machine. */
final class SystemDisk implements Disk {
  private record ChannelFile(FileChannel channel) implements OpenFile {
    @Override
    public long size() throws IOException {
      return channel.size();
    }

    @Override
    public int read(ByteBuffer into, long at) throws IOException {
      return channel.read(into, at);
    }

    @Override
    public int write(ByteBuffer from, long at) throws IOException {
      return channel.write(from, at);
    }

    @Override
    public void truncate(long size) throws IOException {
      channel.truncate(size);
    }

    @Override
    public void force() throws IOException {
      channel.force(false);
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }

  @Override
  public void createDirectories(Path directory) throws IOException {
    Files.createDirectories(directory);
  }

  @Override
  public Optional<Closeable> lock(Path path) throws IOException {
    FileChannel file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    if (isLocked(file)) {
      return Optional.of(file);
    }
    file.close();
    return Optional.empty();
  }

  private static boolean isLocked(FileChannel file) throws IOException {
    try {
      FileLock lock = file.tryLock();
      return lock != null;
    } catch (OverlappingFileLockException e) {
      return false;
    }
  }

  @Override
  public byte[] read(Path path, int most) throws IOException {
    try (InputStream in = Files.newInputStream(path)) {
      return in.readNBytes(most);
    }
  }

  @Override
  public OpenFile create(Path path) throws IOException {
    // A new file, because after a failed force a later force of the old one proves nothing.
    delete(path);
    return new ChannelFile(
        FileChannel.open(
            path,
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE));
  }

  @Override
  public OpenFile open(Path path) throws IOException {
    return new ChannelFile(
        FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE));
  }

  @Override
  public List<Path> list(Path directory, String suffix) throws IOException {
    List<Path> paths = new ArrayList<>();
    try (DirectoryStream<Path> found = Files.newDirectoryStream(directory, "*" + suffix)) {
      found.forEach(paths::add);
    }
    return paths;
  }

  @Override
  public boolean exists(Path path) {
    return Files.exists(path);
  }

  @Override
  public void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
  }

  @Override
  public void delete(Path path) throws IOException {
    Files.deleteIfExists(path);
  }

  @Override
  public void forceDirectory(Path directory) throws IOException {
    try (FileChannel self = FileChannel.open(directory, StandardOpenOption.READ)) {
      self.force(true);
    }
  }

  @Override
  public long usableBytes(Path directory) {
    return directory.toFile().getUsableSpace();
  }
}
