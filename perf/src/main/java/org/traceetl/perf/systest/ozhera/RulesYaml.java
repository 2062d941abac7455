package org.traceetl.perf.systest.ozhera;

import java.util.List;
import java.util.stream.Collectors;

/** Writes {@link Rules} in the format that the server reads. */
final class RulesYaml {
  private RulesYaml() {}

  static String text(Rules rules) {
    String applications =
        rules.applications().entrySet().stream()
            .map(one -> "  " + one.getKey() + ": {" + thresholds(one.getValue()) + "}\n")
            .collect(Collectors.joining());
    return """
    %s
    exclude:
      applications: %s
      span-names: %s
      http-server-methods: %s
      threads: %s
      urls: %s
      user-agents: %s
      statements: %s
    degrade: {server-ip: true, dubbo-method: true, sql: true, applications: %s}
    applications:
    %s\
    """
        .formatted(
            thresholds(rules.thresholds()),
            list(rules.excludedServices()),
            list(rules.excludedNames()),
            list(rules.excludedHttpServerMethods()),
            list(rules.excludedThreads()),
            list(rules.excludedUrls()),
            list(rules.excludedUserAgents()),
            list(rules.excludedStatements()),
            list(rules.degraded()),
            applications);
  }

  private static String thresholds(Rules.Thresholds thresholds) {
    return String.format(
        "slower-than-millis: {http: %d, dubbo: %d, mysql: %d}",
        thresholds.http(), thresholds.dubbo(), thresholds.mysql());
  }

  private static String list(List<String> texts) {
    return texts.stream()
        .map(text -> "\"" + text + "\"")
        .collect(Collectors.joining(", ", "[", "]"));
  }
}
