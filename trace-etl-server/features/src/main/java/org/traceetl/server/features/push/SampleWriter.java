package org.traceetl.server.features.push;

/**
 * Sends the samples of one queue to one endpoint. For one thread, except {@link #answered} and
 * {@link #close}.
 */
interface SampleWriter extends Samples, AutoCloseable {
  /**
   * Returns whether the endpoint takes more samples now. If it returns false, go on after {@link
   * Receiver}'s wake-up: the journal is the queue. Samples that are added nevertheless stay in
   * memory.
   */
  boolean hasRoom();

  /**
   * Ends a journal record, also one without samples, and passes its samples on as {@link #flush}
   * does. Call for each record in the order of the journal.
   *
   * @param offset the record's offset in the journal
   */
  void end(long offset);

  /**
   * Passes on the samples that waited for answers to earlier ones. Call after {@link Receiver}'s
   * wake-up.
   */
  void flush();

  /**
   * Returns the offset of the newest record up to which all requests have final answers; {@link
   * org.traceetl.server.journal.JournalLog#NONE} before the first one. Never waits. Thread-safe.
   */
  long answered();

  /**
   * Sends no further request: another server may own the queue. Later calls have no effect, and a
   * waiting call returns. A request in flight is not repeated. Idempotent; never waits.
   * Thread-safe.
   */
  @Override
  void close();
}
