package org.traceetl.server.features.push;

/** Encodes requests of one protocol. For one thread. */
interface RequestEncoder {
  /**
   * Maximum bytes before compression of a request with several entries. Receivers have a similar
   * limit. A series with a fine native histogram has up to 16 KB.
   */
  int MAX_BYTES = 32 << 20;

  /**
   * Encodes the entries [from, to) of a request into {@link #body}.
   *
   * @return false if they are several and would exceed {@link #MAX_BYTES}: then the body is void
   */
  boolean encode(WriteRequest of, int from, int to, Protocol protocol);

  /** Returns the array whose first {@link #length} bytes are the encoded request. */
  byte[] body();

  int length();
}
