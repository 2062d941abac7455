package org.traceetl.server.features.pages;

import java.util.Arrays;
import java.util.List;
import org.traceetl.server.expose.Family;
import org.traceetl.server.expose.Format;
import org.traceetl.server.expose.Section;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.TraceDocument;

/**
 * The cumulative numbers of {@link #SERIES} neighbours of one queue, as arrays by place, and the
 * sections of pages made of them. A section covers a run of places and is forgotten when one of its
 * series changes: so only what changed is rendered and compressed again. Owned by the fold thread.
 *
 * <p>Bytes of a series: 4 a bucket and 32, and what its labels take.
 */
final class SeriesBlock {
  static final int SERIES = Family.BLOCK_SERIES;

  /** As a window has it at most once: any scraper has seen one after so long. */
  private static final long EXEMPLAR_MILLIS = 5 * 60_000;

  private static final int NANOS_PER_MILLI = 1_000_000;
  private static final long LOW = 0xffff_ffffL;

  private final int stride;
  private int size;

  /** Rendered labels; null: no such series. */
  private final byte[][] labels = new byte[SERIES][];

  private final long[] createdMillis = new long[SERIES];

  /** The families in which each series stands, as {@link Family#bit}s. */
  private final long[] familyBits = new long[SERIES];

  /** Those in which any series has stood. */
  private long anyFamilyBits;

  /** Lower halves of the counts, by place, then bucket; not cumulative over the buckets. */
  private final int[] counts;

  /** Upper halves; null until the first count that needs one. */
  private int[] highCounts;

  // The sum of durations, in two parts: as nanoseconds it would not fit after 292 years of spans.
  private final long[] sumMillis = new long[SERIES];
  private final int[] sumNanos = new int[SERIES];

  /** Without any for series that have classic buckets alone. */
  private final NativeTotals natives = new NativeTotals();

  /** Null while no series has one, which is usual. */
  private Exemplar[] exemplars;

  /** By format, family and section; null: to be rendered anew. */
  private final Section[][][] sections;

  /**
   * @param stride buckets of a series
   * @param families that there are
   */
  SeriesBlock(int stride, int families) {
    this.stride = stride;
    sections = new Section[Format.values().length][families][];
    counts = new int[SERIES * stride];
  }

  /**
   * A span that stands for others on an OpenMetrics page.
   *
   * @param keptMillis end of the window that it came with, milliseconds since 1970
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

  /** The labels of a series, without braces; null if there is no such series. */
  byte[] labels(int place) {
    return labels[place];
  }

  /** The families in which a series stands, as {@link Family#bit}s. */
  long familyBits(int place) {
    return familyBits[place];
  }

  /** When the first span of a series was recorded, milliseconds since 1970. */
  long createdMillis(int place) {
    return createdMillis[place];
  }

  /** Spans of a series in one bucket, not cumulative. */
  long count(int place, int bucket) {
    int at = place * stride + bucket;
    long low = counts[at] & LOW;
    return highCounts == null ? low : (long) highCounts[at] << 32 | low;
  }

  /** Spans of a series. */
  long count(int place) {
    long spans = 0;
    for (int bucket = 0; bucket < stride; bucket++) {
      spans += count(place, bucket);
    }
    return spans;
  }

  /** Sum of the durations of a series, whole milliseconds. */
  long sumMillis(int place) {
    return sumMillis[place];
  }

  /** What the sum has beyond {@link #sumMillis}, below a millisecond. */
  int sumNanos(int place) {
    return sumNanos[place];
  }

  /** Native buckets, by place. */
  NativeTotals natives() {
    return natives;
  }

  /** Null without one. */
  Exemplar exemplar(int place) {
    return exemplars == null ? null : exemplars[place];
  }

  /** Begins a series with nothing in it at a place that is free. */
  void create(int place, byte[] ofSeries, long sinceMillis, long ofFamilies) {
    familyBits[place] = ofFamilies;
    anyFamilyBits |= ofFamilies;
    touch(place);
    size++;
    labels[place] = ofSeries;
    createdMillis[place] = sinceMillis;
  }

  /** Adds a row of a window to a series that there is. */
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

  /** Sets a series that is new to what another process left. */
  void restore(int place, QueueImage image, int series) {
    for (int bucket = 0; bucket < stride; bucket++) {
      add(place * stride + bucket, image.count(series, bucket));
    }
    image.copyNative(series, natives, place);
    sumMillis[place] = image.sumMillis(series);
    sumNanos[place] = image.sumNanos(series);
  }

  private void add(int at, long spans) {
    long sum = (counts[at] & LOW) + spans;
    counts[at] = (int) sum;
    int carry = (int) (sum >> 32);
    if (carry != 0) {
      if (highCounts == null) {
        highCounts = new int[counts.length];
      }
      highCounts[at] += carry;
    }
  }

  /** Takes an exemplar; those of the block that every scraper has seen leave. */
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
            // Both are what a client says: a start may lie before 1970, a sum overflow.
            Math.max(0, document.startUnixNanos()) / NANOS_PER_MILLI
                + document.durationNanos() / NANOS_PER_MILLI,
            nowMillis);
  }

  /** Ends a series that there is. */
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

  /** Forgets the sections that show a series. */
  private void touch(int place) {
    for (Section[][] format : sections) {
      for (int family = 0; family < format.length; family++) {
        if (format[family] != null) {
          format[family][place * format[family].length / SERIES] = null;
        }
      }
    }
  }

  /** Adds the sections of a family, rendering those that are not there in the wanted forms. */
  void sections(
      Family family,
      Format format,
      boolean wantPlain,
      boolean wantGzip,
      SeriesForm form,
      SectionWriter writer,
      List<Section> to) {
    if ((anyFamilyBits & family.bit()) == 0) {
      return;
    }
    Section[][] ofFormat = sections[format.ordinal()];
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
      if (ofFamily[i].length() > 0) {
        to.add(ofFamily[i]);
      }
    }
  }

  /** Forgets the sections of a format that nobody asks for any more. */
  void forget(Format format) {
    Arrays.fill(sections[format.ordinal()], null);
  }
}
