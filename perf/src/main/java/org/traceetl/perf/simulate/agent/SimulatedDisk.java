package org.traceetl.perf.simulate.agent;

import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.traceetl.agent.disk.Disk;
import org.traceetl.perf.simulate.world.Durable;
import org.traceetl.perf.simulate.world.Process;
import org.traceetl.perf.simulate.world.World;

/**
 * The disk of a simulated host, and its page cache. A process that is killed loses nothing of it. A
 * power loss loses what was not forced; see {@link SimulatedFile} and {@link SimulatedNames}.
 */
public final class SimulatedDisk implements Durable {
  private static final long CAPACITY_BYTES = 1L << 30;
  private static final int LEAST_FORCE_NANOS = 100_000;
  private static final int MOST_FORCE_NANOS = 3_000_000;

  /** A full disk still has room for a part of a write. */
  private static final int MOST_REST_BYTES = 16 * 1024;

  final SimulatedNames names = new SimulatedNames();
  private final World world;
  private final Map<Path, Process> locks = new TreeMap<>();
  private final RandomGenerator random;
  private long limitBytes = CAPACITY_BYTES;
  private long delayNanos;
  private boolean forcesFail;
  private boolean writesFail;

  /** Creates an empty disk. */
  public SimulatedDisk(World world) {
    this.world = world;
    random = world.random();
  }

  /** Returns the disk as a process uses it. */
  public Disk of(Process process) {
    return new ProcessDisk(this, process);
  }

  /** Replaces a file, as an operator does; it survives a power loss. */
  public void replace(Path path, byte[] content) {
    SimulatedFile file = new SimulatedFile();
    file.write(ByteBuffer.wrap(content), 0, content.length);
    file.endForce(file.beginForce());
    names.replace(path, file);
  }

  /** Fills the disk with other data, or deletes them. */
  public void fill(boolean full) {
    limitBytes = full ? usedBytes() + random.nextInt(MOST_REST_BYTES) : CAPACITY_BYTES;
  }

  /** Delays each operation; 0 ends it. */
  public void slow(long nanos) {
    delayNanos = nanos;
  }

  /** Lets each force of a file or directory fail. */
  public void failForces(boolean failing) {
    forcesFail = failing;
  }

  /** Lets each write fail. */
  public void failWrites(boolean failing) {
    writesFail = failing;
  }

  /** Returns whether it has room, is fast, and no operation fails. */
  public boolean works() {
    return limitBytes == CAPACITY_BYTES && delayNanos == 0 && !forcesFail && !writesFail;
  }

  /** Loses what was not forced, or parts of it. No process may use the disk. */
  public void losePower() {
    names.losePower(random);
  }

  /** Writes all files as processes see them: a kill of all processes loses nothing. */
  @Override
  public void write(DataOutputStream to) throws IOException {
    SortedMap<Path, SimulatedFile> files = names.cached();
    to.writeInt(files.size());
    for (Map.Entry<Path, SimulatedFile> file : files.entrySet()) {
      byte[] content = file.getValue().content();
      to.writeUTF(file.getKey().toString());
      to.writeInt(content.length);
      to.write(content);
    }
  }

  @Override
  public void read(DataInputStream from) throws IOException {
    for (int left = from.readInt(); left > 0; left--) {
      Path path = Path.of(from.readUTF());
      replace(path, from.readNBytes(from.readInt()));
    }
  }

  /** Takes a lock, unless a process that lives has it. */
  Optional<Closeable> lock(Path path, Process process) {
    Process holder = locks.get(path);
    if (holder != null && holder.alive()) {
      return Optional.empty();
    }
    if (names.find(path) == null) {
      names.add(path, new SimulatedFile());
    }
    locks.put(path, process);
    return Optional.of(() -> locks.remove(path, process));
  }

  private long usedBytes() {
    return names.files().stream().mapToLong(SimulatedFile::size).sum();
  }

  long usableBytes() {
    return Math.max(0, limitBytes - usedBytes());
  }

  /** Waits as long as an operation takes in addition. */
  void delay() {
    if (delayNanos > 0) {
      sleep(delayNanos);
    }
  }

  private void sleep(long nanos) {
    try {
      world.sleep(nanos);
    } catch (InterruptedException e) {
      // An operation in progress completes.
      Thread.currentThread().interrupt();
    }
  }

  /** Waits as long as a force takes. */
  void force() throws IOException {
    sleep(random.nextInt(LEAST_FORCE_NANOS, MOST_FORCE_NANOS));
    if (forcesFail) {
      throw new IOException("Input/output error");
    }
  }

  /** Returns how many bytes are written: often all, sometimes a part as POSIX allows. */
  int writable(int bytes, long growth) throws IOException {
    if (writesFail) {
      throw new IOException("Input/output error");
    }
    long room = growth > 0 ? usableBytes() : Long.MAX_VALUE;
    if (room < growth && room == 0) {
      throw new IOException("No space left on device");
    }
    int part = bytes > 1 && random.nextInt(8) == 0 ? random.nextInt(1, bytes) : bytes;
    return (int) Math.min(part, room);
  }
}
