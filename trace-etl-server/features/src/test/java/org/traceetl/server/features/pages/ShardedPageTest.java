package org.traceetl.server.features.pages;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.prometheus.metrics.expositionformats.generated.com_google_protobuf_4_36_1.Metrics;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeoutException;
import java.util.zip.GZIPInputStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.common.Clocks;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Format;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.expose.Page;
import org.traceetl.server.http.Allowed;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/** The shards of a page have each of its series once. */
class ShardedPageTest {
  private static final Path GOLDEN = Path.of("src/test/resources/golden");
  private static final int QUEUES = 3;
  private static final int SERIES = 5 * SeriesBlock.SERIES;
  private static final Naming NAMING = PageFixture.naming(PageFixture.OTEL);

  @Property(tries = 40)
  void togetherTheyAreThePage(@ForAll long seed, @ForAll @IntRange(min = 1, max = 64) int of)
      throws Exception {
    var random = new Random(seed);
    long maxPlainBytes = random.nextBoolean() ? Long.MAX_VALUE : 1_000;
    try (SpanPages pages = new SpanPages(NAMING, Clocks.SYSTEM, nanos -> {}, maxPlainBytes)) {
      pages.start();
      Map<Integer, Set<Integer>> live = new HashMap<>();
      for (int step = random.nextInt(12); step > 0; step--) {
        int queue = random.nextInt(QUEUES);
        if (random.nextInt(8) == 0) {
          pages.released(queue(queue));
          live.remove(queue);
        } else {
          pages.window(
              window(random, queue(queue), live.computeIfAbsent(queue, q -> new TreeSet<>())));
        }
        if (random.nextBoolean()) {
          read(pages, Encoding.values()[random.nextInt(8)], new Shard(0, of));
        }
      }
      pages.await(PageFixture.LONG);

      for (Encoding encoding : PageFixture.ENCODINGS) {
        Parts whole = parts(encoding, read(pages, encoding, Shard.WHOLE));
        List<String> samples = new ArrayList<>();
        Map<String, Integer> shardOf = new HashMap<>();
        for (int number = 0; number < of; number++) {
          Parts shard = parts(encoding, read(pages, encoding, new Shard(number, of)));
          assertThat(shard.headers).isEqualTo(whole.headers);
          samples.addAll(shard.samples);
          for (String labels : shard.series) {
            Integer other = shardOf.put(labels, number);
            assertThat(other).as(labels).isIn(null, number);
          }
        }
        assertThat(samples).hasSameSizeAs(whole.samples);
        assertThat(samples).containsExactlyInAnyOrderElementsOf(whole.samples);
        assertThat(shardOf.keySet()).isEqualTo(whole.series);
      }
    }
  }

  @Property(tries = 20)
  void aSeriesStaysInItsShardWhenItsQueueMoves(@ForAll long seed) throws Exception {
    var random = new Random(seed);
    QueueImage image = new QueueImage(0, PageFixture.STRIDE, 1);
    Set<Integer> live = new TreeSet<>();
    try (SpanPages owner = PageFixture.started(NAMING);
        SpanPages next = PageFixture.started(NAMING)) {
      for (int windows = random.nextInt(1, 5); windows > 0; windows--) {
        SealedWindow window = window(random, queue(1), live);
        owner.window(window);
        image.apply(window);
      }
      next.window(
          Windows.of(queue(0), PageFixture.STRIDE).create(0, "app", "other", "2", "0").seal());
      long nowNanos = System.nanoTime();
      next.restored(queue(1), image, nowNanos);
      next.shownUntil(queue(1), nowNanos + PageFixture.LONG.toNanos());
      owner.await(PageFixture.LONG);
      next.await(PageFixture.LONG);

      int of = random.nextInt(2, 8);
      for (int number = 0; number < of; number++) {
        var shard = new Shard(number, of);
        assertThat(parts(Encoding.TEXT, read(next, Encoding.TEXT, shard)).samples)
            .containsAll(parts(Encoding.TEXT, read(owner, Encoding.TEXT, shard)).samples);
      }
    }
  }

  @Test
  void largeQueuesAreSpreadEvenly() throws Exception {
    try (SpanPages pages = PageFixture.started(NAMING)) {
      for (int queue = 0; queue < QUEUES; queue++) {
        Windows window = Windows.of(queue(queue), PageFixture.STRIDE);
        for (int i = 0; i < 4 * SeriesBlock.SERIES; i++) {
          window.create(i, "app", "op-" + queue + "-" + i, "2", "0");
        }
        pages.window(window.seal());
      }
      pages.await(PageFixture.LONG);
      for (int number = 0; number < 4; number++) {
        assertThat(parts(Encoding.TEXT, read(pages, Encoding.TEXT, new Shard(number, 4))).series)
            .hasSize(QUEUES * SeriesBlock.SERIES);
      }
    }
  }

  @Test
  void aShardIsReadWithoutRendering() throws Exception {
    // Its fold thread does not run, so nothing is rendered except in doWork.
    try (var pages = new SpanPages(NAMING, Clocks.SYSTEM, nanos -> {})) {
      pages.window(window(new Random(1), queue(0), new TreeSet<>()));
      assertThatThrownBy(
              () -> pages.page(Encoding.OPENMETRICS_GZIP, new Shard(0, 2), Duration.ZERO))
          .isInstanceOf(TimeoutException.class);
      pages.doWork();

      byte[] whole = read(pages, Encoding.OPENMETRICS_GZIP, Shard.WHOLE);
      for (int of = 1; of <= Allowed.SHARDS; of++) {
        read(pages, Encoding.OPENMETRICS_GZIP, new Shard(of - 1, of));
      }
      assertThat(read(pages, Encoding.OPENMETRICS_GZIP, Shard.WHOLE)).isEqualTo(whole);
      assertThat(pages.pageBytes()).containsOnlyKeys(Encoding.OPENMETRICS_GZIP);
    }
  }

  /** The assignment to shards is part of the format: servers of two releases must agree on it. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void shardIsAsKept(int number) throws Exception {
    try (SpanPages pages = PageFixture.started(NAMING)) {
      pages.window(
          Windows.of(Windows.QUEUE, PageFixture.STRIDE)
              .create(0, "checkout", "GET /cart", "2", "0", "/cart", null)
              .row(0, 12_345_678, 3, 1, 0, 0)
              .exemplar(1, "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", 10_250_000)
              .create(SeriesBlock.SERIES - 1, "checkout", "last of the block", "2", "0")
              .create(SeriesBlock.SERIES, "checkout", "first of the next block", "2", "0")
              .create(Windows.overflow(2 * SeriesBlock.SERIES, "checkout"))
              .seal());
      pages.window(
          Windows.of(new QueueId("broker-b", 12), PageFixture.STRIDE)
              .create(0, "pay", "POST /pay", "2", "0")
              .row(0, 1, 1)
              .seal());
      pages.await(PageFixture.LONG);

      String page = new String(read(pages, Encoding.OPENMETRICS, new Shard(number, 3)), UTF_8);

      Path golden = GOLDEN.resolve("otel-openmetrics-shard-" + number + "-of-3.txt");
      if (Boolean.getBoolean("golden.update")) {
        Files.writeString(golden, page);
      }
      assertThat(page).isEqualTo(Files.readString(golden, StandardCharsets.UTF_8));
    }
  }

  /**
   * A page, read back.
   *
   * @param samples lines of text, or metrics of protobuf, with the name of the family
   * @param series labels without le
   */
  record Parts(List<String> headers, List<String> samples, Set<String> series) {}

  private static Parts parts(Encoding encoding, byte[] page) throws IOException {
    return encoding.format() == Format.PROTOBUF
        ? ofProtobuf(page)
        : ofText(new String(page, UTF_8));
  }

  private static Parts ofText(String page) {
    var parts = new Parts(new ArrayList<>(), new ArrayList<>(), new TreeSet<>());
    for (String line : page.split("\n", -1)) {
      if (line.startsWith("#")) {
        parts.headers.add(line);
      } else if (!line.isEmpty()) {
        parts.samples.add(line);
        parts.series.add(
            line.substring(line.indexOf('{'), line.indexOf('}')).replaceAll(",le=\"[^\"]*\"", ""));
      }
    }
    return parts;
  }

  static Parts ofProtobuf(byte[] page) throws IOException {
    var parts = new Parts(new ArrayList<>(), new ArrayList<>(), new TreeSet<>());
    var in = new ByteArrayInputStream(page);
    while (in.available() > 0) {
      Metrics.MetricFamily family = Metrics.MetricFamily.parseDelimitedFrom(in);
      parts.headers.add(family.toBuilder().clearMetric().build().toString());
      for (Metrics.Metric metric : family.getMetricList()) {
        parts.samples.add(family.getName() + metric);
        parts.series.add(metric.getLabelList().toString());
      }
    }
    return parts;
  }

  /** Reads a page of the span families as a scraper does. */
  private static byte[] read(SpanPages pages, Encoding encoding, Shard shard) throws Exception {
    Page page = pages.page(encoding, shard, PageFixture.LONG).with(new byte[0]);
    byte[] sent = PageFixture.sent(page);
    if (!encoding.gzip()) {
      return sent;
    }
    try (var in = new GZIPInputStream(new ByteArrayInputStream(sent))) {
      return in.readAllBytes();
    }
  }

  private static SealedWindow window(Random random, QueueId queue, Set<Integer> live) {
    Windows window = Windows.of(queue, PageFixture.STRIDE);
    int first = random.nextInt(SERIES);
    for (int i = random.nextInt(100); i > 0; i--) {
      int series = random.nextInt(first, SERIES);
      if (live.add(series)) {
        // The page adds the queue to labels that another queue has too.
        String name = series % 2 == 0 ? "op " + series : "op " + queue + " " + series;
        window.create(series, "app", name, "2", "0");
      }
    }
    List<Integer> evicted = new ArrayList<>();
    for (int series : live) {
      if (random.nextInt(4) == 0) {
        window.row(series, random.nextLong(1L << 40), random.nextLong(1L << 34), 0, 1, 0);
        if (random.nextInt(4) == 0) {
          window.exemplar(
              random.nextInt(PageFixture.STRIDE),
              "%016x%016x".formatted(random.nextLong(), random.nextLong()),
              "%016x".formatted(random.nextLong()),
              random.nextLong(5_000_000_000L));
        }
      } else if (random.nextInt(10) == 0) {
        evicted.add(series);
      }
    }
    evicted.forEach(window::evict);
    live.removeAll(evicted);
    return window.seal();
  }

  private static QueueId queue(int number) {
    return new QueueId("broker", number);
  }
}
