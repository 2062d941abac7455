package org.traceetl.perf.bench;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.traceetl.perf.bench.load.OtlpSender;

/**
 * Measures the time from sending a span until a scrape shows it. Single spans of a separate service
 * are sent at regular intervals, and the page is polled.
 */
final class Visibility {
  private static final Duration BETWEEN_PROBES = Duration.ofMillis(50);
  private static final int TRACE_ID_BYTES = 16;

  private final HttpClient http;
  private final URI page;
  private final OtlpSender sender;
  private final Duration window;
  private final AtomicReference<String> refusal = new AtomicReference<>();

  Visibility(HttpClient http, URI page, OtlpSender sender, Duration window) {
    this.http = http;
    this.page = page;
    this.sender = sender;
    this.window = window;
  }

  /**
   * Measures for a duration, and then until the last span is visible.
   *
   * @return nanoseconds, ascending
   * @throws IOException if a span never becomes visible
   */
  long[] measure(Duration length) throws IOException, InterruptedException {
    List<Long> sentNanos = new ArrayList<>();
    List<Long> latencies = new ArrayList<>();
    Duration betweenScrapes = Duration.ofMillis(Math.clamp(window.toMillis() / 10, 50, 250));
    long startNanos = System.nanoTime();
    long nextScrapeNanos = 0;
    long sinceStart = 0;
    while (sinceStart < length.toNanos() || latencies.size() < sentNanos.size()) {
      if (sinceStart > length.plus(window.multipliedBy(2)).plusSeconds(10).toNanos()) {
        throw new IOException(
            "%d of %d single spans never came to the page; %s"
                .formatted(sentNanos.size() - latencies.size(), sentNanos.size(), refusal.get()));
      }
      if (sinceStart < length.toNanos()
          && sinceStart >= sentNanos.size() * BETWEEN_PROBES.toNanos()) {
        sentNanos.add(System.nanoTime());
        sender.send(probe(sentNanos.size()), answer -> refusal.compareAndSet(null, answer));
      }
      if (sinceStart >= nextScrapeNanos) {
        long seen = Scrape.of(http, page).probes();
        long now = System.nanoTime();
        while (latencies.size() < seen) {
          latencies.add(now - sentNanos.get(latencies.size()));
        }
        nextScrapeNanos = now - startNanos + betweenScrapes.toNanos();
      }
      Thread.sleep(1);
      sinceStart = System.nanoTime() - startNanos;
    }
    long[] rising = latencies.stream().mapToLong(nanos -> nanos).toArray();
    Arrays.sort(rising);
    return rising;
  }

  private static byte[] probe(int number) {
    ByteString traceId =
        ByteString.copyFrom(ByteBuffer.allocate(TRACE_ID_BYTES).putLong(1).putLong(number).flip());
    Span span =
        Span.newBuilder()
            .setTraceId(traceId)
            .setSpanId(traceId.substring(Long.BYTES))
            .setName("seen")
            .setStartTimeUnixNano(1_790_000_000_000_000_000L)
            .setEndTimeUnixNano(1_790_000_000_001_000_000L)
            .build();
    KeyValue service =
        KeyValue.newBuilder()
            .setKey("service.name")
            .setValue(AnyValue.newBuilder().setStringValue(Scrape.PROBE))
            .build();
    return ExportTraceServiceRequest.newBuilder()
        .addResourceSpans(
            ResourceSpans.newBuilder()
                .setResource(Resource.newBuilder().addAttributes(service))
                .addScopeSpans(ScopeSpans.newBuilder().addSpans(span)))
        .build()
        .toByteArray();
  }
}
