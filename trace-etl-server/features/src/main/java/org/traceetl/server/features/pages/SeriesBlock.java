package org.traceetl.server.features.pages;

import com.google.common.math.LongMath;
import java.util.Arrays;
import org.traceetl.server.expose.Family;
import org.traceetl.server.expose.Format;
import org.traceetl.server.expose.Section;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.TraceDocument;

/**
 * The cumulative numbers of {@link #SERIES} adjacent series of one queue, as arrays by position,
 * and their rendered sections. A section covers a range of positions and is dropped when one of its
 * series changes, so only changed sections are rendered and compressed. Confined to the fold
 * thread.
 *
 * <p>Memory of a series: 4 bytes for each bucket, 32 bytes, and its labels.
 */
final class SeriesBlock {
  static final int SERIES = Family.BLOCK_SERIES;

  /** At most one for each window, so every scraper has seen an older exemplar. */
  private static final long EXEMPLAR_MILLIS = 5 * 60_000;

  private static final int NANOS_PER_MILLI = 1_000_000;
  private static final long LOW = 0xffff_ffffL;

  private final int stride;
  private final int buckets;
  private int size;

  /** Rendered labels; null without a series. */
  private final byte[][] labels = new byte[SERIES][];

  private final long[] createdMillis = new long[SERIES];

  /** The families of each series, as {@link Family#bit}s. */
  private final long[] familyBits = new long[SERIES];

  /** The families of all series so far. */
  private long anyFamilyBits;

  /** Lower halves of the counts, by position, then bucket; not cumulative over the buckets. */
  private final int[] counts;

  /** Upper halves; null until a count needs one. */
  private int[] highCounts;

  // The sum of durations, in two parts: in nanoseconds it would overflow after 292 years of spans.
  private final long[] sumMillis = new long[SERIES];
  private final int[] sumNanos = new int[SERIES];

  /** Null for series with classic buckets only. */
  private final NativeTotals natives = new NativeTotals();

  /** Null while no series has one, which is usual. */
  private Exemplar[] exemplars;

  /** By format, family and section; null if it must be rendered. */
  private final Section[][][] sections;

  /**
   * @param stride numbers of a series in windows
   * @param buckets how many of them, from the first, are buckets; the size may follow
   * @param formats number of formats
   */
  SeriesBlock(int stride, int buckets, int formats) {
    this.stride = stride;
    this.buckets = buckets;
    sections = new Section[formats][0][];
    counts = new int[SERIES * stride];
  }

  /**
   * An exemplar on an OpenMetrics page.
   *
   * @param keptMillis end of its window, milliseconds since 1970
   */
  record Exemplar(
      int bucket,
      long traceHigh,
      long traceLow,
      long spanId,
      long durationNanos,
      long millis,
      long keptMillis) {}

  /** Series in it. */
  int size() {
    return size;
  }

  /** Returns the labels of a series without braces; null if it does not exist. */
  byte[] labels(int place) {
    return labels[place];
  }

  /** Returns the families of a series, as {@link Family#bit}s. */
  long familyBits(int place) {
    return familyBits[place];
  }

  /** Returns the time of the first recorded span, milliseconds since 1970. */
  long createdMillis(int place) {
    return createdMillis[place];
  }

  /** Returns the spans in one bucket, not cumulative. */
  long count(int place, int bucket) {
    int at = place * stride + bucket;
    long low = counts[at] & LOW;
    return highCounts == null ? low : (long) highCounts[at] << 32 | low;
  }

  /** Returns the number of spans. */
  long count(int place) {
    long spans = 0;
    for (int bucket = 0; bucket < buckets; bucket++) {
      spans += count(place, bucket);
    }
    return spans;
  }

  /** Returns the sum of the spans' sizes in bytes, which windows must have. */
  long size(int place) {
    return count(place, buckets);
  }

  /** Returns the sum of the durations in whole milliseconds. */
  long sumMillis(int place) {
    return sumMillis[place];
  }

  /** Returns the part of the sum below a millisecond. */
  int sumNanos(int place) {
    return sumNanos[place];
  }

  /** Returns the native buckets, by position. */
  NativeTotals natives() {
    return natives;
  }

  /** Returns the exemplar; null for none. */
  Exemplar exemplar(int place) {
    return exemplars == null ? null : exemplars[place];
  }

  /** Adds an empty series at a free position. */
  void create(int place, byte[] ofSeries, long sinceMillis, long ofFamilies) {
    familyBits[place] = ofFamilies;
    anyFamilyBits |= ofFamilies;
    touch(place);
    size++;
    labels[place] = ofSeries;
    createdMillis[place] = sinceMillis;
  }

  /** Adds a row of a window to an existing series. */
  void add(int place, SealedWindow window, int row) {
    touch(place);
    int from = row * stride;
    int to = place * stride;
    for (int bucket = 0; bucket < stride; bucket++) {
      add(to + bucket, window.counts()[from + bucket]);
    }
    natives.add(place, window.natives(), row);
    long millis = window.durationNanos()[row] / NANOS_PER_MILLI;
    int nanos = sumNanos[place] + (int) (window.durationNanos()[row] % NANOS_PER_MILLI);
    sumMillis[place] += millis + nanos / NANOS_PER_MILLI;
    sumNanos[place] = nanos % NANOS_PER_MILLI;
    int exemplar = window.exemplars()[row];
    if (exemplar >= 0) {
      keep(
          place,
          window.documents().get(exemplar),
          window.exemplarBuckets()[row],
          window.sealedMillis());
    }
  }

  /** Sets a new series to the values of another process. */
  void restore(int place, QueueImage image, int series) {
    for (int bucket = 0; bucket < stride; bucket++) {
      add(place * stride + bucket, image.count(series, bucket));
    }
    image.copyNative(series, natives, place);
    sumMillis[place] = image.sumMillis(series);
    sumNanos[place] = image.sumNanos(series);
  }

  private void add(int at, long spans) {
    long high = highCounts == null ? 0 : (long) highCounts[at] << 32;
    long sum = LongMath.saturatedAdd(high | counts[at] & LOW, spans);
    counts[at] = (int) sum;
    if (sum > LOW) {
      if (highCounts == null) {
        highCounts = new int[counts.length];
      }
      highCounts[at] = (int) (sum >> 32);
    }
  }

  /** Stores an exemplar, and drops those of the block that every scraper has seen. */
  private void keep(int place, TraceDocument document, int bucket, long nowMillis) {
    if (exemplars == null) {
      exemplars = new Exemplar[SERIES];
    }
    for (int other = 0; other < SERIES; other++) {
      if (exemplars[other] != null && nowMillis - exemplars[other].keptMillis > EXEMPLAR_MILLIS) {
        exemplars[other] = null;
        touch(other);
      }
    }
    exemplars[place] =
        new Exemplar(
            bucket,
            Long.parseUnsignedLong(document.traceId(), 0, 16, 16),
            Long.parseUnsignedLong(document.traceId(), 16, 32, 16),
            Long.parseUnsignedLong(document.spanId(), 0, 16, 16),
            document.durationNanos(),
            // Both values come from a client: a start may be before 1970, and the sum may overflow.
            Math.max(0, document.startUnixNanos()) / NANOS_PER_MILLI
                + document.durationNanos() / NANOS_PER_MILLI,
            nowMillis);
  }

  /** Removes an existing series. */
  void evict(int place) {
    touch(place);
    size--;
    labels[place] = null;
    Arrays.fill(counts, place * stride, (place + 1) * stride, 0);
    if (highCounts != null) {
      Arrays.fill(highCounts, place * stride, (place + 1) * stride, 0);
    }
    natives.clear(place);
    sumMillis[place] = 0;
    sumNanos[place] = 0;
    if (exemplars != null) {
      exemplars[place] = null;
    }
  }

  /** Drops the sections that contain a series. */
  private void touch(int place) {
    for (Section[][] format : sections) {
      for (int family = 0; family < format.length; family++) {
        if (format[family] != null) {
          format[family][place * format[family].length / SERIES] = null;
        }
      }
    }
  }

  /** Appends the sections of a family, rendering missing ones in the requested forms. */
  void sections(
      Family family,
      Format format,
      boolean wantPlain,
      boolean wantGzip,
      SeriesForm form,
      SectionWriter writer,
      FamilySections to) {
    if ((anyFamilyBits & family.bit()) == 0) {
      return;
    }
    Section[][] ofFormat = sections[format.ordinal()];
    if (family.index() >= ofFormat.length) {
      ofFormat = Arrays.copyOf(ofFormat, family.index() + 1);
      sections[format.ordinal()] = ofFormat;
    }
    if (ofFormat[family.index()] == null) {
      ofFormat[family.index()] = new Section[SERIES / family.sectionSeries()];
    }
    Section[] ofFamily = ofFormat[family.index()];
    for (int i = 0; i < ofFamily.length; i++) {
      if (ofFamily[i] == null || !ofFamily[i].has(wantPlain, wantGzip)) {
        writer.begin(wantPlain, wantGzip);
        int first = i * family.sectionSeries();
        for (int place = first; place < first + family.sectionSeries(); place++) {
          if (labels[place] != null && (familyBits[place] & family.bit()) != 0) {
            form.write(family, this, place, writer);
          }
        }
        ofFamily[i] = writer.finish();
      }
      ofFamily[i] = ofFamily[i].only(wantPlain, wantGzip);
      to.add(ofFamily[i]);
    }
  }

  /** Drops the sections of a format that is no longer requested. */
  void forget(Format format) {
    Arrays.fill(sections[format.ordinal()], null);
  }
}
