package org.traceetl.server.features.why;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.traceetl.common.Clocks;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.Runs;

/** Answers to {@code /api/why}. They change nothing. */
public final class WhyFeature implements Feature {
  private final boolean isEnabled;
  private final Why why;
  private final Runs<WhyAnswer> runs;
  private final WhyResource resource;
  private final Map<String, LongAdder> requests = new ConcurrentHashMap<>();

  /** How a request ends. */
  enum Result {
    ANSWERED,
    NO_SPANS,
    BUSY,
    CANCELLED,
    FAILED
  }

  public WhyFeature(WhyConfig config, Why why, Clocks clocks) {
    isEnabled = config.enabled();
    this.why = why;
    runs = new Runs<>(clocks.threads(), "trace-why");
    for (Result result : Result.values()) {
      requests.put(name(result), new LongAdder());
    }
    resource =
        new WhyResource(why, runs, clocks.wall(), result -> requests.get(name(result)).increment());
  }

  private static String name(Result result) {
    return result.name().toLowerCase(Locale.ROOT);
  }

  @Override
  public List<Object> resources() {
    return isEnabled ? List.of(resource) : List.of();
  }

  @Override
  public void metrics(MetricRegistry registry) {
    registry.counter(
        "trace_etl_why_requests_total",
        "Requests of /api/why with valid parameters, by result.",
        "result",
        () -> {
          Map<String, Long> counts = new TreeMap<>();
          requests.forEach((result, count) -> counts.put(result, count.sum()));
          return counts;
        });
    registry.counter(
        "trace_etl_why_messages_total",
        "Messages that ended requests of /api/why read from the broker.",
        why::messages);
  }

  @Override
  public boolean drain(Duration within) {
    runs.close();
    return true;
  }

  @Override
  public void close() {
    runs.close();
  }
}
