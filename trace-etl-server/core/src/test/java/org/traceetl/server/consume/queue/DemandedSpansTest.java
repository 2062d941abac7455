package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.server.consume.queue.SealedWindows.countsByValues;
import static org.traceetl.server.consume.queue.SealedWindows.values;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.DocumentsConfig.Threshold;
import org.traceetl.server.config.EventsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.From;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/** Tests that what agents did not send is never mistaken for what spans did not have. */
class DemandedSpansTest {
  private static final String NOT_SENT = BatchDecoder.NOT_SENT;
  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;
  private static final int CLIENT = BatchMessage.CLIENT;
  private static final int SERVER = BatchMessage.SERVER;

  private final QueueAggregator aggregator = newAggregator(new CountedMetrics());
  private long dimensionsNotSent;
  private long documentsNotSent;
  private long sequence;

  private final class CountedMetrics extends SpanPipelineMetrics {
    @Override
    public void notSent(int dimensions, int documents) {
      dimensionsNotSent += dimensions;
      documentsNotSent += documents;
    }
  }

  /** With a dimension of the span, one of its resource, and one of either. */
  private static Aggregation aggregation() {
    return Aggregation.builder(() -> 1)
        .series(
            new EventsConfig(true, List.of("why"))
                .addTo(
                    SeriesConfig.defaults()
                        .withDimensions(
                            List.of(
                                new Dimension("route", null, From.SPAN),
                                new Dimension("zone", null, From.RESOURCE),
                                new Dimension("tier", null, From.ANY))),
                    StandardProfile.OTEL))
        .histogram(new HistogramConfig(List.of(10.0)))
        .documents(
            new DocumentsConfig(
                Duration.ofSeconds(1),
                List.of(new Threshold(null, Set.of(SpanKind.CLIENT), Duration.ofMillis(20))),
                null,
                null,
                null,
                null))
        .build();
  }

  private static QueueAggregator newAggregator(SpanPipelineMetrics metrics) {
    Aggregation aggregation = aggregation();
    QueueAggregator aggregator =
        aggregation.newAggregator(new QueueId("b", 0), aggregation.newDecoder(), metrics);
    aggregator.beginAt(0);
    return aggregator;
  }

  private SealedWindow sealed(BatchMessage... batches) {
    for (BatchMessage batch : batches) {
      aggregator.accept(batch.message(sequence++), 1_000);
    }
    return SealedWindows.seal(aggregator, sequence, 2_000);
  }

  private static BatchMessage shop() {
    return new BatchMessage("shop").resource("zone", "eu").resource("tier", "gold");
  }

  @Test
  void demandOfAllDimensionsCountsAsInFull() {
    SealedWindow window =
        sealed(
            shop()
                .demand(7, "tier", "route", "of no dimension")
                .grouped("GET", SERVER, 0, MILLI, 0)
                .attribute("route", "/")
                .grouped("GET", SERVER, 0, MILLI, 0)
                .attribute("tier", "silver"));

    assertThat(countsByValues(window))
        .isEqualTo(
            Map.of(
                values("shop", "GET", "2", "0", "/", "eu", "gold", null, null), List.of(1L, 0L),
                values("shop", "GET", "2", "0", null, "eu", "silver", null, null),
                    List.of(1L, 0L)));
    assertThat(dimensionsNotSent).isZero();
  }

  @Test
  void dimensionThatTheDemandLacksIsNotEmpty() {
    SealedWindow window =
        sealed(
            shop()
                .demand(7, "route")
                .grouped("GET", SERVER, 0, MILLI, 0)
                .attribute("route", "/")
                .grouped("GET", SERVER, 0, MILLI, 0)
                .attribute("route", "/")
                .grouped("GET", SERVER, 0, MILLI, 0));

    assertThat(countsByValues(window).keySet())
        .as("the resource does not replace what the span may have had")
        .containsExactlyInAnyOrder(
            values("shop", "GET", "2", "0", "/", "eu", NOT_SENT, null, null),
            values("shop", "GET", "2", "0", null, "eu", NOT_SENT, null, null));
    assertThat(dimensionsNotSent).isEqualTo(3);
    assertThat(documentsNotSent).isZero();
  }

  @Test
  void demandWithoutKeysLacksAllDimensionsOfSpans() {
    SealedWindow window = sealed(shop().demand(7).grouped("GET", SERVER, 0, MILLI, 0));

    assertThat(countsByValues(window).keySet())
        .containsExactly(values("shop", "GET", "2", "0", NOT_SENT, "eu", NOT_SENT, null, null));
  }

  @Test
  void valueThatTheGroupCarriesCounts() {
    SealedWindow window =
        sealed(
            shop()
                .demand(7, "route")
                .grouped("GET", SERVER, 0, MILLI, 0)
                .attribute("tier", "silver"));

    assertThat(countsByValues(window).keySet())
        .containsExactly(values("shop", "GET", "2", "0", null, "eu", "silver", null, null));
    assertThat(dimensionsNotSent).isZero();
  }

  @Test
  void wholeSpansOfTheBatchHaveAllTheirAttributes() {
    SealedWindow window =
        sealed(shop().demand(7).span("GET", MILLI).grouped("SET", SERVER, 0, MILLI, 0));

    assertThat(countsByValues(window).keySet())
        .containsExactlyInAnyOrder(
            values("shop", "GET", "2", "0", null, "eu", "gold", null, null),
            values("shop", "SET", "2", "0", NOT_SENT, "eu", NOT_SENT, null, null));
    assertThat(dimensionsNotSent).isEqualTo(1);
  }

  @Test
  void groupsWithoutADemandLackWhatTheirSpansLacked() {
    SealedWindow window =
        sealed(
            shop().demand(7).grouped("SET", SERVER, 0, MILLI, 0),
            shop().grouped("GET", CLIENT, 0, SECOND, 0));

    assertThat(countsByValues(window).keySet())
        .as("the batch before leaves no trace")
        .contains(values("shop", "GET", "3", "0", null, "eu", "gold", null, null));
    assertThat(dimensionsNotSent).isEqualTo(1);
    assertThat(documentsNotSent).isZero();
  }

  @Test
  void eventsLackWhatTheirGroupLacks() {
    SealedWindow window =
        sealed(
            shop()
                .demand(7, "route")
                .grouped("GET", SERVER, 0, MILLI, 0)
                .event("retry", "why", "timeout"));

    assertThat(countsByValues(window).keySet())
        .contains(values("shop", "GET", "10", "0", null, "eu", NOT_SENT, "retry", "timeout"));
  }

  @Test
  void slowSpansThatAgentsDidNotKnowAreCountedOutsideTheBooks() {
    SealedWindow window =
        sealed(
            shop()
                .demand(7, "route", "tier")
                .grouped("GET", SERVER, 0, SECOND - 1, 0)
                .grouped("GET", SERVER, 0, SECOND, 0)
                .grouped("GET", SERVER, 0, 3 * SECOND, 0)
                .grouped("SET", CLIENT, 0, 20 * MILLI, 0)
                .grouped("SET", CLIENT, 0, 20 * MILLI - 1, 0)
                .span("SET", CLIENT, 0, SECOND, 0));

    assertThat(documentsNotSent).isEqualTo(3);
    assertThat(dimensionsNotSent).isZero();
    assertThat(window.books())
        .usingRecursiveFieldByFieldElementComparatorIgnoringFields("bytes")
        .containsExactly(new Books("shop", 6, 6, 0, 0, 0, Map.of(), 0));
    assertThat(window.documents()).as("the whole one").hasSize(1);
  }

  @Test
  void repeatedBatchCountsNothingAgain() {
    byte[] message = shop().demand(7).grouped("GET", SERVER, 0, 2 * SECOND, 0).message(0);
    aggregator.accept(message, 1_000);
    aggregator.accept(message, 1_000);

    assertThat(dimensionsNotSent).isEqualTo(1);
    assertThat(documentsNotSent).isEqualTo(1);
  }

  @Test
  void groupsByDemandAllocateNothing() {
    byte[][] messages = new byte[2_000][];
    for (int i = 0; i < messages.length; i++) {
      BatchMessage batch = shop().demand(7, "route").span("GET", MILLI);
      for (int span = 0; span < 20; span++) {
        batch.grouped("GET " + span % 5, SERVER, 0, SECOND, 0).attribute("route", "/");
      }
      messages[i] = batch.message(i);
    }
    BatchDecoder decoder = aggregation().newDecoder();
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 3; round++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (byte[] message : messages) {
        decoder.decode(message, 0, message.length);
        decoder.lacksDimension(1);
      }
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }

    assertThat(least).isZero();
  }
}
