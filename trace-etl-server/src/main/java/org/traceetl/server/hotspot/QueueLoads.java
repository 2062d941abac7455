package org.traceetl.server.hotspot;

import java.util.List;
import java.util.Map;
import org.traceetl.server.window.QueueId;

/**
 * Who carried how much of late.
 *
 * @param queues all queues of the topic, in order
 * @param rates spans a second of each application by queue, in that order; nobody writes to them
 */
public record QueueLoads(List<QueueId> queues, Map<String, double[]> rates) {
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
