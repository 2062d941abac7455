package org.traceetl.server.compare;

import java.util.List;
import java.util.Map;
import org.traceetl.server.config.MetricsConfig;

/** The series that count what is above a limit: of this server, the Collector and Tempo. */
final class Overflow {
  /** The application of overflow series that are of no single application. */
  static final String ALL = "";

  private static final List<String> MARKS =
      List.of(MetricsConfig.OVERFLOW_LABEL, "metric_overflow");
  private static final List<String> APPLICATIONS = List.of("service_name", "service");
  private static final String OTHER_APPLICATIONS = "_other";

  private Overflow() {}

  static boolean is(Map<String, String> labels) {
    return MARKS.stream().anyMatch(mark -> "true".equals(labels.get(mark)))
        || application(labels).equals(OTHER_APPLICATIONS);
  }

  static String applicationOf(Map<String, String> labels) {
    String application = application(labels);
    return application.equals(OTHER_APPLICATIONS) ? ALL : application;
  }

  private static String application(Map<String, String> labels) {
    return APPLICATIONS.stream()
        .filter(labels::containsKey)
        .map(labels::get)
        .findFirst()
        .orElse(ALL);
  }
}
