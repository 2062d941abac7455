package org.traceetl.server.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.Windows;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowPanes;

class LateSpansTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 0);
  private static final long PANE_MILLIS = 15_000;

  private final MetricRegistry registry = new MetricRegistry();
  private final LateSpans late = new LateSpans(true);
  private long to;

  LateSpansTest() {
    late.register(registry);
  }

  /** Series 0 and 1 are of shop, the latter of its events; series 2 is of bank. */
  private static List<SeriesDefinition> created() {
    return List.of(
        new SeriesDefinition(0, 0, false, List.of("shop", "a", "2", "0")),
        new SeriesDefinition(1, 0, false, List.of("shop", "a", "10", "0", "e")),
        new SeriesDefinition(2, 0, false, List.of("bank", "b", "2", "0")));
  }

  private SealedWindow window(long closedPanes, long mainPane, long... spans) {
    return Windows.with(
        Windows.window(QUEUE, to, ++to, spans),
        "created",
        to == 1 ? created() : List.of(),
        "panes",
        new WindowPanes(PANE_MILLIS, mainPane * PANE_MILLIS, 0, List.of()),
        "closedMillis",
        closedPanes * PANE_MILLIS);
  }

  private Map<String, Double> counts() {
    var family = registry.collectors().metricFamilySamples();
    Map<String, Double> counts = new HashMap<>();
    while (family.hasMoreElements()) {
      counts.putAll(
          family.nextElement().samples.stream()
              .filter(sample -> sample.name.equals("trace_etl_late_spans_total"))
              .collect(
                  Collectors.toMap(
                      sample -> sample.labelValues.getFirst(), sample -> sample.value)));
    }
    return counts;
  }

  @Test
  void spansOfAPaneThatAnEarlierWindowClosedAreLate() {
    late.window(window(101, 100, 1, 2, 3));
    assertThat(counts()).as("closed by the window itself").isEmpty();
    late.window(window(101, 101, 1, 2, 3));
    assertThat(counts()).as("open").isEmpty();

    late.window(window(101, 100, 4, 5, 6));
    assertThat(counts()).isEqualTo(Map.of("shop", 4.0, "bank", 6.0));
  }

  @Test
  void latePanesBesideTheMainOneCount() {
    late.window(window(101, 100, 1, 2, 3));
    WindowPanes.Pane other =
        new WindowPanes.Pane(
            99 * PANE_MILLIS, new int[] {2}, new long[] {7}, new long[1], NativeCounts.NONE);
    WindowPanes.Pane open =
        new WindowPanes.Pane(
            102 * PANE_MILLIS, new int[] {0}, new long[] {1}, new long[1], NativeCounts.NONE);
    late.window(
        Windows.with(
            window(101, 101, 5, 5, 9),
            "panes",
            new WindowPanes(PANE_MILLIS, 101 * PANE_MILLIS, 0, Arrays.asList(other, open))));

    assertThat(counts()).isEqualTo(Map.of("bank", 7.0));
  }

  @Test
  void aNewOwnerContinuesAndKeepsItsCountsAfterTheRelease() {
    QueueImage image = Windows.newImage();
    image.apply(window(101, 100, 1, 2, 3));
    late.restored(QUEUE, image, 0);
    late.window(window(101, 100, 4));
    late.released(QUEUE);

    assertThat(counts()).isEqualTo(Map.of("shop", 4.0));
    late.window(window(101, 100, 4));
    assertThat(counts()).as("neither its series nor its panes are known").hasSize(1);
  }

  @Test
  void windowsWithoutPanesAreNotLate() {
    late.window(window(101, 100, 1));
    late.window(Windows.window(QUEUE, to, ++to, 4));

    assertThat(counts()).isEmpty();
  }
}
