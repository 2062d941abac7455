package org.traceetl.perf.simulate.agent;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.traceetl.agent.disk.Disk;
import org.traceetl.perf.simulate.world.Process;

/** A simulated disk as a process uses it. The process may be killed at each operation. */
final class ProcessDisk implements Disk {
  private final SimulatedDisk disk;
  private final Process process;

  ProcessDisk(SimulatedDisk disk, Process process) {
    this.disk = disk;
    this.process = process;
  }

  private void enter(String operation) {
    process.enter(operation);
    disk.delay();
  }

  /** The simulation creates no directories: names of files need none. */
  @Override
  public void createDirectories(Path directory) {
    enter("disk mkdir");
  }

  @Override
  public Optional<Closeable> lock(Path path) {
    enter("disk lock");
    return disk.lock(path, process);
  }

  @Override
  public byte[] read(Path path, int most) throws IOException {
    enter("disk read");
    SimulatedFile file = disk.names.get(path);
    byte[] bytes = new byte[Math.min(most, file.size())];
    file.read(ByteBuffer.wrap(bytes), 0);
    return bytes;
  }

  @Override
  public OpenFile create(Path path) {
    enter("disk create");
    disk.names.remove(path);
    SimulatedFile file = new SimulatedFile();
    disk.names.add(path, file);
    return new Handle(file);
  }

  @Override
  public OpenFile open(Path path) throws IOException {
    enter("disk open");
    return new Handle(disk.names.get(path));
  }

  @Override
  public List<Path> list(Path directory, String suffix) {
    enter("disk list");
    return disk.names.list(directory, suffix);
  }

  @Override
  public boolean exists(Path path) {
    return disk.names.find(path) != null;
  }

  @Override
  public void move(Path from, Path to) throws IOException {
    enter("disk move");
    disk.names.move(from, to);
  }

  @Override
  public void delete(Path path) {
    enter("disk delete");
    disk.names.remove(path);
  }

  @Override
  public void forceDirectory(Path directory) throws IOException {
    enter("disk force names");
    SimulatedNames.Force force = disk.names.beginForce(directory);
    disk.force();
    disk.names.endForce(force);
  }

  @Override
  public long usableBytes(Path directory) {
    return disk.usableBytes();
  }

  private final class Handle implements OpenFile {
    private final SimulatedFile file;
    private boolean closed;

    Handle(SimulatedFile file) {
      this.file = file;
    }

    private void enterOpen(String operation) throws IOException {
      enter(operation);
      if (closed) {
        throw new ClosedChannelException();
      }
    }

    @Override
    public long size() throws IOException {
      if (closed) {
        throw new ClosedChannelException();
      }
      return file.size();
    }

    @Override
    public int read(ByteBuffer into, long at) throws IOException {
      enterOpen("disk read");
      return file.read(into, at);
    }

    @Override
    public int write(ByteBuffer from, long at) throws IOException {
      enterOpen("disk write");
      int bytes = from.remaining();
      int written = disk.writable(bytes, at + bytes - file.size());
      file.write(from, (int) at, written);
      return written;
    }

    @Override
    public void truncate(long size) throws IOException {
      enterOpen("disk truncate");
      file.truncate((int) size);
    }

    @Override
    public void force() throws IOException {
      enterOpen("disk force");
      SimulatedFile.Force force = file.beginForce();
      disk.force();
      if (closed) {
        throw new AsynchronousCloseException();
      }
      file.endForce(force);
    }

    @Override
    public void close() {
      closed = true;
    }
  }
}
