package org.traceetl.server.features.index;

/**
 * The lag of the index behind a queue's journal.
 *
 * @param records approximate number of records: windows that are not settled and messages that are
 *     not read
 * @param oldestMillis seal time of the oldest of the windows, milliseconds since 1970; 0 for none
 */
public record IndexLag(long records, long oldestMillis) {
  static final IndexLag NONE = new IndexLag(0, 0);
}
