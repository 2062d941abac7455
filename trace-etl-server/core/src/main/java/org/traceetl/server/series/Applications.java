package org.traceetl.server.series;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.WindowMetrics;

/**
 * The applications of one queue, as numbers. Two are always there: {@link #UNKNOWN}, in whose name
 * batches are booked that were refused before their application was known, and {@link #OTHER},
 * named {@code _other}, which takes the spans of applications that find no room: all of them
 * overflow. One owner thread.
 */
public final class Applications {
  public static final int UNKNOWN = 0;
  public static final int OTHER = 1;

  /** What OpenTelemetry calls a service that has no name. */
  public static final String UNNAMED = "unknown_service";

  private static final byte[] OTHER_NAME = Books.OTHER.getBytes(UTF_8);

  private static final byte[] UNNAMED_BYTES = UNNAMED.getBytes(UTF_8);

  private static final int NO_SERIES = -1;

  private final SymbolTable symbols;
  private final SlowThresholds thresholds;
  private final int max;

  /** Overflow series that an application may have. */
  private final int maxOverflows;

  private final IntStack free = new IntStack();

  /** By symbol: number + 1; 0 where no application has that name. */
  private int[] numberOf = new int[64];

  private int[] symbolOf = new int[64];
  private String[] names = new String[64];
  private long[][] slowNanos = new long[64][];
  private int[] series = new int[64];

  /**
   * By application: its overflow series by their places, {@link #NO_SERIES} for none of a place.
   */
  private int[][] overflowSeries = new int[64][];

  private int[] overflows = new int[64];
  private long[] touchedMillis = new long[64];
  private int numbers;
  private int size;

  /**
   * @param max applications at most, but for those that are always there
   * @param maxOverflows overflow series that each of them may have
   */
  public Applications(SymbolTable symbols, SlowThresholds thresholds, int max, int maxOverflows) {
    this.symbols = symbols;
    this.thresholds = thresholds;
    this.max = max;
    this.maxOverflows = maxOverflows;
    symbolOf[UNKNOWN] = SymbolTable.NONE;
    names[UNKNOWN] = "";
    numbers = OTHER;
    add(symbols.intern(OTHER_NAME, 0, OTHER_NAME.length));
    size = 0;
  }

  /** The application of this name, or {@link #OTHER} if there is no room for it. */
  public int resolve(byte[] buffer, int offset, int length, long nowMillis) {
    int symbol =
        length == 0
            ? symbol(UNNAMED_BYTES, 0, UNNAMED_BYTES.length)
            : symbol(buffer, offset, length);
    int application = OTHER;
    if (symbol >= 0) {
      if (symbol < numberOf.length && numberOf[symbol] != 0) {
        application = numberOf[symbol] - 1;
      } else if (size < max) {
        application = add(symbol);
      }
    }
    touchedMillis[application] = nowMillis;
    return application;
  }

  /** The application of this name, made if need be, even beyond the limit: its series go on. */
  int restore(String name, long heardMillis) {
    int symbol = symbols.restore(name);
    if (symbol >= numberOf.length || numberOf[symbol] == 0) {
      int application = add(symbol);
      touchedMillis[application] = heardMillis;
      return application;
    }
    int application = numberOf[symbol] - 1;
    touchedMillis[application] = Math.max(touchedMillis[application], heardMillis);
    return application;
  }

  /** Names that find no room take none of the table's either. */
  private int symbol(byte[] buffer, int offset, int length) {
    return size < max
        ? symbols.intern(buffer, offset, length)
        : symbols.find(buffer, offset, length);
  }

  private int add(int symbol) {
    int application = free.isEmpty() ? numbers++ : free.pop();
    if (application == symbolOf.length) {
      int capacity = application * 2;
      symbolOf = Arrays.copyOf(symbolOf, capacity);
      names = Arrays.copyOf(names, capacity);
      slowNanos = Arrays.copyOf(slowNanos, capacity);
      series = Arrays.copyOf(series, capacity);
      overflowSeries = Arrays.copyOf(overflowSeries, capacity);
      overflows = Arrays.copyOf(overflows, capacity);
      touchedMillis = Arrays.copyOf(touchedMillis, capacity);
    }
    if (symbol >= numberOf.length) {
      numberOf = Arrays.copyOf(numberOf, Math.max(symbol + 1, numberOf.length * 2));
    }
    symbols.retain(symbol);
    numberOf[symbol] = application + 1;
    symbolOf[application] = symbol;
    names[application] = symbols.text(symbol);
    slowNanos[application] = thresholds.nanosByKind(names[application]);
    series[application] = 0;
    overflowSeries[application] = null;
    overflows[application] = 0;
    size++;
    return application;
  }

  /** Numbers are below it. */
  int end() {
    return numbers;
  }

  /** Applications at present. */
  int size() {
    return size;
  }

  /** The name; empty for {@link #UNKNOWN}, null where there is no application. */
  public String name(int application) {
    return names[application];
  }

  public int symbol(int application) {
    return symbolOf[application];
  }

  /** The application whose name this symbol is. */
  int named(int symbol) {
    return numberOf[symbol] - 1;
  }

  /** From which duration on a span is slow, nanoseconds by kind. Not to be written to. */
  public long[] slowNanos(int application) {
    return slowNanos[application];
  }

  int series(int application) {
    return series[application];
  }

  void addSeries(int application, int count) {
    series[application] += count;
  }

  /** Its overflow series at a place, or -1. */
  int overflowSeries(int application, int place) {
    int[] its = overflowSeries[application];
    return its == null ? NO_SERIES : its[place];
  }

  /** Gives a place, which has none, an overflow series. */
  void addOverflow(int application, int place, int number) {
    if (overflowSeries[application] == null) {
      overflowSeries[application] = new int[maxOverflows];
      Arrays.fill(overflowSeries[application], NO_SERIES);
    }
    overflowSeries[application][place] = number;
    overflows[application]++;
  }

  void removeOverflow(int application, int place) {
    overflowSeries[application][place] = NO_SERIES;
    overflows[application]--;
  }

  /** Spans and events of its overflow series in a window. */
  long overflowed(int application, WindowMetrics window) {
    if (overflows[application] == 0) {
      return 0;
    }
    long all = 0;
    for (int place = 0; place < maxOverflows; place++) {
      all += overflowed(application, place, window);
    }
    return all;
  }

  /** Spans, or events, of its overflow series at a place in a window. */
  long overflowed(int application, int place, WindowMetrics window) {
    int number = overflowSeries(application, place);
    int row = number == NO_SERIES ? -1 : window.row(number);
    return row < 0 ? 0 : window.spans(row);
  }

  /** Forgets applications that have no series and had no batch since {@code sinceMillis}. */
  void evictIdle(long sinceMillis) {
    for (int application = OTHER + 1; application < numbers; application++) {
      int symbol = symbolOf[application];
      if (symbol != SymbolTable.NONE
          && series[application] == 0
          && overflows[application] == 0
          && touchedMillis[application] < sinceMillis) {
        numberOf[symbol] = 0;
        symbolOf[application] = SymbolTable.NONE;
        names[application] = null;
        slowNanos[application] = null;
        overflowSeries[application] = null;
        symbols.release(symbol);
        free.push(application);
        size--;
      }
    }
  }
}
