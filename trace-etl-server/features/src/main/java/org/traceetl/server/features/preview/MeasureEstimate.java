package org.traceetl.server.features.preview;

/** The series of one metric of measures. Not thread-safe. */
final class MeasureEstimate {
  private final KeyEstimate series = new KeyEstimate();
  private final SeriesDetail detail = new SeriesDetail();
  private boolean isIncomplete;

  /** Marks that some groups lack an attribute that decides about series. */
  void setIncomplete() {
    isIncomplete = true;
  }

  boolean isIncomplete() {
    return isIncomplete;
  }

  /**
   * Adds the key of a span.
   *
   * @param isSample whether it is a whole copy of an incomplete span
   * @return number of new keys
   */
  int add(long key, boolean isSample) {
    return isSample ? series.addSample(key) : series.add(key);
  }

  /** Returns the number of series on all queues together, each once. */
  long series(double spansPerSample) {
    return series.keys(spansPerSample);
  }

  /** Returns the series with their values and queues. */
  SeriesDetail detail() {
    return detail;
  }
}
