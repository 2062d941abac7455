package org.traceetl.server.journal;

import java.io.IOException;
import java.util.List;

/**
 * One queue of the journal topic: an append-only log of messages whose offsets rise by one. Several
 * processes may append to it at a time. Each call waits for the broker. Safe for one thread at a
 * time.
 *
 * <p>The broker may have replicas. A message is confirmed when every broker that may become the
 * master has it, and with it all messages that stand before it. A message that can be read need not
 * be confirmed: the broker that answers may have been superseded. All calls go to the same broker
 * until one of them throws an {@code IOException}; the next one may go to another broker. Hence
 * what is read up to a confirmed message, from when its offset was returned and without an
 * exception on the way, is confirmed.
 */
public interface JournalLog {
  /** No offset. */
  long NONE = -1;

  /** In place of the bytes of a message that does not count and has been counted as such. */
  byte[] LEFT_OUT = {};

  /** A message and where it stands. */
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
   * Messages in their order.
   *
   * @param from offset of the first one wanted; one that was deleted is replaced by {@link #begin}
   * @return some of them, a bounded number of bytes; empty if there is none yet
   */
  List<Entry> read(long from) throws IOException, InterruptedException;

  /** Offset of the oldest message there is. */
  long begin() throws IOException, InterruptedException;

  /** Offset that the next message will get. May lag behind {@link #append} by an instant. */
  long end() throws IOException, InterruptedException;

  /**
   * Offset of a message that came at about this time: what came later does not stand before it. A
   * log that knows no times answers its begin.
   *
   * @param unixMillis milliseconds since 1970
   */
  default long offsetAt(long unixMillis) throws IOException, InterruptedException {
    return begin();
  }

  /** Offset that a consumer group has marked, or {@link #NONE}. */
  long mark(String group) throws IOException, InterruptedException;

  /** Marks an offset for a consumer group. May be lost when the broker crashes. */
  void mark(String group, long offset) throws IOException, InterruptedException;
}
