package org.traceetl.agent.detail;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import org.traceetl.agent.config.DetailConfig;
import org.traceetl.common.WildcardPattern;
import org.traceetl.proto.Demand;

/** The detail of all applications: the agent's configuration and the servers' demand. Immutable. */
public final class Detail {
  /** All spans are sent whole. */
  public static final Detail FULL =
      new Detail(new DetailConfig(DetailConfig.Detail.FULL, List.of()), Demand.NONE);

  private final boolean usesDemand;
  private final List<Rule> rules;
  private final double sampleRatio;
  private final Demand demand;
  private final boolean needsSizes;
  // Those of all applications, which share one compiled set.
  private final DemandedKeys keys;

  private record Rule(WildcardPattern application, boolean usesDemand) {}

  /**
   * @param demand in force; {@link Demand#NONE} for none
   */
  public Detail(DetailConfig config, Demand demand) {
    usesDemand = config.standard() == DetailConfig.Detail.DEMAND;
    rules =
        config.applications().stream()
            .map(rule ->
                new Rule(
                    new WildcardPattern(rule.application()),
                    rule.detail() == DetailConfig.Detail.DEMAND))
            .toList();
    sampleRatio = config.sampleRatio();
    this.demand = demand;
    needsSizes = demand.needsSizes();
    Demand.Wanted wanted = demand.of("");
    keys = new DemandedKeys(wanted == null ? List.of() : wanted.spanKeys());
  }

  /**
   * Returns what servers demand of an application. Callers should keep the result, because each
   * call reads all rules.
   *
   * @return null if all its spans are sent whole
   */
  public DemandedDetail of(byte[] name, int offset, int length) {
    if (!usesDemand(name, offset, length)) {
      return null;
    }
    Demand.Wanted wanted = demand.of(new String(name, offset, length, UTF_8));
    if (wanted == null || wanted.full()) {
      return null;
    }
    boolean shared = wanted.spanKeys().equals(keys.names());
    return new DemandedDetail(
        demand.version(), shared ? keys : new DemandedKeys(wanted.spanKeys()), wanted, sampleRatio);
  }

  /** Returns whether servers need the sizes of spans, of all applications. */
  public boolean needsSizes() {
    return needsSizes;
  }

  private boolean usesDemand(byte[] name, int offset, int length) {
    for (Rule rule : rules) {
      if (rule.application.matches(name, offset, length)) {
        return rule.usesDemand;
      }
    }
    return usesDemand;
  }
}
