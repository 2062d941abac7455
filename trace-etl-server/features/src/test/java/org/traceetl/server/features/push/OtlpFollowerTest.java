package org.traceetl.server.features.push;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.traceetl.common.Clocks;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.HistogramConfig.Kind;
import org.traceetl.server.features.push.FakeReceiver.Fault;
import org.traceetl.server.features.push.FakeReceiver.Knowledge;
import org.traceetl.server.features.push.RecordedSamples.Sample;
import org.traceetl.server.journal.Journal;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.MemoryLogs;
import org.traceetl.server.journal.PaneModel;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.QueueJournal;
import org.traceetl.server.journal.RandomWindows;
import org.traceetl.server.journal.chain.LogJournals;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;

/** From journals on logs in memory to a receiver of OTLP: all steps are done by hand. */
final class OtlpFollowerTest {
  private static final QueueId QUEUE = RandomWindows.QUEUE;
  private static final String CALLS = "traces_span_metrics_calls";
  private static final int MAX_STEPS = 10_000;

  /** Servers one after the other that own a queue. */
  private static final class Fleet {
    private final MemoryLogs logs = new MemoryLogs();
    private final List<SealedWindow> windows = new ArrayList<>();
    private final Random random;
    private final int stride;
    private final PushNaming naming;
    private final PushConfig.Endpoint config;
    private final Knowledge knowledge;
    private final FakeReceiver receiver;
    private long nowNanos = 1;
    private PushEndpoint endpoint;
    private PushFollower follower;
    private QueueJournal owner;

    Fleet(Random random, int stride, boolean isDelta) throws Exception {
      this.random = random;
      this.stride = stride;
      naming = PushFixture.otlp(histogram());
      Knowledge ofCumulative = random.nextBoolean() ? Knowledge.OTLP : Knowledge.OTLP_PARTIAL;
      knowledge = isDelta ? Knowledge.OTLP_DELTA : ofCumulative;
      receiver = new FakeReceiver(knowledge);
      config =
          new PushConfig.Endpoint(
              "collector",
              URI.create("http://localhost:1/v1/metrics"),
              "otlp",
              "auto",
              isDelta ? "delta" : "cumulative",
              Map.of(),
              Map.of(),
              null,
              null,
              null,
              null,
              PushConfig.Tls.DEFAULTS,
              Duration.ofSeconds(30),
              1 + random.nextInt(40),
              1 + random.nextInt(3));
      takeOver();
      // The first start sends nothing older.
      step();
    }

    private HistogramConfig histogram() {
      if (stride == 1) {
        return new HistogramConfig(null, Kind.NATIVE, 0);
      }
      List<Double> bounds = IntStream.range(1, stride).mapToObj(bound -> bound * 10.0).toList();
      return new HistogramConfig(bounds, random.nextBoolean() ? Kind.CLASSIC : Kind.BOTH, 0);
    }

    private Clocks clocks() {
      return new Clocks(() -> nowNanos, () -> Instant.ofEpochMilli(0));
    }

    private QueueImage newImage() {
      return new QueueImage(RandomWindows.SCHEMA, stride, 1 << 20).keepPanes(wereRead -> true);
    }

    /** Another server takes the queue; the one before has crashed. */
    void takeOver() throws Exception {
      LogJournals journals =
          new LogJournals(
              logs,
              "trace-spans",
              "servers",
              this::newImage,
              new JournalTiming(
                  clocks(), new Random(1), Duration.ofSeconds(30), Duration.ofMinutes(10)),
              new JournalCounters());
      endpoint =
          new PushEndpoint(config.name(), config, "servers-push-otlp", naming, receiver, clocks());
      follower =
          new PushFollower(
              List.of(endpoint),
              (queue, name) -> journals.replay(queue, "servers-push-" + name),
              clocks());
      Journal.Taken taken = journals.take(QUEUE);
      owner = taken.journal();
      follower.restored(QUEUE, taken.image(), 0);
    }

    void append(SealedWindow window) throws Exception {
      windows.add(window);
      assertThat(owner.append(window)).isEqualTo(QueueJournal.Outcome.KEPT);
      follower.window(window);
    }

    void step() throws Exception {
      follower.step();
      for (ShardSender shard : endpoint.shards()) {
        shard.doWork();
      }
      nowNanos += random.nextLong(Duration.ofSeconds(10).toNanos());
    }

    /** Sends everything. */
    void settle() throws Exception {
      receiver.nextFault(Fault.NONE);
      // The journal is read again, so that the lag has the last window.
      nowNanos += Duration.ofSeconds(10).toNanos();
      int steps = 0;
      do {
        step();
        assertThat(steps++).isLessThan(MAX_STEPS);
      } while (follower.lag().get("collector").get(QUEUE) > 0);
    }

    /** Returns what a receiver gets of the windows without crashes and faults. */
    Map<String, List<String>> expected() throws Exception {
      FakeReceiver undisturbed = new FakeReceiver(knowledge);
      PushEndpoint direct =
          new PushEndpoint(
              config.name(), config, "servers-push-otlp", naming, undisturbed, clocks());
      SampleWriter writer = direct.open(QUEUE, () -> {});
      PaneSeries series = new PaneSeries(newImage(), config.isDelta());
      for (int i = 0; i < windows.size(); i++) {
        series.begin(windows.get(i));
        series.emit(writer, () -> true);
        writer.end(i);
        while (writer.answered() != i) {
          for (ShardSender shard : direct.shards()) {
            shard.doWork();
          }
          writer.flush();
        }
      }
      return undisturbed.written;
    }

    /** Returns the points of the counter of spans that the windows make. */
    Map<String, List<String>> expectedCalls() {
      PaneSeries series = new PaneSeries(newImage(), config.isDelta());
      RecordedSamples samples = new RecordedSamples();
      for (SealedWindow window : windows) {
        series.begin(window);
        series.emit(samples, () -> true);
      }
      Map<String, List<String>> points = new TreeMap<>();
      Map<String, Long> newest = new HashMap<>();
      for (Sample sample : samples.samples) {
        String labels = labels(sample.series());
        // Several of the random series may have the same labels.
        if (newest.getOrDefault(labels, Long.MIN_VALUE) < sample.atMillis()) {
          newest.put(labels, sample.atMillis());
          points
              .computeIfAbsent(labels, absent -> new ArrayList<>())
              .add(
                  (sample.isStale() ? "stale" : Double.toString(sample.spans()))
                      + "@"
                      + sample.atMillis()
                      + (config.isDelta() ? ">" + sample.startMillis() : ""));
        }
      }
      return points;
    }

    private String labels(SeriesDefinition definition) {
      List<String> labels = new ArrayList<>();
      String application = definition.values().getFirst();
      if (!application.isEmpty()) {
        labels.add("resource.service.name=" + application);
      }
      labels.add("resource.deployment.environment.name=prod");
      labels.add("__name__=" + CALLS);
      PushedSeries series = naming.series(QUEUE, definition, 1);
      for (int i = 0; i < series.names.length; i++) {
        labels.add(series.names[i] + "=" + series.values[i]);
      }
      return labels.toString();
    }

    Map<String, List<String>> writtenCalls() {
      Map<String, List<String>> calls = new TreeMap<>(receiver.written);
      calls.keySet().removeIf(labels -> !labels.contains("__name__=" + CALLS));
      return calls;
    }
  }

  @Property(tries = 60)
  void eachPointIsWrittenOnceWhateverCrashes(@ForAll long seed, @ForAll boolean isDelta)
      throws Exception {
    Random random = new Random(seed);
    RandomWindows windows = new RandomWindows(seed);
    Fleet fleet = new Fleet(random, windows.stride(), isDelta);
    for (int i = 0; i < 80; i++) {
      switch (random.nextInt(10)) {
        case 0, 1 -> fleet.append(PaneModel.withShortDurations(windows.next()));
        case 2 -> fleet.receiver.nextFault(Fault.values()[random.nextInt(Fault.values().length)]);
        case 3 -> fleet.owner.snapshot();
        case 4 -> fleet.takeOver();
        default -> fleet.step();
      }
    }
    fleet.settle();

    assertThat(fleet.receiver.written).isEqualTo(fleet.expected());
    assertThat(fleet.writtenCalls()).isEqualTo(fleet.expectedCalls());
  }
}
