package org.traceetl.server.features.hotspot;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.http.Feature;
import org.traceetl.server.rocketmq.Endpoint;
import org.traceetl.server.window.QueueId;

/**
 * Automatic hotspots.
 *
 * @param hotspots null where they are disabled
 */
public record HotspotFeature(HotspotDecider hotspots) implements Feature {
  private static final int MOST_HOTSPOTS_IN_METRICS = 50;

  @Override
  public void metrics(MetricRegistry registry) {
    if (hotspots == null) {
      return;
    }
    registry.gauge(
        "trace_etl_hotspot_decider",
        "1 if this server decides about hotspots, else 0.",
        () -> hotspots.picture().state() == Hotspots.State.DECIDER ? 1 : 0);
    registry.gauge(
        "trace_etl_hotspot_epoch",
        "Epoch of the decisions in force; 0 for none.",
        () -> hotspots.picture().epoch());
    registry.gauge(
        "trace_etl_hotspot_queue_max_to_mean",
        "Spans a second that arrive on the heaviest queue by the mean of all, at the last look.",
        () -> hotspots.picture().maxToMean());
    registry.gauge(
        "trace_etl_hotspot_queues",
        "Queues of the applications that live on more than by default; of those with most load.",
        "application",
        () ->
            hotspots.picture().applications().stream()
                .filter(application -> application.sinceMillis() != 0)
                .limit(MOST_HOTSPOTS_IN_METRICS)
                .collect(
                    Collectors.toMap(
                        Hotspots.Application::application, Hotspots.Application::queues)));
    registry.gauge(
        "trace_etl_hotspot_lag_spans",
        "Spans that wait to be counted, about, those of open windows among them; of applications"
            + " that live on more queues, and of those with most load.",
        "application",
        () ->
            hotspots.picture().applications().stream()
                .limit(MOST_HOTSPOTS_IN_METRICS)
                .collect(
                    Collectors.toMap(
                        Hotspots.Application::application, Hotspots.Application::lag)));
    registry.counter(
        "trace_etl_hotspot_decisions_total",
        "Decisions about hotspots that this server has written.",
        hotspots::decided);
    registry.counter(
        "trace_etl_hotspot_decisions_lost_total",
        "Decisions of this server that do not hold, as another server's came before.",
        hotspots::lost);
    registry.counter(
        "trace_etl_hotspot_records_refused_total",
        "Records in the topic of the decisions that could not be read.",
        hotspots::refused);
  }

  @Override
  public List<Object> resources() {
    return List.of(new HotspotsResource(() -> hotspots == null ? null : hotspots.picture()));
  }

  /** Queues whose servers do not keep up with them. Never waits. */
  public Set<QueueId> growing() {
    return hotspots == null
        ? Set.of()
        : hotspots.picture().behind().stream()
            .filter(Hotspots.Queue::growing)
            .map(Hotspots.Queue::queue)
            .collect(Collectors.toSet());
  }

  @Override
  public void start(Endpoint here) {
    if (hotspots != null) {
      hotspots.start();
    }
  }

  @Override
  public boolean healthy() {
    return hotspots == null || hotspots.alive();
  }

  @Override
  public void close() {
    if (hotspots != null) {
      hotspots.close();
    }
  }
}
