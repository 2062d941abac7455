package org.traceetl.server.features.push;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import org.traceetl.server.protobuf.MessageBuffer;
import org.traceetl.server.window.NativeBuckets;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.SeriesDefinition;

/**
 * Encodes requests of OTLP: an {@code ExportMetricsServiceRequest}, for HTTP compressed by gzip.
 * Each application is a resource. The first field of a message is written last.
 */
final class OtlpEncoder implements RequestEncoder {
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final int NONE = -1;

  private static final int REQUEST_RESOURCE = 1;
  private static final int RESOURCE_RESOURCE = 1;
  private static final int RESOURCE_SCOPE = 2;
  private static final int RESOURCE_ATTRIBUTES = 1;
  private static final int SCOPE_SCOPE = 1;
  private static final int SCOPE_METRICS = 2;
  private static final int SCOPE_NAME = 1;
  private static final int METRIC_NAME = 1;
  private static final int METRIC_DESCRIPTION = 2;
  private static final int METRIC_UNIT = 3;
  private static final int METRIC_SUM = 7;
  private static final int METRIC_HISTOGRAM = 9;
  private static final int METRIC_EXPONENTIAL = 10;

  // Of sums and of both histograms.
  private static final int DATA_POINTS = 1;
  private static final int DATA_TEMPORALITY = 2;
  private static final int SUM_MONOTONIC = 3;
  private static final int DELTA = 1;
  private static final int CUMULATIVE = 2;

  // Of all points.
  private static final int POINT_START = 2;
  private static final int POINT_AT = 3;

  private static final int NUMBER_DOUBLE = 4;
  private static final int NUMBER_INTEGER = 6;
  private static final int NUMBER_ATTRIBUTES = 7;
  private static final int NUMBER_FLAGS = 8;

  // Of both histograms.
  private static final int HISTOGRAM_COUNT = 4;
  private static final int HISTOGRAM_SUM = 5;

  private static final int CLASSIC_COUNTS = 6;
  private static final int CLASSIC_BOUNDS = 7;
  private static final int CLASSIC_EXEMPLARS = 8;
  private static final int CLASSIC_ATTRIBUTES = 9;
  private static final int CLASSIC_FLAGS = 10;

  private static final int EXPONENTIAL_ATTRIBUTES = 1;
  private static final int EXPONENTIAL_SCALE = 6;
  private static final int EXPONENTIAL_ZERO_COUNT = 7;
  private static final int EXPONENTIAL_POSITIVE = 8;
  private static final int EXPONENTIAL_FLAGS = 10;
  private static final int EXPONENTIAL_EXEMPLARS = 11;
  private static final int BUCKETS_OFFSET = 1;
  private static final int BUCKETS_COUNTS = 2;

  private static final int EXEMPLAR_AT = 2;
  private static final int EXEMPLAR_VALUE = 3;
  private static final int EXEMPLAR_SPAN = 4;
  private static final int EXEMPLAR_TRACE = 5;

  private static final int KEY = 1;
  private static final int VALUE = 2;
  private static final int VALUE_STRING = 1;

  /** The flag by which a point ends its series. */
  private static final int NO_RECORDED_VALUE = 1;

  private static final Symbol SCOPE = Symbol.of("trace-etl");
  private static final Symbol SERVICE_NAME = Symbol.of("service.name");

  private final PushNaming naming;
  private final int temporality;
  private final Symbol[] resourceNames;
  private final Symbol[] resourceValues;
  private final MessageBuffer out = new MessageBuffer();
  private final byte[] id = new byte[2 * Long.BYTES];
  private byte[] body = {};

  // Of the current request.
  private WriteRequest request;

  /** Numbers of the applications, in the order of their first entries. */
  private final Map<String, Integer> applications = new HashMap<>();

  /** By application: its last entry. */
  private int[] lastEntries = new int[16];

  /** By application: the families of its entries. */
  private long[] familyBits = new long[16];

  /** By entry, from the first one that is encoded: the application's entry before it, or NONE. */
  private int[] previous = new int[16];

  private int first;

  /** Maximum bytes of the message. */
  private int maxBytes;

  // Of the current point.
  private int entry;
  private PushedSeries series;

  /**
   * @param isDelta whether samples count the spans since the last pane end
   */
  OtlpEncoder(PushNaming naming, boolean isDelta) {
    this.naming = naming;
    temporality = isDelta ? DELTA : CUMULATIVE;
    List<String> names = naming.resourceAttributes().keySet().stream().sorted().toList();
    resourceNames = new Symbol[names.size()];
    resourceValues = new Symbol[names.size()];
    for (int i = 0; i < resourceNames.length; i++) {
      resourceNames[i] = Symbol.of(names.get(i));
      resourceValues[i] = Symbol.of(naming.resourceAttributes().get(names.get(i)));
    }
  }

  @Override
  public boolean encode(WriteRequest of, int from, int to, Protocol protocol) {
    request = of;
    maxBytes = to - from == 1 ? Integer.MAX_VALUE : MAX_BYTES;
    out.clear();
    groupByApplication(from, to);
    for (int application = applications.size() - 1; application >= 0; application--) {
      if (familyBits[application] != 0 && hasRoom()) {
        writeResource(application);
      }
    }
    if (!hasRoom()) {
      return false;
    }
    // gRPC compresses messages itself.
    body = protocol == Protocol.OTLP_GRPC ? out.toByteArray() : compress();
    return true;
  }

  private boolean hasRoom() {
    return out.size() <= maxBytes;
  }

  /** A point's order among those of its series stays. */
  private void groupByApplication(int from, int to) {
    applications.clear();
    first = from;
    if (previous.length < to - from) {
      previous = new int[Math.max(to - from, 2 * previous.length)];
    }
    for (int i = from; i < to; i++) {
      SeriesDefinition definition = request.series(i).definition;
      String name = definition.values().get(SeriesDefinition.APPLICATION);
      int count = applications.size();
      int application = applications.computeIfAbsent(name, absent -> count);
      if (application == count) {
        begin(application);
      }
      previous[i - from] = lastEntries[application];
      lastEntries[application] = i;
      familyBits[application] |= request.series(i).familyBits;
    }
  }

  private void begin(int application) {
    if (application == lastEntries.length) {
      lastEntries = Arrays.copyOf(lastEntries, 2 * application);
      familyBits = Arrays.copyOf(familyBits, 2 * application);
    }
    lastEntries[application] = NONE;
    familyBits[application] = 0;
  }

  private byte[] compress() {
    var bytes = new ByteArrayOutputStream(out.size() / 4 + 64);
    try (GZIPOutputStream gzip = new FastGzip(bytes)) {
      gzip.write(out.array(), out.begin(), out.size());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static final class FastGzip extends GZIPOutputStream {
    FastGzip(ByteArrayOutputStream bytes) throws IOException {
      super(bytes);
      def.setLevel(Deflater.BEST_SPEED);
    }
  }

  @Override
  public byte[] body() {
    return body;
  }

  @Override
  public int length() {
    return body.length;
  }

  /** Returns the message before compression. */
  byte[] message() {
    return out.toByteArray();
  }

  private void writeResource(int application) {
    int before = out.size();
    List<PushedFamily> families = naming.families();
    for (int i = families.size() - 1; i >= 0; i--) {
      PushedFamily family = families.get(i);
      if ((familyBits[application] & family.bit) != 0) {
        writeMetric(family, lastEntries[application]);
      }
    }
    int beforeScope = out.size();
    text(SCOPE_NAME, SCOPE);
    out.enclose(SCOPE_SCOPE, beforeScope);
    out.enclose(RESOURCE_SCOPE, before);
    int beforeAttributes = out.size();
    for (int i = resourceNames.length - 1; i >= 0; i--) {
      writeAttribute(RESOURCE_ATTRIBUTES, resourceNames[i], resourceValues[i]);
    }
    SeriesDefinition definition = request.series(lastEntries[application]).definition;
    String name = definition.values().get(SeriesDefinition.APPLICATION);
    if (name != null && !name.isEmpty()) {
      writeAttribute(RESOURCE_ATTRIBUTES, SERVICE_NAME, Symbol.of(name));
    }
    out.enclose(RESOURCE_RESOURCE, beforeAttributes);
    out.enclose(REQUEST_RESOURCE, before);
  }

  private void writeMetric(PushedFamily family, int lastEntry) {
    int before = out.size();
    boolean isNative = family.nativeBuckets != null;
    if (!family.isHistogram) {
      out.integer(SUM_MONOTONIC, 1);
    }
    out.integer(DATA_TEMPORALITY, temporality);
    for (entry = lastEntry; entry != NONE && hasRoom(); entry = previous[entry - first]) {
      series = request.series(entry);
      if ((series.familyBits & family.bit) != 0) {
        int beforePoint = out.size();
        if (!family.isHistogram) {
          writeNumber(family);
        } else if (isNative) {
          writeExponential(family);
        } else {
          writeClassic(family);
        }
        out.enclose(DATA_POINTS, beforePoint);
      }
    }
    int ofHistogram = isNative ? METRIC_EXPONENTIAL : METRIC_HISTOGRAM;
    out.enclose(family.isHistogram ? ofHistogram : METRIC_SUM, before);
    if (!family.unitInOtlp.isEmpty()) {
      out.text(METRIC_UNIT, family.unitInOtlp);
    }
    text(METRIC_DESCRIPTION, family.help);
    text(METRIC_NAME, family.nameInOtlp);
    out.enclose(SCOPE_METRICS, before);
  }

  private void writeNumber(PushedFamily family) {
    writeFlags(NUMBER_FLAGS);
    writeAttributes(NUMBER_ATTRIBUTES);
    if (!request.isStale(entry)) {
      if (family.isSum) {
        out.decimal(NUMBER_DOUBLE, request.sum(family, entry));
      } else {
        out.bits(NUMBER_INTEGER, request.counter(family, entry));
      }
    }
    writeTimes();
  }

  /** The point that ends a series has all fields: receivers end a series for each of them. */
  private void writeClassic(PushedFamily family) {
    writeFlags(CLASSIC_FLAGS);
    writeAttributes(CLASSIC_ATTRIBUTES);
    writeExemplar(family, CLASSIC_EXEMPLARS);
    int last = family.bounds.length;
    int before = out.size();
    for (int bucket = last - 1; bucket >= 0; bucket--) {
      out.packedBits(Double.doubleToRawLongBits(family.bounds[bucket]));
    }
    out.enclose(CLASSIC_BOUNDS, before);
    before = out.size();
    long above = 0;
    for (int bucket = naming.buckets() - 1; bucket >= last; bucket--) {
      above += request.count(entry, bucket);
    }
    out.packedBits(above);
    for (int bucket = last - 1; bucket >= 0; bucket--) {
      out.packedBits(request.count(entry, bucket));
    }
    out.enclose(CLASSIC_COUNTS, before);
    out.decimal(HISTOGRAM_SUM, sum(family));
    out.bits(HISTOGRAM_COUNT, request.count(entry));
    writeTimes();
  }

  private void writeExponential(PushedFamily family) {
    NativeBuckets buckets = family.nativeBuckets;
    NativeTotals natives = request.natives();
    int size = natives.size(entry);
    boolean hasZero = size > 0 && natives.bucket(entry, 0) == NativeBuckets.ZERO;
    writeExemplar(family, EXPONENTIAL_EXEMPLARS);
    writeFlags(EXPONENTIAL_FLAGS);
    writePositive(buckets, natives, hasZero ? 1 : 0, size);
    if (hasZero) {
      out.bits(EXPONENTIAL_ZERO_COUNT, natives.count(entry, 0));
    }
    out.zigZag(EXPONENTIAL_SCALE, buckets.schema());
    out.decimal(HISTOGRAM_SUM, sum(family));
    // The protocol requires the sum of the buckets.
    out.bits(HISTOGRAM_COUNT, request.nativeCount(entry));
    writeTimes();
    writeAttributes(EXPONENTIAL_ATTRIBUTES);
  }

  /**
   * Writes the counts of all buckets from the lowest to the highest one that has spans.
   *
   * @param lowest row of the first bucket above zero
   */
  private void writePositive(NativeBuckets buckets, NativeTotals natives, int lowest, int size) {
    if (lowest == size) {
      return;
    }
    int before = out.size();
    int from = natives.bucket(entry, lowest);
    int at = size - 1;
    for (int number = natives.bucket(entry, at); number >= from; number--) {
      out.packed(natives.bucket(entry, at) == number ? natives.count(entry, at--) : 0);
    }
    out.enclose(BUCKETS_COUNTS, before);
    // Prometheus numbers a bucket by its upper bound, OTLP by its lower one.
    out.zigZag(BUCKETS_OFFSET, buckets.index(from) - 1);
    out.enclose(EXPONENTIAL_POSITIVE, before);
  }

  private double sum(PushedFamily family) {
    return request.isStale(entry) ? 0 : request.sum(family, entry);
  }

  private void writeFlags(int field) {
    if (request.isStale(entry)) {
      out.integer(field, NO_RECORDED_VALUE);
    }
  }

  /** The start is unknown, or 0, if it is not before the point. */
  private void writeTimes() {
    long start = request.startMillis(entry);
    long at = request.atMillis(entry);
    out.bits(POINT_AT, at * NANOS_PER_MILLI);
    if (start > 0 && start < at) {
      out.bits(POINT_START, start * NANOS_PER_MILLI);
    }
  }

  private void writeExemplar(PushedFamily family, int field) {
    SampleExemplar exemplar = request.exemplar(entry);
    if (exemplar == null) {
      return;
    }
    int before = out.size();
    ByteBuffer.wrap(id).putLong(exemplar.traceHigh()).putLong(exemplar.traceLow());
    out.text(EXEMPLAR_TRACE, id, 0, id.length);
    ByteBuffer.wrap(id).putLong(exemplar.spanId());
    out.text(EXEMPLAR_SPAN, id, 0, Long.BYTES);
    out.decimal(EXEMPLAR_VALUE, family.inUnit(exemplar.durationNanos()));
    out.bits(EXEMPLAR_AT, exemplar.millis() * NANOS_PER_MILLI);
    out.enclose(field, before);
  }

  private void writeAttributes(int field) {
    for (int i = series.names.length - 1; i >= 0; i--) {
      writeAttribute(field, series.names[i], series.values[i]);
    }
  }

  private void writeAttribute(int field, Symbol name, Symbol value) {
    int before = out.size();
    text(VALUE_STRING, value);
    out.enclose(VALUE, before);
    text(KEY, name);
    out.enclose(field, before);
  }

  private void text(int field, Symbol symbol) {
    out.text(field, symbol.utf8, 0, symbol.utf8.length);
  }
}
