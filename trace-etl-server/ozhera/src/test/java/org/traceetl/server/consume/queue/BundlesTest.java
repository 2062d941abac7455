package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.server.consume.queue.SealedWindows.assertBalanced;
import static org.traceetl.server.consume.queue.SealedWindows.books;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.BundleWriter;
import org.traceetl.proto.Rejection;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.From;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.decode.Messages;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.TraceDocument;

/** Bundles count as the batches that they have. */
class BundlesTest {
  private static final long MILLI = 1_000_000;
  private static final long NOW = 1_000_000;

  private final List<String> events = new ArrayList<>();
  private int receivedBytes;
  private final SpanPipelineMetrics listener =
      new SpanPipelineMetrics() {
        @Override
        public void accepted(int bytes) {
          events.add("accepted");
          receivedBytes += bytes;
        }

        @Override
        public void duplicate(int bytes) {
          events.add("duplicate");
          receivedBytes += bytes;
        }

        @Override
        public void rejected(int bytes, Rejection reason) {
          events.add(reason.label());
          receivedBytes += bytes;
        }
      };

  private QueueAggregator aggregator(Messages messages) {
    Aggregation aggregation =
        Aggregation.builder(() -> 1)
            .series(
                SeriesConfig.defaults()
                    .withDimensions(List.of(new Dimension("http.route", null, From.ANY))))
            .histogram(new HistogramConfig(List.of(10.0, 100.0)))
            .documents(new DocumentsConfig(null, null, null, 1_000_000, 1_000_000, 0))
            .unit(MetricsConfig.Unit.MILLISECONDS)
            .messages(messages)
            .build();
    QueueAggregator aggregator =
        aggregation.newAggregator(new QueueId("b", 0), aggregation.newDecoder(), listener);
    aggregator.beginAt(0);
    return aggregator;
  }

  private static byte[] bundle(List<byte[]> batches) {
    BundleWriter writer = new BundleWriter();
    writer.begin();
    batches.forEach(batch -> assertThat(writer.add(batch)).isTrue());
    return writer.finish();
  }

  private static byte[] batch(String application, long sequence, int spans) {
    BatchMessage batch = new BatchMessage(application);
    for (int i = 0; i < spans; i++) {
      batch.span("GET /" + i % 3, MILLI);
    }
    return batch.message(sequence);
  }

  @Test
  void eachBatchCountsOrIsRejectedOnItsOwn() {
    QueueAggregator aggregator = aggregator(Messages.SPAN_BATCH);
    byte[] malformed = batch("shop", 1, 5);
    byte[] truncated = Arrays.copyOf(malformed, malformed.length - 1);
    byte[] first = batch("shop", 0, 2);
    aggregator.accept(first, NOW);
    List<byte[]> batches = List.of(batch("bank", 2, 3), first, truncated, batch("shop", 3, 1));
    aggregator.accept(bundle(batches), NOW);
    SealedWindow window = SealedWindows.seal(aggregator, 2, NOW);

    assertThat(events)
        .containsExactly("accepted", "accepted", "duplicate", "truncated", "accepted");
    assertThat(receivedBytes)
        .isEqualTo(first.length + batches.stream().mapToInt(batch -> batch.length).sum());
    assertThat(books(window, "bank"))
        .usingRecursiveComparison()
        .ignoringFields("bytes")
        .isEqualTo(new Books("bank", 3, 3, 0, 0, 0, Map.of(), 0));
    assertThat(books(window, "shop"))
        .usingRecursiveComparison()
        .ignoringFields("bytes")
        .isEqualTo(new Books("shop", 10, 3, 0, 0, 2, Map.of("truncated", 5L), 0));
    assertThat(window.to()).isEqualTo(2);
    assertBalanced(window);
  }

  @Test
  void aBatchTwiceInABundleCountsOnce() {
    QueueAggregator aggregator = aggregator(Messages.SPAN_BATCH);
    byte[] batch = batch("shop", 0, 2);
    aggregator.accept(bundle(List.of(batch, batch)), NOW);

    assertThat(books(SealedWindows.seal(aggregator, 1, NOW), "shop"))
        .usingRecursiveComparison()
        .ignoringFields("bytes")
        .isEqualTo(new Books("shop", 4, 2, 0, 0, 2, Map.of(), 0));
  }

  @Test
  void aMalformedHeadIsOneRejectedMessage() {
    QueueAggregator aggregator = aggregator(Messages.SPAN_BATCH);
    byte[] message = bundle(List.of(batch("shop", 0, 2), batch("bank", 1, 3)));
    aggregator.accept(Arrays.copyOf(message, message.length - 1), NOW);
    aggregator.accept(Arrays.copyOf(message, 15), NOW);
    SealedWindow window = SealedWindows.seal(aggregator, 2, NOW);

    assertThat(events).containsExactly("truncated", "truncated");
    assertThat(receivedBytes).isEqualTo(message.length - 1 + 15);
    assertThat(books(window, ""))
        .usingRecursiveComparison()
        .ignoringFields("bytes")
        .isEqualTo(new Books("", 5, 0, 0, 0, 0, Map.of("truncated", 5L), 0));
    assertBalanced(window);
    aggregator.accept(message, NOW);
    assertThat(SealedWindows.seal(aggregator, 3, NOW).books())
        .extracting(Books::recorded)
        .containsExactlyInAnyOrder(2L, 3L);
  }

  @Test
  void bundlesInBundlesAndSingleSpansInBundlesAreRejected() {
    QueueAggregator aggregator = aggregator(Messages.of("any"));
    byte[] inner = bundle(List.of(batch("shop", 0, 2), batch("shop", 1, 2)));
    byte[] single = OzheraMessage.of("shop", "GET /cart", 5 * MILLI);
    aggregator.accept(single, NOW);
    aggregator.accept(bundle(List.of(inner, single, batch("shop", 2, 1))), NOW);

    assertThat(events).hasSize(4).startsWith("accepted", "missing_field").endsWith("accepted");
    SealedWindow window = SealedWindows.seal(aggregator, 2, NOW);
    assertThat(books(window, "shop").recorded()).isEqualTo(2);
    assertBalanced(window);
  }

  @Test
  void allBatchesOfABundleThatCannotBeRecordedAreRejected() {
    QueueAggregator aggregator = aggregator(Messages.SPAN_BATCH);
    byte[] message =
        bundle(List.of(batch("shop", 0, 2), new byte[] {1, 2, 3}, batch("bank", 1, 3)));
    aggregator.refuse(message, 0, NOW);
    aggregator.refuse(Arrays.copyOf(message, message.length - 1), 0, NOW);
    SealedWindow window = SealedWindows.seal(aggregator, 2, NOW);

    assertThat(events).containsOnly("internal").hasSize(4);
    assertThat(books(window, "shop").rejected()).isEqualTo(Map.of("internal", 2L));
    assertThat(books(window, "bank").rejected()).isEqualTo(Map.of("internal", 3L));
    assertThat(books(window, "").rejected()).isEqualTo(Map.of("internal", 5L));
    assertBalanced(window);
    // The names are not remembered.
    aggregator.accept(message, NOW);
    assertThat(events.subList(4, 7)).containsExactly("accepted", "malformed", "accepted");
  }

  /** Any bundling, repetition and order of the same batches gives the same counts. */
  @Property(tries = 200)
  void anyBundlingCountsTheSame(@ForAll long seed) {
    Random random = new Random(seed);
    List<byte[]> batches = new ArrayList<>();
    for (int sequence = 0; sequence < 1 + random.nextInt(40); sequence++) {
      batches.add(any(random, sequence));
    }
    Outcome alone = outcome(batches);

    List<byte[]> mixed = new ArrayList<>();
    List<byte[]> order = new ArrayList<>(batches);
    Collections.shuffle(order, random);
    List<byte[]> sent = new ArrayList<>();
    while (!order.isEmpty()) {
      int size = Math.min(order.size(), 1 + random.nextInt(8));
      List<byte[]> part = new ArrayList<>(order.subList(0, size));
      if (!sent.isEmpty() && random.nextBoolean()) {
        // Sent again, in another bundle.
        part.add(random.nextInt(part.size() + 1), sent.get(random.nextInt(sent.size())));
      }
      sent.addAll(order.subList(0, size));
      order.subList(0, size).clear();
      byte[] message = bundle(part);
      mixed.add(message);
      if (random.nextInt(4) == 0) {
        mixed.add(message);
      }
    }
    assertThat(outcome(mixed)).isEqualTo(alone);
  }

  /** Each batch has one outcome, and the others count as without the damaged one. */
  @Property(tries = 500)
  void aDamagedBatchCostsItselfAlone(@ForAll long seed) {
    Random random = new Random(seed);
    List<byte[]> all = new ArrayList<>();
    QueueAggregator without = aggregator(Messages.SPAN_BATCH);
    for (int sequence = 0; sequence < 1 + random.nextInt(5); sequence++) {
      byte[] other = batch("shop " + sequence, sequence, 1 + random.nextInt(4));
      without.accept(other, NOW);
      all.add(other);
    }
    // Of another agent, so that no damage gives it the name of another batch.
    byte[] damaged = new BatchMessage("damaged").span("a", MILLI).span("b", 1).message(77, 1, 9);
    for (int i = random.nextInt(4); i >= 0; i--) {
      damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
    }
    all.add(random.nextInt(all.size() + 1), damaged);
    QueueAggregator with = aggregator(Messages.SPAN_BATCH);
    events.clear();
    receivedBytes = 0;
    with.accept(bundle(all), NOW);

    assertThat(events).hasSize(all.size());
    assertThat(receivedBytes).isEqualTo(all.stream().mapToInt(batch -> batch.length).sum());
    SealedWindow window = SealedWindows.seal(with, 1, NOW);
    assertBalanced(window);
    assertThat(window.books()).containsAll(SealedWindows.seal(without, 1, NOW).books());
  }

  @Property(tries = 500)
  void damagedBundlesKeepTheBooks(@ForAll long seed) {
    Random random = new Random(seed);
    byte[] message = bundle(List.of(batch("shop", 0, 2), batch("bank", 1, 3), batch("", 2, 0)));
    for (int i = random.nextInt(4); i >= 0; i--) {
      message[4 + random.nextInt(message.length - 4)] = (byte) random.nextInt();
    }
    byte[] cut = random.nextBoolean() ? message : Arrays.copyOf(message, random.nextInt(200));
    QueueAggregator aggregator = aggregator(Messages.SPAN_BATCH);
    if (random.nextBoolean()) {
      aggregator.accept(cut, NOW);
    } else {
      aggregator.refuse(cut, 0, NOW);
    }

    assertBalanced(SealedWindows.seal(aggregator, 1, NOW));
  }

  /** With whole weights only: fractions of weights are carried in the order of batches. */
  private static byte[] any(Random random, long sequence) {
    BatchMessage batch = new BatchMessage("service " + random.nextInt(3));
    if (random.nextInt(3) == 0) {
      batch.demand(7);
    }
    for (int i = random.nextInt(10); i > 0; i--) {
      String name = "GET /" + random.nextInt(4);
      int status = random.nextInt(3);
      long nanos = random.nextLong(2_000 * MILLI);
      long threshold = (1L << 56) - (1L << 56 - random.nextInt(4));
      if (random.nextBoolean()) {
        batch.grouped(name, BatchMessage.SERVER, status, nanos, threshold);
      } else {
        batch.span(name, BatchMessage.SERVER, status, nanos, threshold);
      }
      if (random.nextBoolean()) {
        batch.attribute("http.route", "/" + random.nextInt(3));
      }
    }
    return batch.message(1, 1 + random.nextInt(2), sequence);
  }

  /** What a queue shows, without what repeats change: the books' received and duplicate spans. */
  private record Outcome(
      Map<List<String>, List<Long>> counts, Map<String, Long> recorded, List<String> documents) {}

  private Outcome outcome(List<byte[]> messages) {
    QueueAggregator aggregator = aggregator(Messages.SPAN_BATCH);
    messages.forEach(message -> aggregator.accept(message, NOW));
    SealedWindow window = SealedWindows.seal(aggregator, messages.size(), NOW);
    assertBalanced(window);
    Map<String, Long> recorded = new TreeMap<>();
    window.books().forEach(books -> recorded.put(books.application(), books.recorded()));
    List<String> documents =
        window.documents().stream()
            .map(BundlesTest::text)
            .sorted(Comparator.naturalOrder())
            .toList();
    Map<List<String>, List<Long>> counts = SealedWindows.countsByValues(window);
    for (int row = 0; row < window.rows(); row++) {
      counts.put(List.of("sum " + label(window, row)), List.of(window.durationNanos()[row]));
    }
    return new Outcome(counts, recorded, documents);
  }

  private static String label(SealedWindow window, int row) {
    int series = window.series()[row];
    return window.created().stream()
        .filter(definition -> definition.series() == series)
        .findFirst()
        .orElseThrow()
        .values()
        .toString();
  }

  private static String text(TraceDocument document) {
    return document.application() + document.operation() + document.durationNanos();
  }
}
