package org.traceetl.server.features.rules;

import java.util.List;
import org.traceetl.server.component.Background;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.http.Feature;

/**
 * Rules by application.
 *
 * @param rules null if this server follows no rules
 */
record RulesFeature(RulesDecider rules, RulesResource.Sources sources) implements Feature {
  @Override
  public void metrics(MetricRegistry registry) {
    if (rules == null) {
      return;
    }
    registry.gauge(
        "trace_etl_rules_revision",
        "Revision of the rules in force; 0 for none.",
        () -> rules.status().record().epoch());
    registry.gauge(
        "trace_etl_rules_waiting",
        "1 while dimensions, templates, buckets or measures of the rules in force wait for agents or servers, else 0.",
        () -> rules.status().waits() == null ? 0 : 1);
    registry.gauge(
        "trace_etl_rules_file_refused",
        "1 while the file of rules is refused and the rules in force stay, else 0.",
        () -> rules.isFileRefused() ? 1 : 0);
    registry.counter(
        "trace_etl_rules_refused_total",
        "Contents of the file of rules, and records of rules, that were refused.",
        "reason",
        rules::refusals);
  }

  @Override
  public List<Object> resources() {
    return List.of(
        rules == null ? new RulesResource(sources) : new RulesResource(sources, rules::status));
  }

  @Override
  public Background background() {
    return rules;
  }
}
