package org.traceetl.server.series;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
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

  private static final int INITIAL = 64;

  private final int width;
  private final int maxPerApplication;
  private final SeriesBudget budget;
  private final SymbolTable symbols;
  private final Applications applications;

  private final HashIndex index = new HashIndex(INITIAL);

  /**
   * Numbers in use. A new series gets the lowest free one, so that which one it is follows from the
   * series there are: an owner that took them over numbers on as the one before it would have.
   */
  private final BitSet taken = new BitSet();

  /** No number below it is free. */
  private int firstFree;

  /** Those of {@link #taken} that are overflow series. */
  private final BitSet overflows = new BitSet();

  private final IntStack evicted = new IntStack();
  private List<SeriesDefinition> created = new ArrayList<>();

  private int[] keys;
  private int[] hashes = new int[INITIAL];
  private int[] applicationOf = new int[INITIAL];
  private long[] touchedMillis = new long[INITIAL];
  private long[] carries = new long[INITIAL];

  /** Series but for the overflow ones: those the limits are about. */
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
    add(series, hash, key, application);
    created.add(new SeriesDefinition(series, nowMillis, false, values(key)));
    return series;
  }

  private void add(int series, int hash, int[] key, int application) {
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
  }

  /** The application's overflow series, made if need be. */
  public int overflow(int application, long nowMillis) {
    int series = applications.overflowSeries(application);
    if (series == NONE) {
      series = claim(application, nowMillis);
      addOverflow(series, application);
      String[] values = new String[valuesOfSeries()];
      values[SeriesDefinition.APPLICATION] = applications.name(application);
      created.add(
          new SeriesDefinition(
              series, nowMillis, true, Collections.unmodifiableList(Arrays.asList(values))));
    }
    return series;
  }

  private void addOverflow(int series, int application) {
    overflows.set(series);
    applications.overflowSeries(application, series);
    overflowing++;
  }

  /**
   * Goes on with a series of another process, under its number, whatever the limits say. Before the
   * first span.
   *
   * @param lastMillis when it last had a span
   * @param carry as {@link #carry}
   * @throws IllegalArgumentException if it has other dimensions than this table's
   */
  public void restore(SeriesDefinition definition, long lastMillis, long carry) {
    List<String> values = definition.values();
    int application = applications.restore(values.get(SeriesDefinition.APPLICATION), lastMillis);
    int series = definition.series();
    claim(series, application, lastMillis);
    carries[series] = carry;
    if (definition.overflow()) {
      addOverflow(series, application);
      return;
    }
    if (values.size() != valuesOfSeries()) {
      throw new IllegalArgumentException(
          "series " + series + " has " + values.size() + " values: must be " + valuesOfSeries());
    }
    int[] key = new int[width];
    key[APPLICATION] = applications.symbol(application);
    key[NAME] = symbols.restore(values.get(SeriesDefinition.SPAN_NAME));
    key[KIND_AND_STATUS] =
        kindAndStatus(
            Integer.parseInt(values.get(SeriesDefinition.SPAN_KIND)),
            Integer.parseInt(values.get(SeriesDefinition.STATUS_CODE)));
    for (int i = DIMENSIONS; i < width; i++) {
      String value = values.get(SeriesDefinition.FIXED_DIMENSIONS + i - DIMENSIONS);
      key[i] = value == null ? SymbolTable.NONE : symbols.restore(value);
    }
    add(series, hash(key), key, application);
    granted++;
    budget.takeAll(1);
  }

  private boolean hasBudget() {
    if (limited == granted) {
      granted += budget.take();
    }
    return limited < granted;
  }

  private int claim(int application, long nowMillis) {
    int series = taken.nextClearBit(firstFree);
    firstFree = series + 1;
    claim(series, application, nowMillis);
    return series;
  }

  private void claim(int series, int application, long nowMillis) {
    if (series >= hashes.length) {
      int capacity = Math.max(series + 1, hashes.length * 2);
      keys = Arrays.copyOf(keys, capacity * width);
      hashes = Arrays.copyOf(hashes, capacity);
      applicationOf = Arrays.copyOf(applicationOf, capacity);
      touchedMillis = Arrays.copyOf(touchedMillis, capacity);
      carries = Arrays.copyOf(carries, capacity);
    }
    taken.set(series);
    applicationOf[series] = application;
    touchedMillis[series] = nowMillis;
    carries[series] = 0;
  }

  private int valuesOfSeries() {
    return SeriesDefinition.FIXED_DIMENSIONS + width - DIMENSIONS;
  }

  private List<String> values(int[] key) {
    String[] values = new String[valuesOfSeries()];
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

  /** Takes it that all series had their last spans so much later. */
  public void postpone(long millis) {
    for (int series = 0; series < touchedMillis.length; series++) {
      touchedMillis[series] += millis;
    }
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
    for (int series = taken.nextSetBit(0); series >= 0; series = taken.nextSetBit(series + 1)) {
      if (touchedMillis[series] < sinceMillis) {
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
    if (overflows.get(series)) {
      overflows.clear(series);
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
    taken.clear(series);
    firstFree = Math.min(firstFree, series);
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
