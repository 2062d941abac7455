package org.traceetl.perf.bench;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import io.airlift.compress.v3.snappy.SnappyJavaDecompressor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What one sender has written by Remote Write 1.0 or 2.0: counts, and the calls of each series. It
 * decodes only as much as this needs. Thread-safe.
 */
final class Written {
  static final String CALLS = "traces_span_metrics_calls_total";
  private static final String NAME = "__name__";
  private static final long STALE_BITS = 0x7ff0_0000_0000_0002L;

  // Fields of both versions, unless said otherwise.
  private static final int REQUEST_SERIES_1 = 1;
  private static final int REQUEST_SYMBOLS_2 = 4;
  private static final int REQUEST_SERIES_2 = 5;
  private static final int SERIES_LABELS = 1;
  private static final int SERIES_SAMPLES = 2;
  private static final int LABEL_NAME_1 = 1;
  private static final int SAMPLE_VALUE = 1;
  private static final int SAMPLE_AT = 2;

  /**
   * Counts so far.
   *
   * @param bytes compressed bodies
   */
  record Totals(long requests, long bytes, long samples) {
    Totals since(Totals before) {
      return new Totals(requests - before.requests, bytes - before.bytes, samples - before.samples);
    }
  }

  private final SnappyJavaDecompressor snappy = new SnappyJavaDecompressor();

  /** The newest value of each series of calls, by its labels. */
  private final Map<String, Double> calls = new HashMap<>();

  /** By time of samples: by how much the calls of all series have increased. */
  private final SortedMap<Long, Double> increases = new TreeMap<>();

  private byte[] message = {};
  private long requests;
  private long bytes;
  private long samples;

  /**
   * Adds a request.
   *
   * @return the number of its samples
   * @throws IOException if it is malformed
   */
  synchronized int add(byte[] body, boolean isV2) throws IOException {
    int size = snappy.getUncompressedLength(body, 0);
    if (message.length < size) {
      message = new byte[size];
    }
    snappy.decompress(body, 0, body.length, message, 0, message.length);
    CodedInputStream in = CodedInputStream.newInstance(message, 0, size);
    List<String> symbols = new ArrayList<>();
    int added = 0;
    int tag;
    while ((tag = in.readTag()) != 0) {
      int field = WireFormat.getTagFieldNumber(tag);
      if (isV2 && field == REQUEST_SYMBOLS_2) {
        symbols.add(in.readString());
      } else if (field == (isV2 ? REQUEST_SERIES_2 : REQUEST_SERIES_1)) {
        added += series(in, isV2 ? symbols : null);
      } else {
        in.skipField(tag);
      }
    }
    requests++;
    bytes += body.length;
    samples += added;
    return added;
  }

  /**
   * Reads a series.
   *
   * @param symbols null in version 1.0
   */
  private int series(CodedInputStream in, List<String> symbols) throws IOException {
    int end = in.pushLimit(in.readRawVarint32());
    StringBuilder labels = new StringBuilder();
    boolean isCalls = false;
    int count = 0;
    int tag;
    while ((tag = in.readTag()) != 0) {
      switch (WireFormat.getTagFieldNumber(tag)) {
        case SERIES_LABELS ->
            isCalls |= symbols == null ? label(in, labels) : refs(in, symbols, labels);
        case SERIES_SAMPLES -> {
          sample(in, isCalls ? labels.toString() : null);
          count++;
        }
        default -> in.skipField(tag);
      }
    }
    in.popLimit(end);
    return count;
  }

  /** Reads a label of version 1.0; returns whether it is the name of the calls. */
  private static boolean label(CodedInputStream in, StringBuilder labels) throws IOException {
    int end = in.pushLimit(in.readRawVarint32());
    String name = "";
    String value = "";
    int tag;
    while ((tag = in.readTag()) != 0) {
      if (WireFormat.getTagFieldNumber(tag) == LABEL_NAME_1) {
        name = in.readString();
      } else {
        value = in.readString();
      }
    }
    in.popLimit(end);
    labels.append(name).append('=').append(value).append('\n');
    return name.equals(NAME) && value.equals(CALLS);
  }

  /** Reads the labels of version 2.0; returns whether they have the name of the calls. */
  private static boolean refs(CodedInputStream in, List<String> symbols, StringBuilder labels)
      throws IOException {
    int end = in.pushLimit(in.readRawVarint32());
    boolean isCalls = false;
    while (in.getBytesUntilLimit() > 0) {
      String name = symbols.get(in.readRawVarint32());
      String value = symbols.get(in.readRawVarint32());
      labels.append(name).append('=').append(value).append('\n');
      isCalls |= name.equals(NAME) && value.equals(CALLS);
    }
    in.popLimit(end);
    return isCalls;
  }

  /**
   * Reads a sample.
   *
   * @param labels of a series of calls; null for other series
   */
  private void sample(CodedInputStream in, String labels) throws IOException {
    int end = in.pushLimit(in.readRawVarint32());
    long bits = 0;
    long atMillis = 0;
    int tag;
    while ((tag = in.readTag()) != 0) {
      switch (WireFormat.getTagFieldNumber(tag)) {
        case SAMPLE_VALUE -> bits = in.readRawLittleEndian64();
        case SAMPLE_AT -> atMillis = in.readInt64();
        default -> in.skipField(tag);
      }
    }
    in.popLimit(end);
    if (labels != null && bits != STALE_BITS) {
      double value = Double.longBitsToDouble(bits);
      Double before = calls.put(labels, value);
      increases.merge(atMillis, value - (before == null ? 0 : before), Double::sum);
    }
  }

  synchronized Totals totals() {
    return new Totals(requests, bytes, samples);
  }

  /** Returns the number of series of calls. */
  synchronized int series() {
    return calls.size();
  }

  /** Returns the newest calls of all series. */
  synchronized long calls() {
    return (long) calls.values().stream().mapToDouble(value -> value).sum();
  }

  /** Returns by how much the calls have increased, by time of the samples. */
  synchronized SortedMap<Long, Double> increases() {
    return new TreeMap<>(increases);
  }
}
