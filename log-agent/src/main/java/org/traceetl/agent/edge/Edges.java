package org.traceetl.agent.edge;

import java.util.List;
import org.traceetl.agent.config.EdgesConfig;
import org.traceetl.agent.route.EdgeRoute;
import org.traceetl.common.WildcardPattern;

/**
 * Whose half-edges are sent, and with which dimensions: the agent's configuration, and the queues
 * and the demand of the servers. Immutable.
 */
public final class Edges {
  /** No half-edges are sent. */
  public static final Edges NONE =
      new Edges(new EdgesConfig(EdgesConfig.Edges.OFF, List.of()), EdgeRoute.NONE);

  private final boolean standard;
  private final List<Rule> rules;
  private final EdgeRoute route;
  private final EdgeAttributes attributes;

  private record Rule(WildcardPattern application, boolean sends) {}

  /** Creates the rules of half-edges without dimensions. */
  public Edges(EdgesConfig config, EdgeRoute route) {
    this(config, route, EdgeAttributes.NO_DIMENSIONS);
  }

  /**
   * @param attributes those that half-edges need
   */
  public Edges(EdgesConfig config, EdgeRoute route, EdgeAttributes attributes) {
    standard = config.standard() == EdgesConfig.Edges.AUTO;
    rules =
        config.applications().stream()
            .map(rule ->
                new Rule(
                    new WildcardPattern(rule.application()),
                    rule.edges() == EdgesConfig.Edges.AUTO))
            .toList();
    this.route = route;
    this.attributes = attributes;
  }

  /** Returns the queues of half-edges. */
  public EdgeRoute route() {
    return route;
  }

  /** Returns the attributes that half-edges need. */
  public EdgeAttributes attributes() {
    return attributes;
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
