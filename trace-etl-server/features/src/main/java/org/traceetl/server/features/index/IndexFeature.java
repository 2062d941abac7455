package org.traceetl.server.features.index;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.server.component.Background;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.http.Feature;
import org.traceetl.server.journal.WindowFollower;

/** The trace index, which follows the journal at its own pace. */
public final class IndexFeature implements Feature {
  private static final Logger log = LoggerFactory.getLogger(IndexFeature.class);
  private static final double MILLIS_PER_SECOND = 1_000;

  private final IndexConfig.Type type;
  private final TraceIndex index;

  /** Null without an index. */
  private final IndexFollower follower;

  private final Clocks clocks;

  /**
   * @param index closed with this feature
   */
  public IndexFeature(
      IndexConfig config,
      TraceIndex index,
      IndexFollower.Tails tails,
      Clocks clocks,
      RandomGenerator random) {
    type = config.type();
    this.index = index;
    this.clocks = clocks;
    follower =
        type == IndexConfig.Type.NONE
            ? null
            : new IndexFollower(index, config, tails, clocks, random);
  }

  @Override
  public void metrics(MetricRegistry registry) {
    if (follower == null) {
      return;
    }
    registry.counter(
        "trace_etl_documents_written_total",
        "Documents stored in the trace index.",
        () -> follower.telemetry().written());
    registry.counter(
        "trace_etl_documents_dropped_total",
        "Documents dropped because the trace index refused them, by reason.",
        "reason",
        this::droppedDocuments);
    registry.counter(
        "trace_etl_documents_retried_total",
        "Documents written again after a failed write.",
        () -> follower.telemetry().retried());
    gauge(
        registry,
        "documents_queued",
        "Documents read from the journal that are not in the trace index yet.",
        IndexTelemetry::waitingDocuments);
    gauge(
        registry,
        "documents_queued_bytes",
        "Approximate heap size of the documents that are not in the trace index yet.",
        IndexTelemetry::waitingBytes);
    gauge(
        registry,
        "index_last_error_timestamp_seconds",
        "Unix time of the last failure of the trace index; 0 for none.",
        status -> status.lastErrorMillis() / MILLIS_PER_SECOND);
    lagGauge(
        registry,
        "lag_records",
        "Approximate number of records of a queue's journal that the trace index has not"
            + " processed.",
        IndexLag::records);
    lagGauge(
        registry,
        "lag_seconds",
        "Age of the oldest window that the trace index has not processed; 0 for none.",
        lag ->
            lag.oldestMillis() == 0
                ? 0
                : Math.max(0, clocks.millis() - lag.oldestMillis()) / MILLIS_PER_SECOND);
    registry.gauge(
        "trace_etl_index_healthy",
        "1 if the last call of the trace index succeeded, else 0.",
        () -> index.healthy() ? 1 : 0);
  }

  private void gauge(
      MetricRegistry registry, String what, String help, Function<IndexTelemetry, Number> value) {
    registry.gauge(
        "trace_etl_" + what, help, () -> value.apply(follower.telemetry()).doubleValue());
  }

  private void lagGauge(
      MetricRegistry registry, String what, String help, Function<IndexLag, Number> value) {
    registry.gauge(
        "trace_etl_index_" + what,
        help,
        "queue",
        () ->
            follower.telemetry().lag().entrySet().stream()
                .collect(
                    Collectors.toMap(
                        entry -> entry.getKey().toString(),
                        entry -> value.apply(entry.getValue()))));
  }

  /** All reasons exist from the start: an alert must detect the first refusal. */
  private Map<String, Long> droppedDocuments() {
    Map<String, Long> dropped = new HashMap<>(follower.telemetry().dropped());
    IndexTelemetry.REASONS.forEach(reason -> dropped.putIfAbsent(reason, 0L));
    return dropped;
  }

  @Override
  public List<WindowFollower> followers() {
    return follower == null ? List.of() : List.of(follower);
  }

  record Status(String type, boolean healthy) {}

  @Override
  public List<Object> resources() {
    return List.of(new TracesResource(index));
  }

  @Override
  public void status(Map<String, Object> fields) {
    fields.put("index", new Status(type.name().toLowerCase(Locale.ROOT), index.healthy()));
  }

  /** Alive also if a store or a broker is away. */
  @Override
  public Background background() {
    return follower;
  }

  /**
   * Writes the remaining windows of the journal; those that are left are written by the next owner.
   */
  @Override
  public boolean drain(Duration within) throws InterruptedException {
    boolean drained = follower == null || follower.drain(within);
    if (!drained) {
      log.info(
          "The trace index is behind the journal at the end of the drain; the next owner of"
              + " the queues continues from there");
    }
    return drained;
  }

  @Override
  public void close() {
    Feature.super.close();
    index.close();
  }
}
