package org.traceetl.server.features.hotspot;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.traceetl.server.window.QueueId;

/**
 * Who sent how much of late.
 *
 * @param queues all queues of the topic, in order
 * @param rates spans a second of each application by queue, in that order; nobody writes to them
 * @param lags of the queues, in that order
 * @param waiting spans of each application that have arrived and are not counted yet, about; of
 *     queues whose end is known
 */
public record QueueLoads(
    List<QueueId> queues,
    Map<String, double[]> rates,
    List<QueueLag> lags,
    Map<String, Double> waiting) {
  /** Loads of which nothing else is known. */
  public QueueLoads(List<QueueId> queues, Map<String, double[]> rates) {
    this(queues, rates, Collections.nCopies(queues.size(), QueueLag.UNKNOWN), Map.of());
  }

  /** Spans a second of all applications on each queue. */
  double[] totals() {
    double[] totals = new double[queues.size()];
    for (double[] ofApplication : rates.values()) {
      for (int queue = 0; queue < totals.length; queue++) {
        totals[queue] += ofApplication[queue];
      }
    }
    return totals;
  }
}
