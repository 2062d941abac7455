package org.traceetl.server.features.index;

import java.util.List;
import java.util.stream.Stream;
import org.traceetl.server.window.TraceDocument;

/**
 * What became of the documents of one write.
 *
 * @param kept how many are in the index now, whether by this write or by one before
 * @param refused those that the index will never take
 * @param again those that it may take later
 */
public record WriteResult(int kept, List<Refusal> refused, List<TraceDocument> again) {
  /**
   * A document that the index will never take.
   *
   * @param reason one of few, as in a label: lower case, words joined by underscores
   * @param detail for the log; never holds what the span said
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
