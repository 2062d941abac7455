package org.traceetl.server.journal.chain;

/** The decisions of a schedule, one a byte; further decisions are 0. */
final class Tape {
  private final byte[] bytes;
  private int at;

  Tape(byte[] bytes) {
    this.bytes = bytes;
  }

  boolean hasMore() {
    return at < bytes.length;
  }

  /** Returns a number below a bound of at most 256. */
  int next(int bound) {
    return hasMore() ? Byte.toUnsignedInt(bytes[at++]) % bound : 0;
  }
}
