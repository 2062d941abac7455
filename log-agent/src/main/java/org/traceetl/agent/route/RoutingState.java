package org.traceetl.agent.route;

import java.util.function.Consumer;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.proto.HotspotDecisions;
import org.traceetl.proto.LearntNames;

/**
 * What applications are routed by now: the rules of this host, the decisions of the servers and the
 * names that they have learnt, each of which comes from somebody else at any time. Safe for any
 * thread.
 */
public final class RoutingState {
  private final Consumer<Router> listener;
  // Guarded by this.
  private RoutingRules rules;
  private HotspotDecisions decisions = HotspotDecisions.NONE;
  private LearntNames learnt = LearntNames.NONE;

  /**
   * Begins with these rules and no decisions.
   *
   * @param listener given a router each time that one of them has changed, one call at a time
   */
  public RoutingState(RoutingRules rules, Consumer<Router> listener) {
    this.rules = rules;
    this.listener = listener;
  }

  /** Routes by these rules from now on. */
  public synchronized void rules(RoutingRules now) {
    rules = now;
    listener.accept(router());
  }

  /** Routes by these decisions from now on. */
  public synchronized void decisions(HotspotDecisions now) {
    decisions = now;
    listener.accept(router());
  }

  /** Routes by these learnt names from now on. */
  public synchronized void learnt(LearntNames now) {
    learnt = now;
    listener.accept(router());
  }

  /** A router by what holds now. */
  public synchronized Router router() {
    return new Router(rules, decisions, learnt);
  }
}
