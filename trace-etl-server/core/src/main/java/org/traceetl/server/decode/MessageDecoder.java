package org.traceetl.server.decode;

import org.traceetl.proto.BundleReader;
import org.traceetl.proto.Rejection;

/** Decodes one message at a time: batches of spans, or of half-edges. One owner thread. */
public sealed interface MessageDecoder permits BatchDecoder, EdgeDecoder {
  /**
   * Decodes a message.
   *
   * @return {@link Rejection#NONE}, or why the batch is rejected; then only {@link #declaredSpans}
   *     is valid, and what the decoder says
   */
  Rejection decode(byte[] message, int offset, int length);

  /**
   * Returns whether a message is a bundle, valid or not. Its head is read by {@link #bundle}, and
   * each of its batches by {@link #decodeBundled}.
   */
  boolean isBundle(byte[] message);

  /** Returns whether a message is a heartbeat, valid or not. */
  boolean isHeartbeat(byte[] message);

  /** Returns the reader of bundles' heads. It keeps its values while batches are decoded. */
  BundleReader bundle();

  /**
   * Decodes a batch of the bundle that {@link #bundle} has read.
   *
   * @return as from {@link #decode}
   */
  Rejection decodeBundled(byte[] message, int part);

  /**
   * Decodes the body of a message that its producer compressed.
   *
   * @param flags the message's system flags, which identify the compression
   * @return as from {@link #decode}
   */
  Rejection decodeCompressed(byte[] body, int flags);

  /**
   * Returns whether the last message does not count because its application was not selected. If it
   * was not rejected, its name is valid.
   */
  default boolean isSkipped() {
    return false;
  }

  /** Returns the number of spans or half-edges that the message declares. */
  int declaredSpans();

  /** Returns whether the batch has a name, which identifies repeats. */
  boolean isNamed();

  /** Returns the first half of the sending agent's name. */
  long agentHigh();

  /** Returns the second half of the sending agent's name. */
  long agentLow();

  /** Returns the agent's epoch. */
  long epoch();

  /** Returns the batch's number in that epoch, on its queue. */
  long sequence();
}
