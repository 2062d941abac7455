package org.traceetl.server.features.backfill;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.rocketmq.common.message.MessageExt;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.proto.BatchAges;
import org.traceetl.proto.BundleWriter;
import org.traceetl.proto.SpanBatchWriter;
import org.traceetl.server.config.AgentsConfig;
import org.traceetl.server.config.DeduplicationConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.queue.RetainedQueue;
import org.traceetl.server.consume.retained.Patience;
import org.traceetl.server.minutes.CountBounds;
import org.traceetl.server.window.QueueId;

/** The panes of one queue's messages. */
class BackfillQueueTest {
  private static final QueueId QUEUE = new QueueId("broker", 0);
  private static final long PANE = 15_000;
  private static final long START = 1_795_946_400_000L;
  private static final long END = START + 3_600_000;
  private static final BackfillRequest REQUEST =
      new BackfillRequest(
          "shop",
          new RocketMqConfig(null, null, null, null, null, null),
          SeriesConfig.defaults()
              .withDimensions(List.of(new SeriesConfig.Dimension("user", null, null))),
          MetricsConfig.defaults(),
          new HistogramConfig(null),
          List.of(),
          new WindowConfig(null, null, null, null, null),
          DeduplicationConfig.defaults(),
          AgentsConfig.defaults(),
          "bf_",
          new BackfillRequest.Range("1h", null, Instant.EPOCH, null),
          null,
          1L << 40,
          null,
          null);

  private final List<MessageExt> messages = new ArrayList<>();
  private final RefusedBatches refused = new RefusedBatches();
  private long sequence;
  private BackfillQueue queue;
  private SampleEstimates estimates = new SampleEstimates(REQUEST.naming(), START, END, 100);
  private String application = "shop";

  private void store(long atMillis, String age, byte[] body) {
    MessageExt message = new MessageExt();
    message.setQueueOffset(100 + messages.size());
    message.setStoreTimestamp(atMillis);
    message.setBody(body);
    message.putUserProperty(BatchAges.PROPERTY, age);
    messages.add(message);
  }

  /** Returns a batch with a span of a user; with a group of three spans if it is null. */
  private byte[] batch(String application, String user) {
    SpanBatchWriter writer = new SpanBatchWriter();
    writer.begin();
    writer.application(intern(writer, application));
    if (user == null) {
      writer.demand(7);
      for (int i = 0; i < 3; i++) {
        writer.startGroupedSpan(intern(writer, "GET /"), 2, 0, 1_000, 0);
        writer.endSpan();
      }
    } else {
      writer.startSpan(7, 8, 1, 0, intern(writer, "GET /"), 2, 0, 1_000, 1, 0);
      writer.attribute(intern(writer, "user"), intern(writer, user));
      writer.endSpan();
    }
    int length = writer.finish(1, 2, 3, sequence++);
    return Arrays.copyOf(writer.buffer(), length);
  }

  /** Returns a batch with a hundred spans in a group, of which a quarter is in the sample. */
  private byte[] sampled() {
    SpanBatchWriter writer = new SpanBatchWriter();
    writer.begin();
    writer.application(intern(writer, "shop"));
    writer.demand(7);
    writer.sampleThreshold(3L << 54);
    for (int i = 0; i < 100; i++) {
      writer.startGroupedSpan(intern(writer, "GET /"), 2, 0, 1_000, 0);
      writer.endSpan();
      if (i % 4 == 0) {
        // Two spans of each trace of user u2.
        String user = i < 60 ? "u1" : "u2";
        long trace = i < 60 ? 1 + i : 1 + (i - 60) / 8;
        writer.startSample(7, trace, i, 0, intern(writer, "GET /"), 2, 0, 1_000, 1, 3L << 54);
        writer.attribute(intern(writer, "user"), intern(writer, user));
        writer.endSpan();
      }
    }
    int length = writer.finish(1, 2, 3, sequence++);
    return Arrays.copyOf(writer.buffer(), length);
  }

  private static int intern(SpanBatchWriter writer, String text) {
    byte[] bytes = text.getBytes(UTF_8);
    return writer.intern(bytes, 0, bytes.length);
  }

  /** Returns the spans by seconds since the start at the end of a pane, and user. */
  private Map<String, Long> read(int atOnce) throws Exception {
    return read(atOnce, messages.getLast().getQueueOffset() + 1);
  }

  private Map<String, Long> read(int atOnce, long to) throws Exception {
    OpenSums sums = new OpenSums(REQUEST.naming().stride(), false, START, END);
    queue =
        new BackfillQueue(
            QUEUE,
            from ->
                messages.stream()
                    .filter(message -> message.getQueueOffset() >= from)
                    .limit(atOnce)
                    .toList(),
            new RetainedQueue(QUEUE, REQUEST.newAggregation(), application, refused, 100),
            refused,
            new WindowSums(
                sums, false, definition -> new SeriesKey(definition, REQUEST.naming(), News.NONE)),
            estimates
            .new Queue(
                RetainedQueue.ofSample(
                    QUEUE, REQUEST.newAggregation(), application, new SpanPipelineMetrics(), 100)),
            100,
            to);
    PrintWriter progress = new PrintWriter(OutputStream.nullOutputStream());
    PacedReader reader =
        new PacedReader(
            Clocks.SYSTEM,
            1L << 40,
            1,
            () -> 0,
            new Patience(Duration.ZERO, Clocks.SYSTEM, progress),
            progress);
    Map<String, Long> spans = new TreeMap<>();
    for (long end = START + PANE; end <= END; end += PANE) {
      queue.close(end, reader);
      String seconds = String.format("%4d ", (end - START) / 1_000);
      Map<SeriesKey, Totals> pane = sums.take(end);
      estimates.addExact(pane);
      pane.forEach((key, sum) ->
          spans.put(
              seconds + new String(key.labels(), UTF_8).replaceAll(".*user=\"(.*)\"", "$1"),
              sum.spans(REQUEST.naming().buckets())));
    }
    return spans;
  }

  @Test
  void spansWithoutADimensionAreEstimatedFromTheirSample() throws Exception {
    store(START + 100, "50", batch("shop", "u1"));
    byte[] batch = sampled();
    store(START + 200, "50", batch);
    store(START + 300, "50", batch);
    store(START + 400, "50", batch("shop", "u3"));
    // Before the range.
    store(START + 500, "60000", sampled());

    assertThat(read(10)).containsEntry("  15 __not_sent__", 100L).containsEntry("  15 u1", 1L);
    CountBounds u1 = CountBounds.of(60, 3);
    CountBounds u2 = CountBounds.of(40, 2 * 3);
    assertThat(estimates.estimates())
        .extracting(each -> each.labels().replaceAll(".*user=\"(.*)\"", "$1"))
        .containsExactly("u1", "u2");
    BackfillResult.Estimate first = estimates.estimates().getFirst();
    assertThat(first)
        .isEqualTo(new BackfillResult.Estimate(first.labels(), 1, 60, u1.lower(), u1.upper()));
    BackfillResult.Estimate second = estimates.estimates().getLast();
    assertThat(second)
        .isEqualTo(new BackfillResult.Estimate(second.labels(), 0, 40, u2.lower(), u2.upper()));
  }

  @Test
  void seriesAfterTheFirstOnesAreNotEstimated() throws Exception {
    estimates = new SampleEstimates(REQUEST.naming(), START, END, 1);
    store(START + 200, "50", sampled());
    store(START + 400, "50", batch("shop", "u3"));

    assertThat(read(10)).containsEntry("  15 u3", 1L);
    assertThat(estimates.estimates())
        .extracting(BackfillResult.Estimate::estimated)
        .containsExactly(60L);
  }

  @Test
  void spansCountInThePaneOfTheirAgent() throws Exception {
    // A steady agent, so that panes close by its marks.
    for (long second = -60; second < 1_800; second += 5) {
      store(START + second * 1_000, "1000;1000", batch("bank", "b"));
    }
    byte[] repeated = batch("shop", "once");
    BundleWriter bundle = new BundleWriter();
    bundle.begin();
    bundle.add(batch("bank", "b"));
    bundle.add(batch("shop", "second"));
    bundle.add(batch("shop", "third"));
    List<MessageExt> steady = List.copyOf(messages);
    messages.clear();
    for (MessageExt message : steady) {
      long second = (message.getStoreTimestamp() - START) / 1_000;
      store(message.getStoreTimestamp(), "1000;1000", message.getBody());
      if (second == 0) {
        store(START, "0;1000", batch("shop", "first"));
        store(START, "1;1000", batch("shop", "before"));
      } else if (second == 20) {
        store(START + 20_000, "6000;6000", repeated);
        store(START + 20_500, "6500;6000", repeated);
      } else if (second == 50) {
        store(START + 50_000, "1000,2000,9000;12000", bundle.finish());
      } else if (second == 100) {
        store(START + 100_000, "0;1000", batch("shop", null));
        store(START + 100_000, "0;1000", new byte[] {1, 2});
      } else if (second == 600) {
        // Accepted a second after the start, but the agent had said that nothing was missing.
        store(START + 600_000, "599000;1000", batch("shop", "late"));
      }
    }

    Map<String, Long> spans = read(32);
    assertThat(spans)
        .hasSize(6)
        .containsEntry("  15 first", 1L)
        .containsEntry("  15 once", 1L)
        .containsEntry("  60 second", 1L)
        .containsEntry("  45 third", 1L)
        .containsEntry(" 105 __not_sent__", 3L)
        .containsEntry(" 600 late", 1L);
    assertThat(queue.lateSpans()).isEqualTo(1);
    assertThat(refused.repeated()).isEqualTo(1);
    assertThat(refused).hasToString("1 malformed; the first is message 139 of queue broker/0");
    // What the broker returns at once makes no difference.
    assertThat(read(1)).isEqualTo(spans);
    assertThat(read(1_000)).isEqualTo(spans);
  }

  @Test
  void panesOfADrainedSpoolAreNotMerged() throws Exception {
    for (int pane = 0; pane < 240; pane++) {
      store(END + pane, Long.toString(END + pane - START - pane * PANE), batch("shop", "u"));
    }

    assertThat(read(32)).hasSize(240).allSatisfy((pane, spans) -> assertThat(spans).isOne());
    assertThat(queue.mergedSpans()).isZero();
    assertThat(queue.lateSpans()).isZero();
  }

  @Test
  void spansWithoutAnApplicationAreThoseOfUnknownService() throws Exception {
    store(START, "0", batch("", "no one's"));
    store(START, "0", batch("shop", "its own"));
    assertThat(read(32)).containsOnlyKeys("  15 its own");

    application = "unknown_service";
    assertThat(read(32)).containsOnlyKeys("  15 no one's");
  }

  @Test
  void missingMessagesEndTheBackfill() {
    for (int i = 0; i < 4; i++) {
      store(START + i, "0", batch("shop", "u"));
    }
    assertThatThrownBy(() -> read(32, 106))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("The broker no longer has messages 104 to 105 of queue broker/0");
    messages.remove(2);
    assertThatThrownBy(() -> read(32))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("The broker no longer has messages 102 to 102 of queue broker/0");
  }
}
