package org.traceetl.server.features.backfill;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.traceetl.server.config.MetricsConfig;

/**
 * Where live series with the labels and measures of new rules begin.
 *
 * @param publishedMillis when the rules were published, milliseconds since 1970
 * @param labels those that series of spans had not before
 * @param measures parts of measures that series had not before, as {@link News} has them
 * @param millis end of the last pane in which servers may have counted by the rules before
 * @param untilMillis end of the last pane whose live counts are known
 * @param ends what live series counted, by queue; a queue without a journal is absent
 */
record Seam(
    long publishedMillis,
    List<String> labels,
    List<String> measures,
    long millis,
    long untilMillis,
    List<End> ends) {
  /** The option's value that finds the seam. */
  static final String SWITCH = "switch";

  Seam {
    labels = List.copyOf(labels);
    measures = List.copyOf(measures);
    ends = List.copyOf(ends);
  }

  /**
   * Returns what is new, for people.
   *
   * @param underscored whether labels are without UTF-8 names
   */
  String shown(boolean underscored) {
    return Stream.concat(
            labels.stream()
                .map(label -> "label " + (underscored ? MetricsConfig.underscored(label) : label)),
            measures.stream().map(News::name).distinct().map(name -> "measure " + name))
        .collect(Collectors.joining(" or "));
  }

  /**
   * The end of a queue.
   *
   * @param to offset after the last message that the live series counted
   */
  record End(String broker, int queue, long to) {}
}
