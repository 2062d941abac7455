package org.traceetl.perf.simulate.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.traceetl.perf.simulate.broker.ClusterOptions;
import org.traceetl.perf.simulate.broker.SimulatedCluster;
import org.traceetl.perf.simulate.world.Process;
import org.traceetl.perf.simulate.world.Timeline;
import org.traceetl.perf.simulate.world.World;
import org.traceetl.proto.SpanBatchWriter;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.features.index.IndexConfig;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.window.QueueId;
import org.traceetl.testkit.PageSample;

class SimulatedServerTest {
  private static final int QUEUES = 8;
  private static final int SPANS_PER_BATCH = 10;
  private static final List<String> NAMES = List.of("GET /cart", "GET /items", "POST /pay");
  private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long QUICK_NANOS = TimeUnit.MILLISECONDS.toNanos(3);
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);
  private static final int SLOW_EVERY = 60;
  private static final int SERVER = 2;
  private static final long TRACE_HIGH = 7;
  private static final String CALLS = "traces_span_metrics_calls_total";

  private final Timeline timeline = new Timeline(100);
  private final World world = new World(1, timeline);
  private final SimulatedCluster cluster =
      new SimulatedCluster(world, ClusterOptions.of(2, 1, QUEUES / 2));
  private final SimulatedIndex index = new SimulatedIndex(world);
  private final List<String> failures = new ArrayList<>();
  private final SimulatedServer first = server("server-1");
  private final SimulatedServer second = server("server-2");
  private final Scraper scraper =
      new Scraper(
          world, () -> List.of(first, second), Map.of(), application -> false, failures::add);
  private final SpanBatchWriter writer = new SpanBatchWriter();
  private final SortedMap<String, Double> sent = new TreeMap<>();
  private final Set<String> slow = new TreeSet<>();
  private long sequence;

  private SimulatedServer server(String name) {
    return new SimulatedServer(
        world,
        name,
        config(),
        cluster::brokers,
        index,
        new SimulatedReceiver(world, application -> false, (series, atMillis, by) -> {}),
        new SimulatedRules(world, List.of(name), null));
  }

  private static ServerConfig config() {
    ServerConfig d = ServerConfig.defaults();
    return new ServerConfig(
        new RocketMqConfig("broker:9876", null, null, null, null, 2),
        null,
        null,
        null,
        null,
        null,
        new MetricsConfig(null, null, null, MetricsConfig.QueueLabel.ALWAYS, null, null, null),
        Map.of(
            "index",
            IndexConfig.of(IndexConfig.Elasticsearch.at(List.of(URI.create("http://index:9200"))))),
        null,
        d.events(),
        null,
        null,
        null,
        null,
        null,
        null);
  }

  /** Sends a batch for one of the queues each second. */
  private void send(Process process, BrokerLogs logs, long loadNanos) {
    try {
      logs.start();
      while (world.nanos() < loadNanos) {
        process.clocks().pause().nanos(SECOND);
        QueueId queue =
            new QueueId("broker-" + (1 + sequence % 2), (int) (sequence / 2 % (QUEUES / 2)));
        logs.open("trace-spans", queue).append(batch());
        sequence++;
      }
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private byte[] batch() {
    writer.begin();
    writer.application(intern("shop"));
    for (int span = 0; span < SPANS_PER_BATCH; span++) {
      boolean isSlow = span == 0 && sequence % SLOW_EVERY == 0;
      long id = sequence * SPANS_PER_BATCH + span + 1;
      String name = NAMES.get(span % NAMES.size());
      writer.startSpan(
          TRACE_HIGH,
          id,
          id,
          0,
          intern(name),
          SERVER,
          0,
          TimeUnit.MILLISECONDS.toNanos(world.unixMillis()),
          isSlow ? SLOW_NANOS : QUICK_NANOS,
          0);
      writer.endSpan();
      sent.merge(
          CALLS
              + "{service_name=\"shop\",span_kind=\"SPAN_KIND_SERVER\",span_name=\""
              + name
              + "\",status_code=\"STATUS_CODE_UNSET\"}",
          1.0,
          Double::sum);
      if (isSlow) {
        HexFormat hex = HexFormat.of();
        slow.add(hex.toHexDigits(TRACE_HIGH) + hex.toHexDigits(id) + "-" + hex.toHexDigits(id));
      }
    }
    return Arrays.copyOf(writer.buffer(), writer.finish(1, sequence % QUEUES, 1, sequence));
  }

  private int intern(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    return writer.intern(bytes, 0, bytes.length);
  }

  /** Sends for a time with a kill, a drain and an index that is away, and lets servers catch up. */
  private void run(long loadNanos) {
    Process sender = world.process("sender");
    BrokerLogs logs =
        cluster
            .brokers(sender)
            .logs(config().rocketmq(), "trace-windows", Duration.ofSeconds(3), sender.clocks());
    first.start();
    second.start();
    sender.start("send", () -> send(sender, logs, loadNanos));
    scraper.start();
    world.after(loadNanos / 3, () -> first.kill(0));
    world.after(loadNanos / 3 + MINUTE, first::start);
    world.after(loadNanos / 2, () -> index.away(true));
    world.after(loadNanos / 2 + 5 * MINUTE, () -> index.away(false));
    world.after(loadNanos * 2 / 3, second::drain);
    world.after(loadNanos * 2 / 3 + MINUTE, second::start);
    world.run(loadNanos + 5 * MINUTE);
  }

  /** Returns the calls on the last pages by series, summed over the queues. */
  private SortedMap<String, Double> shown() {
    SortedMap<String, Double> shown = new TreeMap<>();
    scraper.lastPages().values().stream()
        .flatMap(page -> PageSample.of(new String(page, UTF_8)).stream())
        .filter(sample -> sample.name().equals(CALLS))
        .forEach(sample -> {
          sample.labels().remove("trace_etl_queue");
          shown.merge(sample.series(), sample.value(), Double::sum);
        });
    return shown;
  }

  @Test
  void killedAndDrainedServersShowAllSpansOnce() {
    run(60 * MINUTE);

    assertThat(failures).isEmpty();
    assertThat(shown()).isEqualTo(sent);
    assertThat(index.created()).containsOnlyKeys(slow);
    assertThat(first.missing()).isEmpty();
    assertThat(second.ready()).isTrue();
    assertThat(first.queues().size() + second.queues().size()).isEqualTo(QUEUES);
  }

  @Test
  void sameSeedTakesTheSameCourse() {
    var other = new SimulatedServerTest();
    run(12 * MINUTE);
    other.run(12 * MINUTE);

    assertThat(other.timeline.notes()).isEqualTo(timeline.notes());
    assertThat(other.timeline.hash()).isEqualTo(timeline.hash());
    assertThat(timeline.operations()).isGreaterThan(10_000);
  }
}
