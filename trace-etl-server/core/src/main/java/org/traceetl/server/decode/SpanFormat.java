package org.traceetl.server.decode;

/**
 * A format of messages with a single span each. {@link java.util.ServiceLoader} finds it. None of
 * its messages begins with the byte {@code 0x15}, with which batches begin. Immutable; any thread.
 */
public interface SpanFormat {
  /** Returns its name in the configuration: lower-case letters. */
  String id();

  /**
   * Returns a reader for one decoder, used by its thread.
   *
   * @param texts the decoder's texts, which the reader replaces for each message
   * @param wanted keys of the required attributes; null for all
   */
  SingleSpan newReader(Texts texts, AttributeKeys wanted);
}
