package org.traceetl.server.journal.format;

/**
 * A whole record and its position in the log.
 *
 * @param first offset of its first chunk
 * @param next offset after its last chunk
 * @param payload its content by kind; empty for releases, and for claims except {@link
 *     LastMessagesFormat}
 */
public record LogRecord(RecordHeader header, long first, long next, byte[] payload) {
  /** The payload of a record without one. */
  public static final byte[] NO_PAYLOAD = {};
}
