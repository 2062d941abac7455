package org.traceetl.perf.bench;

import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.traceetl.perf.bench.load.OtlpExport;
import org.traceetl.perf.bench.load.OtlpSender;
import org.traceetl.perf.bench.report.Durations;

/**
 * Measures the time from sending a span until a scrape shows it. Single spans of a separate service
 * are sent at regular intervals, and the page is polled.
 */
final class Visibility {
  private static final Duration BETWEEN_PROBES = Duration.ofMillis(50);

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
   * @throws IOException if a span never becomes visible
   */
  Durations measure(Duration length) throws IOException, InterruptedException {
    List<Long> sentNanos = new ArrayList<>();
    List<Long> latencies = new ArrayList<>();
    Duration betweenScrapes = Duration.ofMillis(Math.clamp(window.toMillis() / 10, 50, 250));
    long startNanos = System.nanoTime();
    long nextScrapeNanos = 0;
    long sinceStart = 0;
    while (sinceStart < length.toNanos() || latencies.size() < sentNanos.size()) {
      if (sinceStart > length.plus(window.multipliedBy(2)).plusSeconds(10).toNanos()) {
        throw new IOException(
            "%d of %d single spans did not appear on the page; %s"
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
    Durations seen = new Durations();
    latencies.forEach(seen::add);
    return seen;
  }

  private static byte[] probe(int number) {
    Span.Builder span =
        Span.newBuilder()
            .setTraceId(OtlpExport.id(1, number))
            .setSpanId(OtlpExport.id(number))
            .setName("seen")
            .setStartTimeUnixNano(1_790_000_000_000_000_000L)
            .setEndTimeUnixNano(1_790_000_000_001_000_000L);
    return OtlpExport.request(
        Resource.newBuilder().addAttributes(OtlpExport.attribute("service.name", Scrape.PROBE)),
        ScopeSpans.newBuilder().addSpans(span));
  }
}
