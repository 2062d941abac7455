package org.traceetl.perf.simulate.check;

import java.util.HashMap;
import java.util.Map;

/**
 * The clocks of brokers that were set. Servers close panes by these clocks. After a clock was set
 * back, the panes stay closed until it shows its highest time again, and spans count in the first
 * pane after that. Times are milliseconds since 1970.
 */
public final class BrokerClocks {
  /** By broker, by how much its clock is ahead of the true time. */
  private final Map<String, Long> aheadMillis = new HashMap<>();

  /** By broker, the highest time that its clock showed before it was set back. */
  private final Map<String, Long> highestMillis = new HashMap<>();

  /**
   * Records a step of a broker's clock.
   *
   * @param millis how far it was set forward; below 0 if it was set back
   * @param nowMillis the true time
   */
  public void step(String broker, long millis, long nowMillis) {
    long before = aheadMillis.getOrDefault(broker, 0L);
    highestMillis.merge(broker, nowMillis + before, Math::max);
    aheadMillis.put(broker, before + millis);
  }

  /** Returns whether a broker's clock was set back and does not show its highest time yet. */
  public boolean areSetBack(long nowMillis) {
    return highestMillis.entrySet().stream()
        .anyMatch(highest -> nowMillis + aheadMillis.get(highest.getKey()) < highest.getValue());
  }
}
