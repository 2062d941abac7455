package org.traceetl.server.features.history;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.traceetl.server.minutes.MinuteColumns;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * The load of a queue. Not thread-safe.
 *
 * <p>Bounded: a maximum number of applications is counted.
 */
public final class QueueHour {
  /** Minutes of the rates. */
  static final int RATE_MINUTES = 5;

  private static final double MILLIS_PER_SECOND = 1e3;

  /**
   * A queue.
   *
   * @param spansPerSecond spans per second received in the observed part of the last {@value
   *     #RATE_MINUTES} completed minutes
   * @param applications number of applications with spans
   * @param sealedMillis seal time of its newest window, milliseconds since 1970; 0 for none
   * @param offset offset after its newest window; -1 for none
   */
  public record View(
      QueueId queue, double spansPerSecond, int applications, long sealedMillis, long offset) {}

  /** The last minutes in which an application had spans. */
  private static final class Seen {
    private long newest;

    /** Bit i for the minute i before the newest. */
    private int minutes;

    void at(long minute) {
      if (minute > newest) {
        long later = minute - newest;
        minutes = (later < Integer.SIZE ? minutes << later : 0) | 1;
        newest = minute;
      } else if (newest - minute < Integer.SIZE) {
        minutes |= 1 << newest - minute;
      }
    }

    boolean in(long from, long to) {
      for (long minute = from; minute <= to; minute++) {
        long before = newest - minute;
        if (before >= 0 && before < Integer.SIZE && (minutes >>> before & 1) != 0) {
          return true;
        }
      }
      return false;
    }
  }

  private final int maxApplications;
  private final MinuteColumns.Minutes received = new MinuteColumns.Minutes();
  private final Map<String, Seen> applications = new HashMap<>();
  private long sealedMillis;
  private long offset = -1;

  QueueHour(int maxApplications) {
    this.maxApplications = maxApplications;
  }

  /** Records the progress of the queue, for a window of any age. */
  void come(SealedWindow window) {
    sealedMillis = window.sealedMillis();
    offset = window.to();
  }

  void add(List<Books> window, long minute, long now, MinuteColumns columns) {
    long spans = 0;
    for (Books books : window) {
      if (books.received() > 0) {
        spans += books.received();
        // Spans rejected before their application was known have no name.
        if (!books.application().isEmpty()) {
          saw(books.application(), minute);
        }
      }
    }
    columns.add(received, minute, new long[] {Math.max(0, spans)}, now);
  }

  private void saw(String application, long minute) {
    Seen seen = applications.get(application);
    if (seen == null && applications.size() < maxApplications) {
      seen = new Seen();
      applications.put(application, seen);
    }
    if (seen != null) {
      seen.at(minute);
    }
  }

  void sweep(long now) {
    applications.values().removeIf(seen -> seen.newest < now - RATE_MINUTES);
  }

  /**
   * @param from first minute whose spans count in the rate
   * @param observedMillis observed part of the minutes from it to the last completed one, in
   *     milliseconds; above 0
   */
  View view(QueueId queue, long from, long now, long observedMillis, MinuteColumns columns) {
    long[] sum = new long[1];
    columns.sum(received, from, now - 1, sum);
    int live = 0;
    for (Seen seen : applications.values()) {
      live += seen.in(now - RATE_MINUTES, now - 1) ? 1 : 0;
    }
    double spansPerSecond = sum[0] / (observedMillis / MILLIS_PER_SECOND);
    return new View(queue, spansPerSecond, live, sealedMillis, offset);
  }
}
