package org.traceetl.perf.simulate.check;

import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Holds servers to what they show as complete: the calls of an application in the minutes before
 * never change. Times are milliseconds since 1970.
 */
public final class CompleteMinutes {
  private static final long MINUTE_MILLIS = TimeUnit.MINUTES.toMillis(1);
  private static final long LOOK_BACK_MILLIS = 15 * MINUTE_MILLIS;

  /** A history has an hour. */
  private static final long MOST_MILLIS = 55 * MINUTE_MILLIS;

  private record Key(String server, String application) {}

  /** Calls that were complete in minutes from {@code fromMillis} to {@code toMillis}. */
  private record Shown(long fromMillis, long toMillis, long calls) {}

  private final Consumer<String> failures;
  private final Map<Key, Shown> shown = new HashMap<>();

  /** Applications whose agent may have spans of another time than it says. */
  private final Set<String> uncertain = new HashSet<>();

  /** Servers that may not know all queues. */
  private final Set<String> uncertainServers = new HashSet<>();

  private boolean allUncertain;
  private long uncertainUntilMillis;

  public CompleteMinutes(Consumer<String> failures) {
    this.failures = failures;
  }

  /** Lets an application's minutes change until the next quiet point. */
  public void uncertain(String application) {
    uncertain.add(application);
    shown.keySet().removeIf(key -> key.application.equals(application));
  }

  /** Lets the minutes of a server change until the next quiet point. */
  public void uncertainServer(String server) {
    uncertainServers.add(server);
    shown.keySet().removeIf(key -> key.server.equals(server));
  }

  /** Lets all minutes change until the next quiet point. */
  public void uncertain() {
    allUncertain = true;
    shown.clear();
  }

  /** Lets all minutes change until a time. */
  public void uncertainUntil(long millis) {
    uncertainUntilMillis = Math.max(uncertainUntilMillis, millis);
    shown.clear();
  }

  /** Forgets what was shown before a quiet point: agents that send nothing are not waited for. */
  public void settle() {
    allUncertain = false;
    uncertain.clear();
    uncertainServers.clear();
    shown.clear();
  }

  /**
   * Compares what a server showed as complete at the last call with its history, and keeps what it
   * shows now.
   *
   * @param server name of the process
   * @param untilMillis until when the application is complete; null if that is unknown, or if an
   *     agent is not waited for
   */
  public void look(
      String server,
      String application,
      Long untilMillis,
      long nowMillis,
      HistorySums.Reader history) {
    if (allUncertain
        || nowMillis < uncertainUntilMillis
        || uncertain.contains(application)
        || uncertainServers.contains(server)) {
      return;
    }
    Key key = new Key(server, application);
    Shown before = shown.get(key);
    if (before != null && nowMillis - before.fromMillis < MOST_MILLIS) {
      long calls = calls(application, before.fromMillis, before.toMillis, history);
      if (calls != before.calls) {
        failures.accept(
            String.format(
                Locale.ROOT,
                "%s showed %d calls of %s from %s to %s as complete, and now %d",
                server,
                before.calls,
                application,
                Instant.ofEpochMilli(before.fromMillis),
                Instant.ofEpochMilli(before.toMillis),
                calls));
        shown.remove(key);
        return;
      }
    }
    if (untilMillis != null) {
      long toMillis = Math.floorDiv(untilMillis, MINUTE_MILLIS) * MINUTE_MILLIS;
      long fromMillis = toMillis - LOOK_BACK_MILLIS;
      shown.put(
          key, new Shown(fromMillis, toMillis, calls(application, fromMillis, toMillis, history)));
    }
  }

  private static long calls(
      String application, long fromMillis, long toMillis, HistorySums.Reader history) {
    return history.minutes(HistorySums.Key.of(application)).stream()
        .filter(minute -> minute.startMillis() >= fromMillis && minute.startMillis() < toMillis)
        .mapToLong(minute -> minute.sums().calls())
        .sum();
  }
}
