package org.traceetl.perf.bench.load;

import java.io.Closeable;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.traceetl.agent.disk.Disk;

/**
 * A disk in direct memory. It reuses the memory of deleted files, so that writing allocates nothing
 * in the heap once it has grown. Names need no directories, and forces do nothing.
 */
final class MemoryDisk implements Disk {
  private static final int CHUNK_BYTES = 1 << 20;

  // Guarded by this.
  private final Map<Path, MemoryFile> files = new HashMap<>();
  private final Deque<ByteBuffer> unused = new ArrayDeque<>();

  @Override
  public void createDirectories(Path directory) {}

  @Override
  public Optional<Closeable> lock(Path path) {
    return Optional.of(() -> {});
  }

  @Override
  public byte[] read(Path path, int most) throws NoSuchFileException {
    MemoryFile file = open(path);
    byte[] bytes = new byte[(int) Math.min(most, file.size())];
    file.read(ByteBuffer.wrap(bytes), 0);
    return bytes;
  }

  @Override
  public synchronized MemoryFile create(Path path) {
    delete(path);
    MemoryFile file = new MemoryFile();
    files.put(path, file);
    return file;
  }

  @Override
  public synchronized MemoryFile open(Path path) throws NoSuchFileException {
    MemoryFile file = files.get(path);
    if (file == null) {
      throw new NoSuchFileException(path.toString());
    }
    return file;
  }

  @Override
  public synchronized List<Path> list(Path directory, String suffix) {
    return files.keySet().stream()
        .filter(path -> directory.equals(path.getParent()) && path.toString().endsWith(suffix))
        .toList();
  }

  @Override
  public synchronized boolean exists(Path path) {
    return files.containsKey(path);
  }

  @Override
  public synchronized void move(Path from, Path to) throws NoSuchFileException {
    MemoryFile file = open(from);
    delete(to);
    files.remove(from);
    files.put(to, file);
  }

  @Override
  public synchronized void delete(Path path) {
    MemoryFile file = files.remove(path);
    if (file != null) {
      file.truncate(0);
    }
  }

  @Override
  public void forceDirectory(Path directory) {}

  @Override
  public long usableBytes(Path directory) {
    return Long.MAX_VALUE;
  }

  private synchronized ByteBuffer take() {
    return unused.isEmpty() ? ByteBuffer.allocateDirect(CHUNK_BYTES) : unused.pop();
  }

  private synchronized void giveBack(ByteBuffer chunk) {
    unused.push(chunk);
  }

  /** A file, whose handles are the file itself. Deleting it empties it. */
  final class MemoryFile implements OpenFile {
    private final List<ByteBuffer> chunks = new ArrayList<>();
    private long size;

    @Override
    public synchronized long size() {
      return size;
    }

    @Override
    public synchronized int read(ByteBuffer into, long at) {
      if (at >= size) {
        return -1;
      }
      int bytes = (int) Math.min(into.remaining(), size - at);
      for (int done = 0; done < bytes; ) {
        int start = (int) ((at + done) % CHUNK_BYTES);
        int part = Math.min(bytes - done, CHUNK_BYTES - start);
        into.put(into.position(), chunk(at + done), start, part);
        into.position(into.position() + part);
        done += part;
      }
      return bytes;
    }

    @Override
    public synchronized int write(ByteBuffer from, long at) {
      int bytes = from.remaining();
      while (from.hasRemaining()) {
        int start = (int) (at % CHUNK_BYTES);
        int part = Math.min(from.remaining(), CHUNK_BYTES - start);
        chunk(at).put(start, from, from.position(), part);
        from.position(from.position() + part);
        at += part;
      }
      size = Math.max(size, at);
      return bytes;
    }

    private ByteBuffer chunk(long at) {
      int number = (int) (at / CHUNK_BYTES);
      while (chunks.size() <= number) {
        chunks.add(take());
      }
      return chunks.get(number);
    }

    @Override
    public synchronized void truncate(long to) {
      size = Math.min(size, to);
      while ((chunks.size() - 1L) * CHUNK_BYTES >= size && !chunks.isEmpty()) {
        giveBack(chunks.removeLast());
      }
    }

    @Override
    public void force() {}

    @Override
    public void close() {}
  }
}
