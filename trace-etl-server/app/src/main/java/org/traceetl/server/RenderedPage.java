package org.traceetl.server;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.traceetl.common.Clocks;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Format;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.features.pages.SpanPages;
import org.traceetl.server.features.preview.PageSize;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;

/** Measures pages by rendering them, with numbers of a usual length. */
final class RenderedPage implements PageSize {
  private static final Duration MAX_WAIT = Duration.ofSeconds(60);

  /** Spans in each bucket of a series. */
  private static final long SPANS = 1_000;

  private static final long DURATION_NANOS = 123_456_789_000L;

  private final Clocks clocks;

  RenderedPage(Clocks clocks) {
    this.clocks = clocks;
  }

  @Override
  public long bytes(Naming naming, List<SeriesDefinition> series)
      throws IOException, InterruptedException {
    Format format = naming.hasUtf8Names() ? Format.OPENMETRICS_UTF8 : Format.OPENMETRICS;
    try (SpanPages pages = new SpanPages(naming, clocks, nanos -> {})) {
      pages.start();
      pages.window(window(naming.stride(), naming.size() != null, series));
      return pages.page(Encoding.of(format, false), MAX_WAIT).bytes();
    } catch (TimeoutException e) {
      throw new IOException(
          "A page of " + series.size() + " series was not rendered: " + e.getMessage(), e);
    }
  }

  private static SealedWindow window(int stride, boolean hasSizes, List<SeriesDefinition> series) {
    int rows = series.size();
    int[] numbers = new int[rows];
    Arrays.setAll(numbers, row -> series.get(row).series());
    long[] counts = new long[rows * stride];
    Arrays.fill(counts, SPANS);
    long[] durations = new long[rows];
    Arrays.fill(durations, DURATION_NANOS);
    int[] exemplars = new int[rows];
    Arrays.fill(exemplars, -1);
    return new SealedWindow(
        new QueueId("preview", 0),
        0,
        1,
        0,
        1,
        series,
        new int[0],
        rows,
        stride,
        numbers,
        counts,
        durations,
        exemplars,
        new int[rows],
        List.of(),
        List.of(),
        0,
        new long[0],
        AcceptedBatches.NONE,
        NativeCounts.NONE,
        WindowPanes.NONE,
        WindowCompleteness.NONE,
        SealedWindow.UNKNOWN_CLOSED,
        hasSizes,
        EdgeChange.NONE);
  }
}
