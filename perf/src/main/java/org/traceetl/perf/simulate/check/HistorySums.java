package org.traceetl.perf.simulate.check;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.traceetl.perf.simulate.world.Durable;

/**
 * Compares the minutes of servers' histories with what was sent between two quiet points. Times are
 * milliseconds since 1970.
 */
public final class HistorySums implements Durable {
  private static final long MINUTE_MILLIS = TimeUnit.MINUTES.toMillis(1);

  /**
   * The two minutes before a quiet point are compared with what they had then, because clocks of
   * servers differ: a window of the next round may begin there.
   */
  private static final long OVERLAP_MILLIS = 2 * MINUTE_MILLIS;

  /** A history has an hour. */
  private static final long MOST_MILLIS = 55 * MINUTE_MILLIS;

  private static final double RELATIVE_ERROR = 1e-9;

  /** An operation; without a name and a kind, the whole application. */
  public record Key(String application, String operation, String kind) implements Comparable<Key> {
    private static final Comparator<Key> ORDER =
        Comparator.comparing(Key::application)
            .thenComparing(Key::operation)
            .thenComparing(Key::kind);

    public static Key of(String application) {
      return new Key(application, "", "");
    }

    @Override
    public int compareTo(Key other) {
      return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
      return operation.isEmpty() ? application : application + " / " + operation + " / " + kind;
    }
  }

  /** Numbers of spans. */
  public record Sums(long calls, long errors, long nanos) {
    static final Sums NONE = new Sums(0, 0, 0);

    Sums plus(Sums other) {
      return new Sums(calls + other.calls, errors + other.errors, nanos + other.nanos);
    }

    Sums minus(Sums other) {
      return new Sums(calls - other.calls, errors - other.errors, nanos - other.nanos);
    }

    boolean isNear(Sums other) {
      return calls == other.calls
          && errors == other.errors
          && Math.abs(nanos - other.nanos) <= 1 + RELATIVE_ERROR * Math.abs(nanos);
    }

    @Override
    public String toString() {
      return "calls=" + calls + " errors=" + errors + " duration_nanos=" + nanos;
    }
  }

  /** A minute of a history. */
  public record Minute(long startMillis, Sums sums) {}

  /** Reads a server's history. */
  public interface Reader {
    /** Returns the minutes of the last hour; empty if there were no spans. */
    List<Minute> minutes(Key key);
  }

  /** What was known at a quiet point. */
  private record Base(long atMillis, Map<Key, Sums> sent, Map<Key, Sums> shown) {
    long fromMillis() {
      return Math.floorDiv(atMillis, MINUTE_MILLIS) * MINUTE_MILLIS - OVERLAP_MILLIS;
    }
  }

  /** Null while a fault may make histories differ. */
  private Base base;

  private long uncertainUntilMillis;

  /** Applications whose spans may be in minutes before the last quiet point. */
  private final Set<String> uncertain = new HashSet<>();

  /**
   * @param startMillis when the run starts, without spans
   */
  public HistorySums(long startMillis) {
    base = new Base(startMillis, Map.of(), Map.of());
  }

  @Override
  public void write(DataOutputStream to) throws IOException {
    to.writeLong(uncertainUntilMillis);
    to.writeBoolean(base != null);
    if (base != null) {
      to.writeLong(base.atMillis);
      write(base.sent, to);
      write(base.shown, to);
    }
  }

  private static void write(Map<Key, Sums> sums, DataOutputStream to) throws IOException {
    to.writeInt(sums.size());
    for (Map.Entry<Key, Sums> one : sums.entrySet()) {
      to.writeUTF(one.getKey().application);
      to.writeUTF(one.getKey().operation);
      to.writeUTF(one.getKey().kind);
      to.writeLong(one.getValue().calls);
      to.writeLong(one.getValue().errors);
      to.writeLong(one.getValue().nanos);
    }
  }

  @Override
  public void read(DataInputStream from) throws IOException {
    uncertainUntilMillis = from.readLong();
    base = from.readBoolean() ? new Base(from.readLong(), readSums(from), readSums(from)) : null;
  }

  private static Map<Key, Sums> readSums(DataInputStream from) throws IOException {
    Map<Key, Sums> sums = new TreeMap<>();
    for (int left = from.readInt(); left > 0; left--) {
      sums.put(
          new Key(from.readUTF(), from.readUTF(), from.readUTF()),
          new Sums(from.readLong(), from.readLong(), from.readLong()));
    }
    return sums;
  }

  /** Returns whether {@link #compare} compares: if not, the histories may still lag. */
  public boolean areCompared(long nowMillis) {
    return base != null && nowMillis - base.atMillis <= MOST_MILLIS;
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

  /** Lets histories differ until a time, after a fault that they do not survive. */
  public void uncertainUntil(long millis) {
    base = null;
    uncertainUntilMillis = Math.max(uncertainUntilMillis, millis);
  }

  /** Does not compare an application until the next quiet point. */
  public void uncertain(String application) {
    uncertain.add(application);
  }

  /**
   * Compares the history of a server with what was sent since the last quiet point.
   *
   * @param sent since the start of the run
   */
  public void compare(
      String server,
      long nowMillis,
      SortedMap<Key, Sums> sent,
      Reader history,
      Consumer<String> differences) {
    if (!areCompared(nowMillis)) {
      return;
    }
    sent.forEach((key, all) -> {
      if (uncertain.contains(key.application)) {
        return;
      }
      Sums expected = all.minus(base.sent.getOrDefault(key, Sums.NONE));
      Sums shown =
          since(base.fromMillis(), history.minutes(key))
              .minus(base.shown.getOrDefault(key, Sums.NONE));
      if (!shown.isNear(expected)) {
        differences.accept(
            String.format(
                Locale.ROOT,
                "the history of %s has %s of %s instead of %s since the last quiet point",
                server,
                shown,
                key,
                expected));
      }
    });
  }

  /**
   * Begins the next comparison, after one without differences.
   *
   * @param history of any server
   */
  public void settle(long nowMillis, SortedMap<Key, Sums> sent, Reader history) {
    uncertain.clear();
    if (nowMillis < uncertainUntilMillis) {
      base = null;
      return;
    }
    Base next = new Base(nowMillis, new TreeMap<>(sent), new HashMap<>());
    sent.keySet()
        .forEach(key -> next.shown.put(key, since(next.fromMillis(), history.minutes(key))));
    base = next;
  }

  private static Sums since(long fromMillis, List<Minute> minutes) {
    return minutes.stream()
        .filter(minute -> minute.startMillis >= fromMillis)
        .map(Minute::sums)
        .reduce(Sums.NONE, Sums::plus);
  }
}
