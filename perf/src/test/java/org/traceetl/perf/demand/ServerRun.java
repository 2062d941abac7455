package org.traceetl.perf.demand;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.TimeoutException;
import org.traceetl.common.Clocks;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.consume.queue.FilledWindow;
import org.traceetl.server.consume.queue.QueueAggregator;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.features.pages.SpanPages;
import org.traceetl.server.series.Cardinality;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.testkit.PageSample;

/**
 * What a server shows of batches.
 *
 * @param page its lines in OpenMetrics, sorted, without exemplars
 * @param documents of slow and failed spans, sorted
 * @param metrics the server's own
 */
record ServerRun(List<String> page, List<TraceDocument> documents, MetricRegistry metrics) {
  private static final long NOW_MILLIS = 1_767_225_700_000L;
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final int WINDOW_MESSAGES = 7;
  private static final int REPEAT_EVERY = 3;

  /** Aggregates messages, each third of them twice. The books must balance. */
  static ServerRun of(ServerConfig config, SortedMap<Integer, List<byte[]>> messages) {
    Aggregation aggregation =
        Aggregation.builder(() -> 1)
            .series(config.series())
            .histogram(config.histogram())
            .documents(config.documents())
            .window(config.window())
            .unit(config.metrics().unit())
            .deduplication(config.deduplication())
            .build();
    BatchDecoder decoder = aggregation.newDecoder();
    MetricRegistry registry = new MetricRegistry();
    SpanPipelineMetrics metrics =
        new SpanPipelineMetrics(registry) {
          @Override
          public void crowded(QueueId queue, Cardinality cardinality) {
            // Logs nothing.
          }
        };
    List<TraceDocument> documents = new ArrayList<>();
    List<Books> books = new ArrayList<>();
    SpanNaming naming = new SpanNaming(config.metrics(), config.series(), config.histogram());
    try (SpanPages pages = new SpanPages(naming, Clocks.SYSTEM, nanos -> {})) {
      pages.start();
      messages.forEach((queue, bodies) -> {
        QueueAggregator aggregator =
            aggregation.newAggregator(new QueueId("broker", queue), decoder, metrics);
        aggregator.beginAt(0);
        for (int i = 0; i < bodies.size(); i++) {
          aggregator.accept(bodies.get(i), NOW_MILLIS);
          if (i % REPEAT_EVERY == 0) {
            aggregator.accept(bodies.get(i), NOW_MILLIS);
          }
          if (i % WINDOW_MESSAGES == 0 || i == bodies.size() - 1) {
            FilledWindow filled = aggregator.swap(i + 1L, NOW_MILLIS);
            SealedWindow window = filled.seal();
            pages.window(window);
            filled.giveBack();
            documents.addAll(window.documents());
            books.addAll(window.books());
          }
        }
      });
      documents.removeIf(document -> document.reason() == TraceDocument.Reason.EXEMPLAR);
      assertThat(books).allMatch(Books::balance);
      documents.sort(
          Comparator.comparing(TraceDocument::traceId).thenComparing(TraceDocument::spanId));
      return new ServerRun(lines(pages), documents, registry);
    } catch (IOException | InterruptedException | TimeoutException e) {
      throw new AssertionError(e);
    }
  }

  private static List<String> lines(SpanPages pages)
      throws IOException, InterruptedException, TimeoutException {
    pages.await(PATIENCE);
    var page = new ByteArrayOutputStream();
    pages.page(Encoding.OPENMETRICS, PATIENCE).writeTo(page);
    return page.toString(UTF_8).lines().map(ServerRun::withoutExemplar).sorted().toList();
  }

  private static String withoutExemplar(String line) {
    int exemplar = line.lastIndexOf(" # {");
    return exemplar < 0 ? line : line.substring(0, exemplar);
  }

  /** Returns the samples of the page. */
  List<PageSample> samples() {
    return PageSample.of(String.join("\n", page));
  }

  /** Returns the sum of one of the server's own counters. */
  double counter(String name) {
    return Collections.list(metrics.collectors().metricFamilySamples()).stream()
        .flatMap(family -> family.samples.stream())
        .filter(sample -> sample.name.equals(name))
        .mapToDouble(sample -> sample.value)
        .sum();
  }
}
