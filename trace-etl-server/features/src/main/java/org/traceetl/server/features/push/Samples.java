package org.traceetl.server.features.push;

import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.SeriesDefinition;

/**
 * Receives the samples of one queue that journal records close. Samples of a series come in the
 * order of time. The calls are a function of the journal, so that a repeat makes the same requests.
 * No call waits. For one thread at a time.
 */
interface Samples {
  /** No native histogram: an argument of {@link #sample}. */
  int NO_ROW = -1;

  /**
   * Adds a sample. The arrays may change after the call.
   *
   * @param startMillis since when the sample counts. If it is cumulative: since when the series
   *     counts, the same in all its samples and at most the begin of its first pane. 0 if unknown
   * @param atMillis time of the sample, milliseconds since 1970: the end of a pane
   * @param counts spans by bucket, not cumulative over buckets: bucket i at {@code offset + i}, for
   *     each i below {@code stride}
   * @param sumMillis sum of durations in whole milliseconds
   * @param sumNanos the rest of the sum, below a millisecond
   * @param natives native histograms by row
   * @param nativeRow the series' row in them; {@link #NO_ROW} if it has no native histogram
   * @param exemplar null for none
   */
  void sample(
      SeriesDefinition series,
      long startMillis,
      long atMillis,
      long[] counts,
      int offset,
      int stride,
      long sumMillis,
      int sumNanos,
      NativeTotals natives,
      int nativeRow,
      SampleExemplar exemplar);

  /** Ends a series with a stale marker. */
  void stale(SeriesDefinition series, long atMillis);
}
