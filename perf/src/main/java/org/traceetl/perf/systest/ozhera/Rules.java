package org.traceetl.perf.systest.ozhera;

import java.util.List;
import java.util.Map;

/**
 * What OzHera's metric service is configured with: all lists are of parts of texts.
 *
 * @param applications overrides by an application's name
 * @param degraded applications whose server addresses, RPC methods and SQL are one each
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
