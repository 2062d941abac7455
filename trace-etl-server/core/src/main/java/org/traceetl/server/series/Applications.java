package org.traceetl.server.series;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.WindowMetrics;

/**
 * The applications of one queue, as numbers. Two always exist. {@link #UNKNOWN} is for batches
 * rejected before their application was known. {@link #OTHER}, named {@code _other}, is for
 * applications without room; all its spans overflow. One owner thread.
 */
public final class Applications {
  public static final int UNKNOWN = 0;
  public static final int OTHER = 1;

  /** OpenTelemetry's name for a service without a name. */
  public static final String UNNAMED = "unknown_service";

  private static final byte[] OTHER_NAME = Books.OTHER.getBytes(UTF_8);

  private static final byte[] UNNAMED_BYTES = UNNAMED.getBytes(UTF_8);

  private static final int NO_SERIES = -1;

  private final SymbolTable symbols;
  private final Supplier<SlowThresholds> thresholdsInForce;
  private final Supplier<Tenants> tenantsInForce;
  private final int max;

  /** Maximum number of overflow series of an application. */
  private final int maxOverflows;

  private final IntStack free = new IntStack();

  /** By symbol: number + 1; 0 if no application has that name. */
  private int[] numberOf = new int[64];

  private int[] symbolOf = new int[64];
  private String[] names = new String[64];
  private long[][] slowNanos = new long[64][];
  private int[] series = new int[64];

  /** By application: the number of its tenant, or {@link Tenants#NO_TENANT}. */
  private int[] tenantOf = new int[64];

  /** By application: its overflow series by place, {@link #NO_SERIES} for none. */
  private int[][] overflowSeries = new int[64][];

  private int[] overflows = new int[64];
  private long[] touchedMillis = new long[64];
  private int numbers;
  private int size;

  /** Thresholds of the open window. */
  private SlowThresholds thresholds;

  /** Tenants of the open window. */
  private Tenants tenants;

  private int[] seriesOfTenant;

  /** Documents of the open window. */
  private int[] documentsOfTenant;

  /**
   * @param thresholdsInForce read when a window begins; never waits
   * @param tenantsInForce as {@code thresholdsInForce}
   * @param max maximum number of applications, except the two that always exist
   * @param maxOverflows maximum number of overflow series of an application
   */
  public Applications(
      SymbolTable symbols,
      Supplier<SlowThresholds> thresholdsInForce,
      Supplier<Tenants> tenantsInForce,
      int max,
      int maxOverflows) {
    this.symbols = symbols;
    this.thresholdsInForce = thresholdsInForce;
    thresholds = thresholdsInForce.get();
    this.tenantsInForce = tenantsInForce;
    tenants = tenantsInForce.get();
    seriesOfTenant = new int[tenants.size()];
    documentsOfTenant = new int[tenants.size()];
    this.max = max;
    this.maxOverflows = maxOverflows;
    symbolOf[UNKNOWN] = SymbolTable.NONE;
    names[UNKNOWN] = "";
    tenantOf[UNKNOWN] = Tenants.NO_TENANT;
    numbers = OTHER;
    add(symbols.intern(OTHER_NAME, 0, OTHER_NAME.length));
    size = 0;
  }

  /** Returns the application with this name, or {@link #OTHER} if there is no room for it. */
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

  /** Returns or creates the application with this name, even beyond the limit. */
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

  /** Returns a name's symbol. A name without room for an application gets no new symbol. */
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
      tenantOf = Arrays.copyOf(tenantOf, capacity);
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
    tenantOf[application] = tenants.of(names[application]);
    overflowSeries[application] = null;
    overflows[application] = 0;
    size++;
    return application;
  }

  /** Returns the applications whose names match, without the two that always exist. */
  public BitSet matching(Predicate<String> isName) {
    BitSet matching = new BitSet();
    for (int application = OTHER + 1; application < numbers; application++) {
      matching.set(application, names[application] != null && isName.test(names[application]));
    }
    return matching;
  }

  /** Returns a number above all applications' numbers. */
  int end() {
    return numbers;
  }

  /** Returns the number of applications. */
  int size() {
    return size;
  }

  /** Returns the name; empty for {@link #UNKNOWN}, null if there is no such application. */
  public String name(int application) {
    return names[application];
  }

  public int symbol(int application) {
    return symbolOf[application];
  }

  /** Returns the application whose name is this symbol. */
  int named(int symbol) {
    return numberOf[symbol] - 1;
  }

  /** Begins a window, in which the thresholds and tenants that are now in force apply. */
  public void beginWindow() {
    takeTenants();
    Arrays.fill(documentsOfTenant, 0);
    SlowThresholds now = thresholdsInForce.get();
    if (now == thresholds) {
      return;
    }
    thresholds = now;
    for (int application = OTHER; application < numbers; application++) {
      if (names[application] != null) {
        slowNanos[application] = now.nanosByKind(names[application]);
      }
    }
  }

  private void takeTenants() {
    Tenants now = tenantsInForce.get();
    if (now == tenants) {
      return;
    }
    tenants = now;
    seriesOfTenant = new int[now.size()];
    documentsOfTenant = new int[now.size()];
    for (int application = OTHER; application < numbers; application++) {
      if (names[application] != null) {
        tenantOf[application] = tenants.of(names[application]);
        addToTenant(application, series[application]);
      }
    }
  }

  /** Returns the tenant of an application; null for none. */
  public Tenants.Tenant tenant(int application) {
    int tenant = tenantOf[application];
    return tenant == Tenants.NO_TENANT ? null : tenants.get(tenant);
  }

  /** Returns how many series its tenant has above its limit; negative while it has room. */
  public int aboveTenant(int application) {
    int tenant = tenantOf[application];
    return tenant == Tenants.NO_TENANT
        ? -Integer.MAX_VALUE
        : seriesOfTenant[tenant] - tenants.get(tenant).maxSeries();
  }

  /** Returns whether its tenant may have another document in the open window. */
  public boolean admitsDocument(int application) {
    int tenant = tenantOf[application];
    return tenant == Tenants.NO_TENANT
        || documentsOfTenant[tenant] < tenants.get(tenant).maxDocuments();
  }

  /** Counts a document for its tenant. */
  public void addDocument(int application) {
    int tenant = tenantOf[application];
    if (tenant != Tenants.NO_TENANT) {
      documentsOfTenant[tenant]++;
    }
  }

  /** Returns the number of series of each tenant that has any; allocates. */
  public Map<String, Integer> seriesOfTenants() {
    if (seriesOfTenant.length == 0) {
      return Map.of();
    }
    Map<String, Integer> counts = new HashMap<>();
    for (int tenant = 0; tenant < seriesOfTenant.length; tenant++) {
      if (seriesOfTenant[tenant] > 0) {
        counts.put(tenants.get(tenant).name(), seriesOfTenant[tenant]);
      }
    }
    return counts;
  }

  private void addToTenant(int application, int count) {
    int tenant = tenantOf[application];
    if (tenant != Tenants.NO_TENANT) {
      seriesOfTenant[tenant] += count;
    }
  }

  /** Returns the duration from which a span is slow, in nanoseconds by kind. Read-only. */
  public long[] slowNanos(int application) {
    return slowNanos[application];
  }

  int series(int application) {
    return series[application];
  }

  void addSeries(int application, int count) {
    series[application] += count;
    addToTenant(application, count);
  }

  /** Returns its overflow series at a place, or -1. */
  int overflowSeries(int application, int place) {
    int[] its = overflowSeries[application];
    return its == null ? NO_SERIES : its[place];
  }

  /** Sets the overflow series of an empty place. */
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

  /** Returns the spans and events of its overflow series in a window, without their variance. */
  long overflowed(int application, WindowMetrics window) {
    if (overflows[application] == 0) {
      return 0;
    }
    long all = 0;
    boolean hasVariance = maxOverflows == SeriesTable.SPANS_EVENTS_AND_VARIANCE;
    int places = hasVariance ? SeriesTable.PLACE_OF_VARIANCE : maxOverflows;
    for (int place = 0; place < places; place++) {
      all += overflowed(application, place, window);
    }
    return all;
  }

  /** Returns the spans or events of its overflow series at a place in a window. */
  long overflowed(int application, int place, WindowMetrics window) {
    int number = overflowSeries(application, place);
    return number == NO_SERIES ? 0 : Math.max(0, window.spansOf(number));
  }

  /** Removes applications without series that had no batch since {@code sinceMillis}. */
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
