package org.traceetl.server.journal;

import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;

/** Creates windows of a few series with one bucket each; the first window creates the series. */
public final class Windows {
  public static final long SCHEMA = 1;
  public static final int SERIES = 3;
  static final long AGENT_BYTES = 1 << 20;

  private Windows() {}

  public static QueueImage newImage() {
    return new QueueImage(SCHEMA, 1, AGENT_BYTES);
  }

  /** Returns a window with these numbers of spans of each series. */
  public static SealedWindow window(QueueId queue, long from, long to, long... spans) {
    return window(queue, from, to, AcceptedBatches.NONE, from <= 0, spans);
  }

  public static SealedWindow window(
      QueueId queue, long from, long to, AcceptedBatches batches, boolean first, long... spans) {
    int rows = spans.length;
    int[] series = new int[rows];
    Arrays.setAll(series, row -> row);
    int[] exemplars = new int[rows];
    Arrays.fill(exemplars, -1);
    List<SeriesDefinition> created =
        first
            ? Arrays.stream(series)
                .mapToObj(
                    i -> new SeriesDefinition(i, 0, false, List.of("shop", "span-" + i, "2", "0")))
                .toList()
            : List.of();
    return new SealedWindow(
        queue,
        from,
        to,
        0,
        0,
        created,
        new int[0],
        rows,
        1,
        series,
        spans,
        new long[rows],
        exemplars,
        new int[rows],
        List.of(),
        List.of(),
        SCHEMA,
        new long[rows],
        batches,
        NativeCounts.NONE,
        WindowPanes.NONE,
        WindowCompleteness.NONE,
        SealedWindow.UNKNOWN_CLOSED,
        false,
        EdgeChange.NONE);
  }

  /**
   * Returns a record with other components.
   *
   * @param changes name and value of each component to replace
   */
  @SuppressWarnings("unchecked")
  public static <R extends Record> R with(R record, Object... changes) {
    try {
      RecordComponent[] components = record.getClass().getRecordComponents();
      Object[] values = new Object[components.length];
      for (int i = 0; i < components.length; i++) {
        values[i] = components[i].getAccessor().invoke(record);
        for (int change = 0; change < changes.length; change += 2) {
          if (components[i].getName().equals(changes[change])) {
            values[i] = changes[change + 1];
          }
        }
      }
      Class<?>[] types =
          Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
      return (R) record.getClass().getConstructor(types).newInstance(values);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns the spans of each series in an image. */
  public static long[] totals(QueueImage image) {
    long[] totals = new long[SERIES];
    for (int series = 0; series < image.slots(); series++) {
      totals[series] = image.count(series, 0);
    }
    return totals;
  }
}
