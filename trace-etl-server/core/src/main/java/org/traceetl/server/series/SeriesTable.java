package org.traceetl.server.series;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowMetrics;

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
 * its spans go to the application's overflow series: one, or one of each kind and status; and
 * another one for events. Beyond the limits are the overflow series and series that gave their
 * place away, at most {@value #MAX_RETIRED} until they end. One owner thread.
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
  private static final int KINDS = 16;

  /** Overflow series of an application where each kind and status has its own. */
  public static final int KINDS_AND_STATUSES = KINDS << STATUS_BITS;

  /** {@link SeriesDefinition#OF_EVENTS}. */
  public static final int OF_EVENTS = SeriesDefinition.OF_EVENTS;

  /**
   * Overflow series of an application that has not one of each kind and status: of all its spans,
   * and of all their events.
   */
  public static final int SPANS_AND_EVENTS = 2;

  private static final int PLACE_OF_SPANS = 0;
  private static final int PLACE_OF_EVENTS = 1;

  private static final long MILLIS_PER_SECOND = 1_000;

  /** Series stand in blocks of so many: growing copies nothing. */
  private static final int BLOCK_BITS = 8;

  private static final int BLOCK_SERIES = 1 << BLOCK_BITS;

  /**
   * A retired series stays on the page for so long after its last span, unless it is idle before:
   * then scrapers at any usual interval have seen its last counts.
   */
  private static final long RETIRED_MILLIS = 5 * 60_000;

  /** Retired series at most: what windows of 15 s may retire in that time, and some more. */
  private static final int MAX_RETIRED = 1_536;

  /** Touched, in seconds: there is no such series. */
  private static final int FREE = Integer.MAX_VALUE;

  /** From here seconds are counted: to 2088, and back to 1952. */
  private static final long BASE_SECONDS = 1_577_836_800;

  private final int width;
  private final int maxPerApplication;
  private final boolean overflowsByKind;
  private final SeriesBudget budget;
  private final SymbolTable symbols;
  private final Applications applications;

  private final HashIndex index = new HashIndex(64);

  /**
   * Numbers in use. A new series gets the lowest free one, so that which one it is follows from the
   * series there are: an owner that took them over numbers on as the one before it would have.
   */
  private final BitSet taken = new BitSet();

  /** No number below it is free. */
  private int firstFree;

  /** Those of {@link #taken} that are overflow series. */
  private final BitSet overflows = new BitSet();

  /** Series that gave their place away, by key: spans do not find them any more. */
  private final HashIndex retired = new HashIndex(8);

  private final BitSet retiredNumbers = new BitSet();

  private final IntStack evicted = new IntStack();
  private List<SeriesDefinition> created = new ArrayList<>();

  /**
   * By block: keys, one after the other. Of an overflow series the application is there, and its
   * place among them as kind and status.
   */
  private int[][] keys = new int[1][];

  /** By block: when each series was touched, rounded up, in seconds since the base. */
  private int[][] touched = new int[1][];

  /**
   * By block: none of its series was touched before, so that it need not be looked through. Behind
   * the truth where series were touched since.
   */
  private int[] untouchedBefore = new int[1];

  /** By block: what each series carries. Null: none of the block's series does. */
  private long[][] carries = new long[1][];

  /** Series but for the overflow ones: those the limits are about. */
  private int limited;

  private int overflowing;

  /** Taken from the budget. */
  private int granted;

  /**
   * @param overflowsByKind whether an application has an overflow series of each kind and status,
   *     as many as {@link #KINDS_AND_STATUSES}, or {@link #SPANS_AND_EVENTS}
   */
  public SeriesTable(
      SeriesConfig config,
      SeriesBudget budget,
      SymbolTable symbols,
      Applications applications,
      boolean overflowsByKind) {
    this.overflowsByKind = overflowsByKind;
    width = DIMENSIONS + config.dimensions().size();
    maxPerApplication = config.maxPerApplication();
    this.budget = budget;
    this.symbols = symbols;
    this.applications = applications;
  }

  /** Ints of a key. */
  public int width() {
    return width;
  }

  public static int kindAndStatus(int kind, int status) {
    return kind << STATUS_BITS | status;
  }

  public static int kind(int kindAndStatus) {
    return kindAndStatus >>> STATUS_BITS;
  }

  public static int status(int kindAndStatus) {
    return kindAndStatus & (1 << STATUS_BITS) - 1;
  }

  /** Hash of the key that begins there, as {@link #find} and {@link #create} need it. */
  public int hash(int[] keys, int at) {
    long hash = 0;
    for (int i = at; i < at + width; i++) {
      hash = (hash ^ keys[i]) * MIX;
      hash ^= hash >>> 32;
    }
    return (int) hash;
  }

  /** The series with the key that begins there, or {@link #NONE}. */
  public int find(int hash, int[] keys, int at) {
    return find(index, hash, keys, at);
  }

  private int find(HashIndex index, int hash, int[] keys, int at) {
    for (int slot = index.first(hash); index.isTaken(slot); slot = index.next(slot)) {
      if (index.hasHash(slot, hash)) {
        int series = index.number(slot);
        if (hasKey(series, keys, at)) {
          return series;
        }
      }
    }
    return NONE;
  }

  private boolean hasKey(int series, int[] sought, int from) {
    int[] block = keys[series >>> BLOCK_BITS];
    int at = keyAt(series);
    for (int i = 0; i < width; i++) {
      if (block[at + i] != sought[from + i]) {
        return false;
      }
    }
    return true;
  }

  /** Where a series' key begins in its block. */
  private int keyAt(int series) {
    return inBlock(series) * width;
  }

  private static int inBlock(int series) {
    return series & BLOCK_SERIES - 1;
  }

  /**
   * Whether the application and the process have room for one more series.
   *
   * @param kept places of the application that are not to be taken
   * @param keptInAll places of all applications that are not to be taken
   */
  public boolean hasRoom(int application, int kept, int keptInAll) {
    return applications.series(application) + kept < maxPerApplication && hasBudget(keptInAll);
  }

  /**
   * Makes a series that {@link #find} does not know and that {@link #hasRoom has room}; one that is
   * retired goes on.
   */
  public int create(int hash, int[] key, int application, long nowMillis) {
    int former = find(retired, hash, key, 0);
    if (former != NONE) {
      retired.remove(hash, former);
      retiredNumbers.clear(former);
      index.add(hash, former);
      limited++;
      applications.addSeries(application, 1);
      return former;
    }
    int series = claim(nowMillis);
    add(series, hash, key, application);
    created.add(new SeriesDefinition(series, nowMillis, false, values(key)));
    return series;
  }

  private void add(int series, int hash, int[] key, int application) {
    System.arraycopy(key, 0, keys[series >>> BLOCK_BITS], keyAt(series), width);
    index.add(hash, series);
    for (int i = 0; i < width; i++) {
      if (i != KIND_AND_STATUS && key[i] != SymbolTable.NONE) {
        symbols.retain(key[i]);
      }
    }
    limited++;
    applications.addSeries(application, 1);
  }

  /** The application's overflow series for such spans, made if need be. */
  public int overflow(int application, int kindAndStatus, long nowMillis) {
    int place = place(kindAndStatus);
    int series = applications.overflowSeries(application, place);
    if (series == NONE) {
      series = claim(nowMillis);
      addOverflow(series, application, place);
      String[] values = new String[valuesOfSeries()];
      values[SeriesDefinition.APPLICATION] = applications.name(application);
      if (overflowsByKind) {
        values[SeriesDefinition.SPAN_KIND] = Integer.toString(kind(place));
        values[SeriesDefinition.STATUS_CODE] = Integer.toString(status(place));
      } else if (place == PLACE_OF_EVENTS) {
        values[SeriesDefinition.SPAN_KIND] = Integer.toString(OF_EVENTS);
        values[SeriesDefinition.STATUS_CODE] = "0";
      }
      created.add(
          new SeriesDefinition(
              series, nowMillis, true, Collections.unmodifiableList(Arrays.asList(values))));
    }
    return series;
  }

  /** Which of an application's overflow series takes such spans, or events. */
  private int place(int kindAndStatus) {
    if (overflowsByKind) {
      return kindAndStatus;
    }
    return kind(kindAndStatus) < OF_EVENTS ? PLACE_OF_SPANS : PLACE_OF_EVENTS;
  }

  /** Events of an application that found no room in a window. */
  long overflowedEvents(int application, WindowMetrics window) {
    return overflowsByKind ? 0 : applications.overflowed(application, PLACE_OF_EVENTS, window);
  }

  /**
   * Overflow series have none but those of events, unless each kind has its own; others have one.
   */
  private boolean mayHaveKind(SeriesDefinition definition) {
    String kind = definition.values().get(SeriesDefinition.SPAN_KIND);
    if (overflowsByKind || !definition.overflow()) {
      return kind != null;
    }
    return kind == null
        || (kind.equals(Integer.toString(OF_EVENTS))
            && "0".equals(definition.values().get(SeriesDefinition.STATUS_CODE)));
  }

  private void addOverflow(int series, int application, int place) {
    int[] block = keys[series >>> BLOCK_BITS];
    block[keyAt(series) + APPLICATION] = applications.symbol(application);
    block[keyAt(series) + KIND_AND_STATUS] = place;
    overflows.set(series);
    applications.addOverflow(application, place, series);
    overflowing++;
  }

  /**
   * Goes on with a series of another process, under its number, whatever the limits say. Before the
   * first span.
   *
   * @param lastMillis when it last had a span
   * @param carry as {@link #carry}
   * @return false, and it is not there, if it has other dimensions than this table's, the number or
   *     the key of another one, or is an overflow series that the application has or that no
   *     application has here: then whoever wrote it was none of these
   */
  public boolean restore(SeriesDefinition definition, long lastMillis, long carry) {
    List<String> values = definition.values();
    int series = definition.series();
    if (values.size() != valuesOfSeries() || taken.get(series)) {
      return false;
    }
    if (!mayHaveKind(definition)) {
      return false;
    }
    boolean ofKind = values.get(SeriesDefinition.SPAN_KIND) != null;
    int application = applications.restore(values.get(SeriesDefinition.APPLICATION), lastMillis);
    int kindAndStatus =
        ofKind
            ? kindAndStatus(
                Integer.parseInt(values.get(SeriesDefinition.SPAN_KIND)),
                Integer.parseInt(values.get(SeriesDefinition.STATUS_CODE)))
            : 0;
    if (definition.overflow()) {
      int place = place(kindAndStatus);
      if (applications.overflowSeries(application, place) != NONE) {
        return false;
      }
      claim(series, lastMillis);
      carry(series, carry);
      addOverflow(series, application, place);
      return true;
    }
    int[] key = new int[width];
    key[APPLICATION] = applications.symbol(application);
    key[NAME] = symbols.restore(values.get(SeriesDefinition.SPAN_NAME));
    key[KIND_AND_STATUS] = kindAndStatus;
    for (int i = DIMENSIONS; i < width; i++) {
      String value = values.get(SeriesDefinition.FIXED_DIMENSIONS + i - DIMENSIONS);
      key[i] = value == null ? SymbolTable.NONE : symbols.restore(value);
    }
    int hash = hash(key, 0);
    if (find(hash, key, 0) != NONE) {
      return false;
    }
    claim(series, lastMillis);
    carry(series, carry);
    add(series, hash, key, application);
    granted++;
    budget.takeAll(1);
    return true;
  }

  /** Series that the application has more than its limit; below 0 while it has room. */
  int above(int application) {
    return applications.series(application) - maxPerApplication;
  }

  /** Whether the process refuses one more series; asks without taking. */
  boolean isOutOfBudget(int kept) {
    return limited + kept >= granted && budget.left() <= 0;
  }

  /** Whether the process has room for one more series; takes it if need be. */
  boolean hasBudget(int kept) {
    if (limited + kept >= granted) {
      granted += budget.take();
    }
    return limited + kept < granted;
  }

  private int claim(long nowMillis) {
    int series = taken.nextClearBit(firstFree);
    firstFree = series + 1;
    claim(series, nowMillis);
    return series;
  }

  private void claim(int series, long nowMillis) {
    int block = series >>> BLOCK_BITS;
    if (block >= keys.length) {
      int capacity = Math.max(block + 1, keys.length * 2);
      keys = Arrays.copyOf(keys, capacity);
      touched = Arrays.copyOf(touched, capacity);
      untouchedBefore = Arrays.copyOf(untouchedBefore, capacity);
      carries = Arrays.copyOf(carries, capacity);
    }
    if (keys[block] == null) {
      keys[block] = new int[BLOCK_SERIES * width];
      touched[block] = new int[BLOCK_SERIES];
      Arrays.fill(touched[block], FREE);
      untouchedBefore[block] = FREE;
    }
    taken.set(series);
    touch(series, nowMillis);
    carry(series, 0);
  }

  /** Rounded up; never that of no series. */
  private static int seconds(long millis) {
    long seconds = Math.ceilDiv(millis, MILLIS_PER_SECOND) - BASE_SECONDS;
    return Math.clamp(seconds, Integer.MIN_VALUE, FREE - 1);
  }

  private int valuesOfSeries() {
    return SeriesDefinition.FIXED_DIMENSIONS + width - DIMENSIONS;
  }

  private List<String> values(int[] key) {
    String[] values = new String[valuesOfSeries()];
    values[SeriesDefinition.APPLICATION] = symbols.text(key[APPLICATION]);
    values[SeriesDefinition.SPAN_NAME] = symbols.text(key[NAME]);
    values[SeriesDefinition.SPAN_KIND] = Integer.toString(kind(key[KIND_AND_STATUS]));
    values[SeriesDefinition.STATUS_CODE] = Integer.toString(status(key[KIND_AND_STATUS]));
    for (int i = DIMENSIONS; i < width; i++) {
      int at = SeriesDefinition.FIXED_DIMENSIONS + i - DIMENSIONS;
      values[at] = key[i] == SymbolTable.NONE ? null : symbols.text(key[i]);
    }
    return Collections.unmodifiableList(Arrays.asList(values));
  }

  /** Notes that the series had a span, as {@link SealedWindow#touchedMillis} has it. */
  public void touch(int series, long millis) {
    touch(series, seconds(millis));
  }

  private void touch(int series, int seconds) {
    int block = series >>> BLOCK_BITS;
    touched[block][inBlock(series)] = seconds;
    untouchedBefore[block] = Math.min(untouchedBefore[block], seconds);
  }

  /** Takes it that all series had their last spans so much later. */
  public void postpone(long millis) {
    long later = Math.ceilDiv(millis, MILLIS_PER_SECOND);
    for (int[] block : touched) {
      for (int i = 0; block != null && i < BLOCK_SERIES; i++) {
        if (block[i] < FREE) {
          block[i] = (int) Math.min(block[i] + later, FREE - 1);
        }
      }
    }
  }

  /** Fraction of a span that the series' counts are behind the exact sum: {@link Weight}. */
  public long carry(int series) {
    long[] block = carries[series >>> BLOCK_BITS];
    return block == null ? 0 : block[inBlock(series)];
  }

  public void carry(int series, long fraction) {
    int block = series >>> BLOCK_BITS;
    if (carries[block] == null) {
      if (fraction == 0) {
        return;
      }
      carries[block] = new long[BLOCK_SERIES];
    }
    carries[block][inBlock(series)] = fraction;
  }

  /** Series made since the last call. */
  public List<SeriesDefinition> takeCreated() {
    List<SeriesDefinition> taken = List.copyOf(created);
    created = new ArrayList<>();
    return taken;
  }

  /**
   * Ends series that were not touched since {@code sinceMillis}, up to a second later; then
   * applications without series, then symbols without users. Looks only through blocks in which
   * there may be such series: the worker waits for this.
   *
   * @return numbers of the ended series
   */
  public int[] evictIdle(long nowMillis, long sinceMillis) {
    evicted.clear();
    int since = seconds(sinceMillis);
    for (int block = 0; block < touched.length; block++) {
      if (touched[block] != null && untouchedBefore[block] < since) {
        evictIdle(block, since);
      }
    }
    for (int series = retiredNumbers.nextSetBit(0);
        series >= 0;
        series = retiredNumbers.nextSetBit(series + 1)) {
      if (touchedSeconds(series) < seconds(nowMillis - RETIRED_MILLIS)) {
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

  private void evictIdle(int block, int since) {
    int[] ofBlock = touched[block];
    int least = FREE;
    for (int i = 0; i < BLOCK_SERIES; i++) {
      if (ofBlock[i] < since) {
        evict(block << BLOCK_BITS | i);
      }
      least = Math.min(least, ofBlock[i]);
    }
    untouchedBefore[block] = least;
  }

  private void evict(int series) {
    int[] block = keys[series >>> BLOCK_BITS];
    int at = keyAt(series);
    if (overflows.get(series)) {
      overflows.clear(series);
      applications.removeOverflow(
          applications.named(block[at + APPLICATION]), block[at + KIND_AND_STATUS]);
      overflowing--;
    } else {
      if (retiredNumbers.get(series)) {
        retiredNumbers.clear(series);
        retired.remove(hash(block, at), series);
      } else {
        leave(series);
      }
      for (int i = 0; i < width; i++) {
        if (i != KIND_AND_STATUS && block[at + i] != SymbolTable.NONE) {
          symbols.release(block[at + i]);
        }
      }
    }
    evicted.push(series);
    taken.clear(series);
    touched[series >>> BLOCK_BITS][inBlock(series)] = FREE;
    firstFree = Math.min(firstFree, series);
  }

  /** Spans find the series no more, and its place is free. */
  private void leave(int series) {
    int[] block = keys[series >>> BLOCK_BITS];
    int at = keyAt(series);
    index.remove(hash(block, at), series);
    applications.addSeries(applications.named(block[at + APPLICATION]), -1);
    limited--;
  }

  /** Series that count against the limits. */
  int limited() {
    return limited;
  }

  /** Whether one more series may be retired. */
  boolean canRetire() {
    return retired.size() < MAX_RETIRED;
  }

  /**
   * Takes a series' place: from now on its spans find no series. It ends later, as an idle one
   * does, when whoever reads the page has seen its last counts.
   */
  void retire(int series) {
    leave(series);
    retired.add(hash(keys[series >>> BLOCK_BITS], keyAt(series)), series);
    retiredNumbers.set(series);
  }

  /** Numbers of series are below it. */
  int end() {
    return taken.length();
  }

  /** The application of a series that counts against its limit; {@link #NONE} for any other. */
  int application(int series) {
    return !taken.get(series) || overflows.get(series) || retiredNumbers.get(series)
        ? NONE
        : applications.named(keys[series >>> BLOCK_BITS][keyAt(series) + APPLICATION]);
  }

  /**
   * Adds the values that distinguish a series to sets of them: span name, kind, status and the
   * configured dimensions; numbers or symbols.
   */
  void addValues(int series, BitSet[] values) {
    int[] block = keys[series >>> BLOCK_BITS];
    int at = keyAt(series);
    values[0].set(block[at + NAME]);
    int kind = block[at + KIND_AND_STATUS] >>> STATUS_BITS;
    // A span and its events are of one kind.
    values[1].set(overflowsByKind || kind < OF_EVENTS ? kind : kind - OF_EVENTS);
    values[2].set(block[at + KIND_AND_STATUS] & (1 << STATUS_BITS) - 1);
    for (int i = DIMENSIONS; i < width; i++) {
      if (block[at + i] != SymbolTable.NONE) {
        values[i].set(block[at + i]);
      }
    }
  }

  /** When the series had its last span, in seconds since a base; to be compared. */
  int touchedSeconds(int series) {
    return touched[series >>> BLOCK_BITS][inBlock(series)];
  }

  /** Gives back what was taken from the budget: the queue is no longer this process's. */
  public void release() {
    budget.giveBack(granted);
    granted = 0;
    limited = 0;
  }

  /** Series at present, with the overflow ones and those that gave their place away. */
  public int size() {
    return limited + overflowing + retired.size();
  }
}
