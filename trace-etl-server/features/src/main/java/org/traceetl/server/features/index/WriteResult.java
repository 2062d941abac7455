package org.traceetl.server.features.index;

import java.util.List;
import java.util.stream.Stream;
import org.traceetl.server.window.TraceDocument;

/**
 * The outcome of one write.
 *
 * @param kept number of documents that are in the index, by this write or an earlier one
 * @param refused documents that the index will never store
 * @param again documents to repeat
 */
public record WriteResult(int kept, List<Refusal> refused, List<TraceDocument> again) {
  /**
   * A document that the index will never store.
   *
   * @param reason label value from a small set: lower case, words joined by underscores
   * @param detail for the log; never contains content of the span
   */
  public record Refusal(TraceDocument document, String reason, String detail) {}

  public static WriteResult kept(int documents) {
    return new WriteResult(documents, List.of(), List.of());
  }

  WriteResult and(WriteResult other) {
    return new WriteResult(
        kept + other.kept, joined(refused, other.refused), joined(again, other.again));
  }

  private static <T> List<T> joined(List<T> first, List<T> second) {
    return Stream.concat(first.stream(), second.stream()).toList();
  }
}
