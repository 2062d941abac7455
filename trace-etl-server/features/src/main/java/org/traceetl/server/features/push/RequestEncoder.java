package org.traceetl.server.features.push;

/** Encodes requests of one protocol. For one thread. */
interface RequestEncoder {
  /** Encodes the entries [from, to) of a request into {@link #body}. */
  void encode(WriteRequest of, int from, int to, Protocol protocol);

  /** Returns the array whose first {@link #length} bytes are the encoded request. */
  byte[] body();

  int length();
}
