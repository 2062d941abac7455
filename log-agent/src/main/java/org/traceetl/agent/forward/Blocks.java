package org.traceetl.agent.forward;

import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Bytes that are written once and read often. They grow without a copy. */
final class Blocks extends OutputStream {
  private static final int BLOCK_BYTES = 16 * 1024;

  private final List<byte[]> full = new ArrayList<>();
  private byte[] block = new byte[0];
  private int used;
  private long length;

  @Override
  public void write(int value) {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] from, int offset, int count) {
    length += count;
    int at = offset;
    int left = count;
    while (left > 0) {
      if (used == block.length) {
        if (used > 0) {
          full.add(block);
        }
        block = new byte[BLOCK_BYTES];
        used = 0;
      }
      int part = Math.min(left, block.length - used);
      System.arraycopy(from, at, block, used, part);
      used += part;
      at += part;
      left -= part;
    }
  }

  long length() {
    return length;
  }

  /** Returns all bytes in order. Call it after the last write. */
  List<byte[]> list() {
    if (used < block.length) {
      block = Arrays.copyOf(block, used);
    }
    List<byte[]> all = new ArrayList<>(full);
    if (used > 0) {
      all.add(block);
    }
    return all;
  }
}
