package org.traceetl.agent.route;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.config.RoutingRules.Rule;
import org.traceetl.agent.config.RoutingRules.Spread;
import org.traceetl.proto.HotspotDecisions;
import org.traceetl.proto.HotspotDecisions.Decision;
import org.traceetl.proto.LearntNames;

/** Determines each application's route from rules, decisions and learnt names. Immutable. */
public final class Router {
  private final RoutingRules rules;
  private final HotspotDecisions decisions;
  private final LearntNames learnt;

  /** Creates a router that uses rules only. */
  public Router(RoutingRules rules) {
    this(rules, HotspotDecisions.NONE, LearntNames.NONE);
  }

  /**
   * Creates a router that uses rules, and decisions where rules allow them. An application with
   * pinned queues has exactly that number; any other has the decided number, but at least the
   * rules' number.
   *
   * @param learnt rules that join span names to one series
   */
  public Router(RoutingRules rules, HotspotDecisions decisions, LearntNames learnt) {
    this.rules = rules;
    this.decisions = decisions;
    this.learnt = learnt;
  }

  /**
   * Returns the route of an application. Callers should keep it, because each call sorts all
   * queues.
   *
   * @param topology not empty
   * @return null if its spans are dropped
   */
  public Route route(byte[] name, int offset, int length, Topology topology) {
    String application = new String(name, offset, length, UTF_8);
    if (rules.excludes(application)) {
      return null;
    }
    Rule rule = rules.rule(application);
    Decision decision = rule.pinned() ? null : decisions.applications().get(application);
    int queues = decision == null ? rule.queues() : Math.max(rule.queues(), decision.queues());
    Spread spread = decision != null && decision.random() ? Spread.RANDOM : rule.spread();
    return new Route(
        RouteHash.application(name, offset, length),
        topology,
        queues,
        spread,
        learnt.applications().get(application));
  }
}
