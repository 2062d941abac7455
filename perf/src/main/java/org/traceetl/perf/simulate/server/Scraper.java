package org.traceetl.perf.simulate.server;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.traceetl.perf.simulate.world.World;

/**
 * A Prometheus: reads the page of each server every 1 to 15 s, and keeps the last value of each
 * series. It reports a counter that decreases, a queue that two servers show at the same instant, a
 * series that its queue no longer has, and a metric of a server that exceeds its bound.
 *
 * <p>If rules change, series of some applications may end, and begin again from 0.
 *
 * <p>Servers must show the label of the queue on each series ({@code trace-etl.metrics.queue-label:
 * always}), and {@code trace-etl.window.idle} must be longer than the run.
 */
public final class Scraper {
  /** What is scraped. */
  public interface Target {
    /**
     * Sends a scrape, without waiting.
     *
     * @param whole whether the page has the server's own metrics as well as those of spans
     */
    Request request(boolean whole);
  }

  /** A scrape that was sent. */
  public interface Request {
    /** Waits for the answer; null if it is late or an error. */
    Answer await() throws InterruptedException;
  }

  /**
   * An answer to a scrape.
   *
   * @param process name of the process, which no earlier one had
   * @param nanos when it was given
   * @param current whether the page may still be shown
   * @param bytes the page in Prometheus' text format
   */
  public record Answer(String process, long nanos, BooleanSupplier current, byte[] bytes) {
    /** An answer of this instant is in sight, whatever the server says later. */
    private boolean isInSight(long nowNanos) {
      return nowNanos - nanos <= INSTANT_NANOS || current.getAsBoolean();
    }
  }

  /** Answers within this time are of one instant: it takes turns of threads, but no message. */
  private static final long INSTANT_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

  /** Drawn, so that no interval of a server hides two owners from all scrapes. */
  private static final long SHORTEST_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(15);

  /** A server's own metrics take longer than its spans, so only each fourth scrape has them. */
  private static final int WHOLE_EVERY = 4;

  private static final long HASH_PRIME = 0x9E3779B97F4A7C15L;

  /** A process that gave no answer for half an hour is forgotten. */
  private static final int MOST_SILENT_SCRAPES = 240;

  private final World world;
  private final Supplier<? extends List<? extends Target>> servers;
  private final Consumer<String> failures;
  private final ScrapedSeries series;

  /** By process. Only of processes that answered the last scrape. */
  private SortedMap<String, Scraped> last = new TreeMap<>();

  /** By process. */
  private final Map<String, Own> owns = new TreeMap<>();

  /** By number of the series of a queue: the value that any server showed last. */
  private double[] shown = {};

  /** By number of the series of a queue: the last values before its ends. */
  private double[] ended = {};

  /**
   * By number of the series of a queue: the scrape that showed it last; 0 if none did since its
   * end.
   */
  private int[] seen = {};

  private int scrapes;

  /** Number of scrapes that have begun. */
  private long begun;

  /** Of those that are read, the one that began last. */
  private long newest;

  /** The page of a process. */
  private static final class Scraped {
    final PageLines lines;
    final byte[] bytes;

    Scraped(PageLines lines, byte[] bytes) {
      this.lines = lines;
      this.bytes = bytes;
    }
  }

  /** The values of a process's own series, by number; NaN if unknown. */
  private static final class Own {
    double[] values = {};
    int seen;

    void ensure(int count) {
      int known = values.length;
      if (known < count) {
        values = Arrays.copyOf(values, 2 * count);
        Arrays.fill(values, known, values.length, Double.NaN);
      }
    }
  }

  /**
   * @param servers those to scrape, now
   * @param bounds of servers' own metrics, by name
   * @param mayEnd whether rules may end a series of span metrics, by application
   * @param failures receives what must not be
   */
  public Scraper(
      World world,
      Supplier<? extends List<? extends Target>> servers,
      Map<String, Bound> bounds,
      Predicate<String> mayEnd,
      Consumer<String> failures) {
    this.world = world;
    series = new ScrapedSeries(bounds, mayEnd);
    this.servers = servers;
    this.failures = failures;
  }

  /** Starts to scrape, for as long as the world runs. */
  public void start() {
    world.spawn(
        "scraper",
        () -> {
          try {
            while (true) {
              world.sleep(world.random().nextLong(SHORTEST_NANOS, LONGEST_NANOS));
              scrape(scrapes % WHOLE_EVERY == 0);
            }
          } catch (InterruptedException e) {
            throw new IllegalStateException("nothing interrupts the scraper", e);
          }
        });
  }

  /** Reads the page of each server. Waits for pages that must be rendered first. */
  public void scrape() throws InterruptedException {
    scrape(true);
  }

  private void scrape(boolean whole) throws InterruptedException {
    final long number = ++begun;
    List<Request> requests = new ArrayList<>();
    for (Target server : servers.get()) {
      requests.add(server.request(whole));
    }
    List<Answer> answers = new ArrayList<>();
    for (Request request : requests) {
      Answer answer = request.await();
      if (answer != null) {
        answers.add(answer);
      }
    }
    if (number < newest) {
      return; // Another thread's scrape began later and is read: these pages are older.
    }
    newest = number;
    answers.sort(Comparator.comparingLong(Answer::nanos));
    scrapes++;
    SortedMap<String, Scraped> now = new TreeMap<>();
    for (Answer answer : answers) {
      // A Prometheus stores the values of each answer.
      Scraped scraped = read(answer);
      if (answer.isInSight(world.nanos())) {
        now.put(answer.process(), scraped);
      }
    }
    last = now;
    owns.values().removeIf(own -> scrapes - own.seen > MOST_SILENT_SCRAPES);
    reportMissing(owners(now), empty(now));
  }

  private Scraped read(Answer answer) {
    Scraped before = last.get(answer.process());
    PageLines lines =
        PageLines.read(answer.bytes(), before == null ? PageLines.none() : before.lines, series);
    int count = series.count();
    if (shown.length < count) {
      shown = Arrays.copyOf(shown, 2 * count);
      seen = Arrays.copyOf(seen, 2 * count);
      ended = Arrays.copyOf(ended, 2 * count);
    }
    Own own = owns.computeIfAbsent(answer.process(), absent -> new Own());
    own.ensure(count);
    own.seen = scrapes;
    endRestarted(lines);
    int decreases = 0;
    long hash = 0;
    for (int line = 0; line < lines.count(); line++) {
      int number = lines.series(line);
      ScrapedSeries.Series one = series.get(number);
      boolean isOwn = one.queue() == ScrapedSeries.NO_QUEUE;
      double[] values = isOwn ? own.values : shown;
      double value = lines.value(line);
      if (!one.ofTheJvm()) {
        // The order of a server's own metrics on its page differs between equal runs.
        hash += hash(one.text(), value);
      }
      if (one.counter()
          && (isOwn || seen[number] != 0)
          && (Double.isNaN(value) || value < values[number])) {
        // One line for a page: all series of a queue decrease together.
        if (decreases++ == 0) {
          failures.accept(
              one.text()
                  + " decreased from "
                  + values[number]
                  + " to "
                  + value
                  + ", now shown by "
                  + answer.process());
        }
      }
      if (one.bound() != null && !one.bound().has(value)) {
        failures.accept(
            one.text() + " of " + answer.process() + " is " + value + "; must be " + one.bound());
      }
      values[number] = value;
      if (!isOwn) {
        seen[number] = scrapes;
      }
    }
    world.timeline().operation(answer.process(), Long.toString(hash));
    return new Scraped(lines, answer.bytes());
  }

  /** Ends the series that rules may end and that began again since the last scrape. */
  private void endRestarted(PageLines lines) {
    BitSet restarted = new BitSet();
    for (int line = 0; line < lines.count(); line++) {
      int number = lines.series(line);
      ScrapedSeries.Series one = series.get(number);
      if (one.mayEnd() && seen[number] != 0 && lines.value(line) < shown[number]) {
        restarted.set(one.group());
      }
    }
    for (int number = 0; number < series.count() && !restarted.isEmpty(); number++) {
      ScrapedSeries.Series one = series.get(number);
      if (one.mayEnd() && restarted.get(one.group()) && seen[number] != 0) {
        end(number);
      }
    }
  }

  private void end(int number) {
    ended[number] += shown[number];
    seen[number] = 0;
  }

  private static long hash(String text, double value) {
    long mixed = (Double.doubleToRawLongBits(value) ^ text.hashCode()) * HASH_PRIME;
    return (mixed ^ mixed >>> 32) * HASH_PRIME;
  }

  /** Returns the number of the server that shows each queue, from 1; 0 for none. */
  private int[] owners(SortedMap<String, Scraped> now) {
    int[] owners = new int[series.queueCount()];
    List<String> processes = List.copyOf(now.keySet());
    Set<Integer> twice = new HashSet<>();
    for (int process = 1; process <= processes.size(); process++) {
      PageLines lines = now.get(processes.get(process - 1)).lines;
      for (int line = 0; line < lines.count(); line++) {
        int queue = series.get(lines.series(line)).queue();
        if (queue == ScrapedSeries.NO_QUEUE || owners[queue] == process) {
          continue;
        }
        if (owners[queue] != 0 && twice.add(queue)) {
          failures.accept(
              "Queue "
                  + series.queue(queue)
                  + " is shown by "
                  + processes.get(owners[queue] - 1)
                  + " and "
                  + processes.get(process - 1));
        }
        owners[queue] = process;
      }
    }
    return owners;
  }

  /** Returns the queues of which the servers say that they have no series. */
  private BitSet empty(SortedMap<String, Scraped> now) {
    BitSet empty = new BitSet();
    BitSet others = new BitSet();
    for (Scraped scraped : now.values()) {
      for (int line = 0; line < scraped.lines.count(); line++) {
        int counted = series.get(scraped.lines.series(line)).counted();
        if (counted != ScrapedSeries.NO_QUEUE) {
          (scraped.lines.value(line) == 0 ? empty : others).set(counted);
        }
      }
    }
    empty.andNot(others);
    return empty;
  }

  /**
   * Reports one of the series that are missing on the pages of their queues and may not end. Pages
   * show nothing of an empty queue, which a server has nevertheless.
   */
  private void reportMissing(int[] owners, BitSet empty) {
    for (int number = 0; number < series.count(); number++) {
      ScrapedSeries.Series one = series.get(number);
      int queue = one.queue();
      if (queue != ScrapedSeries.NO_QUEUE
          && seen[number] != 0
          && seen[number] != scrapes
          && (owners[queue] != 0 || empty.get(queue))) {
        if (one.mayEnd()) {
          end(number);
          continue;
        }
        failures.accept(one.text() + " is missing, but its queue is shown");
        return;
      }
    }
  }

  /** Returns the last values of series before their ends, as a page. */
  public String ended() {
    StringBuilder page = new StringBuilder();
    for (int number = 0; number < series.count(); number++) {
      if (ended[number] != 0) {
        page.append(series.get(number).text()).append(' ').append(ended[number]).append('\n');
      }
    }
    return page.toString();
  }

  /** Returns the metrics with a bound that no page has shown: their bounds check nothing. */
  public SortedSet<String> unseenBounds() {
    return series.unseenBounds();
  }

  /**
   * Returns the last page of each process that answered the last scrape. Call it after {@link
   * #scrape()}: other pages lack the servers' own metrics.
   */
  public SortedMap<String, byte[]> lastPages() {
    SortedMap<String, byte[]> all = new TreeMap<>();
    last.forEach((process, scraped) -> all.put(process, scraped.bytes));
    return all;
  }
}
