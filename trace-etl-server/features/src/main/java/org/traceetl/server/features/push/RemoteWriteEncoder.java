package org.traceetl.server.features.push;

import io.airlift.compress.v3.snappy.SnappyJavaCompressor;
import java.util.Arrays;
import java.util.List;
import org.traceetl.proto.SpanId;
import org.traceetl.proto.TraceId;
import org.traceetl.server.protobuf.MessageBuffer;
import org.traceetl.server.window.NativeBuckets;
import org.traceetl.server.window.NativeTotals;

/**
 * Encodes requests of Remote Write: a message of Protocol Buffers, compressed as one block of
 * Snappy. The first field of a message is written last. The memory is reused.
 */
final class RemoteWriteEncoder implements RequestEncoder {
  /** The value by which Prometheus ends a series. */
  static final long STALE_BITS = 0x7ff0_0000_0000_0002L;

  /**
   * The value that client libraries use: below any duration, and above 0 because it marks the
   * histogram as native.
   */
  private static final double ZERO_THRESHOLD = 0x1p-128;

  // Fields of both versions, unless said otherwise.
  private static final int SERIES_LABELS = 1;
  private static final int SERIES_SAMPLES = 2;
  private static final int SAMPLE_VALUE = 1;
  private static final int SAMPLE_AT = 2;
  private static final int SAMPLE_START_2 = 3;
  private static final int EXEMPLAR_LABELS = 1;
  private static final int EXEMPLAR_VALUE = 2;
  private static final int EXEMPLAR_AT = 3;
  private static final int HISTOGRAM_COUNT = 1;
  private static final int HISTOGRAM_SUM = 3;
  private static final int HISTOGRAM_SCHEMA = 4;
  private static final int HISTOGRAM_ZERO_THRESHOLD = 5;
  private static final int HISTOGRAM_ZERO_COUNT = 6;
  private static final int HISTOGRAM_SPANS = 11;
  private static final int HISTOGRAM_DELTAS = 12;
  private static final int HISTOGRAM_AT = 15;
  private static final int HISTOGRAM_START_2 = 17;
  private static final int SPAN_OFFSET = 1;
  private static final int SPAN_LENGTH = 2;

  private static final int REQUEST_SERIES_1 = 1;
  private static final int REQUEST_METADATA_1 = 3;
  private static final int METADATA_TYPE_1 = 1;
  private static final int METADATA_NAME_1 = 2;
  private static final int METADATA_HELP_1 = 4;
  private static final int METADATA_UNIT_1 = 5;
  private static final int LABEL_NAME_1 = 1;
  private static final int LABEL_VALUE_1 = 2;
  private static final int SERIES_EXEMPLARS_1 = 3;
  private static final int SERIES_HISTOGRAMS_1 = 4;

  private static final int REQUEST_SYMBOLS_2 = 4;
  private static final int REQUEST_SERIES_2 = 5;
  private static final int SERIES_HISTOGRAMS_2 = 3;
  private static final int SERIES_EXEMPLARS_2 = 4;
  private static final int SERIES_METADATA_2 = 5;
  private static final int METADATA_TYPE_2 = 1;
  private static final int METADATA_HELP_2 = 3;
  private static final int METADATA_UNIT_2 = 4;

  /** Types of metadata, equal in both versions. */
  private static final int COUNTER = 1;

  private static final int HISTOGRAM = 3;

  private static final Symbol TRACE_ID = Symbol.of("trace_id");
  private static final Symbol SPAN_ID = Symbol.of("span_id");

  private final PushNaming naming;
  private final MessageBuffer out = new MessageBuffer();
  private final SymbolRefs symbols = new SymbolRefs();
  private final SnappyJavaCompressor snappy = new SnappyJavaCompressor();
  private byte[] compressed = {};
  private int length;

  // Of the current request.
  private WriteRequest request;
  private boolean isV2;

  // Of the current entry.
  private int entry;
  private PushedSeries series;

  /** Numbers of the names and values of the series' labels. */
  private int[] refs = new int[32];

  // All samples of an entry have these bytes, which are encoded once.
  private final Repeated beforeName = new Repeated();
  private final Repeated beforeLe = new Repeated();
  private final Repeated afterLe = new Repeated();
  private final Repeated times = new Repeated();

  /** By family: the metadata of its series in a request of version 2.0, which are the same. */
  private Repeated[] metadata = {};

  /** The families of the current request, at least those of its series. */
  private List<PushedFamily> families;

  /** That of the current family. */
  private Repeated familyMetadata;

  /** Bytes that a message has several times. */
  private static final class Repeated {
    private int sizeBefore;

    /** Below 0: they are not written yet. */
    private int sizeAfter;

    void clear() {
      sizeAfter = -1;
    }
  }

  RemoteWriteEncoder(PushNaming naming) {
    this.naming = naming;
  }

  @Override
  public boolean encode(WriteRequest of, int from, int to, Protocol protocol) {
    message(of, from, to, protocol);
    if (out.size() > MAX_BYTES && to - from > 1) {
      return false;
    }
    int most = snappy.maxCompressedLength(out.size());
    if (compressed.length < most) {
      compressed = new byte[Math.max(most, compressed.length * 2)];
    }
    length =
        snappy.compress(out.array(), out.begin(), out.size(), compressed, 0, compressed.length);
    return true;
  }

  @Override
  public byte[] body() {
    return compressed;
  }

  @Override
  public int length() {
    return length;
  }

  /** Returns the message before compression. */
  byte[] message() {
    return out.toByteArray();
  }

  private void message(WriteRequest of, int from, int to, Protocol protocol) {
    request = of;
    isV2 = protocol == Protocol.V2;
    out.clear();
    symbols.clear();
    families = naming.families();
    if (metadata.length < families.size()) {
      metadata = new Repeated[families.size()];
      Arrays.setAll(metadata, family -> new Repeated());
    }
    for (Repeated one : metadata) {
      one.clear();
    }
    long written = 0;
    for (entry = to - 1; entry >= from && out.size() <= MAX_BYTES; entry--) {
      series = request.series(entry);
      written |= series.familyBits;
      beforeName.clear();
      beforeLe.clear();
      afterLe.clear();
      times.clear();
      if (isV2) {
        takeRefs();
      }
      writeEntry();
    }
    if (isV2) {
      for (int i = symbols.size() - 1; i >= 0; i--) {
        text(REQUEST_SYMBOLS_2, symbols.get(i));
      }
    } else {
      writeMetadata(written);
    }
  }

  private void takeRefs() {
    int labels = series.names.length;
    if (refs.length < 2 * labels) {
      refs = new int[4 * labels];
    }
    for (int i = 0; i < labels; i++) {
      refs[2 * i] = symbols.ref(series.names[i]);
      refs[2 * i + 1] = symbols.ref(series.values[i]);
    }
  }

  private void writeEntry() {
    for (int i = families.size() - 1; i >= 0; i--) {
      PushedFamily family = families.get(i);
      if ((series.familyBits & family.bit) == 0) {
        continue;
      }
      familyMetadata = metadata[i];
      if (!family.isHistogram) {
        double value = family.isSum ? request.sum(family, entry) : request.counter(family, entry);
        writeSample(family, family.total, null, value, null);
        continue;
      }
      if (family.nativeBuckets != null) {
        writeNative(family);
      }
      if (family.isClassic) {
        writeClassic(family);
      }
    }
  }

  /** Writes cumulative counts: the count of all spans, less the buckets above. */
  private void writeClassic(PushedFamily family) {
    SampleExemplar exemplar = request.exemplar(entry);
    int last = family.le.length - 1;
    long calls = request.count(entry);
    writeSample(family, family.count, null, calls, null);
    writeSample(family, family.sum, null, request.sum(family, entry), null);
    long count = calls;
    for (int bucket = naming.buckets() - 1; bucket >= 0; bucket--) {
      if (bucket <= last) {
        boolean has = exemplar != null && Math.min(exemplar.bucket(), last) == bucket;
        writeSample(
            family,
            family.bucket,
            family.le[bucket],
            bucket == last ? calls : count,
            has ? exemplar : null);
      }
      count -= request.count(entry, bucket);
    }
  }

  /**
   * Writes a series with one sample.
   *
   * @param le null for none
   * @param exemplar null for none
   */
  private void writeSample(
      PushedFamily family, Symbol name, Symbol le, double value, SampleExemplar exemplar) {
    int before = out.size();
    writeMetadata(family);
    writeExemplar(family, exemplar);
    int beforeSample = out.size();
    writeTimes();
    out.bits(SAMPLE_VALUE, request.isStale(entry) ? STALE_BITS : Double.doubleToRawLongBits(value));
    out.enclose(SERIES_SAMPLES, beforeSample);
    writeLabels(name, le);
    out.enclose(isV2 ? REQUEST_SERIES_2 : REQUEST_SERIES_1, before);
  }

  private void writeTimes() {
    if (isAgain(times)) {
      return;
    }
    writeStart(SAMPLE_START_2);
    out.integer(SAMPLE_AT, request.atMillis(entry));
    times.sizeAfter = out.size();
  }

  private void writeNative(PushedFamily family) {
    int before = out.size();
    writeMetadata(family);
    if (!isV2) {
      writeHistogram(family, SERIES_HISTOGRAMS_1);
    }
    writeExemplar(family, request.exemplar(entry));
    if (isV2) {
      writeHistogram(family, SERIES_HISTOGRAMS_2);
    }
    writeLabels(family.name, null);
    out.enclose(isV2 ? REQUEST_SERIES_2 : REQUEST_SERIES_1, before);
  }

  private void writeHistogram(PushedFamily family, int field) {
    NativeBuckets buckets = family.nativeBuckets;
    NativeTotals natives = request.natives();
    int before = out.size();
    writeStart(HISTOGRAM_START_2);
    out.integer(HISTOGRAM_AT, request.atMillis(entry));
    if (request.isStale(entry)) {
      out.bits(HISTOGRAM_SUM, STALE_BITS);
      out.enclose(field, before);
      return;
    }
    int size = natives.size(entry);
    boolean hasZero = size > 0 && natives.bucket(entry, 0) == NativeBuckets.ZERO;
    int first = hasZero ? 1 : 0;
    writeDeltas(natives, first, size);
    writeSpans(buckets, natives, first, size);
    if (hasZero) {
      out.integer(HISTOGRAM_ZERO_COUNT, natives.count(entry, 0));
    }
    out.decimal(HISTOGRAM_ZERO_THRESHOLD, ZERO_THRESHOLD);
    out.zigZag(HISTOGRAM_SCHEMA, buckets.schema());
    out.decimal(HISTOGRAM_SUM, request.sum(family, entry));
    // Receivers refuse any other count than the sum of the buckets.
    out.integer(HISTOGRAM_COUNT, request.nativeCount(entry));
    out.enclose(field, before);
  }

  /** Differences between consecutive counts. */
  private void writeDeltas(NativeTotals natives, int first, int size) {
    if (first == size) {
      return;
    }
    int before = out.size();
    for (int i = size - 1; i > first; i--) {
      out.packedZigZag(natives.count(entry, i) - natives.count(entry, i - 1));
    }
    out.packedZigZag(natives.count(entry, first));
    out.enclose(HISTOGRAM_DELTAS, before);
  }

  /** Runs of adjacent buckets: distance from the previous run, and length. */
  private void writeSpans(NativeBuckets buckets, NativeTotals natives, int first, int size) {
    int end = size;
    while (end > first) {
      int begin = end - 1;
      while (begin > first
          && natives.bucket(entry, begin - 1) == natives.bucket(entry, begin) - 1) {
        begin--;
      }
      int number = natives.bucket(entry, begin);
      int offset =
          begin == first ? buckets.index(number) : number - natives.bucket(entry, begin - 1) - 1;
      int before = out.size();
      out.integer(SPAN_LENGTH, end - begin);
      out.zigZag(SPAN_OFFSET, offset);
      out.enclose(HISTOGRAM_SPANS, before);
      end = begin;
    }
  }

  /** A start at or after the sample would be refused. */
  private void writeStart(int field) {
    long start = request.startMillis(entry);
    if (isV2 && start > 0 && start < request.atMillis(entry)) {
      out.integer(field, start);
    }
  }

  private void writeExemplar(PushedFamily family, SampleExemplar exemplar) {
    if (exemplar == null) {
      return;
    }
    int before = out.size();
    out.integer(EXEMPLAR_AT, exemplar.millis());
    out.decimal(EXEMPLAR_VALUE, family.inUnit(exemplar.durationNanos()));
    byte[] trace = new byte[TraceId.HEX_LENGTH];
    TraceId.writeHex(exemplar.traceHigh(), exemplar.traceLow(), trace, 0);
    byte[] span = new byte[SpanId.HEX_LENGTH];
    SpanId.writeHex(exemplar.spanId(), span, 0);
    if (isV2) {
      int beforeLabels = out.size();
      writeRefs(symbols.ref(TRACE_ID), symbols.ref(new Symbol(trace)));
      writeRefs(symbols.ref(SPAN_ID), symbols.ref(new Symbol(span)));
      out.enclose(EXEMPLAR_LABELS, beforeLabels);
    } else {
      writeLabel(EXEMPLAR_LABELS, TRACE_ID, new Symbol(trace));
      writeLabel(EXEMPLAR_LABELS, SPAN_ID, new Symbol(span));
    }
    out.enclose(isV2 ? SERIES_EXEMPLARS_2 : SERIES_EXEMPLARS_1, before);
  }

  /** Writes the labels of the series with its name, and with {@code le} unless it is null. */
  private void writeLabels(Symbol name, Symbol le) {
    int before = out.size();
    writeLabels(afterLe, series.leAt, series.names.length);
    if (le != null) {
      writeLabel(PushedSeries.LE, le);
    }
    writeLabels(beforeLe, series.nameAt, series.leAt);
    writeLabel(PushedSeries.NAME, name);
    writeLabels(beforeName, 0, series.nameAt);
    if (isV2) {
      out.enclose(SERIES_LABELS, before);
    }
  }

  private void writeLabels(Repeated repeated, int from, int to) {
    if (isAgain(repeated)) {
      return;
    }
    writeLabels(from, to);
    repeated.sizeAfter = out.size();
  }

  /** Writes bytes again, or begins them if they are not written yet. */
  private boolean isAgain(Repeated repeated) {
    if (repeated.sizeAfter >= 0) {
      out.again(repeated.sizeBefore, repeated.sizeAfter);
      return true;
    }
    repeated.sizeBefore = out.size();
    return false;
  }

  private void writeLabels(int from, int to) {
    for (int i = to - 1; i >= from; i--) {
      if (isV2) {
        writeRefs(refs[2 * i], refs[2 * i + 1]);
      } else {
        writeLabel(SERIES_LABELS, series.names[i], series.values[i]);
      }
    }
  }

  private void writeLabel(Symbol name, Symbol value) {
    if (isV2) {
      writeRefs(symbols.ref(name), symbols.ref(value));
    } else {
      writeLabel(SERIES_LABELS, name, value);
    }
  }

  private void writeRefs(int name, int value) {
    out.packed(value);
    out.packed(name);
  }

  private void writeLabel(int field, Symbol name, Symbol value) {
    int before = out.size();
    text(LABEL_VALUE_1, value);
    text(LABEL_NAME_1, name);
    out.enclose(field, before);
  }

  /** Writes the metadata of a series, which only version 2.0 has. */
  private void writeMetadata(PushedFamily family) {
    if (!isV2 || isAgain(familyMetadata)) {
      return;
    }
    int before = out.size();
    if (!family.unit.isEmpty()) {
      out.integer(METADATA_UNIT_2, symbols.ref(family.unit));
    }
    out.integer(METADATA_HELP_2, symbols.ref(family.help));
    out.integer(METADATA_TYPE_2, family.isHistogram ? HISTOGRAM : COUNTER);
    out.enclose(SERIES_METADATA_2, before);
    familyMetadata.sizeAfter = out.size();
  }

  /** Writes the metadata of families, which only version 1.0 has. */
  private void writeMetadata(long familyBits) {
    for (PushedFamily family : families) {
      if ((family.bit & familyBits) != 0) {
        int before = out.size();
        if (!family.unit.isEmpty()) {
          text(METADATA_UNIT_1, family.unit);
        }
        text(METADATA_HELP_1, family.help);
        text(METADATA_NAME_1, family.isHistogram ? family.name : family.total);
        out.integer(METADATA_TYPE_1, family.isHistogram ? HISTOGRAM : COUNTER);
        out.enclose(REQUEST_METADATA_1, before);
      }
    }
  }

  private void text(int field, Symbol symbol) {
    out.text(field, symbol.utf8, 0, symbol.utf8.length);
  }
}
