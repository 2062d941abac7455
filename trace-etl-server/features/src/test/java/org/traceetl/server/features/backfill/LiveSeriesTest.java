package org.traceetl.server.features.backfill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.decode.SpanMeasures;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.MemoryLogs;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.QueueJournal;
import org.traceetl.server.journal.chain.LogJournals;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.Form;
import org.traceetl.server.window.NativeCounts;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;

/** The seam in journals of queues that switch one after the other. */
class LiveSeriesTest {
  private static final QueueId A = new QueueId("a", 0);
  private static final QueueId B = new QueueId("b", 0);
  private static final long PANE = 15_000;
  private static final long START = 1_795_946_400_000L;
  private static final long PUBLISHED = START + 20_000;
  private static final int STRIDE = 2;

  private static final Dimension REGION = new Dimension("region", null, null);
  private static final Dimension TIER = new Dimension("customer.tier", null, null);
  private static final List<Dimension> RULES = List.of(TIER, REGION);
  private static final SpanNaming NAMING =
      new SpanNaming(
          MetricsConfig.defaults(),
          SeriesConfig.defaults().withDimensions(RULES),
          new HistogramConfig(List.of(2.5)));

  /** The configuration has only the region. */
  private static final SeriesDefinition OLD = series(0, START, "shop");

  private static final SeriesDefinition GOLD =
      series(1, PUBLISHED + 1, "shop", "customer.tier", "gold");
  private static final SeriesDefinition OTHER =
      series(2, PUBLISHED + 1, "bank", "customer.tier", "gold");

  /** A series of a measure, which has the label since before. */
  private static final SeriesDefinition MEASURE =
      new SeriesDefinition(
          3,
          START,
          false,
          Arrays.asList(
              "shop",
              "tokens",
              Integer.toString(SeriesDefinition.OF_MEASURES),
              "0",
              null,
              "customer.tier",
              "gold"));

  /** The variance of that of gold, which a backfill does not have. */
  private static final SeriesDefinition VARIANCE =
      new SeriesDefinition(
          4,
          PUBLISHED + 1,
          false,
          List.of("shop", "GET /", "18", "0", "eu", "customer.tier", "gold"));

  private final MemoryLogs logs = new MemoryLogs();
  private final LogJournals journals =
      new LogJournals(
          logs,
          "trace-spans",
          "servers",
          () -> new QueueImage(1, STRIDE, 1 << 20),
          new JournalTiming(
              new Clocks(System::nanoTime, () -> Instant.ofEpochMilli(START)),
              new Random(1),
              Duration.ofSeconds(30),
              Duration.ofMinutes(10)),
          new JournalCounters());
  private final LiveSeries live = live(2_500_000);

  private final Owner a = new Owner(A);
  private final Owner b = new Owner(B);

  LiveSeriesTest() throws Exception {}

  /** Returns the live series for a backfill of two buckets with this bound. */
  private LiveSeries live(long boundNanos) {
    return live(boundNanos, List.of());
  }

  private LiveSeries live(long boundNanos, List<MeasureConfig> measures) {
    return new LiveSeries(
        new LiveRules(
            null,
            journals,
            Duration.ofMinutes(10),
            List.of(REGION),
            List.of(),
            new Form(new long[] {2_500_000}, null, 1_000_000),
            STRIDE,
            () -> PUBLISHED),
        "shop",
        RULES,
        measures,
        new Form(new long[] {boundNanos}, null, 1_000_000));
  }

  private static SeriesDefinition series(
      int number, long createdMillis, String application, String... labels) {
    List<String> values = new ArrayList<>(Arrays.asList(application, "GET /", "2", "0", "eu"));
    values.addAll(List.of(labels));
    return new SeriesDefinition(number, createdMillis, false, values);
  }

  /** Writes windows of one pane, each with a message. */
  private final class Owner {
    private final QueueId queue;
    private final QueueJournal journal;
    private long to;
    private long snapshot;

    Owner(QueueId queue) throws Exception {
      this.queue = queue;
      journal = journals.take(queue).journal();
    }

    void snapshot() throws Exception {
      snapshot = logs.open(queue).end();
      assertThat(journal.snapshot()).isEqualTo(QueueJournal.Outcome.KEPT);
    }

    void loseWindowsBeforeTheSnapshot() {
      logs.open(queue).deleteBefore(snapshot);
    }

    /** Appends a window with so many spans of each series. */
    void window(int pane, List<SeriesDefinition> created, Map<Integer, Integer> spans)
        throws Exception {
      int rows = spans.size();
      int[] series = spans.keySet().stream().mapToInt(Integer::intValue).toArray();
      long[] counts = new long[rows * STRIDE];
      for (int row = 0; row < rows; row++) {
        counts[row * STRIDE] = spans.get(series[row]);
      }
      int[] exemplars = new int[rows];
      Arrays.fill(exemplars, -1);
      long startMillis = START + pane * PANE;
      journal.append(
          new SealedWindow(
              queue,
              to,
              ++to,
              startMillis,
              startMillis + PANE,
              created,
              new int[0],
              rows,
              STRIDE,
              series,
              counts,
              new long[rows],
              exemplars,
              new int[rows],
              List.of(),
              List.of(),
              1,
              new long[rows],
              AcceptedBatches.NONE,
              NativeCounts.NONE,
              new WindowPanes(PANE, startMillis, 0, List.of()),
              WindowCompleteness.NONE,
              startMillis,
              false,
              EdgeChange.NONE));
    }
  }

  private static Map<Integer, Integer> spans(int... seriesAndSpans) {
    Map<Integer, Integer> spans = new TreeMap<>();
    for (int i = 0; i < seriesAndSpans.length; i += 2) {
      spans.put(seriesAndSpans[i], seriesAndSpans[i + 1]);
    }
    return spans;
  }

  private static long end(int pane) {
    return START + (pane + 1) * PANE;
  }

  private Seam find(int closedPane) throws Exception {
    return live.find(List.of(A, B), end(closedPane));
  }

  @Test
  void liveSeriesWithNewLabelsAreTakenAway() throws Exception {
    a.window(0, List.of(OLD, MEASURE), spans(0, 7, 3, 7));
    b.window(0, List.of(OLD), spans(0, 1));
    // The switch of the first queue, within a window; it switches back for a pane.
    a.window(2, List.of(GOLD, OTHER, VARIANCE), spans(0, 2, 1, 3, 2, 9, 3, 9, 4, 9));
    a.window(3, List.of(), spans(1, 4));
    a.window(4, List.of(), spans(0, 5));
    a.window(5, List.of(), spans(1, 6));
    a.window(6, List.of(), spans());
    b.window(3, List.of(), spans(0, 1));
    b.window(4, List.of(GOLD), spans(1, 1));

    Seam seam = find(5);
    assertThat(seam)
        .isEqualTo(
            new Seam(
                PUBLISHED,
                List.of("customer.tier"),
                List.of(),
                end(4),
                end(5),
                List.of(new Seam.End("a", 0, 6), new Seam.End("b", 0, 3))));

    // All spans of the application have the attribute.
    OpenSums sums = new OpenSums(STRIDE, false, START, end(9));
    SeriesKey gold =
        new SeriesKey(
            new SeriesDefinition(0, 0, false, List.of("shop", "GET /", "2", "0", "gold", "eu")),
            NAMING,
            live.news(seam));
    live.takeFrom(sums, NAMING, seam);
    int[] all = {8, 0, 5, 5, 6, 6};
    List<Long> rest = new ArrayList<>();
    for (int pane = 0; pane < all.length; pane++) {
      sums.add(end(pane), gold, new long[] {all[pane], 0}, 0, 0);
      Totals sum = sums.take(end(pane)).get(gold);
      rest.add(sum == null ? 0 : sum.count(0));
    }
    assertThat(rest).containsExactly(8L, 0L, 2L, 1L, 5L, 0L);
    assertThat(sums.owedSpans(STRIDE)).isZero();
  }

  private static MeasureConfig measure(String name, String... labels) {
    return new MeasureConfig(
        name,
        null,
        null,
        null,
        MeasureConfig.Source.ONE,
        null,
        null,
        null,
        Arrays.stream(labels).map(label -> new Dimension(label, null, null)).toList(),
        null,
        null);
  }

  private static SeriesDefinition ofMeasure(
      int number, long createdMillis, MeasureConfig measure, String... labels) {
    List<String> values =
        new ArrayList<>(
            Arrays.asList(
                "shop",
                measure.name(),
                Integer.toString(SeriesDefinition.OF_MEASURES),
                "0",
                null,
                Form.KEY,
                SpanMeasures.form(measure).text()));
    values.addAll(List.of(labels));
    return new SeriesDefinition(number, createdMillis, false, values);
  }

  @Test
  void liveSeriesOfNewMeasuresAreTakenAway() throws Exception {
    MeasureConfig before = measure("known");
    MeasureConfig known = measure("known", "tier");
    MeasureConfig tokens = measure("tokens");
    LiveSeries ofMeasures = live(2_500_000, List.of(known, tokens));
    SeriesDefinition overflow =
        ofMeasure(6, PUBLISHED + 1, tokens, MetricsConfig.OVERFLOW_LABEL, "true");
    a.window(0, List.of(ofMeasure(3, START, before)), spans(3, 7));
    a.window(
        2,
        List.of(
            ofMeasure(4, PUBLISHED + 1, tokens),
            ofMeasure(5, PUBLISHED + 1, known, "tier", "gold"),
            overflow),
        spans(3, 2, 4, 3, 5, 4, 6, 5));
    a.window(3, List.of(), spans(4, 6));

    Seam seam = ofMeasures.find(List.of(A), end(3));
    assertThat(seam.millis()).isEqualTo(end(2));
    assertThat(seam.measures().stream().map(News::name)).contains("known", "tokens");
    assertThat(seam.measures()).doesNotContain("known\n");
    assertThat(seam.shown(true)).endsWith("measure known or measure tokens");

    OpenSums sums = new OpenSums(STRIDE, false, START, end(9));
    ofMeasures.takeFrom(sums, NAMING, seam);
    News news = ofMeasures.news(seam);
    SeriesKey ofTokens = key(tokens, news);
    SeriesKey ofGold = key(known, news, "tier", "gold");
    for (SeriesKey key : List.of(ofTokens, ofGold)) {
      sums.add(end(2), key, new long[] {9, 0}, 0, 0);
      assertThat(key.isNew()).isTrue();
    }
    // Live series continue it, and count what has no room.
    assertThat(key(known, news).isNew()).isFalse();
    assertThat(key(tokens, news, MetricsConfig.OVERFLOW_LABEL, "true").isNew()).isFalse();
    Map<SeriesKey, Totals> pane = sums.take(end(2));
    assertThat(pane).containsOnlyKeys(ofTokens, ofGold);
    assertThat(pane.get(ofTokens).count(0)).isEqualTo(6);
    assertThat(pane.get(ofGold).count(0)).isEqualTo(5);
  }

  /** Returns the backfilled series, which has no value of the two dimensions. */
  private static SeriesKey key(MeasureConfig measure, News news, String... labels) {
    List<String> values = new ArrayList<>(ofMeasure(0, 0, measure, labels).values());
    values.add(SeriesDefinition.FIXED_DIMENSIONS, null);
    return new SeriesKey(new SeriesDefinition(0, 0, false, values), NAMING, news);
  }

  @Test
  void aSwitchThatIsNotThereYetIsSaid() throws Exception {
    a.window(0, List.of(OLD), spans(0, 7));
    b.window(0, List.of(OTHER), spans(2, 7));
    assertThatThrownBy(() -> find(9))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "Servers have counted no spans of application shop with label customer.tier yet; repeat"
                + " the command later");
    a.window(1, List.of(GOLD), spans(1, 7));
    assertThatThrownBy(() -> find(0))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "The switch ended at 2026-11-29T10:00:30Z; its panes are not closed yet. Repeat the"
                + " command later");
    assertThat(find(1).millis()).isEqualTo(end(1));
  }

  @Test
  void aLabelFromBeforeTheRulesIsNotNew() throws Exception {
    a.window(0, List.of(series(0, START, "shop", "customer.tier", "gold")), spans(0, 7));
    assertThatThrownBy(() -> find(9))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("--until = switch: needs rules with a dimension or measure that");
  }

  @Test
  void liveSeriesWithOtherBucketsAreRefused() throws Exception {
    a.window(0, List.of(OLD), spans(0, 7));
    a.window(
        2, List.of(withForm("unit=s;bounds=2.5", 1), withForm("unit=ms;native=3", 2)), spans(1, 1));
    b.window(2, List.of(GOLD), spans(1, 7));
    String message = "--until = switch: needs live series with the buckets of the backfill";
    // Native buckets only: all spans of a row are in its first number.
    assertThatThrownBy(() -> find(2))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith(message);
    // A series without a form has the bounds of the configuration.
    assertThatThrownBy(() -> live(5_000_000).find(List.of(B), end(2)))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith(message);
    assertThat(live.find(List.of(B), end(2)).millis()).isEqualTo(end(2));
  }

  @Test
  void aFormWithTheSameBoundsHasTheSameBuckets() throws Exception {
    a.window(2, List.of(withForm("unit=s;bounds=2.5", 1)), spans(1, 1));
    assertThat(live.find(List.of(A), end(2)).millis()).isEqualTo(end(2));
  }

  private static SeriesDefinition withForm(String form, int number) {
    return series(number, PUBLISHED + 1, "shop", Form.KEY, form, "customer.tier", "gold");
  }

  @Test
  void aSwitchBeforeTheFirstStateIsRefused() throws Exception {
    a.window(0, List.of(OLD), spans(0, 7));
    a.window(2, List.of(GOLD), spans(1, 7));
    a.snapshot();
    a.window(3, List.of(), spans(1, 7));
    a.window(4, List.of(), spans(1, 7));
    Seam seam = live.find(List.of(A), end(3));
    assertThat(seam.ends()).containsExactly(new Seam.End("a", 0, 4));

    a.loseWindowsBeforeTheSnapshot();
    String message = "The journal of queue a/0 no longer has the windows of the switch";
    assertThatThrownBy(() -> live.find(List.of(A), end(3)))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(message);
    OpenSums sums = new OpenSums(STRIDE, false, START, end(9));
    assertThatThrownBy(() -> live.takeFrom(sums, NAMING, seam))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(message);
  }
}
