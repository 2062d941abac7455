package org.traceetl.server.decode;

/**
 * A format of messages that are one span each. {@link java.util.ServiceLoader} finds it. No message
 * of it begins with the byte {@code 0x15}, with which batches begin. Immutable; any thread.
 */
public interface SpanFormat {
  /** Its name in the configuration: lower-case letters. */
  String id();

  /**
   * A reader for one decoder, used by its thread.
   *
   * @param texts the decoder's, which the reader begins anew with each message
   * @param wanted keys of the attributes that are looked at; null for all
   */
  SingleSpan newReader(Texts texts, AttributeKeys wanted);
}
