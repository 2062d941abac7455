package org.traceetl.server.ozhera.delta;

import java.util.Map;

/**
 * Counts of {@link DeltaPages}, replaced as a whole by the fold thread.
 *
 * @param queues queues with windows in memory
 * @param hidden queues of these that answers leave out: their lease has not begun or has expired
 * @param labelSets label sets that an answer may contain
 * @param pendingSeries series stored for scrapers, counted once in each stored sum
 * @param windows windows folded since the start
 * @param unknownRows rows of windows without a series of a known type
 * @param delivered answers written to the end
 * @param failed answers not written to the end; the next answer contains their windows
 * @param bytes size of the delivered answers before compression
 * @param doubted scrapers whose identity several scrapers seem to share
 * @param forgottenForRoom scrapers forgotten because too many series were stored
 * @param missedMessages by scraper: messages of the span topic whose counts it missed for good
 */
public record DeltaTotals(
    int queues,
    int hidden,
    int labelSets,
    long pendingSeries,
    long windows,
    long unknownRows,
    long delivered,
    long failed,
    long bytes,
    int doubted,
    long forgottenForRoom,
    Map<String, Long> missedMessages) {
  static final DeltaTotals NONE = new DeltaTotals(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, Map.of());
}
