package org.traceetl.server.features.history;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.traceetl.server.http.Access;
import org.traceetl.server.http.Allowed;
import org.traceetl.server.http.Cacheable;
import org.traceetl.server.http.ListPage;
import org.traceetl.server.http.ParameterRefused;
import org.traceetl.server.http.Slice;
import org.traceetl.server.minutes.CountBounds;
import org.traceetl.server.window.Books;

/** The paths that are answered from the last hour of the whole fleet. */
@RestController
final class HistoryResource implements Cacheable {
  private static final String DEFAULT_MINUTES = "5";
  private static final int MAX_KIND = 100;
  private static final double MILLIS_PER_SECOND = 1e3;

  private static final Comparator<History.OperationTotal> BY_OPERATION =
      Comparator.comparing(History.OperationTotal::operation)
          .thenComparing(History.OperationTotal::kind);
  private static final Comparator<Books> MOST_OVERFLOWED =
      Comparator.comparingLong(Books::overflowed)
          .thenComparingLong(Books::received)
          .reversed()
          .thenComparing(Books::application);

  private final History history;
  private final double slowMillis;

  /**
   * @param history null if it is disabled
   * @param slowMillis an application with a p99 of this or more is slow
   */
  HistoryResource(History history, double slowMillis) {
    this.history = history;
    this.slowMillis = slowMillis;
  }

  /**
   * @param callsBounds null if all calls were counted
   */
  record Calls(
      long calls,
      CountBounds callsBounds,
      long errors,
      double durationMillis,
      Double p50Millis,
      Double p95Millis,
      Double p99Millis,
      Double observedSeconds) {
    static Calls of(Interval interval) {
      return new Calls(
          interval.calls(),
          interval.callsBounds(),
          interval.errors(),
          interval.durationMillis(),
          orNull(interval.p50Millis()),
          orNull(interval.p95Millis()),
          orNull(interval.p99Millis()),
          interval.ended() ? (Double) (interval.observedMillis() / MILLIS_PER_SECOND) : null);
    }

    private static Double orNull(double value) {
      return Double.isNaN(value) ? null : (Double) value;
    }
  }

  record Rates(@JsonUnwrapped Calls calls, double callsPerSecond, double errorsPerSecond) {
    static Rates of(Interval interval) {
      return new Rates(
          Calls.of(interval),
          interval.perSecond(interval.calls()),
          interval.perSecond(interval.errors()));
    }
  }

  record Applications(
      boolean upToDate, int minutes, int total, int matching, List<Application> applications) {}

  record Application(
      String application,
      @JsonUnwrapped Rates rates,
      @JsonInclude(JsonInclude.Include.NON_NULL) History.Spark spark) {}

  record Operations(
      boolean upToDate,
      String application,
      int minutes,
      int total,
      int matching,
      List<Operation> operations) {}

  record Operation(String operation, String kind, @JsonUnwrapped Rates rates) {}

  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Minutes(
      boolean upToDate,
      String application,
      String operation,
      String kind,
      double[] boundsMillis,
      List<Minute> minutes) {}

  record Minute(
      Instant start,
      boolean ended,
      @JsonUnwrapped Calls calls,
      @JsonInclude(JsonInclude.Include.NON_NULL) long[] buckets) {}

  record BooksOfFleet(
      boolean upToDate,
      int minutes,
      int total,
      int matching,
      @JsonIgnoreProperties({"application", "bytes"}) Books fleet,
      @JsonIgnoreProperties("bytes") List<Books> applications) {}

  record AgentsOfFleet(boolean upToDate, int total, boolean leftOut, List<Agent> agents) {}

  record Agent(UUID agent, Instant started, Instant lastSeen, long batches, int queues) {}

  /** Which applications to list. */
  enum Filter {
    FAILING,
    SLOW
  }

  @Override
  public String tag() {
    return history().tag();
  }

  private History history() {
    return kept(history);
  }

  static History kept(History history) {
    if (history == null) {
      throw new ResponseStatusException(
          HttpStatus.NOT_FOUND, "this server keeps no history: trace-etl.history.enabled = false");
    }
    return history;
  }

  /** Lists the applications of the last minutes that have ended. */
  @GetMapping("/api/applications")
  Applications applications(
      @RequestParam(defaultValue = DEFAULT_MINUTES) @Allowed(max = History.MINUTES - 1) int minutes,
      @RequestParam(required = false) @Allowed(max = Allowed.SEARCH) String search,
      @RequestParam(required = false) Filter filter,
      @RequestParam(defaultValue = "false") boolean spark,
      Sorting sorting,
      Slice slice,
      Access access) {
    ListPage<History.Total> page =
        slice.of(
            visible(history().totals(minutes), History.Total::application, access),
            Slice.searched(search, History.Total::application).and(passes(filter)),
            sorting.by(History.Total::interval, Comparator.comparing(History.Total::application)));
    List<History.Total> totals = page.items();
    List<History.Spark> sparks =
        spark ? history.sparks(totals.stream().map(History.Total::application).toList()) : null;
    return new Applications(
        history.upToDate(),
        minutes,
        page.total(),
        page.matching(),
        IntStream.range(0, totals.size())
            .mapToObj(i ->
                new Application(
                    totals.get(i).application(),
                    Rates.of(totals.get(i).interval()),
                    spark ? sparks.get(i) : null))
            .toList());
  }

  private static <T> List<T> visible(List<T> all, Function<T, String> name, Access access) {
    return access.isToAll()
        ? all
        : all.stream().filter(one -> access.sees(name.apply(one))).toList();
  }

  private Predicate<History.Total> passes(Filter filter) {
    return switch (filter) {
      case null -> any -> true;
      case FAILING -> total -> total.interval().errors() > 0;
      case SLOW -> total -> total.interval().p99Millis() >= slowMillis;
    };
  }

  /** Lists the operations of an application in the last minutes that have ended. */
  @GetMapping("/api/operations")
  Operations operations(
      @RequestParam @Allowed(max = Allowed.NAME) String application,
      @RequestParam(defaultValue = DEFAULT_MINUTES) @Allowed(max = History.MINUTES - 1) int minutes,
      @RequestParam(required = false) @Allowed(max = Allowed.SEARCH) String search,
      Sorting sorting,
      Slice slice,
      Access access) {
    checkVisible(application, access);
    List<History.OperationTotal> operations = history().operations(application, minutes);
    if (operations == null) {
      throw unknown(application);
    }
    ListPage<History.OperationTotal> page =
        slice.of(
            operations,
            Slice.searched(search, History.OperationTotal::operation),
            sorting.by(History.OperationTotal::interval, BY_OPERATION));
    return new Operations(
        history.upToDate(),
        application,
        minutes,
        page.total(),
        page.matching(),
        page.items().stream()
            .map(one -> new Operation(one.operation(), one.kind(), Rates.of(one.interval())))
            .toList());
  }

  /** Refuses an application that the sender may not see as one without spans. */
  static void checkVisible(String application, Access access) {
    if (!access.sees(application)) {
      throw unknown(application);
    }
  }

  private static ResponseStatusException unknown(String application) {
    return new ResponseStatusException(
        HttpStatus.NOT_FOUND,
        "application = "
            + application
            + ": has no spans in the last hour; /api/applications lists the applications"
            + " that have");
  }

  /** Lists the minutes of an application, or of one of its operations, oldest first. */
  @GetMapping("/api/history")
  Minutes minutes(
      @RequestParam @Allowed(max = Allowed.NAME) String application,
      @RequestParam(required = false) @Allowed(max = Allowed.NAME) String operation,
      @RequestParam(required = false) @Allowed(max = MAX_KIND) String kind,
      @RequestParam(defaultValue = "" + History.MINUTES) @Allowed(max = History.MINUTES)
          int minutes,
      @RequestParam(defaultValue = "false") boolean buckets,
      Access access) {
    checkVisible(application, access);
    if (operation == null != (kind == null)) {
      throw new ParameterRefused(
          operation == null
              ? "kind = " + kind + ": requires parameter operation"
              : "operation = " + operation + ": requires parameter kind");
    }
    List<History.Minute> all =
        operation == null
            ? history().minutes(application, minutes)
            : history().minutes(application, operation, kind, minutes);
    if (all.isEmpty()) {
      throw operation == null
          ? unknown(application)
          : new ResponseStatusException(
              HttpStatus.NOT_FOUND,
              "operation = "
                  + operation
                  + ", kind = "
                  + kind
                  + ": had no spans in the last hour; /api/operations has those of application "
                  + application
                  + " that had");
    }
    return new Minutes(
        history.upToDate(),
        application,
        operation,
        kind,
        buckets ? history.boundsMillis() : null,
        all.stream()
            .map(minute ->
                new Minute(
                    Instant.ofEpochMilli(minute.interval().startMillis()),
                    minute.interval().ended(),
                    Calls.of(minute.interval()),
                    buckets ? minute.buckets() : null))
            .toList());
  }

  /** Lists what became of the spans that were received in the last minutes. */
  @GetMapping("/api/books")
  BooksOfFleet books(
      @RequestParam(defaultValue = DEFAULT_MINUTES) @Allowed(max = History.MINUTES) int minutes,
      @RequestParam(required = false) @Allowed(max = Allowed.SEARCH) String search,
      Slice slice,
      Access access) {
    History.BooksOfFleet books = history().books(minutes);
    List<Books> visible = visible(books.applications(), Books::application, access);
    ListPage<Books> page =
        slice.of(visible, Slice.searched(search, Books::application), MOST_OVERFLOWED);
    return new BooksOfFleet(
        history.upToDate(),
        minutes,
        page.total(),
        page.matching(),
        access.isToAll() ? books.fleet() : sum(visible),
        page.items());
  }

  private static Books sum(List<Books> all) {
    Map<String, Long> rejected = new TreeMap<>();
    all.forEach(
        one -> one.rejected().forEach((reason, spans) -> rejected.merge(reason, spans, Long::sum)));
    return new Books(
        "",
        all.stream().mapToLong(Books::received).sum(),
        all.stream().mapToLong(Books::recorded).sum(),
        all.stream().mapToLong(Books::overflowed).sum(),
        all.stream().mapToLong(Books::filtered).sum(),
        all.stream().mapToLong(Books::duplicate).sum(),
        rejected,
        all.stream().mapToLong(Books::heldBack).sum());
  }

  /** Lists the agents whose batches counted in the last hour. */
  @GetMapping("/api/agents")
  AgentsOfFleet agents(Slice slice) {
    History.AgentsOfFleet agents = history().agents();
    ListPage<RecentAgents.View> page = slice.of(agents.agents(), any -> true, (one, other) -> 0);
    return new AgentsOfFleet(
        history.upToDate(),
        page.total(),
        agents.leftOut(),
        page.items().stream()
            .map(one ->
                new Agent(
                    one.agent(),
                    timeOrNull(one.startedMillis()),
                    Instant.ofEpochMilli(one.seenMillis()),
                    one.batches(),
                    one.queues()))
            .toList());
  }

  /** Returns null for 0, which stands for never. */
  static Instant timeOrNull(long millis) {
    return millis == 0 ? null : Instant.ofEpochMilli(millis);
  }
}
