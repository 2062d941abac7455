package org.traceetl.server.features.pages;

import java.nio.charset.StandardCharsets;
import org.traceetl.server.expose.Family;
import org.traceetl.server.expose.Format;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.window.NativeBuckets;
import org.traceetl.server.window.NativeTotals;

/**
 * Writes series as lines of OpenMetrics 2.0: each metric is one line with its start time. The value
 * of a histogram is a composite, with native buckets, classic ones or both:
 *
 * <pre>
 *   name{labels} {count:3,sum:0.5,schema:3,zero_threshold:...,zero_count:0,
 *     positive_spans:[offset:length,...],positive_buckets:[spans,...],
 *     bucket:[bound:spans up to it,...]} st@1700000000.123 # {exemplar} ...
 * </pre>
 *
 * @see <a href="https://prometheus.io/docs/specs/om/open_metrics_spec_2_0/">OpenMetrics 2.0</a>
 */
final class SeriesOpenMetrics2 implements SeriesForm {
  /** Maximum length of a pair of numbers with separators, and of a count of a classic bucket. */
  private static final int MAX_PAIR_BYTES = 2 * SectionWriter.MAX_NUMBER_BYTES + 2;

  private static final byte[] LABELS_END = ascii("} ");
  private static final byte[] START = ascii(" st@");
  private static final byte[] COUNT = ascii("{count:");
  private static final byte[] SUM = ascii(",sum:");
  private static final byte[] SCHEMA = ascii(",schema:");

  /** As in protobuf pages. */
  private static final byte[] ZERO =
      ascii(",zero_threshold:" + SeriesProtobuf.ZERO_THRESHOLD + ",zero_count:");

  private static final byte[] SPANS = ascii(",positive_spans:[");
  private static final byte[] BUCKETS = ascii("],positive_buckets:[");
  private static final byte[] CLASSIC = ascii(",bucket:[");

  private final Naming naming;
  private final SeriesText text;

  SeriesOpenMetrics2(Naming naming, Format format) {
    this.naming = naming;
    text = new SeriesText(naming, format);
  }

  @Override
  public Naming naming() {
    return naming;
  }

  @Override
  public void write(
      Family family, byte[] labels, long value, long createdMillis, SectionWriter writer) {
    begin(writer, family.total, text.onPage(labels));
    writer.write(value);
    writeStart(createdMillis, writer);
    writer.write('\n');
  }

  @Override
  public void writeSum(Family family, SeriesBlock block, int place, SectionWriter writer) {
    begin(writer, family.total, text.onPage(block.labels(place)));
    text.writeDuration(family, writer, block.sumMillis(place), block.sumNanos(place));
    writeStart(block.createdMillis(place), writer);
    writer.write('\n');
  }

  @Override
  public void writeHistogram(Family family, SeriesBlock block, int place, SectionWriter writer) {
    begin(writer, family.metric, text.onPage(block.labels(place)));
    writer.write(COUNT);
    writer.write(block.count(place));
    writer.write(SUM);
    text.writeDuration(family, writer, block.sumMillis(place), block.sumNanos(place));
    if (family.nativeBuckets() != null) {
      writeNative(family.nativeBuckets(), block.natives(), place, writer);
    }
    if (family.isClassic()) {
      writeClassic(family, block, place, writer);
    }
    writer.ensure(2 * SeriesText.MAX_VALUE_BYTES);
    writer.write('}');
    writeStart(block.createdMillis(place), writer);
    SeriesBlock.Exemplar exemplar = block.exemplar(place);
    if (exemplar != null) {
      text.writeExemplar(family, writer, exemplar);
    }
    writer.write('\n');
  }

  private void writeNative(
      NativeBuckets buckets, NativeTotals natives, int place, SectionWriter writer) {
    int size = natives.size(place);
    boolean hasZero = size > 0 && natives.bucket(place, 0) == NativeBuckets.ZERO;
    int first = hasZero ? 1 : 0;
    writer.write(SCHEMA);
    writeSigned(buckets.schema(), writer);
    writer.write(ZERO);
    writer.write(hasZero ? natives.count(place, 0) : 0);
    if (first == size) {
      return;
    }
    writer.ensure(SPANS.length + BUCKETS.length + (size + 1) * MAX_PAIR_BYTES);
    writer.write(SPANS);
    writeSpans(buckets, natives, place, first, size, writer);
    writer.write(BUCKETS);
    for (int i = first; i < size; i++) {
      if (i > first) {
        writer.write(',');
      }
      writer.write(natives.count(place, i));
    }
    writer.write(']');
    writer.ensure(SeriesText.MAX_VALUE_BYTES);
  }

  /** Runs of adjacent buckets: distance from the end of the previous run, and length. */
  private static void writeSpans(
      NativeBuckets buckets,
      NativeTotals natives,
      int place,
      int first,
      int size,
      SectionWriter writer) {
    int begin = first;
    while (begin < size) {
      int end = begin + 1;
      while (end < size && natives.bucket(place, end) == natives.bucket(place, end - 1) + 1) {
        end++;
      }
      int number = natives.bucket(place, begin);
      if (begin == first) {
        writeSigned(buckets.index(number), writer);
      } else {
        writer.write(',');
        writer.write(number - natives.bucket(place, begin - 1) - 1L);
      }
      writer.write(':');
      writer.write((long) end - begin);
      begin = end;
    }
  }

  private void writeClassic(Family family, SeriesBlock block, int place, SectionWriter writer) {
    byte[][] of = family.point;
    int last = of.length - 1;
    writer.ensure(CLASSIC.length + of.length * MAX_PAIR_BYTES);
    writer.write(CLASSIC);
    long count = 0;
    for (int bucket = 0; bucket <= last; bucket++) {
      // A window has no counts above the last bucket of a family with fewer buckets.
      count = bucket == last ? block.count(place) : count + block.count(place, bucket);
      if (bucket > 0) {
        writer.write(',');
      }
      writer.write(of[bucket]);
      writer.write(count);
    }
    writer.write(']');
  }

  private static void begin(SectionWriter writer, byte[] name, byte[] labels) {
    writer.ensure(name.length + labels.length + 2 * SeriesText.MAX_VALUE_BYTES);
    writer.write(name);
    writer.write(labels);
    writer.write(LABELS_END);
  }

  private static void writeStart(long createdMillis, SectionWriter writer) {
    writer.write(START);
    writer.writeSeconds(createdMillis);
  }

  private static void writeSigned(long number, SectionWriter writer) {
    if (number < 0) {
      writer.write('-');
    }
    writer.write(Math.abs(number));
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
