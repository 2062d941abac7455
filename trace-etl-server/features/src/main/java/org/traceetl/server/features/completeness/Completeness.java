package org.traceetl.server.features.completeness;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.traceetl.server.journal.FleetWindows;
import org.traceetl.server.queues.QueueWatch;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowCompleteness.Agent;

/**
 * Until when the spans of queues and applications are complete. An application is complete until
 * the earliest time of the queues on which it had spans in the last hour. A queue that waits for no
 * agent does not hold an application back.
 *
 * <p>No window says which applications are in messages that no server read. So a queue without
 * windows in the last hour holds all applications back if it has such messages, until they are
 * read, or if its broker does not return its end. Messages from before this server's first look at
 * the queue count as read.
 *
 * <p>Bounded: if the maximum number of applications is reached, further ones are left out. An
 * application or queue without windows for an hour is removed.
 *
 * <p>Thread-safe.
 */
public final class Completeness implements FleetWindows.Listener {
  static final int MAX_APPLICATIONS = 10_000;

  private static final long HOUR_MILLIS = Duration.ofHours(1).toMillis();
  private static final long SWEEP_MILLIS = Duration.ofMinutes(1).toMillis();
  private static final double MILLIS_PER_SECOND = 1e3;

  /**
   * An application or a queue.
   *
   * @param name of the application or queue
   * @param untilMillis until when it is complete, milliseconds since 1970; null if it is unknown
   * @param agents number of agents that the time waits for
   * @param named agents that hold the time back or are excluded
   */
  public record View(String name, Long untilMillis, int agents, List<Agent> named) {}

  /**
   * The newest window of a queue.
   *
   * @param highestMillis the highest time so far. A new owner of a queue may know a lower one
   */
  private record Newest(WindowCompleteness completeness, long highestMillis, long sealedMillis) {
    Long untilMillis() {
      return completeness.isEmpty() ? null : (Long) highestMillis;
    }
  }

  private final BooleanSupplier upToDate;
  private final Supplier<QueueWatch.Seen> brokers;
  private final InstantSource clock;
  private final Map<QueueId, Newest> queues = new TreeMap<>();

  /** By application and queue: when a window with its spans was sealed last. */
  private final Map<String, Map<QueueId, Long>> applications = new HashMap<>();

  /**
   * Offset up to which each queue was read, or had messages at the first look. Bounded by the
   * number of queues that ever existed.
   */
  private final Map<QueueId, Long> read = new HashMap<>();

  /** Ends of the messages of queues without windows that no server has read. */
  private final Map<QueueId, Long> unread = new HashMap<>();

  /** The last look at the brokers; null before the first one. */
  private QueueWatch.Seen looked;

  /** Highest time of any queue before the last look; 0 if none. */
  private long beforeLookMillis;

  /** Highest time before the last look at which no queue held all applications back; 0 if none. */
  private long heldMillis;

  /** Whether a queue holds all applications back. */
  private boolean isHeld;

  private long sweptMillis;

  /**
   * @param upToDate returns whether the newest windows of each queue were received
   * @param brokers returns the last look at the brokers, without waiting
   */
  public Completeness(
      BooleanSupplier upToDate, Supplier<QueueWatch.Seen> brokers, InstantSource clock) {
    this.upToDate = upToDate;
    this.brokers = brokers;
    this.clock = clock;
  }

  @Override
  public synchronized void window(SealedWindow window) {
    look();
    QueueId queue = window.queue();
    read.put(queue, window.to());
    WindowCompleteness completeness = window.completeness();
    Newest before = queues.get(queue);
    long highestMillis =
        before == null
            ? completeness.untilMillis()
            : Math.max(before.highestMillis(), completeness.untilMillis());
    queues.put(queue, new Newest(completeness, highestMillis, window.sealedMillis()));
    for (Books books : window.books()) {
      if (books.recorded() + books.overflowed() > 0) {
        hadSpans(books.application(), queue, window.sealedMillis());
      }
    }
    sweep();
  }

  /**
   * Finds out whether a queue holds all applications back, if the brokers were looked at since the
   * last call. Called before a window counts, so that no time is later than the look.
   */
  private void look() {
    QueueWatch.Seen seen = brokers.get();
    if (seen == looked) {
      return;
    }
    looked = seen;
    seen.ends().forEach(this::look);
    unread
        .keySet()
        .removeIf(queue -> !seen.ends().containsKey(queue) && !seen.silent().contains(queue));
    isHeld =
        !unread.isEmpty() || seen.silent().stream().anyMatch(queue -> !queues.containsKey(queue));
    if (!isHeld) {
      // Windows that came during the look may be of a time after it.
      heldMillis = beforeLookMillis;
    }
    beforeLookMillis = highestMillis();
  }

  private void look(QueueId queue, long end) {
    long to = read.computeIfAbsent(queue, first -> end);
    // With windows, only what was unread before holds back: agents vouch for later ones. The
    // end goes down if a broker loses messages.
    long unreadTo = queues.containsKey(queue) ? Math.min(end, unread.getOrDefault(queue, 0L)) : end;
    if (unreadTo > to) {
      unread.put(queue, unreadTo);
    } else {
      unread.remove(queue);
    }
  }

  private long highestMillis() {
    return queues.values().stream().mapToLong(Newest::highestMillis).max().orElse(0);
  }

  private void hadSpans(String application, QueueId queue, long sealedMillis) {
    Map<QueueId, Long> its = applications.get(application);
    if (its == null && applications.size() < MAX_APPLICATIONS) {
      its = new TreeMap<>();
      applications.put(application, its);
    }
    if (its != null) {
      its.merge(queue, sealedMillis, Math::max);
    }
  }

  private void sweep() {
    long nowMillis = clock.millis();
    if (Math.abs(nowMillis - sweptMillis) < SWEEP_MILLIS) {
      return;
    }
    sweptMillis = nowMillis;
    long oldestMillis = nowMillis - HOUR_MILLIS;
    applications.values().forEach(its -> its.values().removeIf(seen -> seen < oldestMillis));
    applications.values().removeIf(Map::isEmpty);
    queues.values().removeIf(newest -> newest.sealedMillis() < oldestMillis);
  }

  /** Returns whether the newest windows of each queue were received. */
  public boolean isUpToDate() {
    return upToDate.getAsBoolean();
  }

  /** Returns the times of applications in seconds since 1970; empty before they are up to date. */
  synchronized Map<String, Double> seconds() {
    Map<String, Double> seconds = new TreeMap<>();
    if (isUpToDate()) {
      for (View view : applications()) {
        if (view.untilMillis() != null) {
          seconds.put(view.name(), view.untilMillis() / MILLIS_PER_SECOND);
        }
      }
    }
    return seconds;
  }

  /** Returns the queues, sorted. */
  synchronized List<View> queues() {
    List<View> views = new ArrayList<>();
    queues.forEach((queue, newest) -> {
      WindowCompleteness completeness = newest.completeness();
      views.add(
          new View(
              queue.toString(), newest.untilMillis(), completeness.agents(), completeness.named()));
    });
    return views;
  }

  /** Returns the applications, those with unknown times last, the earliest time first. */
  public synchronized List<View> applications() {
    look();
    sweep();
    long highestMillis = highestMillis();
    List<View> views = new ArrayList<>();
    applications.forEach((name, its) -> views.add(application(name, its.keySet(), highestMillis)));
    views.sort(
        Comparator.comparing(View::untilMillis, Comparator.nullsLast(Comparator.naturalOrder()))
            .thenComparing(View::name));
    return views;
  }

  /**
   * @param highestMillis highest time of any queue
   */
  private View application(String name, Set<QueueId> its, long highestMillis) {
    long least = isHeld ? heldMillis : Long.MAX_VALUE;
    boolean isKnown = least > 0;
    int agents = 0;
    Set<Agent> named = new LinkedHashSet<>();
    for (QueueId queue : its) {
      Newest newest = queues.get(queue);
      if (newest == null || newest.untilMillis() == null) {
        isKnown = false;
        continue;
      }
      WindowCompleteness completeness = newest.completeness();
      least = Math.min(least, completeness.agents() == 0 ? highestMillis : newest.untilMillis());
      agents += completeness.agents();
      named.addAll(completeness.named());
    }
    return new View(name, isKnown ? (Long) least : null, agents, List.copyOf(named));
  }
}
