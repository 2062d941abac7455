package org.traceetl.agent.config;

import java.util.List;

/**
 * Which applications' half-edges are sent, for the service graph.
 *
 * @param standard whether half-edges are sent: {@code auto}, while servers name queues for them;
 *     {@code off}, never
 * @param applications rules with {@code application} (name or pattern) and {@code edges}; the first
 *     that matches an application applies in place of {@code edges.default}
 */
public record EdgesConfig(Edges standard, List<Rule> applications) {
  /** Whether the half-edges of an application are sent. */
  public enum Edges {
    /** Never. */
    OFF,
    /** While servers name queues for them. */
    AUTO
  }

  /**
   * A rule for applications.
   *
   * @param application pattern of their names, with {@code *} for any text
   */
  public record Rule(String application, Edges edges) {}

  public EdgesConfig {
    applications = List.copyOf(applications);
  }

  /** Returns half-edges of all applications. */
  public static EdgesConfig defaults() {
    return new EdgesConfig(Edges.AUTO, List.of());
  }

  /** Returns whether half-edges of any application may be sent. */
  public boolean sendsAny() {
    return standard == Edges.AUTO
        || applications.stream().anyMatch(rule -> rule.edges() == Edges.AUTO);
  }
}
