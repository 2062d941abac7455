package org.traceetl.server.features.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.traceetl.server.minutes.MinuteColumns;
import org.traceetl.server.window.Books;

/**
 * Calls of each application and of its operations, and events of its objectives, by minute. Not
 * thread-safe.
 *
 * <p>Bounded: applications and operations above the limits are added up as {@link Books#OTHER}.
 * Objectives take places of operations; those above the limit, and those of {@link Books#OTHER},
 * are left out. One without spans for an hour is removed.
 */
final class ApplicationMinutes {
  /** An operation of an application. */
  record Name(String operation, String kind) {}

  /** An application. */
  static final class Application {
    private final String name;
    private final MinuteColumns.Minutes minutes = new MinuteColumns.Minutes();
    private final Map<Name, MinuteColumns.Minutes> operations = new HashMap<>();
    private final Map<String, MinuteColumns.Minutes> objectives = new HashMap<>();

    /** The part of the calls that are being added; null for nothing. */
    private SpanSums sums;

    /** Whether any calls were sampled. */
    private boolean isSampled;

    private Application(String name) {
      this.name = name;
    }

    String name() {
      return name;
    }

    MinuteColumns.Minutes minutes() {
      return minutes;
    }

    Map<Name, MinuteColumns.Minutes> operations() {
      return operations;
    }

    /** By name: calls are events, and the sum of durations is that of good ones, in millionths. */
    Map<String, MinuteColumns.Minutes> objectives() {
      return objectives;
    }
  }

  private static final Name OTHER = new Name(Books.OTHER, History.UNKNOWN_KIND);

  private final int buckets;
  private final int maxApplications;
  private final int maxOperations;
  private final MinuteColumns columns;
  private final Map<String, Application> applications = new HashMap<>();

  /**
   * Operations and objectives listed separately, without {@link #OTHER}, which each application
   * has.
   */
  private int operations;

  private long leftOut;

  ApplicationMinutes(int buckets, int maxApplications, int maxOperations) {
    this.buckets = buckets;
    this.maxApplications = maxApplications;
    this.maxOperations = maxOperations;
    columns = new MinuteColumns(SpanSums.BUCKETS + buckets);
  }

  /** Adds calls to a minute. */
  void add(List<PaneCalls.OperationCalls> calls, long minute, long now) {
    List<Application> touched = new ArrayList<>();
    for (PaneCalls.OperationCalls its : calls) {
      Operation operation = its.operation();
      Application application = application(operation.application);
      if (operation.isObjective()) {
        addObjective(application, its, minute, now);
        continue;
      }
      if (application.sums == null) {
        application.sums = new SpanSums(buckets);
        touched.add(application);
      }
      application.sums.add(its.sums());
      application.isSampled |= its.sums().columns()[SpanSums.VARIANCE] > 0;
      columns.add(minutes(application, operation), minute, its.sums().columns(), now);
    }
    for (Application application : touched) {
      columns.add(application.minutes, minute, application.sums.columns(), now);
      application.sums = null;
    }
  }

  private void addObjective(
      Application application, PaneCalls.OperationCalls its, long minute, long now) {
    String name = its.operation().name;
    MinuteColumns.Minutes minutes = application.objectives.get(name);
    if (minutes == null) {
      if (application.name.equals(Books.OTHER) || operations >= maxOperations) {
        leftOut++;
        return;
      }
      operations++;
      minutes = new MinuteColumns.Minutes();
      application.objectives.put(name, minutes);
    }
    columns.add(minutes, minute, its.sums().columns(), now);
  }

  private Application application(String name) {
    Application application = applications.get(name);
    if (application == null) {
      boolean room = applications.size() < maxApplications;
      application = applications.computeIfAbsent(room ? name : Books.OTHER, Application::new);
    }
    return application;
  }

  private MinuteColumns.Minutes minutes(Application application, Operation operation) {
    boolean named = !operation.name.equals(Books.OTHER) && !application.name.equals(Books.OTHER);
    Name name = named ? new Name(operation.name, operation.kind) : OTHER;
    MinuteColumns.Minutes minutes = application.operations.get(name);
    if (minutes == null) {
      boolean room = named && operations < maxOperations;
      operations += room ? 1 : 0;
      minutes =
          application.operations.computeIfAbsent(
              room ? name : OTHER, absent -> new MinuteColumns.Minutes());
    }
    return minutes;
  }

  /** Removes applications and operations without spans since a minute. */
  void sweep(long oldest) {
    Iterator<Application> all = applications.values().iterator();
    while (all.hasNext()) {
      Application application = all.next();
      Iterator<Map.Entry<Name, MinuteColumns.Minutes>> its =
          application.operations.entrySet().iterator();
      while (its.hasNext()) {
        Map.Entry<Name, MinuteColumns.Minutes> operation = its.next();
        if (operation.getValue().endedBefore(oldest)) {
          its.remove();
          operations -= operation.getKey().equals(OTHER) ? 0 : 1;
        }
      }
      int objectives = application.objectives.size();
      application.objectives.values().removeIf(minutes -> minutes.endedBefore(oldest));
      operations -= objectives - application.objectives.size();
      if (application.minutes.endedBefore(oldest)
          && application.operations.isEmpty()
          && application.objectives.isEmpty()) {
        all.remove();
      }
    }
  }

  /** Returns null for no application. */
  Application get(String name) {
    return applications.get(name);
  }

  Iterable<Application> all() {
    return applications.values();
  }

  int applications() {
    return applications.size();
  }

  int operations() {
    return operations;
  }

  /** Returns how many times a window's events of an objective were left out. */
  long leftOut() {
    return leftOut;
  }

  /** Adds up some minutes, both ends inclusive. */
  SpanSums sum(MinuteColumns.Minutes minutes, long from, long to) {
    SpanSums sum = new SpanSums(buckets);
    columns.sum(minutes, from, to, sum.columns());
    return sum;
  }

  /**
   * Returns the variance of a call in some minutes, both ends inclusive; 0 if all were counted.
   *
   * @param minutes of the application or one of its operations
   */
  double variancePerCall(
      Application application, MinuteColumns.Minutes minutes, long from, long to) {
    return application.isSampled ? sum(minutes, from, to).variancePerCall() : 0;
  }

  void read(MinuteColumns.Minutes minutes, long from, long to, MinuteColumns.Reader reader) {
    columns.read(minutes, from, to, reader);
  }
}
