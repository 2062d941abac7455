package org.traceetl.server.window;

import java.util.List;

/**
 * Until when the spans of a queue are complete at the end of a window: all that its agents accepted
 * before is in this window or an earlier one. Agents that are silent for too long are excluded.
 * Immutable.
 *
 * @param untilMillis by the broker's clock, milliseconds since 1970; it never goes down from a
 *     window to the next
 * @param streamMillis the store time of the window's last message, less the parts of gaps between
 *     messages that do not count as silence; milliseconds since 1970
 * @param named agents that hold the time back, the last one first, then agents that are excluded,
 *     the newest one first; at most {@value #MAX_NAMED}
 * @param agents number of agents that the time waits for. If it is 0, the queue waits for no agent
 */
public record WindowCompleteness(
    long untilMillis, long streamMillis, List<Agent> named, int agents) {
  /** Maximum number of agents that a window names. */
  public static final int MAX_NAMED = 16;

  private static final long UNKNOWN = Long.MIN_VALUE;

  /** The window does not contain until when spans are complete. */
  public static final WindowCompleteness NONE = new WindowCompleteness(UNKNOWN, 0, List.of(), 0);

  /**
   * An agent.
   *
   * @param isExcluded whether the time does not wait for the agent; else the agent holds it back
   * @param high first half of its ID
   * @param low second half of its ID
   * @param host name of its host; empty if it is not known
   */
  public record Agent(boolean isExcluded, long high, long low, String host) {}

  public WindowCompleteness {
    named = List.copyOf(named);
  }

  /** Returns whether the window does not contain until when spans are complete. */
  public boolean isEmpty() {
    return untilMillis == UNKNOWN;
  }
}
