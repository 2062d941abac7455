package org.traceetl.agent.edge;

import java.util.List;
import org.traceetl.agent.config.EdgesConfig;
import org.traceetl.agent.route.EdgeRoute;
import org.traceetl.common.WildcardPattern;

/** Whose half-edges are sent: the agent's configuration and the servers' queues. Immutable. */
public final class Edges {
  /** No half-edges are sent. */
  public static final Edges NONE =
      new Edges(new EdgesConfig(EdgesConfig.Edges.OFF, List.of()), EdgeRoute.NONE);

  private final boolean standard;
  private final List<Rule> rules;
  private final EdgeRoute route;

  private record Rule(WildcardPattern application, boolean sends) {}

  public Edges(EdgesConfig config, EdgeRoute route) {
    standard = config.standard() == EdgesConfig.Edges.AUTO;
    rules =
        config.applications().stream()
            .map(rule ->
                new Rule(
                    new WildcardPattern(rule.application()),
                    rule.edges() == EdgesConfig.Edges.AUTO))
            .toList();
    this.route = route;
  }

  /** Returns the queues of half-edges. */
  public EdgeRoute route() {
    return route;
  }

  /**
   * Returns whether the half-edges of an application are sent. Callers should keep the result,
   * because each call reads all rules.
   */
  public boolean areSent(byte[] application, int offset, int length) {
    if (route.isEmpty()) {
      return false;
    }
    for (Rule rule : rules) {
      if (rule.application.matches(application, offset, length)) {
        return rule.sends;
      }
    }
    return standard;
  }
}
