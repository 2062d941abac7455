package org.traceetl.perf.demand;

import java.util.List;
import java.util.Random;
import org.traceetl.agent.config.CountedEventsConfig;
import org.traceetl.agent.config.PipelineConfig;

/** Random filters and bounds of agents. */
final class RandomAgents {
  private static final int IN_FLIGHT_BYTES = 1 << 22;

  /** A key occurs once in a file. Ratios are those of whole weights. */
  private static final List<List<String>> RULES =
      List.of(
          List.of(
              "drop: [{name: 'GET*', keep: nothing}]",
              "drop: [{application: cart, keep: metrics, dimensions: [region, db.system]}]",
              "drop: [{attributes: {region: 'b*'}, unless-slower-than: 1ms, keep: nothing}]",
              "drop: [{kind: [client, server], keep: metrics}]"),
          List.of(
              "sample: [{ratio: 0.5}]",
              "sample: [{application: 'shop-*', ratio: 0.25, always: {slower-than: 1ms}}]"),
          List.of(
              "attributes: [{application: cart, span: ['*o*']}, {resource: [region]}]",
              "attributes: [{span: [region, tenant, http.*], resource: []}]"),
          List.of(
              "limits: {max-attributes: 2, max-value-bytes: 3}",
              "limits: {max-attributes: 0}",
              "limits: {max-name-bytes: 4, max-status-message-bytes: 0}"),
          List.of(
              "redact: [{pattern: '[0-9]+', in: [names, values], replace: 'N'}]",
              "redact: [{pattern: '[ab]', in: [values], attributes: [region]}]"));

  private static final List<Double> RATIOS = List.of(0.0, 1.0 / 128, 0.25, 1.0);

  private final Random random;

  RandomAgents(Random random) {
    this.random = random;
  }

  /** Returns the content of a filters file. */
  String filters() {
    StringBuilder rules = new StringBuilder();
    for (List<String> kind : RULES) {
      if (random.nextInt(3) == 0) {
        rules.append(kind.get(random.nextInt(kind.size()))).append('\n');
      }
    }
    return rules.toString();
  }

  double sampleRatio() {
    return RATIOS.get(random.nextInt(RATIOS.size()));
  }

  PipelineConfig pipeline() {
    return new PipelineConfig(
        IN_FLIGHT_BYTES,
        random.nextBoolean() ? 1 << 10 : 1 << 16,
        1 << random.nextInt(10),
        random.nextInt(40),
        1 + random.nextInt(8),
        random.nextBoolean()
            ? CountedEventsConfig.defaults()
            : new CountedEventsConfig(List.of("*"), List.of("exception.type", "region")));
  }
}
