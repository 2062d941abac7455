package org.traceetl.server.features.push;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.traceetl.server.features.push.RecordedSamples.Sample;
import org.traceetl.server.journal.PaneModel;
import org.traceetl.server.journal.PaneModel.Delta;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.RandomWindows;
import org.traceetl.server.journal.Windows;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.RowlessWindow;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.WindowPanes;

/** Tests which samples windows make, against plain maps and for each begin of a replay. */
class PaneSeriesTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 0);
  private static final int WINDOWS = 12;
  private static final long PANE = 15_000;

  /** The definition of the samples, with maps. */
  private static final class Model {
    private final PaneModel panes = new PaneModel();
    private final TreeMap<Integer, SeriesDefinition> series = new TreeMap<>();
    private final Map<Integer, Delta> totals = new HashMap<>();
    private final List<Sample> samples = new ArrayList<>();
    private final boolean isDelta;
    private long closed = SealedWindow.UNKNOWN_CLOSED;

    Model(boolean isDelta) {
      this.isDelta = isDelta;
    }

    void apply(SealedWindow window) {
      window.created().forEach(definition -> series.put(definition.series(), definition));
      panes.apply(window);
      // The model of panes has removed the starts of series that end with the window.
      Map<Integer, Long> starts = new HashMap<>(lastStarts);
      starts.putAll(panes.starts());
      panes
          .closedPanes()
          .forEach((end, deltas) -> {
            deltas.forEach((number, delta) -> totals.merge(number, delta, Delta::plus));
            sampleAt(end, deltas.keySet(), starts);
          });
      if (panes.closed() > closed) {
        sampleAt(panes.closed(), Set.of(), starts);
      }
      for (int number : window.evicted()) {
        end(number, starts);
      }
      lastStarts.putAll(panes.starts());
    }

    private final Map<Integer, Long> lastStarts = new HashMap<>();

    private void sampleAt(long at, Set<Integer> changed, Map<Integer, Long> starts) {
      long since = Math.max(closed, at - 60_000);
      for (int number : series.keySet()) {
        long place = Integer.toUnsignedLong(number * 0x9E37_79B9) % 60_000;
        boolean due =
            LongStream.of(at, since)
                    .map(millis -> Math.floorDiv(millis - place, 60_000L))
                    .distinct()
                    .count()
                > 1;
        if ((changed.contains(number) || due) && isCounted(number)) {
          sample(number, at, starts);
        }
      }
      closed = at;
    }

    private boolean isCounted(int number) {
      Delta total = totals.get(number);
      return total != null
          && (total.nanos() != 0 || total.counts().stream().anyMatch(count -> count != 0));
    }

    private void sample(int number, long at, Map<Integer, Long> starts) {
      Delta total = isDelta ? totals.remove(number) : totals.get(number);
      boolean isSincePane = isDelta && closed != SealedWindow.UNKNOWN_CLOSED;
      samples.add(
          new Sample(
              series.get(number),
              isSincePane ? closed : starts.get(number),
              at,
              total.counts(),
              total.nanos(),
              total.natives()));
    }

    private void end(int number, Map<Integer, Long> starts) {
      if (closed != SealedWindow.UNKNOWN_CLOSED) {
        long at = closed + 1;
        boolean open = panes.ended().containsKey(number);
        if (open) {
          totals.merge(number, panes.ended().get(number), Delta::plus);
        }
        if (isCounted(number)) {
          if (open) {
            starts.merge(number, closed, Math::min);
            sample(number, at++, starts);
          }
          if (!isDelta) {
            samples.add(Sample.stale(series.get(number), at));
          }
        }
      }
      series.remove(number);
      totals.remove(number);
    }
  }

  private static List<SealedWindow> windows(RandomWindows random) {
    List<SealedWindow> windows = new ArrayList<>();
    for (int i = 0; i < WINDOWS; i++) {
      windows.add(PaneModel.withShortDurations(random.next()));
    }
    return windows;
  }

  private static QueueImage image(RandomWindows random) {
    return new QueueImage(RandomWindows.SCHEMA, random.stride(), 1 << 20).keepPanes();
  }

  private static List<Sample> samples(QueueImage image, List<SealedWindow> windows) {
    return samples(image, windows, false);
  }

  private static List<Sample> samples(
      QueueImage image, List<SealedWindow> windows, boolean isDelta) {
    return samples(image, windows, isDelta, new Random(1));
  }

  private static List<Sample> samples(
      QueueImage image, List<SealedWindow> windows, boolean isDelta, Random room) {
    PaneSeries series = new PaneSeries(image, isDelta);
    RecordedSamples samples = new RecordedSamples();
    for (SealedWindow window : windows) {
      series.begin(window);
      while (!series.emit(samples, room::nextBoolean)) {
        // The endpoint has no room.
      }
    }
    return samples.samples;
  }

  @Property(tries = 200)
  void samplesAreTheSumsAtTheEndsOfPanes(@ForAll long seed, @ForAll boolean isDelta) {
    RandomWindows random = new RandomWindows(seed);
    List<SealedWindow> windows = windows(random);
    Model model = new Model(isDelta);
    windows.forEach(model::apply);

    assertThat(samples(image(random), windows, isDelta)).isEqualTo(model.samples);
  }

  @Property(tries = 200)
  void deltasAddUpToTheCumulativeSamples(@ForAll long seed) {
    RandomWindows random = new RandomWindows(seed);
    List<SealedWindow> windows = windows(random);
    Map<SeriesDefinition, Delta> sums = new HashMap<>();
    Map<SeriesDefinition, Long> ends = new HashMap<>();
    for (Sample delta : samples(image(random), windows, true)) {
      sums.merge(delta.series(), delta(delta), Delta::plus);
      Long before = ends.put(delta.series(), delta.atMillis());
      assertThat(delta.startMillis()).isLessThan(delta.atMillis());
      if (before != null) {
        assertThat(delta.startMillis()).isGreaterThanOrEqualTo(before);
      }
    }

    Map<SeriesDefinition, Delta> totals = new HashMap<>();
    samples(image(random), windows).stream()
        .filter(sample -> !sample.isStale())
        .forEach(sample -> totals.put(sample.series(), delta(sample)));
    assertThat(sums).isEqualTo(totals);
  }

  private static Delta delta(Sample sample) {
    return new Delta(sample.counts(), sample.sumNanos(), sample.natives());
  }

  /** A new owner begins at any snapshot; an image is a snapshot. */
  @Property(tries = 200)
  void aReplayFromAnyStateMakesTheSameSamples(
      @ForAll long seed,
      @ForAll boolean isDelta,
      @ForAll @IntRange(max = WINDOWS) int begin,
      @ForAll long rooms) {
    RandomWindows random = new RandomWindows(seed);
    List<SealedWindow> windows = windows(random);
    QueueImage image = image(random);
    windows.subList(0, begin).forEach(image::apply);

    List<Sample> all = samples(image(random), windows, isDelta);
    List<Sample> known = samples(image(random), windows.subList(0, begin), isDelta);
    List<Sample> rest = samples(image, windows.subList(begin, WINDOWS), isDelta, new Random(rooms));

    List<Sample> expected = all.subList(known.size(), all.size());
    for (int i = 0; i < Math.min(rest.size(), expected.size()); i++) {
      assertThat(rest.get(i)).isEqualTo(expected.get(i));
    }
    assertThat(rest).hasSameSizeAs(expected);
  }

  /** What a receiver requires of the samples of a series. */
  @Property(tries = 200)
  void samplesOfASeriesAscend(@ForAll long seed) {
    RandomWindows random = new RandomWindows(seed);
    Map<Integer, Sample> last = new HashMap<>();
    for (Sample sample : samples(image(random), windows(random))) {
      Sample before =
          sample.isStale()
              ? last.remove(sample.series().series())
              : last.put(sample.series().series(), sample);
      if (before != null) {
        assertThat(sample.series()).isSameAs(before.series());
        assertThat(sample.atMillis()).isGreaterThan(before.atMillis());
      }
      if (before != null && !sample.isStale()) {
        assertThat(sample.startMillis()).isEqualTo(before.startMillis());
        assertThat(sample.spans()).isGreaterThanOrEqualTo(before.spans());
      }
      if (!sample.isStale()) {
        assertThat(sample.startMillis()).isLessThan(sample.atMillis());
      }
    }
  }

  @Property(tries = 100)
  void onceAllPanesAreClosedTheSamplesAreTheTotals(@ForAll long seed) {
    RandomWindows random = new RandomWindows(seed);
    List<SealedWindow> windows = windows(random);
    QueueImage image = image(random);
    windows.forEach(image::apply);
    SealedWindow last = windows.getLast();
    long farMillis = last.openedMillis() + (1L << 40);
    windows.add(
        Windows.with(
            new RowlessWindow(RandomWindows.QUEUE, last.to(), last.to(), farMillis, farMillis)
                .stride(random.stride())
                .schema(RandomWindows.SCHEMA)
                .seal(),
            "panes",
            new WindowPanes(PANE, farMillis / PANE * PANE, 0, List.of()),
            "closedMillis",
            farMillis));

    Map<SeriesDefinition, Sample> newest = new HashMap<>();
    samples(image(random), windows).forEach(sample -> newest.put(sample.series(), sample));

    for (int series = 0; series < image.slots(); series++) {
      SeriesDefinition definition = image.definition(series);
      Sample sample = newest.get(definition);
      if (definition != null && sample != null) {
        for (int bucket = 0; bucket < image.stride(); bucket++) {
          assertThat(sample.counts().get(bucket)).isEqualTo(image.count(series, bucket));
        }
      } else if (definition != null) {
        for (int bucket = 0; bucket < image.stride(); bucket++) {
          assertThat(image.count(series, bucket)).isZero();
        }
      }
    }
  }

  private PaneSeries series = new PaneSeries(Windows.newImage().keepPanes(), false);
  private final RecordedSamples samples = new RecordedSamples();
  private long to;

  /** Adds a window of one series. */
  private List<Sample> window(long paneMillis, long closedMillis, long spans) {
    int before = samples.samples.size();
    SealedWindow window =
        spans == 0
            ? new RowlessWindow(QUEUE, to, to, 0, 0).seal()
            : Windows.window(QUEUE, to, ++to, spans);
    emit(
        Windows.with(
            window,
            "panes",
            new WindowPanes(PANE, paneMillis, 0, List.of()),
            "closedMillis",
            closedMillis));
    return samples.samples.subList(before, samples.samples.size());
  }

  private void emit(SealedWindow window) {
    series.begin(window);
    assertThat(series.emit(samples, () -> true)).isTrue();
  }

  private static List<Long> times(List<Sample> samples) {
    return samples.stream().map(Sample::atMillis).toList();
  }

  private static List<Long> spans(List<Sample> samples) {
    return samples.stream().map(Sample::spans).toList();
  }

  @Test
  void aSeriesWithoutSpansIsRepeatedOnceAMinute() {
    assertThat(window(0, PANE, 5)).hasSize(1);

    for (int minute = 0; minute < 3; minute++) {
      int before = samples.samples.size();
      for (int pane = 2; pane < 6; pane++) {
        window(0, (minute * 4 + pane) * PANE, 0);
      }
      assertThat(spans(samples.samples.subList(before, samples.samples.size())))
          .containsExactly(5L);
    }
  }

  @Test
  void aSeriesIsRepeatedOnceAfterALongGap() {
    window(0, PANE, 5);

    assertThat(times(window(0, 1_000 * PANE, 0))).containsExactly(1_000 * PANE);
  }

  @Test
  void lateSpansCountInTheNextPane() {
    window(0, 2 * PANE, 5);

    assertThat(window(0, 2 * PANE, 7)).isEmpty();
    List<Sample> closed = window(0, 3 * PANE, 0);
    assertThat(times(closed)).containsExactly(3 * PANE);
    assertThat(spans(closed)).containsExactly(12L);
  }

  @Test
  void aSumSaturates() {
    window(0, 0, Long.MAX_VALUE - 1);
    window(0, PANE, 5);
    window(PANE, 2 * PANE, 5);

    assertThat(spans(samples.samples)).containsOnly(Long.MAX_VALUE);
  }

  private void useDeltas() {
    series = new PaneSeries(Windows.newImage().keepPanes(), true);
  }

  @Test
  void deltasBeginAtThePaneEndBefore() {
    useDeltas();
    window(0, 0, 5);
    window(PANE, PANE, 7);
    window(PANE, 9 * PANE, 3);

    assertThat(window(0, 20 * PANE, 0)).isEmpty();
    assertThat(spans(samples.samples)).containsExactly(5L, 10L);
    assertThat(times(samples.samples)).containsExactly(PANE, 2 * PANE);
    assertThat(samples.samples).extracting(Sample::startMillis).containsExactly(0L, PANE);
  }

  @Test
  void lateSpansCountInTheNextDelta() {
    useDeltas();
    window(0, 2 * PANE, 5);

    assertThat(window(0, 2 * PANE, 7)).isEmpty();
    List<Sample> closed = window(0, 3 * PANE, 0);
    assertThat(spans(closed)).containsExactly(7L);
    assertThat(times(closed)).containsExactly(3 * PANE);
    assertThat(closed.getFirst().startMillis()).isEqualTo(2 * PANE);
  }

  @Test
  void aSeriesThatEndsHasAllItsSpansInDeltas() {
    useDeltas();
    window(0, PANE, 5);
    window(PANE, PANE, 7);

    emit(
        Windows.with(
            new RowlessWindow(QUEUE, to, to, 0, 0).evicted(0).seal(),
            "panes",
            new WindowPanes(PANE, 0, 0, List.of()),
            "closedMillis",
            PANE));

    assertThat(spans(samples.samples)).containsExactly(5L, 7L);
    assertThat(times(samples.samples)).containsExactly(PANE, PANE + 1);
    assertThat(samples.samples.getLast().startMillis()).isEqualTo(PANE);
  }

  @Test
  void aSeriesThatEndsHasAllItsSpansBeforeItsStaleMarker() {
    window(0, PANE, 5);
    window(PANE, PANE, 7);

    emit(
        Windows.with(
            new RowlessWindow(QUEUE, to, to, 0, 0).evicted(0).seal(),
            "panes",
            new WindowPanes(PANE, 0, 0, List.of()),
            "closedMillis",
            PANE));

    assertThat(times(samples.samples)).containsExactly(PANE, PANE + 1, PANE + 2);
    assertThat(spans(samples.samples)).containsExactly(5L, 12L, 0L);
    assertThat(samples.samples.getLast().isStale()).isTrue();
    assertThat(window(0, 9 * PANE, 0)).isEmpty();
  }

  @Test
  void seriesOfOtherBucketsEndAllSeries() {
    window(0, PANE, 5);

    emit(new RowlessWindow(QUEUE, to, to, 0, 0).schema(7).seal());

    assertThat(samples.samples.getLast().isStale()).isTrue();
    assertThat(series.size()).isZero();
  }

  @Test
  void aSampleHasTheNewestExemplarOnce() {
    TraceDocument document =
        new TraceDocument(
            "0123456789abcdef0123456789abcdef",
            "0123456789abcdef",
            "shop",
            "span-0",
            2,
            0,
            "",
            5_000_000,
            7_000_000,
            TraceDocument.Reason.SLOW,
            Map.of());
    emit(
        Windows.with(
            Windows.window(QUEUE, 0, 1, 5),
            "panes",
            new WindowPanes(PANE, 0, 0, List.of()),
            "closedMillis",
            0L,
            "documents",
            List.of(document),
            "exemplars",
            new int[] {0}));
    to = 1;

    window(PANE, 2 * PANE, 1);

    assertThat(times(samples.samples)).containsExactly(PANE, 2 * PANE);
    assertThat(samples.exemplars).containsExactly(SampleExemplar.of(document, 0));
  }
}
