package org.traceetl.server.decode;

import org.traceetl.proto.Rejection;

/**
 * The span of the message read last, its strings as texts. Reading allocates nothing once its
 * arrays have grown. One owner thread, that of the texts.
 */
public interface SingleSpan {
  /**
   * Reads a message, and begins the texts anew with those of it.
   *
   * @return {@link Rejection#NONE}, or why it is refused: also for a span of no application
   */
  Rejection read(byte[] message, int offset, int length);

  /** Text of the application, or {@link SpanColumns#NONE}. */
  int application();

  int name();

  long traceIdHigh();

  long traceIdLow();

  long spanId();

  long startUnixNanos();

  /** At least 0. */
  long durationNanos();

  /** As in OTLP, 0 to 5. */
  int kind();

  /** As in OTLP, 0 to 2. */
  int status();

  /** Texts of keys and values, in turns. */
  int[] attributes();

  int attributeCount();

  /** Texts of keys and values of the resource, in turns. */
  int[] resource();

  int resourceAttributeCount();
}
