package org.traceetl.server.features.hotspot;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.traceetl.server.window.QueueId;

/**
 * The latest loads.
 *
 * @param queues all queues of the topic, in order
 * @param rates spans per second of each application by queue, in that order; must not be written
 * @param lags backlogs of the queues, in that order
 * @param waiting approximate number of spans of each application that are not counted yet, on
 *     queues with a known end
 */
public record QueueLoads(
    List<QueueId> queues,
    Map<String, double[]> rates,
    List<QueueLag> lags,
    Map<String, Double> waiting) {
  /** Creates loads without backlogs. */
  public QueueLoads(List<QueueId> queues, Map<String, double[]> rates) {
    this(queues, rates, Collections.nCopies(queues.size(), QueueLag.UNKNOWN), Map.of());
  }

  /** Returns the spans per second of all applications on each queue. */
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
