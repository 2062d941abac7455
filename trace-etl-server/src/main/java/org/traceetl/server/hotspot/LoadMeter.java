package org.traceetl.server.hotspot;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Adds up the spans of each application by queue, from the windows of the whole fleet. Safe for any
 * thread: one adds, one takes.
 *
 * <p>Bounded: so many applications on a queue; the spans of others count for the queue only, under
 * the empty name.
 */
final class LoadMeter {
  private static final int MAX_APPLICATIONS = 20_000;

  /** A queue is taken for empty when it has had no window for so many takes in a row. */
  private static final int SILENT_TAKES = 3;

  /** What a queue had since the last take. */
  private static final class Tally {
    private final Map<String, Long> spans = new HashMap<>();
    private long coveredMillis;
    private int silentTakes;

    /** Spans a second when it had windows last; 0 once it is taken for empty. */
    private double lastRate;

    void settle() {
      if (coveredMillis > 0) {
        silentTakes = 0;
        lastRate = spans.values().stream().mapToLong(Long::longValue).sum() * perSecond();
      } else if (++silentTakes == SILENT_TAKES) {
        lastRate = 0;
      }
    }

    double perSecond() {
      return (double) TimeUnit.SECONDS.toMillis(1) / coveredMillis;
    }
  }

  private final Map<QueueId, Tally> tallies = new HashMap<>();

  /** Counts a window, however old: rates are by the time that windows cover. */
  synchronized void add(SealedWindow window) {
    Tally tally = tallies.computeIfAbsent(window.queue(), absent -> new Tally());
    tally.coveredMillis += Math.max(1, window.sealedMillis() - window.openedMillis());
    for (Books books : window.books()) {
      if (books.received() > 0) {
        String name = books.application();
        boolean room = tally.spans.size() < MAX_APPLICATIONS || tally.spans.containsKey(name);
        tally.spans.merge(room ? name : "", books.received(), Long::sum);
      }
    }
  }

  /**
   * The loads since the last time, which begin anew.
   *
   * @param present all queues of the topic
   * @return null if a queue that had windows before has none now, and carried enough to matter: its
   *     owner may be changing, and what is not known of it would make the others look heavy
   */
  synchronized QueueLoads take(Collection<QueueId> present) {
    tallies.keySet().retainAll(present);
    tallies.values().forEach(Tally::settle);
    double all = tallies.values().stream().mapToDouble(tally -> tally.lastRate).sum();
    double matters = HotspotPolicy.LEAST_PART * all / present.size();
    boolean silent =
        tallies.values().stream()
            .anyMatch(tally -> tally.silentTakes > 0 && tally.lastRate > matters);
    List<QueueId> queues = List.copyOf(new TreeSet<>(present));
    Map<String, double[]> rates = new HashMap<>();
    for (int queue = 0; queue < queues.size(); queue++) {
      Tally tally = tallies.get(queues.get(queue));
      if (tally != null && tally.coveredMillis > 0) {
        addRates(tally, queue, queues.size(), rates);
        tally.spans.clear();
        tally.coveredMillis = 0;
      }
    }
    return silent ? null : new QueueLoads(queues, rates);
  }

  private static void addRates(Tally tally, int queue, int queues, Map<String, double[]> rates) {
    double perSecond = tally.perSecond();
    tally.spans.forEach((application, spans) ->
        rates.computeIfAbsent(application, absent -> new double[queues])[queue] =
            spans * perSecond);
  }
}
