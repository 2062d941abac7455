package org.traceetl.perf.simulate.agent;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * The content of a file in the page cache, and on the disk. It does what these papers saw and what
 * POSIX allows:
 *
 * <ul>
 *   <li>Pillai et al., <i>All File Systems Are Not Created Equal</i>, OSDI 2014: after a power loss
 *       an unforced append is absent, cut off at any byte, or has its size but zeros or old bytes
 *       in any of its blocks.
 *   <li>Rebello et al., <i>Can Applications Recover from fsync Failures?</i>, ATC 2020: after a
 *       failed force Linux marks the pages as clean, so that the next force succeeds without them;
 *       until then they are still read from the cache.
 * </ul>
 */
final class SimulatedFile {
  static final int PAGE_BYTES = 4_096;

  /** The pages that a force writes, as they were at its begin. */
  static final class Force {
    private final int size;
    private final List<Page> pages = new ArrayList<>();

    private Force(int size) {
      this.size = size;
    }
  }

  private record Page(int number, byte[] bytes) {}

  /** How the unforced content of a file looks after a power loss. */
  private enum Loss {
    ALL,
    TAIL,
    PAGES
  }

  private byte[] cached = {};
  private int size;
  private byte[] onDisk = {};
  private int sizeOnDisk;

  /** Pages that the next force writes. */
  private final BitSet dirty = new BitSet();

  /** Pages of the cache that the disk may lack. */
  private final BitSet unforced = new BitSet();

  int size() {
    return size;
  }

  /** Returns a copy of the content in the cache. */
  byte[] content() {
    return Arrays.copyOf(cached, size);
  }

  /** Reads at most the remaining bytes; returns how many, or -1 at the end of the file. */
  int read(ByteBuffer into, long at) {
    int bytes = (int) Math.min(into.remaining(), size - at);
    if (bytes <= 0) {
      return into.hasRemaining() ? -1 : 0;
    }
    into.put(cached, (int) at, bytes);
    return bytes;
  }

  /** Writes a number of bytes. */
  void write(ByteBuffer from, int at, int bytes) {
    int end = at + bytes;
    cached = grown(cached, end);
    from.get(cached, at, bytes);
    size = Math.max(size, end);
    mark(at, end);
  }

  /** Cuts the file off. */
  void truncate(int to) {
    if (to < size) {
      Arrays.fill(cached, to, size, (byte) 0);
      size = to;
      int pages = pages(size);
      dirty.clear(pages, Math.max(pages, dirty.length()));
      unforced.clear(pages, Math.max(pages, unforced.length()));
      mark(to - to % PAGE_BYTES, to);
    }
  }

  private void mark(int from, int to) {
    if (from < to) {
      dirty.set(from / PAGE_BYTES, pages(to));
      unforced.set(from / PAGE_BYTES, pages(to));
    }
  }

  private static int pages(int bytes) {
    return Math.ceilDiv(bytes, PAGE_BYTES);
  }

  private static byte[] grown(byte[] bytes, int atLeast) {
    return bytes.length >= atLeast
        ? bytes
        : Arrays.copyOf(bytes, Math.max(2 * bytes.length, pages(atLeast) * PAGE_BYTES));
  }

  /** Begins a force. Its pages are clean from now on, whether it succeeds or not. */
  Force beginForce() {
    Force force = new Force(size);
    for (int page = dirty.nextSetBit(0); page >= 0; page = dirty.nextSetBit(page + 1)) {
      int from = page * PAGE_BYTES;
      force.pages.add(
          new Page(page, Arrays.copyOfRange(cached, from, Math.min(size, from + PAGE_BYTES))));
    }
    dirty.clear();
    return force;
  }

  /** Ends a successful force. */
  void endForce(Force force) {
    onDisk = grown(onDisk, force.size);
    if (force.size < sizeOnDisk) {
      Arrays.fill(onDisk, force.size, sizeOnDisk, (byte) 0);
    }
    sizeOnDisk = force.size;
    for (Page page : force.pages) {
      System.arraycopy(page.bytes, 0, onDisk, page.number * PAGE_BYTES, page.bytes.length);
      if (!dirty.get(page.number)) {
        unforced.clear(page.number);
      }
    }
  }

  /** Loses what was not forced, or parts of it. */
  void losePower(RandomGenerator random) {
    Loss loss = Loss.values()[random.nextInt(Loss.values().length)];
    int end =
        switch (loss) {
          case ALL -> sizeOnDisk;
          case TAIL -> sizeBetween(random);
          case PAGES -> random.nextBoolean() ? size : sizeBetween(random);
        };
    byte[] left = Arrays.copyOf(onDisk, pages(end) * PAGE_BYTES);
    if (loss != Loss.ALL) {
      for (int page = unforced.nextSetBit(0); page >= 0; page = unforced.nextSetBit(page + 1)) {
        int from = page * PAGE_BYTES;
        int to = Math.min(Math.min(size, end), from + PAGE_BYTES);
        if (from < to && (loss == Loss.TAIL || random.nextBoolean())) {
          System.arraycopy(cached, from, left, from, to - from);
        }
      }
    }
    Arrays.fill(left, end, left.length, (byte) 0);
    cached = left;
    size = end;
    onDisk = left.clone();
    sizeOnDisk = end;
    dirty.clear();
    unforced.clear();
  }

  /** Returns a size from that on the disk to that in the cache; a truncation is never partial. */
  private int sizeBetween(RandomGenerator random) {
    if (size <= sizeOnDisk) {
      return random.nextBoolean() ? size : sizeOnDisk;
    }
    return random.nextInt(sizeOnDisk, size + 1);
  }
}
