package org.traceetl.server.series;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.window.SeriesDefinition;

/**
 * The series of one queue, as numbers. A key is {@code width} ints:
 *
 * <pre>
 *   0            application, a symbol
 *   1            span name, a symbol
 *   2            kind &lt;&lt; 2 | status
 *   3 ... width  the configured dimensions, symbols or {@link SymbolTable#NONE}
 * </pre>
 *
 * <p>A series is made at its first span, if its application and the process have room; otherwise
 * its spans go to the application's overflow series, which does not count against the limits: there
 * is at most one for each application. One owner thread.
 */
public final class SeriesTable {
  /** Place of the application in a key. */
  public static final int APPLICATION = 0;

  /** Place of the span name in a key. */
  public static final int NAME = 1;

  /** Place of kind and status in a key. */
  public static final int KIND_AND_STATUS = 2;

  /** Place of the first configured dimension in a key. */
  public static final int DIMENSIONS = 3;

  /** No such series. */
  public static final int NONE = -1;

  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;
  private static final int STATUS_BITS = 2;

  private enum State {
    FREE,
    LIVE,
    OVERFLOW
  }

  private static final int INITIAL = 64;

  private final int width;
  private final int maxPerApplication;
  private final SeriesBudget budget;
  private final SymbolTable symbols;
  private final Applications applications;

  private final HashIndex index = new HashIndex(INITIAL);
  private final IntStack free = new IntStack();
  private final IntStack evicted = new IntStack();
  private List<SeriesDefinition> created = new ArrayList<>();

  private int[] keys;
  private int[] hashes = new int[INITIAL];
  private int[] applicationOf = new int[INITIAL];
  private State[] states = new State[INITIAL];
  private long[] touchedMillis = new long[INITIAL];
  private long[] carries = new long[INITIAL];
  private int numbers;

  /** Live series: those the limits are about. */
  private int limited;

  private int overflowing;

  /** Taken from the budget. */
  private int granted;

  public SeriesTable(
      SeriesConfig config, SeriesBudget budget, SymbolTable symbols, Applications applications) {
    width = DIMENSIONS + config.dimensions().size();
    maxPerApplication = config.maxPerApplication();
    this.budget = budget;
    this.symbols = symbols;
    this.applications = applications;
    keys = new int[INITIAL * width];
  }

  /** Ints of a key. */
  public int width() {
    return width;
  }

  public static int kindAndStatus(int kind, int status) {
    return kind << STATUS_BITS | status;
  }

  /** Hash of a key, as {@link #find} and {@link #create} need it. */
  public int hash(int[] key) {
    long hash = 0;
    for (int i = 0; i < width; i++) {
      hash = (hash ^ key[i]) * MIX;
      hash ^= hash >>> 32;
    }
    return (int) hash;
  }

  /** The series with this key, or {@link #NONE}. */
  public int find(int hash, int[] key) {
    for (int slot = index.first(hash); index.isTaken(slot); slot = index.next(slot)) {
      if (index.hasHash(slot, hash)) {
        int series = index.number(slot);
        if (hasKey(series, key)) {
          return series;
        }
      }
    }
    return NONE;
  }

  private boolean hasKey(int series, int[] key) {
    int at = series * width;
    for (int i = 0; i < width; i++) {
      if (keys[at + i] != key[i]) {
        return false;
      }
    }
    return true;
  }

  /** Whether the application and the process have room for one more series. */
  public boolean hasRoom(int application) {
    return applications.series(application) < maxPerApplication && hasBudget();
  }

  /** Makes a series that {@link #find} does not know and that {@link #hasRoom has room}. */
  public int create(int hash, int[] key, int application, long nowMillis) {
    int series = claim(application, nowMillis);
    System.arraycopy(key, 0, keys, series * width, width);
    hashes[series] = hash;
    index.add(hash, series);
    for (int i = 0; i < width; i++) {
      if (i != KIND_AND_STATUS && key[i] != SymbolTable.NONE) {
        symbols.retain(key[i]);
      }
    }
    limited++;
    applications.addSeries(application, 1);
    states[series] = State.LIVE;
    created.add(new SeriesDefinition(series, nowMillis, false, values(key)));
    return series;
  }

  /** The application's overflow series, made if need be. */
  public int overflow(int application, long nowMillis) {
    int series = applications.overflowSeries(application);
    if (series == NONE) {
      series = claim(application, nowMillis);
      states[series] = State.OVERFLOW;
      applications.overflowSeries(application, series);
      overflowing++;
      String[] values = new String[SeriesDefinition.FIXED_DIMENSIONS + width - DIMENSIONS];
      values[SeriesDefinition.APPLICATION] = applications.name(application);
      created.add(
          new SeriesDefinition(
              series, nowMillis, true, Collections.unmodifiableList(Arrays.asList(values))));
    }
    return series;
  }

  private boolean hasBudget() {
    if (limited == granted) {
      granted += budget.take();
    }
    return limited < granted;
  }

  private int claim(int application, long nowMillis) {
    int series = free.isEmpty() ? numbers++ : free.pop();
    if (series == hashes.length) {
      int capacity = series * 2;
      keys = Arrays.copyOf(keys, capacity * width);
      hashes = Arrays.copyOf(hashes, capacity);
      applicationOf = Arrays.copyOf(applicationOf, capacity);
      states = Arrays.copyOf(states, capacity);
      touchedMillis = Arrays.copyOf(touchedMillis, capacity);
      carries = Arrays.copyOf(carries, capacity);
    }
    applicationOf[series] = application;
    touchedMillis[series] = nowMillis;
    carries[series] = 0;
    return series;
  }

  private List<String> values(int[] key) {
    String[] values = new String[SeriesDefinition.FIXED_DIMENSIONS + width - DIMENSIONS];
    values[SeriesDefinition.APPLICATION] = symbols.text(key[APPLICATION]);
    values[SeriesDefinition.SPAN_NAME] = symbols.text(key[NAME]);
    values[SeriesDefinition.SPAN_KIND] = Integer.toString(key[KIND_AND_STATUS] >>> STATUS_BITS);
    values[SeriesDefinition.STATUS_CODE] =
        Integer.toString(key[KIND_AND_STATUS] & ((1 << STATUS_BITS) - 1));
    for (int i = DIMENSIONS; i < width; i++) {
      int at = SeriesDefinition.FIXED_DIMENSIONS + i - DIMENSIONS;
      values[at] = key[i] == SymbolTable.NONE ? null : symbols.text(key[i]);
    }
    return Collections.unmodifiableList(Arrays.asList(values));
  }

  /** Notes that the series had a span: of a window, when it ends. */
  public void touch(int series, long nowMillis) {
    touchedMillis[series] = nowMillis;
  }

  /** Fraction of a span that the series' counts are behind the exact sum: {@link Weight}. */
  public long carry(int series) {
    return carries[series];
  }

  public void carry(int series, long fraction) {
    carries[series] = fraction;
  }

  /** Series made since the last call. */
  public List<SeriesDefinition> takeCreated() {
    List<SeriesDefinition> taken = List.copyOf(created);
    created = new ArrayList<>();
    return taken;
  }

  /**
   * Ends series without a span since {@code sinceMillis}, then applications without series, then
   * symbols without users.
   *
   * @return numbers of the ended series
   */
  public int[] evictIdle(long sinceMillis) {
    evicted.clear();
    for (int series = 0; series < numbers; series++) {
      if (states[series] != State.FREE && touchedMillis[series] < sinceMillis) {
        evict(series);
      }
    }
    if (granted - limited > 2 * budget.portion()) {
      budget.giveBack(granted - limited);
      granted = limited;
    }
    applications.evictIdle(sinceMillis);
    symbols.sweep();
    return evicted.toArray();
  }

  private void evict(int series) {
    if (states[series] == State.OVERFLOW) {
      applications.overflowSeries(applicationOf[series], NONE);
      overflowing--;
    } else {
      index.remove(hashes[series], series);
      int at = series * width;
      for (int i = 0; i < width; i++) {
        if (i != KIND_AND_STATUS && keys[at + i] != SymbolTable.NONE) {
          symbols.release(keys[at + i]);
        }
      }
      applications.addSeries(applicationOf[series], -1);
      limited--;
    }
    evicted.push(series);
    states[series] = State.FREE;
    free.push(series);
  }

  /** Gives back what was taken from the budget: the queue is no longer this process's. */
  public void release() {
    budget.giveBack(granted);
    granted = 0;
    limited = 0;
  }

  /** Series at present, with the overflow ones. */
  public int size() {
    return limited + overflowing;
  }
}
