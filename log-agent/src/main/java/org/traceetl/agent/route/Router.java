package org.traceetl.agent.route;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.config.RoutingRules.Rule;
import org.traceetl.agent.config.RoutingRules.Spread;
import org.traceetl.proto.HotspotDecisions;
import org.traceetl.proto.HotspotDecisions.Decision;
import org.traceetl.proto.LearntNames;

/** Gives each application its route, by rules, decisions and learnt names. Immutable. */
public final class Router {
  private final RoutingRules rules;
  private final HotspotDecisions decisions;
  private final LearntNames learnt;

  /** Routes by rules alone. */
  public Router(RoutingRules rules) {
    this(rules, HotspotDecisions.NONE, LearntNames.NONE);
  }

  /**
   * Routes by rules, and by decisions where the rules leave it to them: an application whose queues
   * are pinned has just those, another one has those decided, but not fewer than by the rules.
   *
   * @param learnt which span names are one series
   */
  public Router(RoutingRules rules, HotspotDecisions decisions, LearntNames learnt) {
    this.rules = rules;
    this.decisions = decisions;
    this.learnt = learnt;
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
