package org.traceetl.server.features.history;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.traceetl.server.config.ObjectiveConfig;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.http.Access;
import org.traceetl.server.http.Allowed;

/** What the last hour of the whole fleet says about objectives. */
@RestController
final class ObjectivesResource {
  private static final int RECENT_MINUTES = 5;
  private static final int HOUR_MINUTES = History.MINUTES - 1;
  private static final double NANOS = 1e9;

  private final History history;
  private final Function<String, List<ObjectiveConfig>> inForce;

  /**
   * @param history null if it is disabled
   * @param inForce returns the objectives of an application
   */
  ObjectivesResource(History history, Function<String, List<ObjectiveConfig>> inForce) {
    this.history = history;
    this.inForce = inForce;
  }

  record Answer(
      boolean upToDate,
      String application,
      int minutes,
      double observedSeconds,
      List<Objective> objectives) {}

  /**
   * @param fasterThanSeconds null for any duration
   * @param operation null for all
   * @param burnRate of the hour; null without events
   * @param recentBurnRate of the last minutes; null without events
   * @param budgetSpent in the hour, as part of the window's budget; null without events
   */
  record Objective(
      String name,
      double target,
      Double fasterThanSeconds,
      String operation,
      List<SpanKind> kinds,
      long windowDays,
      long events,
      double good,
      Double burnRate,
      Double recentBurnRate,
      Double budgetSpent) {}

  /** Lists the objectives of an application with their events of the last hour. */
  @GetMapping("/api/objectives")
  Answer objectives(@RequestParam @Allowed(max = Allowed.NAME) String application, Access access) {
    History kept = HistoryResource.kept(history);
    HistoryResource.checkVisible(application, access);
    Map<String, History.Events> hour = kept.objectives(application, HOUR_MINUTES);
    Map<String, History.Events> recent = kept.objectives(application, RECENT_MINUTES);
    Duration observed = Duration.ofMillis(kept.observedMillis(HOUR_MINUTES));
    return new Answer(
        kept.upToDate(),
        application,
        HOUR_MINUTES,
        seconds(observed),
        inForce.apply(application).stream()
            .map(each ->
                objective(
                    each,
                    hour.getOrDefault(each.name(), History.Events.NONE),
                    recent.getOrDefault(each.name(), History.Events.NONE),
                    observed))
            .toList());
  }

  private static Objective objective(
      ObjectiveConfig of, History.Events hour, History.Events recent, Duration observed) {
    Double burnRate = burnRate(of, hour);
    return new Objective(
        of.name(),
        of.target(),
        of.fasterThan() == null ? null : (Double) seconds(of.fasterThan()),
        of.operation(),
        of.kinds().stream().sorted().toList(),
        of.window().toDays(),
        hour.events(),
        hour.good(),
        burnRate,
        burnRate(of, recent),
        burnRate == null ? null : (Double) (burnRate * seconds(observed) / seconds(of.window())));
  }

  /** Returns the bad part of the events, divided by the budget; null without events. */
  private static Double burnRate(ObjectiveConfig of, History.Events events) {
    // A fraction of a sampled event may be good already.
    double bad = Math.max(0, events.events() - events.good());
    return events.events() == 0
        ? null
        : (Double) (bad / events.events() / of.budget().doubleValue());
  }

  private static double seconds(Duration duration) {
    return duration.toNanos() / NANOS;
  }
}
