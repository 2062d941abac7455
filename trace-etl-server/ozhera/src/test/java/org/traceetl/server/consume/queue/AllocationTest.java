package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.proto.BatchAges;
import org.traceetl.proto.BundleWriter;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.NameRule;
import org.traceetl.proto.NameRules;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.EventsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.decode.Messages;
import org.traceetl.server.ozhera.OzheraRules;
import org.traceetl.server.ozhera.OzheraSeries;
import org.traceetl.server.telemetry.TargetInfo;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/** Decoding and recording allocate nothing once everything has been seen. */
class AllocationTest {
  private static final int WARM_UP = 200;
  private static final int MEASURES = 3;
  private static final int ROUNDS_MEASURED = 200;
  private static final int ROUNDS = WARM_UP + MEASURES * ROUNDS_MEASURED;

  @ParameterizedTest
  @EnumSource
  void spanAllocatesNothing(HistogramConfig.Kind kind) {
    Workload workload = new Workload(20, 50, 200);
    QueueAggregator aggregator =
        aggregator(
            Aggregation.builder(() -> 1)
                .series(workload.series())
                .histogram(new HistogramConfig(null, kind, null))
                .documents(new DocumentsConfig(null, null, null, null, null, 0))
                .unit(MetricsConfig.Unit.MILLISECONDS)
                .build());
    long allocated = allocated(() -> workload.sendTo(aggregator, 1_000));

    assertThat(allocated).isZero();
    assertThat(books(aggregator, Books::recorded)).isEqualTo((long) ROUNDS * workload.spans());
  }

  @Test
  void sampledSpanAllocatesNothing() {
    Aggregation aggregation =
        Aggregation.builder(() -> 1)
            .documents(new DocumentsConfig(null, null, null, null, null, 0))
            .build();
    aggregation.variances(true);
    QueueAggregator aggregator = aggregator(aggregation);
    Deque<byte[]> messages = new ArrayDeque<>();
    for (int sequence = 0; sequence < ROUNDS; sequence++) {
      BatchMessage batch = new BatchMessage("shop");
      for (int i = 0; i < 500; i++) {
        batch.trace(1 + i / 3);
        batch.span("GET /item", BatchMessage.SERVER, 0, i, 5L << 53);
        batch.grouped("GET /group", BatchMessage.CLIENT, 0, i, 5L << 53);
      }
      messages.add(batch.message(sequence));
    }

    assertThat(allocated(() -> aggregator.accept(messages.poll(), 1_000))).isZero();
    assertThat(books(aggregator, Books::recorded)).isEqualTo(ROUNDS * 1_000L);
  }

  @Test
  void batchOfAKnownTargetAllocatesNothing() {
    Workload workload = new Workload(20, 50, 20);
    var info =
        new TargetInfo(
            new MetricsConfig(null, null, null, null, null, List.of("host.name", "absent"), null),
            Duration.ofHours(1));
    QueueId queue = new QueueId("b", 0);
    info.restored(queue, null, 0);
    QueueAggregator aggregator =
        aggregator(
            Aggregation.builder(() -> 1)
                .series(workload.series())
                .documents(new DocumentsConfig(null, null, null, null, null, 0))
                .targets(info)
                .build());

    assertThat(allocated(() -> workload.sendTo(aggregator, 1_000))).isZero();
  }

  @Test
  void spanOfABundleAllocatesNothing() {
    QueueAggregator aggregator =
        aggregator(
            Aggregation.builder(() -> 1)
                .documents(new DocumentsConfig(null, null, null, null, null, 0))
                .build());
    Deque<byte[]> messages = new ArrayDeque<>();
    BundleWriter writer = new BundleWriter();
    for (int sequence = 0; sequence < ROUNDS; sequence++) {
      writer.begin();
      for (int part = 0; part < 10; part++) {
        BatchMessage batch = new BatchMessage("shop " + part);
        for (int i = 0; i < 5; i++) {
          batch.span("GET /item", BatchMessage.SERVER, 0, i, 0);
          batch.grouped("GET /group", BatchMessage.CLIENT, 0, i, 0);
        }
        writer.add(batch.message(10L * sequence + part));
      }
      messages.add(writer.finish());
    }

    long allocated = allocated(() -> aggregator.accept(messages.poll(), 1_000));

    assertThat(allocated).isZero();
    assertThat(books(aggregator, Books::recorded)).isEqualTo(ROUNDS * 100L);
  }

  @ParameterizedTest
  @EnumSource
  void spanOfTwoPanesWithSizesAllocatesNothing(HistogramConfig.Kind kind) {
    Aggregation aggregation =
        Aggregation.builder(() -> 1)
            .histogram(new HistogramConfig(null, kind, null))
            .documents(new DocumentsConfig(null, null, null, null, null, 0))
            .unit(MetricsConfig.Unit.MILLISECONDS)
            .sizes(true)
            .build();
    aggregation.panes(true);
    QueueAggregator aggregator = aggregator(aggregation);
    BatchAges ages = new BatchAges();
    String[] properties = {"0;", "15000;2000"};
    Deque<byte[]> messages = new ArrayDeque<>();
    for (int sequence = 0; sequence < 2 * ROUNDS; sequence++) {
      BatchMessage batch = new BatchMessage("shop").sizes();
      for (int i = 0; i < 50; i++) {
        batch.span("GET /" + i % 10, 1_000_000L * i).size(2);
        batch.grouped("PUT /" + i % 10, BatchMessage.SERVER, 0, 1_000_000L * i, 0).size(1);
      }
      messages.add(batch.message(sequence));
    }

    long allocated =
        allocated(() -> {
          for (String property : properties) {
            ages.read(property);
            aggregator.accept(messages.poll(), 1_000, 100_000, ages);
          }
        });

    assertThat(allocated).isZero();
    SealedWindow window = aggregator.swap(0, 1_000).seal();
    assertThat(window.panes().others()).hasSize(1);
    assertThat(window.books().getFirst().recorded()).isEqualTo(2 * ROUNDS * 100L);
    long size = 0;
    for (int row = 0; row < window.rows(); row++) {
      size += window.counts()[row * window.stride() + window.buckets()];
    }
    assertThat(size).isEqualTo(2 * ROUNDS * 150L);
  }

  @Test
  void spanWithJoinedNameAllocatesNothing() {
    Aggregation aggregation =
        Aggregation.builder(() -> 1)
            .series(new SeriesConfig(null, null, null, 5, 1, null, null, null, null))
            .documents(new DocumentsConfig(null, null, null, null, null, 0))
            .build();
    aggregation.learnt(
        new LearntNames(
            1, 1, Map.of("shop", new NameRules(List.of(new NameRule("GET /item/", 1, 501, 1))))));
    QueueAggregator aggregator = aggregator(aggregation);
    Deque<byte[]> messages = variedNames("/buy");

    long allocated =
        allocated(() -> {
          aggregator.accept(messages.poll(), 1_000);
          aggregator.accept(messages.poll(), 1_000);
        });

    assertThat(allocated).isZero();
    assertThat(aggregator.symbolCount()).isEqualTo(3); // _other, shop, GET /item/{*}/buy
    assertThat(books(aggregator, Books::recorded)).isEqualTo(ROUNDS * 50L);
  }

  @Test
  void spanInProfileOzheraAllocatesNothing() {
    QueueAggregator aggregator =
        aggregator(
            Aggregation.builder(() -> 1)
                .series(OzheraSpansTest.series())
                .histogram(OzheraSpansTest.histogram())
                .documents(new DocumentsConfig(null, null, null, 0, 0, 0))
                .unit(MetricsConfig.Unit.MILLISECONDS)
                .profile(new OzheraSeries(OzheraRules::defaults))
                .build());
    Deque<byte[]> messages = new ArrayDeque<>();
    for (int sequence = 0; sequence < ROUNDS; sequence++) {
      BatchMessage batch = new BatchMessage("shop").resource("ip", "10.1.2.3");
      for (int i = 0; i < 20; i++) {
        batch.span("GET /item", BatchMessage.SERVER, i % 3, i * 200_000_000L, 0);
        batch.attribute("http.method", "GET").attribute("http.url", "http://a:b@c/?token=d");
        batch.span("SELECT", BatchMessage.CLIENT, 0, i, 0);
        batch.attribute("db.system", "mysql").attribute("db.name", "shop");
        batch.attribute("db.connection_string", "mysql://root:secret@db:3306");
        batch.attribute(
            "db.statement", "select * from users where password = 'x' or " + "a".repeat(99));
        batch.span("GET", BatchMessage.CLIENT, 0, i, 0);
        batch.attribute("db.system", "redis").attribute("db.statement", "? ?GET key");
        batch.span("internal", 1, 0, i, 0);
        batch.grouped("GET /group", BatchMessage.CLIENT, 0, i * 200_000_000L, 0);
        batch.attribute("http.method", "GET");
      }
      messages.add(batch.message(sequence));
    }

    long allocated = allocated(() -> aggregator.accept(messages.poll(), 1_000));

    assertThat(allocated).isZero();
    assertThat(books(aggregator, Books::recorded)).isEqualTo(ROUNDS * 80L);
  }

  @Test
  void spanOfAnOverflowSeriesAllocatesNothing() {
    QueueAggregator aggregator =
        aggregator(
            Aggregation.builder(() -> 1)
                .series(new SeriesConfig(null, null, null, 5, 1, null, null, null, null))
                .documents(new DocumentsConfig(null, null, null, null, null, 0))
                .build());
    Deque<byte[]> messages = variedNames("");

    long allocated =
        allocated(() -> {
          aggregator.accept(messages.poll(), 1_000);
          aggregator.accept(messages.poll(), 1_000);
        });

    assertThat(allocated).isZero();
    assertThat(aggregator.symbolCount()).isLessThan(10);
    assertThat(books(aggregator, Books::overflowed)).isEqualTo(2 * ROUNDS * 50L - 5);
  }

  @ParameterizedTest
  @ValueSource(ints = {5, 1_000})
  void eventAllocatesNothing(int maxPerApplication) {
    QueueAggregator aggregator =
        aggregator(
            Aggregation.builder(() -> 1)
                .series(
                    new EventsConfig(true, null)
                        .addTo(
                            new SeriesConfig(
                                null, null, null, maxPerApplication, null, null, null, null, null),
                            StandardProfile.OTEL))
                .documents(new DocumentsConfig(null, null, null, null, null, 0))
                .build());
    Deque<byte[]> messages = new ArrayDeque<>();
    for (int sequence = 0; sequence < ROUNDS; sequence++) {
      BatchMessage batch = new BatchMessage("shop");
      for (int span = 0; span < 200; span++) {
        if (span % 2 == 0) {
          batch.span("GET " + span % 10, 1_000);
        } else {
          batch.grouped(
              "GET " + span % 10, BatchMessage.CLIENT, BatchMessage.UNSET, 1_000, 1L << 55);
        }
        batch.event("exception", "exception.type", "T" + span % 3).event("retry");
      }
      messages.add(batch.message(sequence));
    }

    long allocated = allocated(() -> aggregator.accept(messages.poll(), 1_000));

    assertThat(allocated).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void groupedSpanAllocatesNothing(HistogramConfig.Kind kind) {
    QueueAggregator aggregator =
        aggregator(
            Aggregation.builder(() -> 1)
                .series(new SeriesConfig(null, null, null, null, null, null, null, null, null))
                .histogram(new HistogramConfig(null, kind, null))
                .documents(new DocumentsConfig(null, null, null, null, null, null))
                .unit(MetricsConfig.Unit.MILLISECONDS)
                .build());
    Deque<byte[]> messages = new ArrayDeque<>();
    for (int sequence = 0; sequence < ROUNDS; sequence++) {
      BatchMessage batch = new BatchMessage("shop");
      for (int span = 0; span < 1_000; span++) {
        batch.grouped(
            "GET " + span % 10, BatchMessage.CLIENT, BatchMessage.UNSET, span * 10_000_000L, 0);
        batch.attribute("some.attribute", "value-" + span % 3);
      }
      messages.add(batch.message(sequence));
    }

    long allocated = allocated(() -> aggregator.accept(messages.poll(), 1_000));

    assertThat(allocated).isZero();
    assertThat(books(aggregator, Books::recorded)).isEqualTo(ROUNDS * 1_000L);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void messageOfOzheraAllocatesNothing(boolean isMapped) {
    QueueAggregator aggregator =
        aggregator(
            Aggregation.builder(() -> 1)
                .series(
                    isMapped
                        ? OzheraSpansTest.series()
                        : new SeriesConfig(
                            List.of(new SeriesConfig.Dimension("http.status_code", null, null)),
                            null,
                            null,
                            null,
                            null,
                            null,
                            null,
                            null,
                            null))
                .histogram(OzheraSpansTest.histogram())
                .documents(new DocumentsConfig(null, null, null, null, null, 0))
                .unit(MetricsConfig.Unit.MILLISECONDS)
                .messages(Messages.of("ozhera"))
                .profile(isMapped ? new OzheraSeries(OzheraRules::defaults) : null)
                .build());
    byte[][] messages = new byte[50][];
    for (int i = 0; i < messages.length; i++) {
      messages[i] = OzheraMessage.of("shop " + i % 5, "GET " + i % 7, i * 10_000_000L);
    }

    long allocated =
        allocated(() -> {
          for (byte[] message : messages) {
            aggregator.accept(message, 1_000);
          }
        });

    assertThat(allocated).isZero();
    assertThat(books(aggregator, Books::recorded)).isEqualTo((long) ROUNDS * messages.length);
  }

  @Test
  void batchOfManyAgentsAndItsRepeatAllocateNothing() {
    QueueAggregator aggregator =
        aggregator(
            Aggregation.builder(() -> 1)
                .documents(new DocumentsConfig(null, null, null, null, null, 0))
                .build());
    int agents = 20;
    long[] now = {1_000};
    Deque<byte[]> messages = new ArrayDeque<>();
    for (int round = 0; round < ROUNDS; round++) {
      for (int agent = 1; agent <= agents; agent++) {
        byte[] message = new BatchMessage("shop").span("GET", 1_000).message(agent, 1, round);
        messages.add(message);
        messages.add(message);
      }
    }
    long allocated =
        allocated(() -> {
          for (int i = 0; i < 2 * agents; i++) {
            aggregator.accept(messages.poll(), now[0] += 10_000);
          }
        });

    assertThat(allocated).isZero();
    assertThat(books(aggregator, Books::recorded)).isEqualTo((long) ROUNDS * agents);
    assertThat(aggregator.agentCount()).isEqualTo(agents);
  }

  private static QueueAggregator aggregator(Aggregation aggregation) {
    return aggregation.newAggregator(
        new QueueId("b", 0), aggregation.newDecoder(), new SpanPipelineMetrics());
  }

  /** Two messages a round: spans whose names vary, of one application and of many. */
  private static Deque<byte[]> variedNames(String end) {
    Deque<byte[]> messages = new ArrayDeque<>();
    for (int round = 0; round < ROUNDS; round++) {
      for (String application : List.of("shop", "bank " + round)) {
        BatchMessage batch = new BatchMessage(application);
        for (int span = 0; span < 50; span++) {
          batch.span("GET /item/x" + round + "y" + span + "z" + end, 1_000);
        }
        messages.add(batch.message(messages.size()));
      }
    }
    return messages;
  }

  private static long books(QueueAggregator aggregator, ToLongFunction<Books> column) {
    return aggregator.swap(0, 1_000).seal().books().stream().mapToLong(column).sum();
  }

  /**
   * Bytes that {@value #ROUNDS_MEASURED} rounds allocate after {@value #WARM_UP} to warm up: the
   * least of {@value #MEASURES} measures. What every span, batch or few batches allocate is in all
   * of them; what the compiler puts onto the heap when it takes compiled code back, some hundred
   * bytes at any time in the first seconds, is not.
   */
  private static long allocated(Runnable round) {
    for (int i = 0; i < WARM_UP; i++) {
      round.run();
    }
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    // The bean itself may allocate: a round without work tells how much.
    long overhead = threads.getCurrentThreadAllocatedBytes() - before;

    long least = Long.MAX_VALUE;
    for (int measure = 0; measure < MEASURES; measure++) {
      before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < ROUNDS_MEASURED; i++) {
        round.run();
      }
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before - overhead);
    }
    return least;
  }
}
