package org.traceetl.perf.simulate.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.traceetl.perf.simulate.world.Timeline;
import org.traceetl.perf.simulate.world.World;
import org.traceetl.proto.SpanBatchWriter;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.features.index.IndexConfig;

class SimulatedServerTest {
  private static final int QUEUES = 8;
  private static final int SPANS_PER_BATCH = 10;
  private static final List<String> NAMES = List.of("GET /cart", "GET /items", "POST /pay");
  private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long QUICK_NANOS = TimeUnit.MILLISECONDS.toNanos(3);
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);
  private static final String CALLS = "traces_span_metrics_calls_total";

  private final Timeline timeline = new Timeline(100, null);
  private final World world = new World(1, timeline);
  private final SteadyBrokers brokers = new SteadyBrokers(world, QUEUES);
  private final SimulatedIndex index = new SimulatedIndex(world);
  private final List<String> failures = new ArrayList<>();
  private final SimulatedServer first = server("server-1");
  private final SimulatedServer second = server("server-2");
  private final Scraper scraper = new Scraper(world, () -> List.of(first, second), failures::add);
  private final SpanBatchWriter writer = new SpanBatchWriter();
  private final SortedMap<String, Double> sent = new TreeMap<>();
  private final SortedMap<String, Integer> slow = new TreeMap<>();
  private long sequence;

  private SimulatedServer server(String name) {
    return new SimulatedServer(world, name, config(), brokers::of, index);
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
        new MetricsConfig(null, null, null, MetricsConfig.QueueLabel.ALWAYS),
        Map.of(
            "index",
            IndexConfig.of(IndexConfig.Elasticsearch.at(List.of(URI.create("http://index:9200"))))),
        null,
        d.events(),
        null,
        null,
        null);
  }

  /** Each second a batch for one of the queues. */
  private void send() {
    while (world.nanos() < 60 * MINUTE) {
      sleepASecond();
      int queue = (int) (sequence % QUEUES);
      writer.begin();
      writer.application(intern("shop"));
      for (int span = 0; span < SPANS_PER_BATCH; span++) {
        boolean isSlow = span == 0 && sequence % 60 == 0;
        long id = sequence * SPANS_PER_BATCH + span + 1;
        String name = NAMES.get(span % NAMES.size());
        writer.startSpan(
            7,
            id,
            id,
            0,
            intern(name),
            2,
            0,
            world.unixMillis() * 1_000_000,
            isSlow ? SLOW_NANOS : QUICK_NANOS,
            0);
        writer.endSpan();
        sent.merge(
            CALLS
                + "{service_name=\"shop\",span_name=\""
                + name
                + "\",span_kind=\"SPAN_KIND_SERVER\",status_code=\"STATUS_CODE_UNSET\"}",
            1.0,
            Double::sum);
        if (isSlow) {
          slow.put(String.format("%016x%016x", 7, id), 1);
        }
      }
      int length = writer.finish(1, queue, 1, sequence++);
      brokers.put(queue, Arrays.copyOf(writer.buffer(), length));
    }
  }

  private void sleepASecond() {
    try {
      world.sleep(SECOND);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private int intern(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    return writer.intern(bytes, 0, bytes.length);
  }

  @Test
  void killedAndDrainedServersShowAllSpansOnce() {
    first.start();
    second.start();
    world.spawn("sender", this::send);
    scraper.start();
    world.after(20 * MINUTE, first::kill);
    world.after(21 * MINUTE, first::start);
    world.after(40 * MINUTE, second::drain);
    world.after(41 * MINUTE, second::start);
    world.after(30 * MINUTE, () -> index.away(true));
    world.after(35 * MINUTE, () -> index.away(false));

    world.run(65 * MINUTE);

    assertThat(failures).isEmpty();
    assertThat(scraper.sums(CALLS)).isEqualTo(sent);
    assertThat(index.created()).isEqualTo(slow);
    assertThat(first.missing()).isEmpty();
    assertThat(second.ready()).isTrue();
    assertThat(first.queues().size() + second.queues().size()).isEqualTo(QUEUES);
  }
}
