package org.traceetl.server.features.learn;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.traceetl.proto.LearntNames;
import org.traceetl.server.consume.metrics.CardinalityReports;
import org.traceetl.server.http.Access;
import org.traceetl.server.http.Allowed;
import org.traceetl.server.series.Cardinality;

/**
 * The applications on this server's queues that are near or at a limit of series, with the
 * dimension that causes it; those with the most overflowed spans first. In addition the rules by
 * which span names are joined, which are the same on every server.
 */
@RestController
public final class CardinalityResource {
  private static final int MAX_LIMIT = 1_000;

  private final CardinalityReports reports;
  private final Supplier<LearntNames> learnt;

  public CardinalityResource(CardinalityReports reports, Supplier<LearntNames> learnt) {
    this.reports = reports;
    this.learnt = learnt;
  }

  record Answer(List<Application> applications, Names learntNames) {}

  record Application(
      String application,
      String queue,
      int series,
      String limit,
      long max,
      long overflowedSpans,
      long overflowedInLastWindow,
      long overflowedEventsInLastWindow,
      String culprit,
      Map<String, Integer> values,
      List<String> examples,
      Instant at) {
    static Application of(CardinalityReports.Report report) {
      Cardinality cardinality = report.cardinality();
      Map<String, Integer> values = new LinkedHashMap<>();
      cardinality
          .dimensions()
          .forEach(dimension -> values.put(dimension.name(), dimension.values()));
      return new Application(
          cardinality.application(),
          report.queue().toString(),
          cardinality.series(),
          cardinality.limit(),
          cardinality.max(),
          report.overflowed(),
          cardinality.overflowed(),
          cardinality.overflowedEvents(),
          cardinality.culprit().name(),
          values,
          cardinality.culprit().examples(),
          Instant.ofEpochMilli(cardinality.atMillis()));
    }
  }

  record Names(long epoch, List<Rule> rules) {}

  record Rule(String application, String rule, int tokensBehind, int values, Instant since) {}

  @GetMapping("/api/cardinality")
  Answer cardinality(
      @RequestParam(defaultValue = "100") @Allowed(max = MAX_LIMIT) int limit, Access access) {
    LearntNames names = learnt.get();
    return new Answer(
        reports.all().stream()
            .filter(report -> access.sees(report.cardinality().application()))
            .limit(limit)
            .map(Application::of)
            .toList(),
        new Names(
            // It counts the changes of all applications.
            access.isToAll() ? names.epoch() : 0,
            new TreeMap<>(names.applications())
                .entrySet().stream()
                    .filter(its -> access.sees(its.getKey()))
                    .flatMap(its ->
                        its.getValue().rules().stream()
                            .map(rule ->
                                new Rule(
                                    its.getKey(),
                                    rule.text(),
                                    rule.behind(),
                                    rule.values(),
                                    Instant.ofEpochMilli(rule.sinceMillis()))))
                    .limit(limit)
                    .toList()));
  }
}
