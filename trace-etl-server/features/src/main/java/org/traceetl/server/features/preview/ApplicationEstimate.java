package org.traceetl.server.features.preview;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;

/** The size of one application's spans: sets of hashes of keys and values. */
final class ApplicationEstimate {
  private final KeyEstimate plain = new KeyEstimate();
  private final KeyEstimate full = new KeyEstimate();
  private final KeyEstimate names = new KeyEstimate();
  private final List<KeyEstimate> values = new ArrayList<>();
  private final List<KeyEstimate> without = new ArrayList<>();

  /** Dimensions that incomplete spans lack. */
  private final BitSet lacking = new BitSet();

  private final int dimensions;
  private long spans;
  private long incomplete;
  private long samples;

  ApplicationEstimate(int dimensions) {
    this.dimensions = dimensions;
    for (int i = 0; i < dimensions; i++) {
      values.add(new KeyEstimate());
      without.add(new KeyEstimate());
    }
  }

  /**
   * Adds spans of one key.
   *
   * @param kindAndStatus both as one number
   * @param hashes of the dimensions' values, 0 for none
   * @param count number of spans
   * @return number of new hashes
   */
  int add(long name, int kindAndStatus, long[] hashes, int count) {
    spans += count;
    long key = mix(name, kindAndStatus);
    int fresh = names.add(name) + plain.add(key);
    int added = full.add(all(key, hashes));
    if (added == 0) {
      return fresh;
    }
    fresh += added;
    for (int i = 0; i < hashes.length; i++) {
      fresh += without.get(i).add(rest(key, hashes, i));
      fresh += hashes[i] == 0 ? 0 : values.get(i).add(hashes[i]);
    }
    return fresh;
  }

  /**
   * Adds spans whose values in some dimensions are not known.
   *
   * @param hashes of the dimensions' values, 0 for none or unknown
   * @param lacks the unknown dimensions; all: kind, status and name are unknown as well
   * @return number of new hashes
   */
  int addIncomplete(long name, int kindAndStatus, long[] hashes, BitSet lacks, int count) {
    spans += count;
    incomplete += count;
    lacking.or(lacks);
    if (name == 0) {
      return 0;
    }
    long key = mix(name, kindAndStatus);
    int fresh = names.add(name) + plain.add(key);
    for (int i = 0; i < hashes.length; i++) {
      if (lacks.get(i)) {
        fresh += lacks.cardinality() > 1 ? 0 : without.get(i).add(rest(key, hashes, i));
      } else {
        fresh += hashes[i] == 0 ? 0 : values.get(i).add(hashes[i]);
      }
    }
    return fresh;
  }

  /** Marks spans as incomplete whose values in all dimensions are known. */
  void addIncomplete(int count) {
    incomplete += count;
  }

  /**
   * Adds a whole copy of one of the incomplete spans.
   *
   * @param count 1, or 0 for an event
   * @return number of new hashes
   */
  int addSample(long name, int kindAndStatus, long[] hashes, int count) {
    samples += count;
    long key = mix(name, kindAndStatus);
    int fresh = names.addSample(name) + plain.addSample(key) + full.addSample(all(key, hashes));
    for (int i = 0; i < hashes.length; i++) {
      fresh += without.get(i).addSample(rest(key, hashes, i));
      fresh += hashes[i] == 0 ? 0 : values.get(i).addSample(hashes[i]);
    }
    return fresh;
  }

  /**
   * Returns the key of a series.
   *
   * @param hashes of the dimensions' values, 0 for none
   */
  static long key(long name, int kindAndStatus, long[] hashes) {
    return all(mix(name, kindAndStatus), hashes);
  }

  private static long all(long key, long[] hashes) {
    long all = key;
    for (long value : hashes) {
      all = mix(all, value);
    }
    return all;
  }

  private static long rest(long key, long[] hashes, int without) {
    long rest = key;
    for (int other = 0; other < hashes.length; other++) {
      rest = mix(rest, other == without ? 0 : hashes[other]);
    }
    return rest;
  }

  /** Returns the hash of a sequence of hashes with one more. */
  static long mix(long hash, long value) {
    long mixed = (hash ^ value) * 0x9E37_79B9_7F4A_7C15L;
    return mixed ^ mixed >>> 32;
  }

  long spans() {
    return spans;
  }

  /** Returns the spans that lack what decides about series. */
  long incomplete() {
    return incomplete;
  }

  /** Returns the whole copies of incomplete spans. */
  long samples() {
    return samples;
  }

  /** Returns whether a series counts once, not as the square root of the spans of a sample. */
  boolean isCertain(long key) {
    return full.isCertain(key);
  }

  /** Returns the incomplete spans for each whole copy, at least 1. */
  double spansPerSample() {
    return samples == 0 ? 1 : Math.max(1, (double) incomplete / samples);
  }

  /** Returns whether values of a dimension are estimated. */
  boolean lacks(int dimension) {
    return lacking.get(dimension);
  }

  /** Returns whether values of any dimension are estimated. */
  boolean lacksAny() {
    return !lacking.isEmpty();
  }

  /** Returns whether the series without a dimension are estimated. */
  boolean lacksOther(int dimension) {
    return lacking.cardinality() > (lacking.get(dimension) ? 1 : 0);
  }

  /** Returns the series without any configured dimension. */
  long plain() {
    return plain.keys(spansPerSample());
  }

  /** Returns the series with all dimensions; at least those without one of them. */
  long series() {
    return IntStream.range(0, dimensions)
        .mapToLong(this::without)
        .reduce(Math.max(plain(), full.keys(spansPerSample())), Math::max);
  }

  long names() {
    return names.keys(spansPerSample());
  }

  long values(int dimension) {
    return values.get(dimension).keys(spansPerSample());
  }

  /** Returns the series with all dimensions except one; at least those without any. */
  long without(int dimension) {
    return Math.max(plain(), without.get(dimension).keys(spansPerSample()));
  }
}
