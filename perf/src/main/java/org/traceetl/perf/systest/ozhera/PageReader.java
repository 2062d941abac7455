package org.traceetl.perf.systest.ozhera;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Reads pages as a person would while Prometheus scrapes; its reads must not consume deltas. */
final class PageReader implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("page-reader").factory());
  private final AtomicLong pages = new AtomicLong();

  PageReader(HttpClient http, List<URI> uris, Duration interval) {
    thread.scheduleWithFixedDelay(
        () -> uris.forEach(uri -> read(http, uri)),
        interval.toMillis(),
        interval.toMillis(),
        TimeUnit.MILLISECONDS);
  }

  private void read(HttpClient http, URI uri) {
    HttpRequest request =
        HttpRequest.newBuilder(uri).timeout(PATIENCE).header("User-Agent", "curl/8.5.0").build();
    try {
      if (http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == 200) {
        pages.incrementAndGet();
      }
    } catch (IOException e) {
      // The server may be down.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  long pages() {
    return pages.get();
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
