package org.traceetl.server.features.hotspot;

import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * The applications that use more queues than others, why, and since when; after them those with the
 * most load. Every server returns the same.
 */
@RestController
public final class HotspotsResource {
  private final Supplier<Hotspots> current;

  /**
   * @param current gives null if hotspots are disabled
   */
  public HotspotsResource(Supplier<Hotspots> current) {
    this.current = current;
  }

  record Disabled(String state, List<Application> applications, List<Queue> behind) {}

  record Enabled(
      String state,
      long epoch,
      Instant decided,
      Instant looked,
      int queues,
      Double maxToMean,
      List<Application> applications,
      List<Queue> behind) {}

  record Application(
      String application,
      double spansPerSecond,
      double share,
      int queues,
      int usedQueues,
      double heaviestQueueSpansPerSecond,
      String spread,
      Instant since,
      boolean pinned,
      boolean stuck,
      double lagSpans) {
    static Application of(Hotspots.Application one) {
      return new Application(
          one.application(),
          one.rate(),
          one.share(),
          one.queues(),
          one.usedQueues(),
          one.heaviest(),
          one.random() ? "random" : "series",
          timeOrNull(one.sinceMillis()),
          one.pinned(),
          one.stuck(),
          one.lag());
    }
  }

  record Queue(
      String queue,
      double spansPerSecond,
      double recordedSpansPerSecond,
      long lagMessages,
      Double lagSpans,
      boolean growing) {
    static Queue of(Hotspots.Queue one) {
      return new Queue(
          one.queue().toString(),
          one.rate(),
          one.recorded(),
          one.lagMessages(),
          orNull(one.lag()),
          one.growing());
    }
  }

  @GetMapping("/api/hotspots")
  Object hotspots() {
    Hotspots hotspots = current.get();
    if (hotspots == null) {
      return new Disabled("disabled", List.of(), List.of());
    }
    return new Enabled(
        hotspots.state().name().toLowerCase(Locale.ROOT).replace('_', '-'),
        hotspots.epoch(),
        timeOrNull(hotspots.decidedMillis()),
        timeOrNull(hotspots.loadMillis()),
        hotspots.queues(),
        orNull(hotspots.maxToMean()),
        hotspots.applications().stream().map(Application::of).toList(),
        hotspots.behind().stream().map(Queue::of).toList());
  }

  private static Double orNull(double value) {
    return Double.isNaN(value) ? null : (Double) value;
  }

  /** Returns null for 0, which stands for never. */
  private static Instant timeOrNull(long millis) {
    return millis == 0 ? null : Instant.ofEpochMilli(millis);
  }
}
