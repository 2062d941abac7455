package org.traceetl.agent.route;

import java.util.function.Consumer;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.proto.HotspotDecisions;
import org.traceetl.proto.LearntNames;

/**
 * The inputs of routing: the host's rules, the servers' decisions and learnt names. Each may change
 * at any time, independently. Safe for any thread.
 */
public final class RoutingState {
  private final Consumer<Router> listener;
  // Guarded by this.
  private RoutingRules rules;
  private HotspotDecisions decisions = HotspotDecisions.NONE;
  private LearntNames learnt = LearntNames.NONE;

  /**
   * Creates a state with these rules, without decisions and learnt names.
   *
   * @param listener receives a new router after each change, one call at a time
   */
  public RoutingState(RoutingRules rules, Consumer<Router> listener) {
    this.rules = rules;
    this.listener = listener;
  }

  /** Replaces the rules. */
  public synchronized void rules(RoutingRules now) {
    rules = now;
    listener.accept(router());
  }

  /** Replaces the decisions. */
  public synchronized void decisions(HotspotDecisions now) {
    decisions = now;
    listener.accept(router());
  }

  /** Replaces the learnt names. */
  public synchronized void learnt(LearntNames now) {
    learnt = now;
    listener.accept(router());
  }

  /** Returns a router for the current inputs. */
  public synchronized Router router() {
    return new Router(rules, decisions, learnt);
  }
}
