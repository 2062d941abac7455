package org.traceetl.server.features.backfill;

import java.util.List;
import java.util.Objects;

/**
 * What a backfill reads and writes. The same plan and the same messages give the same files.
 *
 * @param application its name
 * @param since its begin as the user gave it
 * @param until its end as the user gave it; null for the default
 * @param fingerprint of rules, limits, prefix and topic: of all else that determines the files
 * @param sinceMillis begin of the first pane, milliseconds since 1970
 * @param untilMillis end of the last pane
 * @param queues what to read of each queue
 * @param seam where live series begin; null if the user gave the end
 */
record BackfillPlan(
    String application,
    String since,
    String until,
    String fingerprint,
    long sinceMillis,
    long untilMillis,
    List<Queue> queues,
    Seam seam) {
  BackfillPlan {
    Objects.requireNonNull(application);
    Objects.requireNonNull(since);
    Objects.requireNonNull(fingerprint);
    queues = List.copyOf(queues);
  }

  /**
   * Messages of one queue.
   *
   * @param from offset of the first message
   * @param to offset after the last one
   */
  record Queue(String broker, int queue, long from, long to) {}

  /** Returns the number of messages. */
  long messages() {
    return queues.stream().mapToLong(each -> each.to() - each.from()).sum();
  }
}
