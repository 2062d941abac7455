package org.traceetl.server.journal;

import java.io.IOException;
import java.util.List;

/**
 * One queue of the journal topic: an append-only log of messages with consecutive offsets. Several
 * processes may append concurrently. Each call waits for the broker. For one thread at a time.
 *
 * <p>The broker may have replicas. A message is confirmed when every broker that may become the
 * master has it and all messages before it. A message that can be read may be unconfirmed, because
 * the broker that answers may have been superseded. All calls go to the same broker until one of
 * them throws an {@code IOException}; the next one may go to another broker. Hence messages are
 * confirmed if they precede a confirmed message and are read after its append returned, with no
 * exception since.
 */
public interface JournalLog {
  /** No offset. */
  long NONE = -1;

  /** Replaces the bytes of a message that does not count and was already counted as rejected. */
  byte[] LEFT_OUT = {};

  /** A message and its offset. */
  record Entry(long offset, byte[] body) {}

  /**
   * Appends a message. When this returns, the message is confirmed.
   *
   * @return its offset
   * @throws IOException if the message is not confirmed: the log may have it, may get it later, and
   *     may lose it again
   */
  long append(byte[] message) throws IOException, InterruptedException;

  /**
   * Returns messages in order.
   *
   * @param from offset of the first message; if it was deleted, {@link #begin} replaces it
   * @return a limited number of bytes; empty if there is no message yet
   */
  List<Entry> read(long from) throws IOException, InterruptedException;

  /** Returns the offset of the oldest message. */
  long begin() throws IOException, InterruptedException;

  /** Returns the offset of the next message. May lag behind {@link #append} by a moment. */
  long end() throws IOException, InterruptedException;

  /**
   * Returns the offset of a message from about this time, before all later ones. A log without
   * times returns its begin.
   *
   * @param unixMillis milliseconds since 1970
   */
  default long offsetAt(long unixMillis) throws IOException, InterruptedException {
    return begin();
  }

  /** Returns the offset that a consumer group has marked, or {@link #NONE}. */
  long mark(String group) throws IOException, InterruptedException;

  /** Marks an offset for a consumer group. May be lost when the broker crashes. */
  void mark(String group, long offset) throws IOException, InterruptedException;
}
