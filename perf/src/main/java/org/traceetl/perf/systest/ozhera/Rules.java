package org.traceetl.perf.systest.ozhera;

import java.util.List;
import java.util.Map;

/**
 * The configuration of OzHera's metric service; lists contain parts of texts.
 *
 * @param applications overrides by application name
 * @param degraded applications whose server addresses, RPC methods and SQL are replaced by one
 *     value each
 */
record Rules(
    List<String> excludedServices,
    List<String> excludedNames,
    List<String> excludedHttpServerMethods,
    List<String> excludedThreads,
    List<String> excludedUrls,
    List<String> excludedUserAgents,
    List<String> excludedStatements,
    Thresholds thresholds,
    Map<String, Thresholds> applications,
    List<String> degraded) {

  /** Milliseconds above which a call that did not fail is slow. */
  record Thresholds(int http, int dubbo, int mysql) {}

  Thresholds thresholds(String application) {
    return applications.getOrDefault(application, thresholds);
  }
}
