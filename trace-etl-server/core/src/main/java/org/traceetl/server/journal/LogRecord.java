package org.traceetl.server.journal;

/**
 * A whole record and where it stands in the log.
 *
 * @param first offset of its first chunk
 * @param next offset after its last one
 * @param payload what the kind makes of it; empty for releases, and for claims but for {@link
 *     LastMessagesFormat}
 */
record LogRecord(RecordHeader header, long first, long next, byte[] payload) {
  /** Nothing but a header. */
  static final byte[] NO_PAYLOAD = {};
}
