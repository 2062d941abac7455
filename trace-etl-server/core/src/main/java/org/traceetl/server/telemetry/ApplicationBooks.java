package org.traceetl.server.telemetry;

import io.prometheus.client.Collector;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.Counter;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.traceetl.proto.Rejection;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Adds up the books of sealed windows by application. An application is removed after a time
 * without spans, or if there are too many: then the one that was silent for longest goes first.
 */
final class ApplicationBooks implements WindowFollower {
  private static final String[] LABELS = {"application"};

  /** A separate registry that is read between two windows, so that the books balance. */
  private final CollectorRegistry registry = new CollectorRegistry();

  private final Counter received;
  private final Counter recorded;
  private final Counter overflowed;
  private final Counter filtered;
  private final Counter duplicate;
  private final Counter rejected;
  private final Counter heldBack;
  private final Counter windows;
  private final int maxApplications;
  private final long idleMillis;

  /** Time of the latest spans by application, on the windows' clock; the most silent one first. */
  private final Map<String, Long> lastMillis = new LinkedHashMap<>(16, 0.75f, true);

  ApplicationBooks(int maxApplications, long idleMillis) {
    this.maxApplications = maxApplications;
    this.idleMillis = idleMillis;
    received =
        counter(
            "received", "Spans received: recorded, overflowed, filtered, duplicate and rejected.");
    recorded = counter("recorded", "Spans counted in a series of their own.");
    overflowed = counter("overflowed", "Spans counted in their application's overflow series.");
    filtered = counter("filtered", "Spans not counted because a configured filter excludes them.");
    duplicate =
        counter("duplicate", "Spans of batches that were received before; not counted again.");
    rejected =
        Counter.build(
                "trace_etl_spans_rejected_total",
                "Spans of malformed batches, which are not counted, by reason.")
            .labelNames("application", "reason")
            .register(registry);
    heldBack =
        Counter.build(
                "trace_etl_documents_held_back_total",
                "Slow or failed spans without a document because of a rate limit or a"
                    + " missing trace ID.")
            .labelNames(LABELS)
            .register(registry);
    windows =
        Counter.build("trace_etl_windows_total", "Windows sealed and stored in the journal.")
            .register(registry);
    // Rejections before the application is known. They exist from the start so that alerts work.
    for (Rejection reason : Rejection.values()) {
      if (reason != Rejection.NONE) {
        rejected.labels("", reason.label());
      }
    }
  }

  @Override
  public synchronized void window(SealedWindow window) {
    windows.inc();
    for (Books books : window.books()) {
      add(books, window.sealedMillis());
    }
    var quietest = lastMillis.entrySet().iterator();
    while (quietest.hasNext()) {
      Map.Entry<String, Long> entry = quietest.next();
      if (lastMillis.size() <= maxApplications
          && window.sealedMillis() - entry.getValue() <= idleMillis) {
        break;
      }
      quietest.remove();
      remove(entry.getKey());
    }
  }

  @Override
  public void released(QueueId queue) {
    // The counts of a released queue stay.
  }

  /** Returns the samples as of the latest window. */
  synchronized List<Collector.MetricFamilySamples> samples() {
    return Collections.list(registry.metricFamilySamples());
  }

  private void add(Books books, long sealedMillis) {
    String application = books.application();
    lastMillis.merge(application, sealedMillis, Math::max);
    received.labels(application).inc(books.received());
    recorded.labels(application).inc(books.recorded());
    overflowed.labels(application).inc(books.overflowed());
    filtered.labels(application).inc(books.filtered());
    duplicate.labels(application).inc(books.duplicate());
    heldBack.labels(application).inc(books.heldBack());
    books.rejected().forEach((reason, spans) -> rejected.labels(application, reason).inc(spans));
  }

  private void remove(String application) {
    for (Counter counter :
        new Counter[] {received, recorded, overflowed, filtered, duplicate, heldBack}) {
      counter.remove(application);
    }
    if (application.isEmpty()) {
      return;
    }
    for (Rejection reason : Rejection.values()) {
      rejected.remove(application, reason.label());
    }
  }

  private Counter counter(String what, String help) {
    return Counter.build("trace_etl_spans_" + what + "_total", help)
        .labelNames(LABELS)
        .register(registry);
  }
}
