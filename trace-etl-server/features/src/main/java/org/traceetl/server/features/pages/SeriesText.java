package org.traceetl.server.features.pages;

import java.nio.charset.StandardCharsets;
import org.traceetl.server.expose.Family;
import org.traceetl.server.expose.Format;
import org.traceetl.server.expose.LabelText;
import org.traceetl.server.expose.Naming;

/** Writes series as lines of a text page, but not of OpenMetrics 2.0. */
final class SeriesText implements SeriesForm {
  private static final int NANOS_PER_MILLI = 1_000_000;
  private static final int MILLI_DIGITS = 6;
  private static final int SECOND_DIGITS = 9;

  /** Lines of a series in addition to its buckets: sum, count, creation time. */
  private static final int OTHER_LINES = 3;

  /** Length of a line without name, labels and le: value, exemplar, line end. */
  static final int MAX_VALUE_BYTES = 4 * SectionWriter.MAX_NUMBER_BYTES;

  /** Usual length of a line without name and labels. */
  private static final int USUAL_VALUE_BYTES = 20;

  /** Maximum length of the label of a bucket: of a bound in nanoseconds of a year. */
  private static final int MAX_LE_BYTES = 32;

  private static final byte[] EXEMPLAR_TRACE = ascii(" # {trace_id=\"");
  private static final byte[] EXEMPLAR_SPAN = ascii("\",span_id=\"");
  private static final byte[] EXEMPLAR_VALUE = ascii("\"} ");
  private static final byte[] LABELS_END = ascii("} ");

  private final Naming naming;
  private final boolean openMetrics;
  private final boolean escapes;
  private final int buckets;
  private final int usualNameBytes;

  /**
   * @param format OpenMetrics has exemplars and creation times
   */
  SeriesText(Naming naming, Format format) {
    this.naming = naming;
    openMetrics = format.isOpenMetrics();
    escapes = naming.hasUtf8Names() && !format.hasUtf8Names();
    buckets = naming.buckets();
    usualNameBytes =
        naming.families().stream().mapToInt(family -> family.bucket.length).max().orElseThrow();
  }

  /** Returns the number of lines of a series on an OpenMetrics page. */
  int lines() {
    return buckets + OTHER_LINES + (naming.size() == null ? 2 : 4);
  }

  /** Returns the approximate length of a line without the labels of the series. */
  int lineBytes() {
    return usualNameBytes + USUAL_VALUE_BYTES;
  }

  @Override
  public Naming naming() {
    return naming;
  }

  @Override
  public void write(
      Family family, byte[] named, long value, long createdMillis, SectionWriter writer) {
    byte[] labels = onPage(named);
    writer.ensure(2 * (family.created.length + labels.length + MAX_VALUE_BYTES));
    begin(writer, family.total, labels);
    writer.write(value);
    writer.write('\n');
    if (openMetrics) {
      writeCreated(writer, family.created, labels, createdMillis);
    }
  }

  @Override
  public void writeSum(Family family, SeriesBlock block, int place, SectionWriter writer) {
    byte[] labels = onPage(block.labels(place));
    writer.ensure(2 * (family.created.length + labels.length + MAX_VALUE_BYTES));
    begin(writer, family.total, labels);
    writeDuration(family, writer, block.sumMillis(place), block.sumNanos(place));
    writer.write('\n');
    if (openMetrics) {
      writeCreated(writer, family.created, labels, block.createdMillis(place));
    }
  }

  @Override
  public void writeHistogram(Family family, SeriesBlock block, int place, SectionWriter writer) {
    byte[] labels = onPage(block.labels(place));
    int nameBytes = family.bucket.length;
    int last = family.buckets() - 1;
    writer.ensure(
        (family.buckets() + OTHER_LINES)
                * (nameBytes + 1 + labels.length + MAX_LE_BYTES + SectionWriter.MAX_NUMBER_BYTES)
            + MAX_VALUE_BYTES);
    SeriesBlock.Exemplar exemplar = openMetrics ? block.exemplar(place) : null;
    int first = writer.position();
    int prefixBytes = nameBytes + labels.length;
    long count = 0;
    for (int bucket = 0; bucket <= last; bucket++) {
      // A window has no counts above the last bucket of a family with fewer buckets.
      count = bucket == last ? block.count(place) : count + block.count(place, bucket);
      if (bucket == 0) {
        writer.write(family.bucket);
        writer.write(labels);
      } else {
        writer.repeat(first, prefixBytes);
      }
      writer.write(family.le[bucket]);
      writer.write(count);
      if (exemplar != null && Math.min(exemplar.bucket(), last) == bucket) {
        writeExemplar(family, writer, exemplar);
      }
      writer.write('\n');
    }
    begin(writer, family.sum, labels);
    writeDuration(family, writer, block.sumMillis(place), block.sumNanos(place));
    writer.write('\n');
    begin(writer, family.count, labels);
    writer.write(count);
    writer.write('\n');
    if (openMetrics) {
      writeCreated(writer, family.created, labels, block.createdMillis(place));
    }
  }

  /** Returns labels with the names that the format allows. */
  byte[] onPage(byte[] labels) {
    return escapes ? LabelText.escaped(labels) : labels;
  }

  private static void writeCreated(
      SectionWriter writer, byte[] name, byte[] labels, long createdMillis) {
    begin(writer, name, labels);
    writer.writeSeconds(createdMillis);
    writer.write('\n');
  }

  /** Writes an exemplar with the separator before it: at most {@link #MAX_VALUE_BYTES}. */
  void writeExemplar(Family family, SectionWriter writer, SeriesBlock.Exemplar exemplar) {
    writer.write(EXEMPLAR_TRACE);
    writer.writeTraceId(exemplar.traceHigh(), exemplar.traceLow());
    writer.write(EXEMPLAR_SPAN);
    writer.writeSpanId(exemplar.spanId());
    writer.write(EXEMPLAR_VALUE);
    writeDuration(
        family,
        writer,
        exemplar.durationNanos() / NANOS_PER_MILLI,
        (int) (exemplar.durationNanos() % NANOS_PER_MILLI));
    writer.write(' ');
    writer.writeSeconds(exemplar.millis());
  }

  /** Writes a duration in the family's unit. */
  void writeDuration(Family family, SectionWriter writer, long millis, int nanos) {
    if (family.seconds()) {
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
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
