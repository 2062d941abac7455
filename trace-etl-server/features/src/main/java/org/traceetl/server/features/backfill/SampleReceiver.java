package org.traceetl.server.features.backfill;

import java.io.IOException;
import java.util.Map;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.SeriesDefinition;

/** Receives the samples of a backfill, besides its files. For one thread at a time. */
public interface SampleReceiver extends AutoCloseable {
  /** Why a sample is refused that the receiver has already. */
  String DUPLICATE = "duplicate";

  /** Returns a text that differs between receivers, and between the labels that series get. */
  String id();

  /**
   * Adds a sample. Those of a series are in the order of time. May wait until there is room.
   *
   * @param series its number is used again after the series has ended
   * @param startMillis since when the series counts, milliseconds since 1970
   * @param counts numbers of the series, as in windows; read before the call returns
   * @param sumMillis sum of durations in whole milliseconds
   * @param sumNanos the rest of the sum, below a millisecond
   * @param natives native buckets in the only row, none if they are not kept; read before the call
   *     returns
   * @throws IOException if the receiver has not accepted samples for long
   */
  void sample(
      SeriesDefinition series,
      long startMillis,
      long atMillis,
      long[] counts,
      long sumMillis,
      int sumNanos,
      NativeTotals natives)
      throws IOException, InterruptedException;

  /**
   * Waits until all samples have final answers.
   *
   * @throws IOException if the receiver has not accepted samples for long
   */
  void flush() throws IOException, InterruptedException;

  /** Returns the number of samples that were written. */
  long written();

  /** Returns the number of samples that the receiver refused, by reason. */
  Map<String, Long> refused();

  /** Returns whether the receiver refused samples that it does not have. */
  default boolean lacksSamples() {
    return refused().entrySet().stream()
        .anyMatch(each -> each.getValue() > 0 && !each.getKey().equals(DUPLICATE));
  }

  @Override
  void close();
}
