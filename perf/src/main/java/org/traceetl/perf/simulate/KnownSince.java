package org.traceetl.perf.simulate;

import java.util.HashMap;
import java.util.Map;
import org.traceetl.perf.simulate.world.Process;

/**
 * Since when the latest process of each agent is known to have what servers publish, such as their
 * demand. Times are milliseconds since 1970, by the true clock.
 */
final class KnownSince {
  private record Seen(String process, long sinceMillis) {}

  private final Map<Integer, Seen> byAgent = new HashMap<>();

  /** Records what a process of an agent has now. */
  void look(int agent, Process process, boolean has, long nowMillis) {
    Seen before = byAgent.get(agent);
    if (!has) {
      byAgent.remove(agent);
    } else if (before == null || !before.process.equals(process.name())) {
      byAgent.put(agent, new Seen(process.name(), nowMillis));
    }
  }

  /** Forgets all, because what servers publish has changed. */
  void forget() {
    byAgent.clear();
  }

  /**
   * Returns whether an agent is known to have had it from a time until now, in one process.
   *
   * @param process of the agent; null if it does not run
   */
  boolean holds(int agent, Process process, long fromMillis) {
    Seen seen = byAgent.get(agent);
    return seen != null
        && process != null
        && process.name().equals(seen.process)
        && seen.sinceMillis < fromMillis;
  }
}
