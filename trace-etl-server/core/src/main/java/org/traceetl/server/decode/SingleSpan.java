package org.traceetl.server.decode;

import org.traceetl.proto.Rejection;

/**
 * The span of the last message, with its strings as texts. Reading allocates nothing after its
 * arrays have grown. One owner thread, that of the texts.
 */
public interface SingleSpan {
  /**
   * Reads a message, and replaces the texts by those of the message.
   *
   * @return {@link Rejection#NONE}, or why it is rejected; a span without an application is, too
   */
  Rejection read(byte[] message, int offset, int length);

  /** Returns the text of the application, or {@link SpanColumns#NONE}. */
  int application();

  int name();

  long traceIdHigh();

  long traceIdLow();

  long spanId();

  long startUnixNanos();

  /** Returns the duration, at least 0. */
  long durationNanos();

  /** Returns the kind as in OTLP, 0 to 5. */
  int kind();

  /** Returns the status as in OTLP, 0 to 2. */
  int status();

  /** Returns texts of alternating keys and values. */
  int[] attributes();

  int attributeCount();

  /** Returns texts of the resource's alternating keys and values. */
  int[] resource();

  int resourceAttributeCount();
}
