package org.traceetl.server.features.learn;

import java.util.List;
import org.traceetl.proto.LearntNames;
import org.traceetl.server.component.Background;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.consume.metrics.CardinalityReports;
import org.traceetl.server.http.Feature;

/**
 * Learnt span names, and the applications near a limit of series.
 *
 * @param names null if learning is off
 */
public record LearnFeature(NameDecider names, CardinalityReports reports) implements Feature {
  @Override
  public void metrics(MetricRegistry registry) {
    if (names == null) {
      return;
    }
    registry.gauge(
        "trace_etl_learnt_names_epoch",
        "Epoch of the learnt names in force; 0 for none.",
        () -> names.current().epoch());
    registry.gauge(
        "trace_etl_learnt_name_rules",
        "Learnt rules that join span names.",
        () -> names.current().rules());
    registry.counter(
        "trace_etl_learnt_names_forgotten_total",
        "Times that the statistics of an application's names were dropped because there"
            + " were too many.",
        names::forgotten);
    registry.counter(
        "trace_etl_learnt_names_records_refused_total",
        "Records in the topic of the decisions that the name decider could not read.",
        names::refused);
  }

  @Override
  public List<Object> resources() {
    return List.of(
        new CardinalityResource(reports, () -> names == null ? LearntNames.NONE : names.current()));
  }

  @Override
  public Background background() {
    return names;
  }
}
