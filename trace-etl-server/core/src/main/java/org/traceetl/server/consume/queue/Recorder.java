package org.traceetl.server.consume.queue;

import java.util.List;
import org.traceetl.proto.Rejection;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.SeriesDefinition;

/**
 * Adds the decoded batch of a queue to the queue's open window: spans, or half-edges. Confined to
 * the worker that owns the queue.
 */
interface Recorder {
  /** Begins the first window. */
  void begin(long nowMillis);

  /**
   * Sets the queue's time before the batches of a message, in an open window.
   *
   * @param storedMillis when the broker stored the message, milliseconds since 1970
   */
  void advance(long storedMillis, long nowMillis);

  /**
   * Returns the application of the decoded batch, and opens its books; {@link
   * org.traceetl.server.series.Applications#UNKNOWN} if the batch has none, or several.
   */
  int openApplication(long nowMillis);

  /** Books a batch, or a message, as rejected. */
  void reject(int application, Rejection rejection, int spans, int bytes);

  /** Books the decoded batch as a repeat. */
  void duplicate(int application, long nowMillis);

  /**
   * Records the decoded batch in the pane that its agent's time chose, and in the books.
   *
   * @param application by {@link #openApplication}
   * @param committedMillis when the agent accepted the batch, by the broker's clock
   */
  void record(int application, long committedMillis, long nowMillis);

  /**
   * Ends the open window: idle series leave with it.
   *
   * @param isEarly whether the window ends before its time
   * @return the numbers of the series that leave
   */
  int[] endWindow(long nowMillis, boolean isEarly);

  /** Returns the series that are new since the last call. */
  List<SeriesDefinition> takeCreated();

  /** Returns what changed among open half-edges since the last call. */
  EdgeChange takeEdges();

  /** Releases the series; what was recorded since the last window is dropped. */
  void release();

  int seriesCount();

  int symbolCount();

  /** Returns the number of half-edges that wait. */
  int openHalves();
}
