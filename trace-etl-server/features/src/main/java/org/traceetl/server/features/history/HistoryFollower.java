package org.traceetl.server.features.history;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import org.traceetl.server.journal.FleetWindows;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.fleet.FleetFollower;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Adds the windows of all queues to a history, and passes them to a listener. Confined to the
 * thread that follows the journals, except the counter.
 */
final class HistoryFollower implements FleetFollower.Sink {
  /** Ratio of operations with live series to the operations in an hour of history. */
  private static final int LIVE_TO_KEPT = 4;

  private final History history;
  private final SeriesRules rules;
  private final Operations operations;
  private final FleetWindows.Listener listener;
  private final LongAdder unknownRows = new LongAdder();

  /** Bounded by the number of queues that ever existed. */
  private final Map<QueueId, SeriesOperations> queues = new HashMap<>();

  /**
   * @param history written only by this follower
   * @param rules how series are read
   * @param maxOperations maximum number of operations in the history
   */
  HistoryFollower(
      History history, SeriesRules rules, int maxOperations, FleetWindows.Listener listener) {
    this.history = history;
    this.rules = rules;
    operations = new Operations(LIVE_TO_KEPT * maxOperations, rules.kinds());
    this.listener = listener;
  }

  @Override
  public void queues(Set<QueueId> present) {
    history.setQueues(present);
  }

  @Override
  public void series(QueueId queue, QueueImage image) {
    series(queue).replace(image);
    listener.series(queue, image);
  }

  @Override
  public void window(SealedWindow window) {
    SeriesOperations series = series(window.queue());
    history.add(window, series.fold(window), series.live());
    listener.window(window);
    unknownRows.add(series.takeUnknownRows());
  }

  private SeriesOperations series(QueueId queue) {
    return queues.computeIfAbsent(queue, absent -> new SeriesOperations(rules, operations));
  }

  @Override
  public void upToDate() {
    history.setUpToDate();
  }

  /** Returns the rows of windows left out because their series are unknown. Thread-safe. */
  long unknownRows() {
    return unknownRows.sum();
  }
}
