package org.traceetl.server.features.history;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.traceetl.common.Clocks;
import org.traceetl.server.component.Background;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.config.ObjectiveConfig;
import org.traceetl.server.http.Feature;
import org.traceetl.server.journal.FleetWindows;
import org.traceetl.server.journal.chain.JournalComponent;
import org.traceetl.server.journal.fleet.FleetFollower;
import org.traceetl.server.journal.fleet.FleetJournals;
import org.traceetl.server.minutes.LastHour;
import org.traceetl.server.queues.KnownQueues;

/** The live history of the fleet. */
public final class HistoryFeature implements Feature {
  /** Null if it is disabled. */
  private final History history;

  private final Supplier<KnownQueues> queues;
  private final double slowMillis;
  private final Function<String, List<ObjectiveConfig>> objectives;

  /** Null before {@link #follow}. */
  private HistoryFollower follower;

  /** Null before {@link #follow}. */
  private FleetFollower journals;

  /**
   * Creates a history that follows nothing yet.
   *
   * @param history null if it is disabled
   * @param queues further facts about the fleet's queues
   * @param slowMillis p99 from which an application is slow
   * @param objectives returns those of an application that are in force
   */
  public HistoryFeature(
      History history,
      Supplier<KnownQueues> queues,
      double slowMillis,
      Function<String, List<ObjectiveConfig>> objectives) {
    this.history = history;
    this.queues = queues;
    this.slowMillis = slowMillis;
    this.objectives = objectives;
  }

  /**
   * Follows the journals of the whole fleet, unless the history is disabled. Call once, before the
   * start.
   *
   * @param snapshotInterval interval of snapshots; each queue has one within this time before the
   *     last hour
   * @param rules how series are read
   * @param fleet receives what it reads
   */
  public HistoryFeature follow(
      JournalComponent journal,
      Duration snapshotInterval,
      SeriesRules rules,
      int maxOperations,
      FleetWindows fleet,
      Clocks clocks) {
    if (history != null) {
      follower =
          new HistoryFollower(history, rules, maxOperations, fleet.readBy(history::upToDate));
      journals =
          new FleetFollower(
              "trace-history",
              FleetJournals.of(journal),
              LastHour.LENGTH.plus(snapshotInterval),
              follower,
              clocks);
    }
    return this;
  }

  /** For simulations: returns what {@code /api/history} reads; null if it is disabled. */
  public History history() {
    return history;
  }

  @Override
  public void metrics(MetricRegistry registry) {
    if (follower == null) {
      return;
    }
    registry.gauge(
        "trace_etl_history_up_to_date",
        "1 if this server's history contains the last hour of every queue, else 0.",
        () -> history.upToDate() ? 1 : 0);
    registry.gauge(
        "trace_etl_history_applications",
        "Applications that this server's history lists separately.",
        history::applications);
    registry.gauge(
        "trace_etl_history_operations",
        "Operations (application, span name and kind) and objectives that this server's history"
            + " lists separately.",
        history::operations);
    registry.counter(
        "trace_etl_history_windows_total",
        "Windows of all queues that were read for the history.",
        journals::windows);
    registry.counter(
        "trace_etl_history_unknown_rows_total",
        "Rows of windows left out of the history because the journal no longer contains"
            + " their series, or because the limits leave no room for their objective.",
        () -> follower.unknownRows() + history.leftOutObjectives());
    registry.counter(
        "trace_etl_history_misdated_windows_total",
        "Windows that begin or have a pane in the future. The history dates such a pane by its"
            + " window, and leaves out calls that are still in the future.",
        history::misdated);
  }

  @Override
  public List<Object> resources() {
    return List.of(
        new HistoryResource(history, slowMillis),
        new ObjectivesResource(history, objectives),
        new UsageResource(history),
        new QueuesResource(history, queues));
  }

  @Override
  public void status(Map<String, Object> fields) {
    fields.put("upToDate", history == null ? null : (Boolean) history.upToDate());
  }

  @Override
  public Background background() {
    return journals;
  }
}
