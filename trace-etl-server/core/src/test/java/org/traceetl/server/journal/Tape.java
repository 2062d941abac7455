package org.traceetl.server.journal;

/** The decisions of a schedule, one a byte; after the last one all are 0. */
final class Tape {
  private final byte[] bytes;
  private int at;

  Tape(byte[] bytes) {
    this.bytes = bytes;
  }

  boolean hasMore() {
    return at < bytes.length;
  }

  /** A number below a bound of at most 256. */
  int next(int bound) {
    return hasMore() ? Byte.toUnsignedInt(bytes[at++]) % bound : 0;
  }
}
