package org.traceetl.server.features.completeness;

import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.traceetl.server.features.completeness.Completeness.View;
import org.traceetl.server.http.Access;
import org.traceetl.server.http.Allowed;

/** Until when the spans of applications and queues are complete, and which agents they wait for. */
@RestController
public final class CompletenessResource {
  private final Completeness completeness;

  /**
   * @param completeness null if this server does not read the fleet's windows
   */
  public CompletenessResource(Completeness completeness) {
    this.completeness = completeness;
  }

  record Answer(boolean upToDate, List<Application> applications, List<Queue> queues) {}

  record Application(
      String application, Instant completeUntil, List<Agent> heldBackBy, List<Agent> excluded) {
    /** Agents send spans of several applications, so that only those who see all see them. */
    private static Application of(View view, Access access) {
      return new Application(
          view.name(),
          time(view),
          access.isToAll() ? named(view, false) : List.of(),
          access.isToAll() ? named(view, true) : List.of());
    }
  }

  record Queue(
      String queue,
      Instant completeUntil,
      int agents,
      List<Agent> heldBackBy,
      List<Agent> excluded) {
    private static Queue of(View view) {
      return new Queue(
          view.name(), time(view), view.agents(), named(view, false), named(view, true));
    }
  }

  record Agent(String host, String agent) {}

  private static Instant time(View view) {
    return view.untilMillis() == null ? null : Instant.ofEpochMilli(view.untilMillis());
  }

  private static List<Agent> named(View view, boolean isExcluded) {
    return view.named().stream()
        .filter(agent -> agent.isExcluded() == isExcluded)
        .map(agent -> new Agent(agent.host(), new UUID(agent.high(), agent.low()).toString()))
        .distinct()
        .toList();
  }

  @GetMapping("/api/completeness")
  Answer completeness(
      @RequestParam(required = false) @Allowed(max = Allowed.NAME) String application,
      @RequestParam(defaultValue = "1000") @Allowed(max = Completeness.MAX_APPLICATIONS) int limit,
      Access access) {
    if (completeness == null) {
      return new Answer(false, List.of(), List.of());
    }
    return new Answer(
        completeness.isUpToDate(),
        completeness.applications().stream()
            .filter(view -> access.sees(view.name()))
            .filter(view -> application == null || application.equals(view.name()))
            .limit(limit)
            .map(view -> Application.of(view, access))
            .toList(),
        access.isToAll() ? completeness.queues().stream().map(Queue::of).toList() : List.of());
  }
}
