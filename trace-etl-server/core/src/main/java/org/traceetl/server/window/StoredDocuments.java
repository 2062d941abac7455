package org.traceetl.server.window;

import java.io.IOException;
import java.util.function.Predicate;

/** The documents that a store has. Any thread. */
@FunctionalInterface
public interface StoredDocuments {
  /** Without a store. */
  StoredDocuments NONE = (application, operation, fromUnixNanos, toUnixNanos, reader) -> {};

  /**
   * Passes on the documents of an application, those that start last first, until the reader
   * returns false. An interruption ends it between pages.
   *
   * @param operation null for all
   * @param fromUnixNanos earliest start, inclusive, nanoseconds since 1970
   * @param toUnixNanos latest start, exclusive
   * @throws IOException if the store does not answer
   */
  void read(
      String application,
      String operation,
      long fromUnixNanos,
      long toUnixNanos,
      Predicate<TraceDocument> reader)
      throws IOException, InterruptedException;
}
