package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.server.consume.queue.SealedWindows.assertBalanced;
import static org.traceetl.server.consume.queue.SealedWindows.countsByValues;
import static org.traceetl.server.consume.queue.SealedWindows.values;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.common.compression.CompressionType;
import org.apache.rocketmq.common.compression.CompressorFactory;
import org.apache.rocketmq.common.sysflag.MessageSysFlag;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.BatchAges;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.decode.Messages;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/** Batches and OzHera's spans on one topic, in a profile that does not map spans. */
class AnyMessagesTest {
  private static final long MILLI = 1_000_000;

  private final QueueAggregator aggregator = aggregator();
  private final long nowMillis = 1_000_000;
  private long offset;
  private long sequence;

  private static QueueAggregator aggregator() {
    Aggregation aggregation =
        Aggregation.builder(() -> 1)
            .histogram(new HistogramConfig(List.of(10.0, 100.0)))
            .unit(MetricsConfig.Unit.MILLISECONDS)
            .messages(Messages.of("any"))
            .build();
    return aggregation.newAggregator(
        new QueueId("b", 0), aggregation.newDecoder(), new SpanPipelineMetrics());
  }

  private void accept(BatchMessage batch) {
    accept(batch.message(sequence++));
  }

  private void accept(byte[] message) {
    aggregator.accept(message, nowMillis);
    offset++;
  }

  private void acceptCompressed(byte[] message) throws IOException {
    byte[] body = CompressorFactory.getCompressor(CompressionType.ZLIB).compress(message, 5);
    aggregator.acceptCompressed(
        body, MessageSysFlag.COMPRESSED_FLAG, nowMillis, nowMillis, new BatchAges());
  }

  private SealedWindow seal() {
    return aggregator.swap(offset, nowMillis).seal();
  }

  @Test
  void spansOfOzheraAreCountedEachTimeAndBookedWhateverTheyLack() {
    byte[] span = OzheraMessage.of("shop", "GET /cart", 5 * MILLI);
    accept(span);
    accept(span); // It has no name of its own: what is delivered counts.
    accept(new BatchMessage("shop").span("GET /cart", MILLI));
    accept(OzheraMessage.of(null, "GET /cart", 5 * MILLI));
    accept(new byte[] {1, 2, 3});
    accept(new byte[0]);

    SealedWindow window = seal();
    assertBalanced(window);
    assertThat(countsByValues(window))
        .isEqualTo(Map.of(values("shop", "GET /cart", "2", "0"), List.of(3L, 0L, 0L)));
    assertThat(window.books())
        .filteredOn(books -> books.application().isEmpty())
        .singleElement()
        .extracting(Books::received, Books::rejected)
        .containsExactly(3L, Map.of("missing_field", 1L, "malformed", 1L, "truncated", 1L));
  }

  @Test
  void aCompressedSpanOfOzheraCountsAndACompressedBatchIsMalformed() throws Exception {
    acceptCompressed(OzheraMessage.of("shop", "GET /cart", 5 * MILLI));
    acceptCompressed(new BatchMessage("shop").span("GET /cart", MILLI).message(sequence++));
    aggregator.acceptCompressed(
        new byte[] {1, 2, 3},
        MessageSysFlag.COMPRESSED_FLAG,
        nowMillis,
        nowMillis,
        new BatchAges());

    SealedWindow window = seal();
    assertBalanced(window);
    assertThat(countsByValues(window))
        .isEqualTo(Map.of(values("shop", "GET /cart", "2", "0"), List.of(1L, 0L, 0L)));
    assertThat(window.books())
        .filteredOn(books -> books.application().isEmpty())
        .singleElement()
        .extracting(Books::received, Books::rejected)
        .containsExactly(2L, Map.of("malformed", 2L));
  }
}
