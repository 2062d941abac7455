package org.traceetl.server.features.push;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.traceetl.server.window.NativeTotals;

/**
 * The content of a request in columns, independent of the version of the protocol: samples of
 * series of one queue and one shard, in the order of their addition. One thread fills it and passes
 * it on; then it does not change.
 */
final class WriteRequest {
  private static final int INITIAL_ENTRIES = 16;
  private static final int STALE = -1;

  private final PushNaming naming;
  private final int stride;
  private final int buckets;

  private int size;
  private int samples;
  private PushedSeries[] series = new PushedSeries[INITIAL_ENTRIES];
  private long[] startMillis = new long[INITIAL_ENTRIES];
  private long[] atMillis = new long[INITIAL_ENTRIES];

  /** By entry, then bucket, not cumulative over buckets; then the size if sizes are kept. */
  private long[] counts;

  private long[] sumMillis = new long[INITIAL_ENTRIES];

  /** The part of the sum below a millisecond; {@link #STALE} in a stale marker. */
  private int[] sumNanos = new int[INITIAL_ENTRIES];

  private final NativeTotals natives = new NativeTotals();

  /** Null while no entry has one, which is usual. */
  private SampleExemplar[] exemplars;

  /** Whose samples it has. */
  private final QueueSamples queue;

  /** The records of its samples, in order. */
  private final List<PushedRecord> records = new ArrayList<>(1);

  WriteRequest(PushNaming naming, QueueSamples queue) {
    this.naming = naming;
    this.queue = queue;
    stride = naming.stride();
    buckets = naming.buckets();
    counts = new long[INITIAL_ENTRIES * stride];
  }

  /** Says of which record the next samples are; returns whether it is another one than before. */
  boolean begin(PushedRecord next) {
    boolean isOther = records.isEmpty() || records.getLast() != next;
    if (isOther) {
      records.add(next);
    }
    return isOther;
  }

  /** Adds a sample; see {@link Samples#sample}. */
  void add(
      PushedSeries of,
      long start,
      long at,
      long[] theirCounts,
      int offset,
      long millis,
      int nanos,
      NativeTotals theirNatives,
      int nativeRow,
      SampleExemplar exemplar) {
    int entry = add(of, at);
    startMillis[entry] = start;
    System.arraycopy(theirCounts, offset, counts, entry * stride, stride);
    sumMillis[entry] = millis;
    sumNanos[entry] = nanos;
    if (nativeRow != Samples.NO_ROW) {
      natives.copy(entry, theirNatives, nativeRow);
    }
    if (exemplar != null) {
      if (exemplars == null) {
        exemplars = new SampleExemplar[series.length];
      }
      exemplars[entry] = exemplar;
    }
  }

  /** Adds a stale marker. */
  void addStale(PushedSeries of, long at) {
    int entry = add(of, at);
    sumNanos[entry] = STALE;
  }

  private int add(PushedSeries of, long at) {
    if (size == series.length) {
      grow();
    }
    series[size] = of;
    atMillis[size] = at;
    samples += naming.samples(of.familyBits);
    return size++;
  }

  private void grow() {
    int capacity = size * 2;
    series = Arrays.copyOf(series, capacity);
    startMillis = Arrays.copyOf(startMillis, capacity);
    atMillis = Arrays.copyOf(atMillis, capacity);
    counts = Arrays.copyOf(counts, capacity * stride);
    sumMillis = Arrays.copyOf(sumMillis, capacity);
    sumNanos = Arrays.copyOf(sumNanos, capacity);
    if (exemplars != null) {
      exemplars = Arrays.copyOf(exemplars, capacity);
    }
  }

  /** Returns whether it must not be sent any more. */
  boolean isAbandoned() {
    return queue.isClosed();
  }

  /** Reports that it is not sent. */
  void dropped() {
    queue.dropped();
  }

  /** Reports that all parts have final answers. */
  void answered() {
    queue.answered(this);
  }

  List<PushedRecord> records() {
    return records;
  }

  /** Returns the number of entries. */
  int size() {
    return size;
  }

  /** Returns the number of samples and native histograms. */
  int samples() {
    return samples;
  }

  /** Returns the number of samples and native histograms of the entries [from, to). */
  int samples(int from, int to) {
    int count = 0;
    for (int entry = from; entry < to; entry++) {
      count += naming.samples(series[entry].familyBits);
    }
    return count;
  }

  PushedSeries series(int entry) {
    return series[entry];
  }

  /** Returns since when the series counts; 0 if that is unknown. */
  long startMillis(int entry) {
    return startMillis[entry];
  }

  long atMillis(int entry) {
    return atMillis[entry];
  }

  boolean isStale(int entry) {
    return sumNanos[entry] == STALE;
  }

  /** Returns the spans in one bucket, not cumulative. */
  long count(int entry, int bucket) {
    return counts[entry * stride + bucket];
  }

  /** Returns the spans in all buckets. */
  long count(int entry) {
    long spans = 0;
    for (int i = entry * stride; i < entry * stride + buckets; i++) {
      spans += counts[i];
    }
    return spans;
  }

  /** Returns the value of a counter that is not a sum of values. */
  long counter(PushedFamily family, int entry) {
    return family.isSize ? count(entry, buckets) : count(entry);
  }

  /** Returns the sum of durations in the family's unit. */
  double sum(PushedFamily family, int entry) {
    return family.inUnit(sumMillis[entry], sumNanos[entry]);
  }

  /** Returns the spans in all native buckets. */
  long nativeCount(int entry) {
    long spans = 0;
    for (int i = 0; i < natives.size(entry); i++) {
      spans += natives.count(entry, i);
    }
    return spans;
  }

  /** Returns the native histograms, by entry. */
  NativeTotals natives() {
    return natives;
  }

  /** Returns the exemplar of an entry; null for none. */
  SampleExemplar exemplar(int entry) {
    return exemplars == null ? null : exemplars[entry];
  }
}
