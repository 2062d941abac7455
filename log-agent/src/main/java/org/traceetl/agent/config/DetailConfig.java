package org.traceetl.agent.config;

import java.util.List;

/**
 * Which spans are sent with all their attributes.
 *
 * @param standard how spans are sent: {@code full}, all whole; {@code demand}, slow and failed
 *     spans and exemplars whole, others in groups with the attributes that servers need. Without a
 *     valid demand all are sent whole
 * @param applications rules with {@code application} (name or pattern) and {@code detail}; the
 *     first that matches an application applies in place of {@code detail.default}
 * @param sampleRatio of the spans in groups by demand, how many are also sent whole, as a sample
 *     that is not counted; 0, or 0.000001 to 1
 */
public record DetailConfig(Detail standard, List<Rule> applications, double sampleRatio) {
  static final double LEAST_SAMPLE_RATIO = 0.000_001;
  private static final double SAMPLE_RATIO = 1.0 / 128;

  /** How the spans of an application are sent. */
  public enum Detail {
    /** All spans are sent whole. */
    FULL,
    /**
     * Slow and failed spans and exemplars are sent whole, others in groups with the attributes that
     * servers demand. Without a valid demand, all spans are sent whole.
     */
    DEMAND
  }

  /**
   * A rule for applications.
   *
   * @param application pattern of their names, with {@code *} for any text
   */
  public record Rule(String application, Detail detail) {}

  public DetailConfig {
    applications = List.copyOf(applications);
  }

  /** Creates a configuration with the default ratio of samples, 1 in 128. */
  public DetailConfig(Detail standard, List<Rule> applications) {
    this(standard, applications, SAMPLE_RATIO);
  }

  /** Returns detail by demand for all applications. */
  public static DetailConfig defaults() {
    return new DetailConfig(Detail.DEMAND, List.of());
  }

  /** Returns whether the spans of any application may depend on the servers' demand. */
  public boolean usesDemand() {
    return standard == Detail.DEMAND
        || applications.stream().anyMatch(rule -> rule.detail() == Detail.DEMAND);
  }
}
