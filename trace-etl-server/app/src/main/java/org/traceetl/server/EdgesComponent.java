package org.traceetl.server;

import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;
import org.traceetl.server.component.Component;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.consume.SpanPipeline;
import org.traceetl.server.queues.QueueStatus;
import org.traceetl.server.rocketmq.Endpoint;

/**
 * Reads half-edges: a pipeline as that of spans, with topics of its own.
 *
 * @param metrics get its metrics, under the names of those of spans
 */
record EdgesComponent(SpanPipeline pipeline, MetricRegistry metrics) implements Component {
  EdgesComponent {
    pipeline.metrics(metrics);
    metrics.gauge(
        "trace_etl_queue_open_halves",
        "Half-edges of a queue that wait for their other end, or for further ones.",
        "queue",
        () ->
            pipeline.queues().stream()
                .collect(
                    Collectors.toMap(
                        status -> status.queue().toString(),
                        QueueStatus::openHalves,
                        (first, second) -> second)));
  }

  @Override
  public void start(Endpoint here) {
    pipeline.start(here);
  }

  @Override
  public boolean healthy() {
    return pipeline.healthy();
  }

  /** Returns true: a server that reads spans is ready, and {@link #missing} says what it lacks. */
  @Override
  public boolean ready() {
    return true;
  }

  @Override
  public Map<String, String> missing() {
    return pipeline.missing().entrySet().stream()
        .collect(
            Collectors.toMap(missing -> "half-edges: " + missing.getKey(), Map.Entry::getValue));
  }

  /** Uses half of the time: the queues of spans, which drain next, need the rest. */
  @Override
  public boolean drain(Duration within) {
    return pipeline.drain(within.dividedBy(2));
  }

  @Override
  public void close() {
    pipeline.close();
  }
}
