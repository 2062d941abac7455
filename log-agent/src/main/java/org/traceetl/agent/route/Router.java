package org.traceetl.agent.route;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.traceetl.agent.config.RoutingRules;

/** Gives each application its route, by the rules. Immutable. */
public final class Router {
  private final RoutingRules rules;

  public Router(RoutingRules rules) {
    this.rules = rules;
  }

  /**
   * The route of an application. Sorts all queues: callers keep what they get.
   *
   * @param topology not empty
   * @return null if its spans are to be dropped
   */
  public Route route(byte[] name, int offset, int length, Topology topology) {
    String application = new String(name, offset, length, UTF_8);
    if (rules.excludes(application)) {
      return null;
    }
    RoutingRules.Rule rule = rules.rule(application);
    return new Route(
        RouteHash.application(name, offset, length), topology, rule.queues(), rule.spread());
  }
}
