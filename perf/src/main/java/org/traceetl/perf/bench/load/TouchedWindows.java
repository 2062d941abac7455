package org.traceetl.perf.bench.load;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;

/**
 * Generates windows of one queue in which a share of its series have spans. A series has some
 * dozens to some thousands, in buckets around its usual one.
 */
public final class TouchedWindows {
  private static final long OPENED_MILLIS = 1_790_000_000_000L;
  private static final long WINDOW_MILLIS = 15_000;
  private static final int OPERATIONS = 50;

  private final SplittableRandom random;
  private final QueueId queue;
  private final int queueNumber;
  private final int series;
  private final int stride;
  private int number;

  /** Which series have spans, if not all do. */
  public enum Touch {
    /** The first series of the queue: busy series are created early. */
    FIRST,

    /** Random series, drawn for each window. */
    SCATTERED
  }

  /**
   * @param queueNumber number of the queue; series of different queues have different labels
   * @param series of the queue
   * @param stride buckets of a series, including +Inf
   */
  public TouchedWindows(int queueNumber, int series, int stride) {
    random = new SplittableRandom(queueNumber);
    queue = new QueueId("broker", queueNumber);
    this.queueNumber = queueNumber;
    this.series = series;
    this.stride = stride;
  }

  /** Returns the label values of a series: application, span name, kind, status code. */
  public List<String> labels(int number) {
    return List.of(
        "application-" + queueNumber + "-" + number / OPERATIONS,
        "GET /api/v1/resource" + number % OPERATIONS + "/{id}",
        "2",
        "0");
  }

  /** Returns the window that creates all series. */
  public SealedWindow first() {
    List<SeriesDefinition> created = new ArrayList<>();
    for (int i = 0; i < series; i++) {
      created.add(
          new SeriesDefinition(i, OPENED_MILLIS + random.nextInt(15_000), false, labels(i)));
    }
    return window(created, touched(1, Touch.FIRST));
  }

  public SealedWindow next(double share, Touch touch) {
    return window(List.of(), touched(share, touch));
  }

  private int[] touched(double share, Touch touch) {
    int count = (int) Math.round(series * share);
    int[] numbers = new int[series];
    Arrays.setAll(numbers, i -> i);
    if (touch == Touch.SCATTERED) {
      for (int i = 0; i < count; i++) {
        int other = random.nextInt(i, series);
        int swapped = numbers[i];
        numbers[i] = numbers[other];
        numbers[other] = swapped;
      }
    }
    return Arrays.copyOf(numbers, count);
  }

  private SealedWindow window(List<SeriesDefinition> created, int[] touched) {
    long[] counts = new long[touched.length * stride];
    long[] durationNanos = new long[touched.length];
    int[] exemplars = new int[touched.length];
    Arrays.fill(exemplars, -1);
    for (int row = 0; row < touched.length; row++) {
      int usual = 2 + touched[row] % (stride - 5);
      double spans = Math.exp(3 + 5 * random.nextDouble());
      for (int bucket = Math.max(0, usual - 3); bucket < Math.min(stride, usual + 4); bucket++) {
        double share = Math.exp(-(bucket - usual) * (bucket - usual) / 2.0);
        counts[row * stride + bucket] = (long) (spans * share * (0.8 + 0.4 * random.nextDouble()));
      }
      durationNanos[row] = (long) (spans * 1e6 * (1 << usual) * random.nextDouble());
    }
    long openedMillis = OPENED_MILLIS + WINDOW_MILLIS * number;
    SealedWindow window =
        new SealedWindow(
            queue,
            number,
            number + 1,
            openedMillis,
            openedMillis + WINDOW_MILLIS,
            created,
            new int[0],
            touched.length,
            stride,
            touched,
            counts,
            durationNanos,
            exemplars,
            new int[touched.length],
            List.of(),
            List.of(),
            0,
            new long[touched.length],
            AcceptedBatches.NONE,
            NativeCounts.NONE,
            WindowPanes.NONE,
            WindowCompleteness.NONE,
            SealedWindow.UNKNOWN_CLOSED,
            false,
            EdgeChange.NONE);
    number++;
    return window;
  }
}
