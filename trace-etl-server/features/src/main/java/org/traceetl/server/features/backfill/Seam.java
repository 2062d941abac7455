package org.traceetl.server.features.backfill;

import java.util.List;

/**
 * Where live series with the labels of new rules begin.
 *
 * @param publishedMillis when the rules were published, milliseconds since 1970
 * @param labels those that series had not before
 * @param millis end of the last pane in which servers may have counted by the rules before
 * @param untilMillis end of the last pane whose live counts are known
 * @param ends what live series counted, by queue; a queue without a journal is absent
 */
record Seam(
    long publishedMillis, List<String> labels, long millis, long untilMillis, List<End> ends) {
  /** The option's value that finds the seam. */
  static final String SWITCH = "switch";

  Seam {
    labels = List.copyOf(labels);
    ends = List.copyOf(ends);
  }

  /**
   * The end of a queue.
   *
   * @param to offset after the last message that the live series counted
   */
  record End(String broker, int queue, long to) {}
}
