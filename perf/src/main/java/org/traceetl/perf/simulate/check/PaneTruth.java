package org.traceetl.perf.simulate.check;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Compares the minutes of servers' histories with the times at which agents accepted spans: a span
 * counts in the minute of this time, also if it arrives long after it. So a history has neither
 * holes nor spikes. Times are milliseconds since 1970, by the true clock.
 */
public final class PaneTruth {
  private static final long MINUTE_MILLIS = TimeUnit.MINUTES.toMillis(1);

  /** The clocks of brokers date panes: calls of a round may count shortly before its begin. */
  private static final long OVERLAP_MILLIS = 2 * MINUTE_MILLIS;

  /** A history has an hour. */
  private static final long MOST_MILLIS = 55 * MINUTE_MILLIS;

  /**
   * When an agent accepted a request.
   *
   * @param fromMillis before the first attempt
   * @param toMillis after its good answer
   */
  public record Accepted(long fromMillis, long toMillis) {}

  /** Spans that were accepted in the same period. */
  private static final class Spans {
    final Accepted when;
    long count;

    Spans(Accepted when) {
      this.when = when;
    }
  }

  /**
   * What was known at a quiet point.
   *
   * @param shown calls by the begin of their minute, by application
   */
  private record Base(long atMillis, Map<String, Map<Long, Long>> shown) {
    long fromMillis() {
      return beginOfMinute(atMillis) - OVERLAP_MILLIS;
    }
  }

  /** Since the last quiet point, by application: in the order of their times. */
  private final Map<String, List<Spans>> sent = new TreeMap<>();

  /** All applications since the start. */
  private final Set<String> applications = new TreeSet<>();

  /** Applications with spans whose times are not known. */
  private final Set<String> uncertain = new TreeSet<>();

  /** Null while a fault may make histories differ. */
  private Base base;

  private long uncertainUntilMillis;

  /**
   * @param startMillis when the run starts, without spans
   */
  public PaneTruth(long startMillis) {
    base = new Base(startMillis, Map.of());
  }

  /** Adds a span, after all that the application sent before. */
  public void add(String application, Accepted when) {
    applications.add(application);
    List<Spans> all = sent.computeIfAbsent(application, absent -> new ArrayList<>());
    if (all.isEmpty() || !all.getLast().when.equals(when)) {
      all.add(new Spans(when));
    }
    all.getLast().count++;
  }

  /** Lets an application's minutes be any until the next quiet point. */
  public void uncertain(String application) {
    uncertain.add(application);
  }

  /** Lets minutes be any until a time, after a fault that histories do not survive. */
  public void uncertainUntil(long millis) {
    base = null;
    uncertainUntilMillis = Math.max(uncertainUntilMillis, millis);
  }

  /**
   * Ends a comparison that began before a time: brokers have deleted what is older, so the history
   * of a server that starts lacks it.
   */
  public void deletedBefore(long millis) {
    if (base != null && base.fromMillis() < millis) {
      base = null;
    }
  }

  /**
   * Compares the history of a server with what was sent since the last quiet point.
   *
   * @param slackMillis by which calls may count too early or too late
   */
  public void compare(
      String server,
      long nowMillis,
      long slackMillis,
      HistorySums.Reader history,
      Consumer<String> differences) {
    if (base == null || nowMillis - base.atMillis > MOST_MILLIS) {
      return;
    }
    sent.forEach((application, spans) -> {
      if (!uncertain.contains(application)) {
        String difference = difference(application, spans, nowMillis, slackMillis, history);
        if (difference != null) {
          differences.accept("the history of " + server + " has " + difference);
        }
      }
    });
  }

  /** Returns the first begin of a minute before which there are too few or too many calls. */
  private String difference(
      String application,
      List<Spans> spans,
      long nowMillis,
      long slackMillis,
      HistorySums.Reader history) {
    NavigableMap<Long, Long> shown = shown(application, base.fromMillis(), history);
    base.shown
        .getOrDefault(application, Map.of())
        .forEach((minute, calls) -> shown.merge(minute, -calls, Long::sum));
    long calls = 0;
    long least = 0;
    long most = 0;
    int ended = 0;
    int begun = 0;
    for (long before = base.fromMillis() + MINUTE_MILLIS;
        before <= nowMillis;
        before += MINUTE_MILLIS) {
      calls += shown.getOrDefault(before - MINUTE_MILLIS, 0L);
      while (ended < spans.size() && spans.get(ended).when.toMillis < before - slackMillis) {
        least += spans.get(ended++).count;
      }
      while (begun < spans.size() && spans.get(begun).when.fromMillis <= before + slackMillis) {
        most += spans.get(begun++).count;
      }
      if (calls < least || calls > most) {
        return String.format(
            Locale.ROOT,
            "%d calls of %s before %s instead of %d to %d since the last quiet point",
            calls,
            application,
            Instant.ofEpochMilli(before),
            least,
            most);
      }
    }
    return null;
  }

  /**
   * Begins the next comparison, after one without differences.
   *
   * @param history of any server
   */
  public void settle(long nowMillis, HistorySums.Reader history) {
    sent.clear();
    uncertain.clear();
    base = null;
    if (nowMillis >= uncertainUntilMillis) {
      Base next = new Base(nowMillis, new HashMap<>());
      for (String application : applications) {
        next.shown.put(application, shown(application, next.fromMillis(), history));
      }
      base = next;
    }
  }

  private static NavigableMap<Long, Long> shown(
      String application, long fromMillis, HistorySums.Reader history) {
    NavigableMap<Long, Long> shown = new TreeMap<>();
    for (HistorySums.Minute minute : history.minutes(HistorySums.Key.of(application))) {
      if (minute.startMillis() >= fromMillis) {
        shown.put(minute.startMillis(), minute.sums().calls());
      }
    }
    return shown;
  }

  private static long beginOfMinute(long millis) {
    return Math.floorDiv(millis, MINUTE_MILLIS) * MINUTE_MILLIS;
  }
}
