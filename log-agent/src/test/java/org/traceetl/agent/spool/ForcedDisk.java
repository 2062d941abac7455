package org.traceetl.agent.spool;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.traceetl.agent.disk.Disk;

/** The disk of this machine, except that a test determines how its files are forced. */
class ForcedDisk implements Disk {
  /** Forces a file. */
  interface Force {
    void force(OpenFile file) throws IOException;
  }

  /** An open file with its own force. */
  record ForcedFile(OpenFile file, Force forcing) implements OpenFile {
    @Override
    public long size() throws IOException {
      return file.size();
    }

    @Override
    public int read(ByteBuffer into, long at) throws IOException {
      return file.read(into, at);
    }

    @Override
    public int write(ByteBuffer from, long at) throws IOException {
      return file.write(from, at);
    }

    @Override
    public void truncate(long size) throws IOException {
      file.truncate(size);
    }

    @Override
    public void force() throws IOException {
      forcing.force(file);
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }

  private final Force force;

  ForcedDisk(Force force) {
    this.force = force;
  }

  @Override
  public void createDirectories(Path directory) throws IOException {
    SYSTEM.createDirectories(directory);
  }

  @Override
  public Optional<Closeable> lock(Path path) throws IOException {
    return SYSTEM.lock(path);
  }

  @Override
  public byte[] read(Path path, int most) throws IOException {
    return SYSTEM.read(path, most);
  }

  @Override
  public OpenFile create(Path path) throws IOException {
    return new ForcedFile(SYSTEM.create(path), force);
  }

  @Override
  public OpenFile open(Path path) throws IOException {
    return new ForcedFile(SYSTEM.open(path), force);
  }

  @Override
  public List<Path> list(Path directory, String suffix) throws IOException {
    return SYSTEM.list(directory, suffix);
  }

  @Override
  public boolean exists(Path path) {
    return SYSTEM.exists(path);
  }

  @Override
  public void move(Path from, Path to) throws IOException {
    SYSTEM.move(from, to);
  }

  @Override
  public void delete(Path path) throws IOException {
    SYSTEM.delete(path);
  }

  @Override
  public void forceDirectory(Path directory) throws IOException {
    SYSTEM.forceDirectory(directory);
  }

  @Override
  public long usableBytes(Path directory) {
    return SYSTEM.usableBytes(directory);
  }
}
