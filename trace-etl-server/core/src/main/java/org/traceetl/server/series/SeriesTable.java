package org.traceetl.server.series;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.function.IntPredicate;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.window.Form;
import org.traceetl.server.window.MeasureForm;
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
 *   3            labels after the configured dimensions: a number of {@link #labelSet}
 *   4 ... width  the configured dimensions, symbols or {@link SymbolTable#NONE}
 * </pre>
 *
 * <p>A series is created at its first span, if its application and the process have room. Otherwise
 * the span counts in an overflow series of the application. There is one for spans, one for events
 * and one for the variance of that of spans, or one for each kind and status. The limits exclude
 * overflow series and retired series, of which there are at most {@value #MAX_RETIRED}, and after a
 * change of rules at most as many more as an application may have, and their variances. The limit
 * of an application excludes variances: there are at most as many as other series. One owner
 * thread.
 */
public final class SeriesTable {
  /** Position of the application in a key. */
  public static final int APPLICATION = 0;

  /** Position of the span name in a key. */
  public static final int NAME = 1;

  /** Position of kind and status in a key. */
  public static final int KIND_AND_STATUS = 2;

  /** Position of the set of labels in a key. */
  public static final int LABELS = 3;

  /** Position of the first configured dimension in a key. */
  public static final int DIMENSIONS = 4;

  /** Number of the dimensions before the configured ones in {@link #addValues}. */
  static final int FIXED_VALUES = 3;

  /** No such series. */
  public static final int NONE = -1;

  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;
  private static final int STATUS_BITS = 2;
  private static final int KINDS = 16;

  /** Number of an application's overflow series if each kind and status has its own. */
  public static final int KINDS_AND_STATUSES = KINDS << STATUS_BITS;

  /** {@link SeriesDefinition#OF_EVENTS}. */
  public static final int OF_EVENTS = SeriesDefinition.OF_EVENTS;

  /** Kind and status in the key of a measure's series. */
  public static final int OF_MEASURES = SeriesDefinition.OF_MEASURES << STATUS_BITS;

  /** Number of an application's overflow series otherwise. */
  public static final int SPANS_EVENTS_AND_VARIANCE = 3;

  private static final int PLACE_OF_SPANS = 0;
  private static final int PLACE_OF_EVENTS = 1;
  static final int PLACE_OF_VARIANCE = 2;
  private static final int VARIANCE = SeriesDefinition.OF_VARIANCE << STATUS_BITS;

  private static final long MILLIS_PER_SECOND = 1_000;

  /** Series per block, as a power of two. Blocks avoid copies during growth. */
  private static final int BLOCK_BITS = 8;

  private static final int BLOCK_SERIES = 1 << BLOCK_BITS;

  /**
   * A retired series stays on the page for this time after its last span, or after rules retired
   * it, unless it becomes idle earlier. By then scrapers at usual intervals have read its last
   * counts.
   */
  private static final long RETIRED_MILLIS = 5 * 60_000;

  /** Maximum number of retired series: enough for windows of 15 s in that time. */
  private static final int MAX_RETIRED = 1_536;

  /** Time of the last touch, in seconds: there is no such series. */
  private static final int FREE = Integer.MAX_VALUE;

  /** Origin of times in seconds, which range from 1952 to 2088. */
  private static final long BASE_SECONDS = 1_577_836_800;

  private final int width;
  private final int maxPerApplication;
  private final boolean overflowsByKind;
  private final SeriesBudget budget;
  private final SymbolTable symbols;
  private final Applications applications;

  private final LabelSets labelSets;

  /** Key of a variance that is being looked up. */
  private final int[] varianceKey;

  private final HashIndex index = new HashIndex(64);

  /**
   * Numbers in use. A new series gets the lowest free number, which depends only on the current
   * series. So a new owner assigns the same numbers as its predecessor would.
   */
  private final BitSet taken = new BitSet();

  /** All numbers below it are in use. */
  private int firstFree;

  /** The overflow series of {@link #taken}. */
  private final BitSet overflows = new BitSet();

  /** Retired series by key: spans do not find them any more. */
  private final HashIndex retired = new HashIndex(8);

  private final BitSet retiredNumbers = new BitSet();

  private final IntStack evicted = new IntStack();
  private List<SeriesDefinition> created = new ArrayList<>();

  /**
   * By block: consecutive keys. The key of an overflow series has its application, and its place in
   * the position of kind and status.
   */
  private int[][] keys = new int[1][];

  /** By block: when each series was last touched, rounded up, in seconds since the base. */
  private int[][] touched = new int[1][];

  /**
   * By block: lower limit of the times in {@link #touched}, so that blocks without idle series are
   * skipped. It may lag behind later touches.
   */
  private int[] untouchedBefore = new int[1];

  /** By block: the fraction carried by each series; null if all are 0. */
  private long[][] carries = new long[1][];

  /** Number of series that count against the limits. */
  private int limited;

  private int overflowing;

  /** Number of series taken from the budget. */
  private int granted;

  /**
   * @param overflowsByKind whether an application has {@link #KINDS_AND_STATUSES} overflow series,
   *     not {@link #SPANS_EVENTS_AND_VARIANCE}
   */
  public SeriesTable(
      SeriesConfig config,
      SeriesBudget budget,
      SymbolTable symbols,
      Applications applications,
      boolean overflowsByKind) {
    this.overflowsByKind = overflowsByKind;
    width = DIMENSIONS + config.dimensions().size();
    varianceKey = new int[width];
    maxPerApplication = config.maxPerApplication();
    this.budget = budget;
    this.symbols = symbols;
    this.applications = applications;
    labelSets = new LabelSets(symbols);
  }

  /** Returns the ints of a key. */
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

  /**
   * Returns the set of some labels for a key; negative if no series has it.
   *
   * @param pairs symbols of label and value in turn, in {@code [0, length)}; labels ascend by text
   */
  public int labelSet(int[] pairs, int length) {
    return labelSets.find(pairs, length);
  }

  /**
   * Returns or creates the set of some labels, for a key that is created before {@link #evictIdle};
   * arguments as in {@link #labelSet}.
   */
  public int internLabels(int[] pairs, int length) {
    return labelSets.intern(pairs, length);
  }

  /** Returns the hash of a key, for {@link #find} and {@link #create}. */
  public int hash(int[] keys, int at) {
    long hash = 0;
    for (int i = at; i < at + width; i++) {
      hash = (hash ^ keys[i]) * MIX;
      hash ^= hash >>> 32;
    }
    return (int) hash;
  }

  /** Returns the series with a key, or {@link #NONE}. */
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

  /** Returns the start of a series' key in its block. */
  private int keyAt(int series) {
    return inBlock(series) * width;
  }

  private static int inBlock(int series) {
    return series & BLOCK_SERIES - 1;
  }

  /**
   * Returns whether the application, its tenant and the process have room for one more series.
   *
   * @param kept reserved places of the application
   * @param keptInAll reserved places of all applications
   */
  public boolean hasRoom(int application, int kept, int keptInAll) {
    return above(application) + kept < 0 && hasBudget(keptInAll);
  }

  /**
   * Creates a series that {@link #find} does not find and that {@link #hasRoom has room}; a retired
   * one continues.
   */
  public int create(int hash, int[] key, int application, long nowMillis) {
    int former = find(retired, hash, key, 0);
    if (former != NONE) {
      retired.remove(hash, former);
      retiredNumbers.clear(former);
      index.add(hash, former);
      enter(former, application);
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
    labelSets.retain(key[LABELS]);
    for (int i = 0; i < width; i++) {
      if (isSymbol(i) && key[i] != SymbolTable.NONE) {
        symbols.retain(key[i]);
      }
    }
    enter(series, application);
  }

  /** Adds a series to the limits. */
  private void enter(int series, int application) {
    limited++;
    if (!isVariance(series)) {
      applications.addSeries(application, 1);
    }
  }

  private static boolean isSymbol(int position) {
    return position != KIND_AND_STATUS && position != LABELS;
  }

  /** Returns or creates the application's overflow series for a kind and status. */
  public int overflow(int application, int kindAndStatus, long nowMillis) {
    int place = place(kindAndStatus);
    int series = applications.overflowSeries(application, place);
    if (series == NONE) {
      series = claim(nowMillis);
      addOverflow(series, application, place);
      String[] values = new String[columns()];
      values[SeriesDefinition.APPLICATION] = applications.name(application);
      if (overflowsByKind) {
        values[SeriesDefinition.SPAN_KIND] = Integer.toString(kind(place));
        values[SeriesDefinition.STATUS_CODE] = Integer.toString(status(place));
      } else if (place != PLACE_OF_SPANS) {
        boolean isOfEvents = place == PLACE_OF_EVENTS;
        values[SeriesDefinition.SPAN_KIND] =
            Integer.toString(isOfEvents ? OF_EVENTS : SeriesDefinition.OF_VARIANCE);
        values[SeriesDefinition.STATUS_CODE] = "0";
      }
      created.add(
          new SeriesDefinition(
              series, nowMillis, true, Collections.unmodifiableList(Arrays.asList(values))));
    }
    return series;
  }

  /**
   * Returns or creates a series regardless of the limits: the overflow series of a measure, of
   * which there is one for each measure of an application.
   *
   * @param name name of the metric
   * @param labels label and value in turn; labels ascend
   */
  public int overflowOfMeasure(int application, String name, List<String> labels, long nowMillis) {
    int[] key = new int[width];
    Arrays.fill(key, SymbolTable.NONE);
    key[APPLICATION] = applications.symbol(application);
    key[NAME] = symbols.restore(name);
    key[KIND_AND_STATUS] = OF_MEASURES;
    key[LABELS] = restoreLabels(labels);
    int hash = hash(key, 0);
    int found = find(hash, key, 0);
    if (found != NONE) {
      return found;
    }
    granted++;
    budget.takeAll(1);
    return create(hash, key, application, nowMillis);
  }

  /**
   * Returns or creates the series of the variance of a series of spans, regardless of the limits.
   * It counts against that of the process.
   */
  public int variance(int series, long nowMillis) {
    int[] block = keys[series >>> BLOCK_BITS];
    int application = applications.named(block[keyAt(series) + APPLICATION]);
    if (overflows.get(series)) {
      return overflow(application, VARIANCE, nowMillis);
    }
    int found = varianceOf(series);
    if (found != NONE) {
      return found;
    }
    granted++;
    budget.takeAll(1);
    return create(hash(varianceKey, 0), varianceKey, application, nowMillis);
  }

  /** Returns the series of the variance of a series, or {@link #NONE}; sets its key. */
  private int varianceOf(int series) {
    System.arraycopy(keys[series >>> BLOCK_BITS], keyAt(series), varianceKey, 0, width);
    varianceKey[KIND_AND_STATUS] += VARIANCE;
    return find(hash(varianceKey, 0), varianceKey, 0);
  }

  /** Returns whether a series is the variance of another one, not of an overflow series. */
  boolean isVariance(int series) {
    return !overflows.get(series)
        && keys[series >>> BLOCK_BITS][keyAt(series) + KIND_AND_STATUS] >= VARIANCE;
  }

  /** Returns whether a series of the table is an overflow series. */
  public boolean isOverflow(int series) {
    return overflows.get(series);
  }

  /** Returns the place of the overflow series for a kind and status. */
  private int place(int kindAndStatus) {
    if (overflowsByKind) {
      return kindAndStatus;
    }
    int kind = kind(kindAndStatus);
    if (kind >= SeriesDefinition.OF_VARIANCE) {
      return PLACE_OF_VARIANCE;
    }
    return kind < OF_EVENTS ? PLACE_OF_SPANS : PLACE_OF_EVENTS;
  }

  /** Returns the events of an application in its overflow series in a window. */
  long overflowedEvents(int application, WindowMetrics window) {
    return overflowsByKind ? 0 : applications.overflowed(application, PLACE_OF_EVENTS, window);
  }

  /**
   * Returns whether a definition has a kind exactly if it should: overflow series only for events,
   * as a variance or if each kind has its own, other series always. If each kind has its own, none
   * is a variance.
   */
  private boolean mayHaveKind(SeriesDefinition definition) {
    String kind = definition.values().get(SeriesDefinition.SPAN_KIND);
    if (overflowsByKind) {
      return kind != null && !definition.isOfVariance();
    }
    if (!definition.overflow()) {
      return kind != null;
    }
    return kind == null
        || ((kind.equals(Integer.toString(OF_EVENTS))
                || kind.equals(Integer.toString(SeriesDefinition.OF_VARIANCE)))
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
   * Continues a series of another process under its number, regardless of the limits. Call it
   * before the first span.
   *
   * @param lastMillis when it last had a span
   * @param carry value of {@link #carry}
   * @return false, without adding it, if its dimensions differ, its labels are invalid, its number
   *     or key is in use, or it is an overflow series that is invalid here or exists already
   */
  public boolean restore(SeriesDefinition definition, long lastMillis, long carry) {
    List<String> values = definition.values();
    int series = definition.series();
    if (taken.get(series) || !hasValues(definition) || !mayHaveKind(definition)) {
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
    key[LABELS] = restoreLabels(values.subList(columns(), values.size()));
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

  /**
   * Returns how many series the application or its tenant has above its limit; negative while both
   * have room.
   */
  int above(int application) {
    return Math.max(
        applications.series(application) - maxPerApplication,
        applications.aboveTenant(application));
  }

  /** Returns whether the process has no room for one more series; takes nothing. */
  boolean isOutOfBudget(int kept) {
    return limited + kept >= granted && budget.left() <= 0;
  }

  /** Returns whether the process has room for one more series; takes it if necessary. */
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

  /** Rounds up; never returns {@link #FREE}. */
  private static int seconds(long millis) {
    long seconds = Math.ceilDiv(millis, MILLIS_PER_SECOND) - BASE_SECONDS;
    return Math.clamp(seconds, Integer.MIN_VALUE, FREE - 1);
  }

  /** Returns the number of a set of labels from the journal: label and value in turn. */
  private int restoreLabels(List<String> labels) {
    int[] pairs = labels.stream().mapToInt(symbols::restore).toArray();
    return labelSets.intern(pairs, pairs.length);
  }

  /** Returns the number of values of a series without labels. */
  private int columns() {
    return SeriesDefinition.FIXED_DIMENSIONS + width - DIMENSIONS;
  }

  /**
   * Returns whether a definition has a value of each column, labels in order with a value, and a
   * valid form if it names one.
   */
  private boolean hasValues(SeriesDefinition definition) {
    List<String> values = definition.values();
    int labels = values.size() - columns();
    if (labels < 0 || labels % 2 != 0 || labels > 0 && definition.overflow()) {
      return false;
    }
    String before = null;
    for (int i = columns(); i < values.size(); i += 2) {
      String label = values.get(i);
      if (label == null
          || values.get(i + 1) == null
          || before != null && label.compareTo(before) <= 0) {
        return false;
      }
      before = label;
    }
    if (labels == 0 || !values.get(columns()).equals(Form.KEY)) {
      return !definition.isOfMeasure() || overflowsByKind;
    }
    String form = values.get(columns() + 1);
    return definition.isOfMeasure() ? MeasureForm.parse(form) != null : Form.parse(form) != null;
  }

  private List<String> values(int[] key) {
    int[] labels = labelSets.pairs(key[LABELS]);
    String[] values = new String[columns() + labels.length];
    values[SeriesDefinition.APPLICATION] = symbols.text(key[APPLICATION]);
    values[SeriesDefinition.SPAN_NAME] = symbols.text(key[NAME]);
    values[SeriesDefinition.SPAN_KIND] = Integer.toString(kind(key[KIND_AND_STATUS]));
    values[SeriesDefinition.STATUS_CODE] = Integer.toString(status(key[KIND_AND_STATUS]));
    for (int i = DIMENSIONS; i < width; i++) {
      int at = SeriesDefinition.FIXED_DIMENSIONS + i - DIMENSIONS;
      values[at] = key[i] == SymbolTable.NONE ? null : symbols.text(key[i]);
    }
    for (int i = 0; i < labels.length; i++) {
      values[columns() + i] = symbols.text(labels[i]);
    }
    return Collections.unmodifiableList(Arrays.asList(values));
  }

  /** Records that the series had a span; see {@link SealedWindow#touchedMillis}. */
  public void touch(int series, long millis) {
    touch(series, seconds(millis));
  }

  private void touch(int series, int seconds) {
    int block = series >>> BLOCK_BITS;
    touched[block][inBlock(series)] = seconds;
    untouchedBefore[block] = Math.min(untouchedBefore[block], seconds);
  }

  /** Moves the last touch of all series to a later time. */
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

  /** Returns the fraction of a span by which the series is below the exact sum: {@link Weight}. */
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

  /** Returns the series created since the last call. */
  public List<SeriesDefinition> takeCreated() {
    List<SeriesDefinition> taken = List.copyOf(created);
    created = new ArrayList<>();
    return taken;
  }

  /**
   * Ends series not touched since {@code sinceMillis}, up to a second later; then applications
   * without series, then unused symbols. It skips blocks without such series, because the worker
   * waits.
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
    labelSets.sweep();
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
      labelSets.release(block[at + LABELS]);
      for (int i = 0; i < width; i++) {
        if (isSymbol(i) && block[at + i] != SymbolTable.NONE) {
          symbols.release(block[at + i]);
        }
      }
    }
    evicted.push(series);
    taken.clear(series);
    touched[series >>> BLOCK_BITS][inBlock(series)] = FREE;
    firstFree = Math.min(firstFree, series);
  }

  /** Removes a series from lookup and from the limits. */
  private void leave(int series) {
    int[] block = keys[series >>> BLOCK_BITS];
    int at = keyAt(series);
    index.remove(hash(block, at), series);
    if (!isVariance(series)) {
      applications.addSeries(applications.named(block[at + APPLICATION]), -1);
    }
    limited--;
  }

  /** Returns the number of series that count against the limits. */
  int limited() {
    return limited;
  }

  /** Returns whether one more series may be retired, with that of its variance. */
  boolean canRetire() {
    return retired.size() + 1 < MAX_RETIRED;
  }

  /**
   * Retires a series, with that of its variance: its spans no longer find it, and its place is
   * free. It ends later like an idle one, after scrapers have read its last counts.
   */
  void retire(int series) {
    retire(series, Integer.MIN_VALUE);
  }

  /**
   * @param touchedSeconds when it counts as touched, unless it was later
   */
  private void retire(int series, int touchedSeconds) {
    retireAlone(series, touchedSeconds);
    int variance = varianceOf(series);
    if (variance != NONE) {
      retireAlone(variance, touchedSeconds);
    }
  }

  private void retireAlone(int series, int touchedSeconds) {
    touch(series, Math.max(touchedSeconds(series), touchedSeconds));
    leave(series);
    retired.add(hash(keys[series >>> BLOCK_BITS], keyAt(series)), series);
    retiredNumbers.set(series);
  }

  /**
   * Retires some series, because rules changed: series that still have spans continue, the others
   * no longer count against the limits.
   *
   * @param changed tests a series that counts against the limits
   * @param from the first series; 0 or the result of the last call, so that series that continued
   *     since then are not retired again
   * @param nowMillis since when they are retired. One without spans for long stays on the page from
   *     then on, too: it goes on with its next span, and no count is lost to scrapers
   * @return the first series without room among the retired ones; {@link #NONE} if all had room
   */
  public int retireAll(IntPredicate changed, int from, long nowMillis) {
    // Each may have a variance.
    int most = MAX_RETIRED + 2 * maxPerApplication;
    for (int series = taken.nextSetBit(from); series >= 0; series = taken.nextSetBit(series + 1)) {
      if (application(series) != NONE && changed.test(series)) {
        if (retired.size() + 1 >= most) {
          return series;
        }
        retire(series, seconds(nowMillis));
      }
    }
    return NONE;
  }

  /** Returns a number above all series' numbers. */
  int end() {
    return taken.length();
  }

  /** Returns the application of a series that counts against its limit; else {@link #NONE}. */
  public int application(int series) {
    return !taken.get(series) || overflows.get(series) || retiredNumbers.get(series)
        ? NONE
        : applications.named(keys[series >>> BLOCK_BITS][keyAt(series) + APPLICATION]);
  }

  /**
   * Returns the name of the measure of a series that counts against the limits; null if it is of
   * spans or events. Allocates.
   */
  public String measure(int series) {
    int[] block = keys[series >>> BLOCK_BITS];
    return isOfMeasure(series) ? symbols.text(block[keyAt(series) + NAME]) : null;
  }

  /** A profile that maps spans has no measures. */
  private boolean isOfMeasure(int series) {
    int[] block = keys[series >>> BLOCK_BITS];
    return !overflowsByKind && block[keyAt(series) + KIND_AND_STATUS] == OF_MEASURES;
  }

  /**
   * Adds the values of a series to one set per dimension: span name, kind, status and the
   * configured dimensions. Values are numbers or symbols. Labels: {@link #forEachLabel}.
   */
  void addValues(int series, BitSet[] values) {
    int[] block = keys[series >>> BLOCK_BITS];
    int at = keyAt(series);
    if (isOfMeasure(series)) {
      // It has labels only.
      return;
    }
    values[0].set(block[at + NAME]);
    int kind = block[at + KIND_AND_STATUS] >>> STATUS_BITS;
    // Events and variances have the kind of their span.
    values[1].set(overflowsByKind ? kind : kind % OF_EVENTS);
    values[2].set(block[at + KIND_AND_STATUS] & (1 << STATUS_BITS) - 1);
    for (int i = DIMENSIONS; i < width; i++) {
      if (block[at + i] != SymbolTable.NONE) {
        values[FIXED_VALUES + i - DIMENSIONS].set(block[at + i]);
      }
    }
  }

  /** Receives the labels of a series after those of the configured dimensions. */
  interface LabelConsumer {
    /**
     * @param labelSymbol the label, a symbol
     * @param valueSymbol its value, a symbol
     */
    void label(int labelSymbol, int valueSymbol);
  }

  /** Passes on the labels of a series after those of the configured dimensions. */
  void forEachLabel(int series, LabelConsumer to) {
    int[] pairs = labelSets.pairs(keys[series >>> BLOCK_BITS][keyAt(series) + LABELS]);
    for (int i = 0; i < pairs.length; i += 2) {
      to.label(pairs[i], pairs[i + 1]);
    }
  }

  /** Returns when the series had its last span, in seconds since a base; only for comparisons. */
  int touchedSeconds(int series) {
    return touched[series >>> BLOCK_BITS][inBlock(series)];
  }

  /** Returns all series to the budget, because this process no longer owns the queue. */
  public void release() {
    budget.giveBack(granted);
    granted = 0;
    limited = 0;
  }

  /** Returns the number of series, including overflow series and retired ones. */
  public int size() {
    return limited + overflowing + retired.size();
  }
}
