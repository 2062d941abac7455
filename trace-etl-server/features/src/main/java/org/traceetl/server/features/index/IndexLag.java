package org.traceetl.server.features.index;

/**
 * How far the index is behind a queue's journal.
 *
 * @param records windows whose documents are not all settled, and messages not read yet: about as
 *     many records
 * @param oldestMillis when the oldest of the windows was sealed, milliseconds since 1970; 0 for
 *     none
 */
public record IndexLag(long records, long oldestMillis) {
  static final IndexLag NONE = new IndexLag(0, 0);
}
