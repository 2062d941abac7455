package org.traceetl.server.expose;

import com.google.common.hash.Hashing;
import java.util.Arrays;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.TraceDocument;

/**
 * The cumulative series of one queue, as arrays by series number, and the sections of pages made of
 * them. Owned by the fold thread.
 */
final class QueueSeries {
  private static final int INITIAL_SERIES = 16;
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final int MILLI_DIGITS = 6;
  private static final int SECOND_DIGITS = 9;
  private static final int NO_EXEMPLAR = -1;

  /** What a line holds besides name, labels and le: value, exemplar, line end. */
  private static final int MAX_VALUE_BYTES = 4 * SectionWriter.MAX_NUMBER_BYTES;

  private static final byte[] EXEMPLAR_TRACE = ascii(" # {trace_id=\"");
  private static final byte[] EXEMPLAR_SPAN = ascii("\",span_id=\"");
  private static final byte[] EXEMPLAR_VALUE = ascii("\"} ");
  private static final byte[] LABELS_END = ascii("} ");

  private final QueueId queue;
  private final Naming naming;
  private final LongSet labelSets;
  private final int stride;
  private final int maxLeBytes;

  /** Above the highest series number in use so far. */
  private int slots;

  private int size;

  /** Rendered labels; null: no such series. */
  private byte[][] labels = new byte[INITIAL_SERIES][];

  private long[] labelHashes = new long[INITIAL_SERIES];
  private long[] createdMillis = new long[INITIAL_SERIES];
  private long[] counts;

  // The sum of durations, in two parts: as nanoseconds it would not fit after 292 years of spans.
  private long[] sumMillis = new long[INITIAL_SERIES];
  private int[] sumNanos = new int[INITIAL_SERIES];

  private int[] exemplarBucket = new int[INITIAL_SERIES];
  private long[] exemplarTraceHigh = new long[INITIAL_SERIES];
  private long[] exemplarTraceLow = new long[INITIAL_SERIES];
  private long[] exemplarSpan = new long[INITIAL_SERIES];
  private long[] exemplarNanos = new long[INITIAL_SERIES];
  private long[] exemplarMillis = new long[INITIAL_SERIES];

  /** By format, then family; null: to be rendered anew. */
  private final Section[][] sections = new Section[2][2];

  /**
   * @param labelSets hashes of the labels of every series on the page, of all queues
   */
  QueueSeries(QueueId queue, Naming naming, LongSet labelSets) {
    this.queue = queue;
    this.naming = naming;
    this.labelSets = labelSets;
    stride = naming.stride();
    maxLeBytes = Arrays.stream(naming.le).mapToInt(le -> le.length).max().orElseThrow();
    counts = new long[INITIAL_SERIES * stride];
  }

  int size() {
    return size;
  }

  /**
   * Adds a window.
   *
   * @return rows that belong to no series, which a window in order never has
   */
  int fold(SealedWindow window) {
    for (Section[] format : sections) {
      Arrays.fill(format, null);
    }
    window.created().forEach(this::create);
    int unknown = 0;
    for (int row = 0; row < window.rows(); row++) {
      int series = window.series()[row];
      if (series >= slots || labels[series] == null) {
        unknown++;
        continue;
      }
      int from = row * stride;
      int to = series * stride;
      for (int bucket = 0; bucket < stride; bucket++) {
        counts[to + bucket] += window.counts()[from + bucket];
      }
      long nanos = sumNanos[series] + window.durationNanos()[row] % NANOS_PER_MILLI;
      sumMillis[series] += window.durationNanos()[row] / NANOS_PER_MILLI + nanos / NANOS_PER_MILLI;
      sumNanos[series] = (int) (nanos % NANOS_PER_MILLI);
      if (window.exemplars()[row] >= 0) {
        exemplar(
            series, window.documents().get(window.exemplars()[row]), window.exemplarBuckets()[row]);
      }
    }
    for (int series : window.evicted()) {
      evict(series);
    }
    return unknown;
  }

  /** Goes on with the series of another process. The image is read in this call alone. */
  void restore(QueueImage image) {
    for (int series = 0; series < image.slots(); series++) {
      SeriesDefinition definition = image.definition(series);
      if (definition == null) {
        continue;
      }
      create(definition);
      for (int bucket = 0; bucket < stride; bucket++) {
        counts[series * stride + bucket] = image.count(series, bucket);
      }
      sumMillis[series] = image.sumMillis(series);
      sumNanos[series] = image.sumNanos(series);
    }
  }

  /** Lets all series go. */
  void release() {
    for (int series = 0; series < slots; series++) {
      evict(series);
    }
  }

  private void create(SeriesDefinition definition) {
    int series = definition.series();
    if (series >= labels.length) {
      grow(Math.max(series + 1, labels.length + labels.length / 2));
    }
    slots = Math.max(slots, series + 1);
    evict(series);
    size++;
    label(definition);
    createdMillis[series] = definition.createdMillis();
    exemplarBucket[series] = NO_EXEMPLAR;
  }

  /**
   * Names a series. Two series of one page with the same labels would cost one of them its counts,
   * as Prometheus keeps the first; adding them up would look like a reset when one of the queues
   * leaves. So the later one is told apart by its queue, and if need be by its number as well.
   */
  private void label(SeriesDefinition definition) {
    int series = definition.series();
    String queueLabel = naming.queueLabel(definition, queue);
    while (true) {
      byte[] candidate = naming.labels(definition, queueLabel);
      long hash = Hashing.farmHashFingerprint64().hashBytes(candidate).asLong();
      if (labelSets.add(hash)) {
        labels[series] = candidate;
        labelHashes[series] = hash;
        return;
      }
      queueLabel = queueLabel == null ? queue.toString() : queueLabel + "/" + series;
    }
  }

  private void evict(int series) {
    if (series >= slots || labels[series] == null) {
      return;
    }
    size--;
    labelSets.remove(labelHashes[series]);
    labels[series] = null;
    Arrays.fill(counts, series * stride, (series + 1) * stride, 0);
    sumMillis[series] = 0;
    sumNanos[series] = 0;
  }

  private void exemplar(int series, TraceDocument document, int bucket) {
    exemplarBucket[series] = bucket;
    exemplarTraceHigh[series] = Long.parseUnsignedLong(document.traceId(), 0, 16, 16);
    exemplarTraceLow[series] = Long.parseUnsignedLong(document.traceId(), 16, 32, 16);
    exemplarSpan[series] = Long.parseUnsignedLong(document.spanId(), 0, 16, 16);
    exemplarNanos[series] = document.durationNanos();
    // Both are what a client says: a start may lie before 1970, a sum of nanoseconds overflow.
    exemplarMillis[series] =
        Math.max(0, document.startUnixNanos()) / NANOS_PER_MILLI
            + document.durationNanos() / NANOS_PER_MILLI;
  }

  private void grow(int capacity) {
    labels = Arrays.copyOf(labels, capacity);
    labelHashes = Arrays.copyOf(labelHashes, capacity);
    createdMillis = Arrays.copyOf(createdMillis, capacity);
    counts = Arrays.copyOf(counts, Math.multiplyExact(capacity, stride));
    sumMillis = Arrays.copyOf(sumMillis, capacity);
    sumNanos = Arrays.copyOf(sumNanos, capacity);
    exemplarBucket = Arrays.copyOf(exemplarBucket, capacity);
    exemplarTraceHigh = Arrays.copyOf(exemplarTraceHigh, capacity);
    exemplarTraceLow = Arrays.copyOf(exemplarTraceLow, capacity);
    exemplarSpan = Arrays.copyOf(exemplarSpan, capacity);
    exemplarNanos = Arrays.copyOf(exemplarNanos, capacity);
    exemplarMillis = Arrays.copyOf(exemplarMillis, capacity);
  }

  /** The samples of a family; rendered only if they are not there in the wanted forms. */
  Section section(
      Family family,
      boolean openMetrics,
      boolean wantPlain,
      boolean wantGzip,
      SectionWriter writer) {
    Section[] ofFormat = sections[openMetrics ? 1 : 0];
    Section section = ofFormat[family.ordinal()];
    if (section == null || !section.has(wantPlain, wantGzip)) {
      writer.begin(wantPlain, wantGzip);
      switch (family) {
        case CALLS -> writeCalls(openMetrics, writer);
        case DURATION -> writeDurations(openMetrics, writer);
      }
      section = writer.finish();
      ofFormat[family.ordinal()] = section;
    }
    return section;
  }

  /** Forgets the sections of a format that nobody asks for any more. */
  void forget(boolean openMetrics) {
    Arrays.fill(sections[openMetrics ? 1 : 0], null);
  }

  private void writeCalls(boolean openMetrics, SectionWriter writer) {
    for (int series = 0; series < slots; series++) {
      byte[] ofSeries = labels[series];
      if (ofSeries == null) {
        continue;
      }
      writer.ensure(2 * (naming.callsCreated.length + ofSeries.length + MAX_VALUE_BYTES));
      long calls = 0;
      for (int i = series * stride; i < (series + 1) * stride; i++) {
        calls += counts[i];
      }
      begin(writer, naming.callsTotal, ofSeries);
      writer.write(calls);
      writer.write('\n');
      if (openMetrics) {
        writeCreated(writer, naming.callsCreated, ofSeries, series);
      }
    }
  }

  private void writeDurations(boolean openMetrics, SectionWriter writer) {
    int others = 3;
    for (int series = 0; series < slots; series++) {
      byte[] ofSeries = labels[series];
      if (ofSeries == null) {
        continue;
      }
      int nameBytes = naming.durationBucket.length;
      writer.ensure(
          (stride + others)
                  * (nameBytes + 1 + ofSeries.length + maxLeBytes + SectionWriter.MAX_NUMBER_BYTES)
              + MAX_VALUE_BYTES);
      int first = writer.position();
      int prefixBytes = nameBytes + ofSeries.length;
      long count = 0;
      for (int bucket = 0; bucket < stride; bucket++) {
        count += counts[series * stride + bucket];
        if (bucket == 0) {
          writer.write(naming.durationBucket);
          writer.write(ofSeries);
        } else {
          writer.repeat(first, prefixBytes);
        }
        writer.write(naming.le[bucket]);
        writer.write(count);
        if (openMetrics && exemplarBucket[series] == bucket) {
          writeExemplar(writer, series);
        }
        writer.write('\n');
      }
      begin(writer, naming.durationSum, ofSeries);
      writeDuration(writer, sumMillis[series], sumNanos[series]);
      writer.write('\n');
      begin(writer, naming.durationCount, ofSeries);
      writer.write(count);
      writer.write('\n');
      if (openMetrics) {
        writeCreated(writer, naming.durationCreated, ofSeries, series);
      }
    }
  }

  private void writeCreated(SectionWriter writer, byte[] name, byte[] ofSeries, int series) {
    begin(writer, name, ofSeries);
    writer.writeSeconds(createdMillis[series]);
    writer.write('\n');
  }

  private void writeExemplar(SectionWriter writer, int series) {
    writer.write(EXEMPLAR_TRACE);
    writer.writeTraceId(exemplarTraceHigh[series], exemplarTraceLow[series]);
    writer.write(EXEMPLAR_SPAN);
    writer.writeSpanId(exemplarSpan[series]);
    writer.write(EXEMPLAR_VALUE);
    writeDuration(
        writer,
        exemplarNanos[series] / NANOS_PER_MILLI,
        (int) (exemplarNanos[series] % NANOS_PER_MILLI));
    writer.write(' ');
    writer.writeSeconds(exemplarMillis[series]);
  }

  private void writeDuration(SectionWriter writer, long millis, int nanos) {
    if (naming.seconds()) {
      writer.write(millis / 1_000, millis % 1_000 * NANOS_PER_MILLI + nanos, SECOND_DIGITS);
    } else {
      writer.write(millis, nanos, MILLI_DIGITS);
    }
  }

  private static void begin(SectionWriter writer, byte[] name, byte[] labels) {
    writer.write(name);
    writer.write(labels);
    writer.write(LABELS_END);
  }

  private static byte[] ascii(String text) {
    return text.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
  }

  /** The families of a page, in its order. */
  enum Family {
    CALLS,
    DURATION
  }
}
