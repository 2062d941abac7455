package org.traceetl.agent.config;

import java.util.Map;

/**
 * How applications are laid out over the queues.
 *
 * @param standard the rule for all applications without one of their own
 * @param applications rules by application name
 */
public record RoutingConfig(Rule standard, Map<String, Rule> applications) {
  /** What decides the queue of a span among its application's queues. */
  public enum Spread {
    /** What will be its series: a series lives on one queue. */
    SERIES,
    /** Chance: for an application that is one single hot series. */
    RANDOM
  }

  /**
   * One application's layout.
   *
   * @param queues how many queues it lives on, 1 to 1,024; all of the topic when it has fewer
   */
  public record Rule(int queues, Spread spread) {}

  public RoutingConfig {
    applications = Map.copyOf(applications);
  }

  /** Two queues for each application, spread by series. */
  public static RoutingConfig defaults() {
    return new RoutingConfig(new Rule(2, Spread.SERIES), Map.of());
  }

  /** The rule for an application. */
  public Rule rule(String application) {
    return applications.getOrDefault(application, standard);
  }
}
