package org.traceetl.server.features.pages;

import java.util.Arrays;
import org.traceetl.proto.SpanId;
import org.traceetl.proto.TraceId;
import org.traceetl.server.expose.Family;
import org.traceetl.server.expose.Format;
import org.traceetl.server.expose.LabelText;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.protobuf.MessageBuffer;
import org.traceetl.server.protobuf.MetricProto;
import org.traceetl.server.window.NativeBuckets;
import org.traceetl.server.window.NativeTotals;

/**
 * Writes series as metrics of a family's message. The family's header, which contains the total
 * length, is written once the lengths of all sections are known. The first field of a message is
 * written last.
 */
final class SeriesProtobuf implements SeriesForm {
  private static final int NANOS_PER_MILLI = 1_000_000;

  /**
   * The value that client libraries use: below any duration, and above 0 because it marks the
   * histogram as native.
   */
  static final double ZERO_THRESHOLD = 0x1p-128;

  private static final byte[] TRACE_ID = Naming.bytes("trace_id");
  private static final byte[] SPAN_ID = Naming.bytes("span_id");

  private final Naming naming;
  private final boolean escapes;
  private final MessageBuffer out = new MessageBuffer();
  private final byte[] hex = new byte[TraceId.HEX_LENGTH];

  /** Start of the current labels in their text. */
  private int[] begins = new int[8];

  /** The unescaped value of the current label. */
  private byte[] value = {};

  /**
   * @param format tells whether names of labels are escaped
   */
  SeriesProtobuf(Naming naming, Format format) {
    this.naming = naming;
    escapes = naming.hasUtf8Names() && !format.hasUtf8Names();
  }

  @Override
  public Naming naming() {
    return naming;
  }

  @Override
  public void writeHistogram(Family family, SeriesBlock block, int place, SectionWriter writer) {
    out.clear();
    writeDuration(family, block, place);
    end(block.labels(place), writer);
  }

  @Override
  public void write(
      Family family, byte[] labels, long value, long createdMillis, SectionWriter writer) {
    out.clear();
    writeCounter(value, createdMillis);
    end(labels, writer);
  }

  @Override
  public void writeSum(Family family, SeriesBlock block, int place, SectionWriter writer) {
    out.clear();
    writeCounter(
        inUnit(family, block.sumMillis(place), block.sumNanos(place)), block.createdMillis(place));
    end(block.labels(place), writer);
  }

  private void end(byte[] labels, SectionWriter writer) {
    writeLabels(escapes ? LabelText.escaped(labels) : labels);
    out.enclose(MetricProto.FAMILY_METRIC, 0);
    writer.ensure(out.size());
    writer.write(out.array(), out.begin(), out.size());
  }

  private void writeCounter(double value, long createdMillis) {
    int before = out.size();
    out.timestamp(MetricProto.COUNTER_CREATED, createdMillis);
    out.decimal(MetricProto.VALUE, value);
    out.enclose(MetricProto.METRIC_COUNTER, before);
  }

  private void writeDuration(Family family, SeriesBlock block, int place) {
    int before = out.size();
    SeriesBlock.Exemplar exemplar = block.exemplar(place);
    NativeBuckets nativeBuckets = family.nativeBuckets();
    if (nativeBuckets != null && exemplar != null) {
      writeExemplar(family, MetricProto.HISTOGRAM_EXEMPLAR, exemplar);
    }
    out.timestamp(MetricProto.HISTOGRAM_CREATED, block.createdMillis(place));
    if (nativeBuckets != null) {
      writeNative(nativeBuckets, block.natives(), place);
    }
    long calls = block.count(place);
    if (family.isClassic()) {
      writeClassic(family, block, place, calls, exemplar);
    }
    out.decimal(
        MetricProto.SAMPLE_SUM, inUnit(family, block.sumMillis(place), block.sumNanos(place)));
    out.integer(MetricProto.SAMPLE_COUNT, calls);
    out.enclose(MetricProto.METRIC_HISTOGRAM, before);
  }

  /** Writes cumulative counts: the count of all spans, less the buckets above. */
  private void writeClassic(
      Family family, SeriesBlock block, int place, long calls, SeriesBlock.Exemplar exemplar) {
    int last = family.buckets() - 1;
    long count = calls;
    for (int bucket = naming.buckets() - 1; bucket >= 0; bucket--) {
      if (bucket <= last) {
        int before = out.size();
        if (exemplar != null && Math.min(exemplar.bucket(), last) == bucket) {
          writeExemplar(family, MetricProto.BUCKET_EXEMPLAR, exemplar);
        }
        out.decimal(MetricProto.BUCKET_BOUND, family.bound(bucket));
        out.integer(MetricProto.BUCKET_COUNT, bucket == last ? calls : count);
        out.enclose(MetricProto.HISTOGRAM_BUCKET, before);
      }
      count -= block.count(place, bucket);
    }
  }

  private void writeNative(NativeBuckets buckets, NativeTotals natives, int place) {
    int size = natives.size(place);
    boolean hasZero = size > 0 && natives.bucket(place, 0) == NativeBuckets.ZERO;
    int first = hasZero ? 1 : 0;
    writeDeltas(natives, place, first, size);
    writeSpans(buckets, natives, place, first, size);
    if (hasZero) {
      out.integer(MetricProto.HISTOGRAM_ZERO_COUNT, natives.count(place, 0));
    }
    out.decimal(MetricProto.HISTOGRAM_ZERO_THRESHOLD, ZERO_THRESHOLD);
    out.zigZag(MetricProto.HISTOGRAM_SCHEMA, buckets.schema());
  }

  /** Differences between consecutive counts. */
  private void writeDeltas(NativeTotals natives, int place, int first, int size) {
    if (first == size) {
      return;
    }
    int before = out.size();
    for (int i = size - 1; i > first; i--) {
      out.packedZigZag(natives.count(place, i) - natives.count(place, i - 1));
    }
    out.packedZigZag(natives.count(place, first));
    out.enclose(MetricProto.HISTOGRAM_POSITIVE_DELTA, before);
  }

  /** Runs of adjacent buckets: distance from the previous run, and length. */
  private void writeSpans(
      NativeBuckets buckets, NativeTotals natives, int place, int first, int size) {
    if (first == size) {
      // Without a span, readers would treat it as a classic histogram.
      writeSpan(0, 0);
      return;
    }
    int end = size;
    while (end > first) {
      int begin = end - 1;
      while (begin > first
          && natives.bucket(place, begin - 1) == natives.bucket(place, begin) - 1) {
        begin--;
      }
      int number = natives.bucket(place, begin);
      int offset =
          begin == first ? buckets.index(number) : number - natives.bucket(place, begin - 1) - 1;
      writeSpan(offset, end - begin);
      end = begin;
    }
  }

  private void writeSpan(int offset, int length) {
    int before = out.size();
    out.integer(MetricProto.SPAN_LENGTH, length);
    out.zigZag(MetricProto.SPAN_OFFSET, offset);
    out.enclose(MetricProto.HISTOGRAM_POSITIVE_SPAN, before);
  }

  private void writeExemplar(Family family, int field, SeriesBlock.Exemplar exemplar) {
    int before = out.size();
    out.timestamp(MetricProto.EXEMPLAR_TIMESTAMP, exemplar.millis());
    long nanos = exemplar.durationNanos();
    out.decimal(
        MetricProto.EXEMPLAR_VALUE,
        inUnit(family, nanos / NANOS_PER_MILLI, (int) (nanos % NANOS_PER_MILLI)));
    SpanId.writeHex(exemplar.spanId(), hex, 0);
    writeLabel(MetricProto.EXEMPLAR_LABEL, SPAN_ID, SpanId.HEX_LENGTH);
    TraceId.writeHex(exemplar.traceHigh(), exemplar.traceLow(), hex, 0);
    writeLabel(MetricProto.EXEMPLAR_LABEL, TRACE_ID, TraceId.HEX_LENGTH);
    out.enclose(field, before);
  }

  private void writeLabel(int field, byte[] name, int hexDigits) {
    int before = out.size();
    out.text(MetricProto.LABEL_VALUE, hex, 0, hexDigits);
    out.text(MetricProto.LABEL_NAME, name, 0, name.length);
    out.enclose(field, before);
  }

  /**
   * Returns the double nearest to a duration in the family's unit, which equals the parsed text; an
   * adjacent one for sums of more than 104 days.
   */
  private static double inUnit(Family family, long millis, int nanos) {
    double unitNanos = family.seconds() ? 1e9 : 1e6;
    return millis < Long.MAX_VALUE / NANOS_PER_MILLI
        ? (millis * NANOS_PER_MILLI + nanos) / unitNanos
        : millis / (unitNanos / NANOS_PER_MILLI);
  }

  /** Writes the labels, given in the text form {@code a="x","b.c"="y"} with \ before \, " and n. */
  private void writeLabels(byte[] labels) {
    int count = 0;
    int at = 0;
    while (at < labels.length) {
      if (count == begins.length) {
        begins = Arrays.copyOf(begins, count * 2);
      }
      begins[count++] = at;
      at = LabelText.valueEnd(labels, LabelText.nameEnd(labels, at) + 2) + 2;
    }
    for (int i = count - 1; i >= 0; i--) {
      int before = out.size();
      int nameEnd = LabelText.nameEnd(labels, begins[i]);
      int length = unescape(labels, nameEnd + 2);
      out.text(MetricProto.LABEL_VALUE, value, 0, length);
      if (labels[begins[i]] == '"') {
        out.text(MetricProto.LABEL_NAME, value, 0, unescape(labels, begins[i] + 1));
      } else {
        out.text(MetricProto.LABEL_NAME, labels, begins[i], nameEnd);
      }
      out.enclose(MetricProto.METRIC_LABEL, before);
    }
  }

  /** Copies a value or a quoted name, unescaping quotes, backslashes and line ends. */
  private int unescape(byte[] labels, int begin) {
    if (value.length < labels.length) {
      value = new byte[Math.max(labels.length, value.length * 2)];
    }
    int length = 0;
    for (int at = begin; labels[at] != '"'; at++) {
      byte octet = labels[at];
      if (octet == '\\') {
        at++;
        octet = labels[at] == 'n' ? (byte) '\n' : labels[at];
      }
      value[length++] = octet;
    }
    return length;
  }
}
