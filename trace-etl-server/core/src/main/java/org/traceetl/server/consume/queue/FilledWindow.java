package org.traceetl.server.consume.queue;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowMetrics;

/**
 * A window that passes from the worker that filled it to the queue's {@code QueueSealing}. Its
 * holder owns the metrics, and gives them back after use.
 *
 * @param paneMillis length of a pane; 0 if the window is sealed without its panes
 * @param closedMillis as in {@link SealedWindow}
 * @param edges as in {@link SealedWindow}
 */
public record FilledWindow(
    QueueId queue,
    long from,
    long to,
    long openedMillis,
    long sealedMillis,
    List<SeriesDefinition> created,
    int[] evicted,
    long schema,
    long paneMillis,
    AcceptedBatches.Builder batches,
    WindowCompleteness completeness,
    long closedMillis,
    EdgeChange edges,
    WindowMetrics metrics,
    BlockingQueue<WindowMetrics> home) {

  /** Returns a copy for the journal. Call it once: it takes the batches. */
  public SealedWindow seal() {
    return metrics.seal(
        queue,
        from,
        to,
        openedMillis,
        sealedMillis,
        created,
        evicted,
        schema,
        paneMillis,
        batches.take(),
        completeness,
        closedMillis,
        edges);
  }

  /** Clears the metrics and returns them to their queue. */
  public void giveBack() {
    metrics.clear();
    home.add(metrics);
  }
}
