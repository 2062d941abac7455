package org.traceetl.server.features.push;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.traceetl.server.journal.PaneModel;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.SeriesDefinition;

/** Collects samples. */
final class RecordedSamples implements Samples {
  /**
   * A sample, or a stale marker.
   *
   * @param counts empty for a stale marker
   */
  record Sample(
      SeriesDefinition series,
      long startMillis,
      long atMillis,
      List<Long> counts,
      long sumNanos,
      Map<Integer, Long> natives) {
    static Sample stale(SeriesDefinition series, long atMillis) {
      return new Sample(series, 0, atMillis, List.of(), 0, Map.of());
    }

    boolean isStale() {
      return counts.isEmpty();
    }

    long spans() {
      return counts.stream().mapToLong(count -> count).sum();
    }
  }

  final List<Sample> samples = new ArrayList<>();
  final List<SampleExemplar> exemplars = new ArrayList<>();

  @Override
  public void sample(
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
      SampleExemplar exemplar) {
    samples.add(
        new Sample(
            series,
            startMillis,
            atMillis,
            Arrays.stream(counts, offset, offset + stride).boxed().toList(),
            Math.addExact(Math.multiplyExact(sumMillis, 1_000_000L), sumNanos),
            nativeRow == NO_ROW ? Map.of() : PaneModel.buckets(natives, nativeRow)));
    if (exemplar != null) {
      exemplars.add(exemplar);
    }
  }

  @Override
  public void stale(SeriesDefinition series, long atMillis) {
    samples.add(Sample.stale(series, atMillis));
  }
}
