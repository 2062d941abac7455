package org.traceetl.server.features.hotspot;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.traceetl.server.component.Background;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.http.Feature;
import org.traceetl.server.window.QueueId;

/**
 * Automatic hotspots.
 *
 * @param hotspots null if they are disabled
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
        "1 if this server decides on the hotspots of the fleet, else 0.",
        () -> hotspots.picture().state() == Hotspots.State.DECIDER ? 1 : 0);
    registry.gauge(
        "trace_etl_hotspot_epoch",
        "Epoch of the hotspot decisions in force; 0 for none.",
        () -> hotspots.picture().epoch());
    registry.gauge(
        "trace_etl_hotspot_queue_max_to_mean",
        "Spans per second on the most loaded queue, divided by the mean of all queues, at"
            + " the last check.",
        () -> hotspots.picture().maxToMean());
    registry.gauge(
        "trace_etl_hotspot_queues",
        "Queues of each application that has more queues than the default; only the most"
            + " loaded applications.",
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
        "Approximate number of spans that are not in a sealed window yet; applications with"
            + " more queues than the default and the most loaded ones.",
        "application",
        () ->
            hotspots.picture().applications().stream()
                .limit(MOST_HOTSPOTS_IN_METRICS)
                .collect(
                    Collectors.toMap(
                        Hotspots.Application::application, Hotspots.Application::lag)));
    registry.counter(
        "trace_etl_hotspot_decisions_total",
        "Hotspot decisions written by this server.",
        hotspots::decided);
    registry.counter(
        "trace_etl_hotspot_decisions_lost_total",
        "Hotspot decisions of this server that are void because another server wrote one first.",
        hotspots::lost);
    registry.counter(
        "trace_etl_hotspot_records_refused_total",
        "Records in the topic of the decisions that the hotspot decider could not read.",
        hotspots::refused);
  }

  @Override
  public List<Object> resources() {
    return List.of(new HotspotsResource(() -> hotspots == null ? null : hotspots.picture()));
  }

  /** Returns the queues whose servers do not keep up. Does not block. */
  public Set<QueueId> growing() {
    return hotspots == null
        ? Set.of()
        : hotspots.picture().behind().stream()
            .filter(Hotspots.Queue::growing)
            .map(Hotspots.Queue::queue)
            .collect(Collectors.toSet());
  }

  @Override
  public Background background() {
    return hotspots;
  }
}
