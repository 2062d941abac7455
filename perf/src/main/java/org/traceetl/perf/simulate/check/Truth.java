package org.traceetl.perf.simulate.check;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.traceetl.perf.simulate.world.Durable;
import org.traceetl.testkit.PageSample;

/**
 * The counts that pages must show: each accepted span counts once. A span whose sender gave up may
 * count or not.
 *
 * <p>Series whose rules choose other buckets are added up with the others. Then only the number of
 * spans up to the bounds that all of them have is known; for other bounds it is compared with the
 * spans up to the bounds below and above.
 */
public final class Truth implements Durable {
  private static final double RELATIVE_ERROR = 1e-9;
  private static final double NANOS_PER_MILLI = 1e6;
  private static final double MILLIS_PER_SECOND = 1e3;
  private static final String ERROR = "STATUS_CODE_ERROR";
  private static final String FORM = "trace_etl_form";

  /** In the names of samples that stand for a native histogram. */
  public static final String NATIVE = "_native";

  private final double[] boundsMillis;
  private final Map<SeriesKey, Total> series = new TreeMap<>();
  private long spans;

  /** The spans of a series: those that count, and those that may count as well. */
  private static final class Total {
    final long[] certain;
    final long[] uncertain;
    long certainNanos;
    long uncertainNanos;

    Total(int buckets) {
      certain = new long[buckets];
      uncertain = new long[buckets];
    }

    void write(DataOutputStream to) throws IOException {
      for (int i = 0; i < certain.length; i++) {
        to.writeLong(certain[i]);
        to.writeLong(uncertain[i]);
      }
      to.writeLong(certainNanos);
      to.writeLong(uncertainNanos);
    }

    void read(DataInputStream from) throws IOException {
      for (int i = 0; i < certain.length; i++) {
        certain[i] = from.readLong();
        uncertain[i] = from.readLong();
      }
      certainNanos = from.readLong();
      uncertainNanos = from.readLong();
    }

    boolean isCertain() {
      return Arrays.stream(uncertain).allMatch(spans -> spans == 0);
    }

    /** Takes what is shown as certain. */
    void settle(Shown shown) {
      double before = 0;
      long least = 0;
      for (int i = 0; i < certain.length; i++) {
        least += certain[i];
        double spans = Math.max(least, shown.least[i]);
        certain[i] = Math.round(spans - before);
        before = spans;
      }
      certainNanos = Math.round(shown.sumMillis * NANOS_PER_MILLI);
      Arrays.fill(uncertain, 0);
      uncertainNanos = 0;
    }
  }

  /**
   * What pages show of a series: at least and at most how many spans each bucket has, the last of
   * which has all, and their sum.
   */
  private static final class Shown {
    final double[] least;
    final double[] most;
    double calls;
    double count;
    double sumMillis;

    /** By the form that rules chose. */
    final Map<String, OfForm> forms = new TreeMap<>();

    Shown(int buckets) {
      least = new double[buckets];
      most = new double[buckets];
    }

    /** Adds the series of all forms. */
    void addForms(double[] boundsMillis) {
      for (OfForm form : forms.values()) {
        double spans = form.count == null ? form.natives : form.count;
        if (form.count != null && form.natives != 0 && form.natives != form.count) {
          spans = Double.NaN;
        }
        count += spans;
        sumMillis += form.count == null ? form.nativeSumMillis : form.sumMillis;
        form.buckets.putIfAbsent(Double.POSITIVE_INFINITY, spans);
        for (int i = 0; i < least.length; i++) {
          double bound = i < boundsMillis.length ? boundsMillis[i] : Double.POSITIVE_INFINITY;
          Map.Entry<Double, Double> below = form.buckets.floorEntry(bound);
          least[i] += below == null ? 0 : below.getValue();
          most[i] += form.buckets.ceilingEntry(bound).getValue();
        }
      }
      forms.clear();
    }
  }

  /** The series of one form: spans by the bound of their bucket in milliseconds, and all spans. */
  private static final class OfForm {
    final NavigableMap<Double, Double> buckets = new TreeMap<>();

    /** Null without classic buckets. */
    Double count;

    double sumMillis;

    /** Spans in native buckets, where these are pushed. */
    double natives;

    double nativeSumMillis;
  }

  /**
   * @param boundsMillis of the pages' buckets, without infinity
   */
  public Truth(List<Double> boundsMillis) {
    this.boundsMillis = boundsMillis.stream().mapToDouble(Double::doubleValue).toArray();
  }

  /**
   * Adds a span.
   *
   * @param certain whether its sender got a good answer
   */
  public void add(SeriesKey key, long durationNanos, boolean certain) {
    Total total = series.computeIfAbsent(key, unused -> new Total(boundsMillis.length + 1));
    long[] buckets = certain ? total.certain : total.uncertain;
    buckets[bucket(durationNanos / NANOS_PER_MILLI)]++;
    if (certain) {
      total.certainNanos += durationNanos;
      spans++;
    } else {
      total.uncertainNanos += durationNanos;
    }
  }

  @Override
  public void write(DataOutputStream to) throws IOException {
    to.writeInt(series.size());
    for (Map.Entry<SeriesKey, Total> one : series.entrySet()) {
      one.getKey().write(to);
      one.getValue().write(to);
    }
  }

  @Override
  public void read(DataInputStream from) throws IOException {
    for (int left = from.readInt(); left > 0; left--) {
      SeriesKey key = SeriesKey.read(from);
      Total total = new Total(boundsMillis.length + 1);
      total.read(from);
      series.put(key, total);
    }
  }

  private int bucket(double millis) {
    int bucket = 0;
    while (bucket < boundsMillis.length && millis > boundsMillis[bucket]) {
      bucket++;
    }
    return bucket;
  }

  /** Returns the number of spans that count. */
  public long spans() {
    return spans;
  }

  /** Returns whether each span either counts or does not. */
  public boolean isCertain() {
    return series.values().stream().allMatch(Total::isCertain);
  }

  /**
   * Decides after a comparison without differences which spans of senders that gave up count.
   *
   * @param pages of all servers, at a time when no span is under way
   */
  public void settle(Naming naming, Collection<List<PageSample>> pages) {
    Map<SeriesKey, Shown> shown = shown(naming, pages);
    series.forEach((key, total) -> {
      if (!total.isCertain()) {
        total.settle(shown.getOrDefault(key, new Shown(boundsMillis.length + 1)));
      }
    });
  }

  /** Returns the numbers of each operation and application. Call it if all {@link #isCertain}. */
  public SortedMap<HistorySums.Key, HistorySums.Sums> sums() {
    SortedMap<HistorySums.Key, HistorySums.Sums> sums = new TreeMap<>();
    series.forEach((key, total) -> {
      long calls = Arrays.stream(total.certain).sum();
      long errors = key.status().equals(ERROR) ? calls : 0;
      var one = new HistorySums.Sums(calls, errors, total.certainNanos);
      sums.merge(HistorySums.Key.of(key.service()), one, HistorySums.Sums::plus);
      sums.merge(
          new HistorySums.Key(key.service(), key.span(), key.kind()), one, HistorySums.Sums::plus);
    });
    return sums;
  }

  private Map<SeriesKey, Shown> shown(Naming naming, Collection<List<PageSample>> pages) {
    Map<SeriesKey, Shown> shown = new TreeMap<>();
    pages.forEach(page -> page.forEach(sample -> add(naming, sample, shown)));
    shown.values().forEach(found -> found.addForms(boundsMillis));
    return shown;
  }

  /** Compares the pages of all servers, read at one time, with what must be shown. */
  public void compare(
      Naming naming, Collection<List<PageSample>> pages, Consumer<String> differences) {
    Map<SeriesKey, Shown> shown = shown(naming, pages);
    series.forEach((key, total) -> {
      Shown found = shown.remove(key);
      String difference =
          difference(total, found == null ? new Shown(boundsMillis.length + 1) : found);
      if (!difference.isEmpty()) {
        differences.accept(key + ":" + difference);
      }
    });
    shown.forEach((key, found) -> {
      if (found.calls != 0 || found.count != 0) {
        differences.accept(
            String.format(
                Locale.ROOT, "%s: shows %.0f spans that no sender sent", key, found.calls));
      }
    });
  }

  private void add(Naming naming, PageSample sample, Map<SeriesKey, Shown> shown) {
    String name = sample.name();
    boolean isInSeconds = name.startsWith(naming.seconds());
    if (!name.startsWith(naming.calls()) && !name.startsWith(naming.durations()) && !isInSeconds) {
      return;
    }
    Shown to =
        shown.computeIfAbsent(
            SeriesKey.of(sample.labels()), key -> new Shown(boundsMillis.length + 1));
    if (name.equals(naming.calls())) {
      to.calls += sample.value();
    } else if (sample.labels().containsKey(FORM)) {
      String base = isInSeconds ? naming.seconds() : naming.durations();
      OfForm form = to.forms.computeIfAbsent(sample.labels().get(FORM), key -> new OfForm());
      addOfForm(name.substring(base.length()), sample, isInSeconds ? MILLIS_PER_SECOND : 1, form);
    } else if (name.equals(naming.durations() + "_count")) {
      to.count += sample.value();
    } else if (name.equals(naming.durations() + "_sum")) {
      to.sumMillis += sample.value();
    } else if (name.equals(naming.durations() + "_bucket")) {
      int bucket = bucketOf(sample.labels().get("le"));
      to.least[bucket] += sample.value();
      to.most[bucket] += sample.value();
    }
  }

  private static void addOfForm(String suffix, PageSample sample, double millis, OfForm to) {
    switch (suffix) {
      case "_count" -> to.count = (to.count == null ? 0 : to.count) + sample.value();
      case "_sum" -> to.sumMillis += sample.value() * millis;
      case "_bucket" -> {
        String le = sample.labels().get("le");
        // A decimal bound in seconds is not exactly the one in milliseconds.
        double bound =
            le.equals("+Inf")
                ? Double.POSITIVE_INFINITY
                : Math.round(Double.parseDouble(le) * millis * NANOS_PER_MILLI) / NANOS_PER_MILLI;
        to.buckets.merge(bound, sample.value(), Double::sum);
      }
      case NATIVE + "_count" -> to.natives += sample.value();
      case NATIVE + "_sum" -> to.nativeSumMillis += sample.value() * millis;
      default -> {
        // Other samples of the histogram, such as created times.
      }
    }
  }

  private int bucketOf(String bound) {
    return bound.equals("+Inf") ? boundsMillis.length : bucket(Double.parseDouble(bound));
  }

  /** Returns what differs; empty if all values are possible. */
  private String difference(Total total, Shown shown) {
    StringBuilder text = new StringBuilder();
    long least = 0;
    long more = 0;
    for (int i = 0; i <= boundsMillis.length; i++) {
      least += total.certain[i];
      more += total.uncertain[i];
      difference(
          i < boundsMillis.length
              ? " spans up to " + boundsMillis[i] + " ms"
              : " bucket of all spans",
          least,
          more,
          shown.least[i],
          shown.most[i],
          text);
    }
    difference(" calls", least, more, shown.calls, text);
    difference(" count of durations", least, more, shown.count, text);
    double leastMillis = total.certainNanos / NANOS_PER_MILLI;
    double mostMillis = (total.certainNanos + total.uncertainNanos) / NANOS_PER_MILLI;
    double error = RELATIVE_ERROR * mostMillis;
    // A value that is not a number is not within them.
    if (!(shown.sumMillis >= leastMillis - error && shown.sumMillis <= mostMillis + error)) {
      text.append(
          String.format(
              Locale.ROOT,
              " sum of durations is %.6f ms instead of %.6f to %.6f;",
              shown.sumMillis,
              leastMillis,
              mostMillis));
    }
    return text.toString();
  }

  /** Appends what is shown if it is not within the limits. */
  static void difference(String what, long least, long more, double shown, StringBuilder text) {
    difference(what, least, more, shown, shown, text);
  }

  private static void difference(
      String what, long least, long more, double shownLeast, double shownMost, StringBuilder text) {
    if (!(shownMost >= least && shownLeast <= least + more)) {
      double shown = shownMost >= least ? shownLeast : shownMost;
      text.append(
          more == 0
              ? String.format(
                  Locale.ROOT, "%s %.0f instead of %d (%+.0f);", what, shown, least, shown - least)
              : String.format(
                  Locale.ROOT, "%s %.0f instead of %d to %d;", what, shown, least, least + more));
    }
  }
}
