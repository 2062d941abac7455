package org.traceetl.server.consume.queue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.traceetl.proto.BatchAges;
import org.traceetl.server.dedup.BatchHistory;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowCompleteness.Agent;

/**
 * Until when the spans of one queue are complete: the minimum of the marks of its agents. A mark is
 * a time by the broker's clock. All that the agent accepted for the queue before it is in the
 * messages that were read.
 *
 * <p>An agent counts from the first message that has a mark until its goodbye. An agent that is
 * silent for {@code agents.silence} is excluded. Silence is stream time, see {@link StreamClock}.
 *
 * <p>After a take-over, the agents that sent batches within the silence before it hold the time at
 * its last known value until they have sent a message or are silent. If that value is unknown, the
 * new one is unknown until then.
 *
 * <p>Agents have the numbers that {@link BatchHistory} gives them, so there are at most as many as
 * it remembers. Nothing is allocated for a message, except to grow. Confined to the worker that
 * owns the queue.
 */
final class AgentMarks {
  /**
   * The time is this much before the lowest mark and the last message: as long as a send may take.
   * A message that waits in the broker has a later store time than its agent assumes, and an agent
   * without earlier messages is known from its first one on.
   */
  static final long MARGIN_MILLIS = Duration.ofSeconds(3).toMillis();

  /** An agent is named if its mark is this far behind the last message. */
  static final long NAMED_BEHIND_MILLIS =
      StreamClock.MAX_STEP_MILLIS + Duration.ofSeconds(5).toMillis();

  /** Time after its last message for which an excluded agent is named. */
  static final long NAMED_MILLIS = Duration.ofHours(1).toMillis();

  /** Maximum number of characters of all hosts. */
  private static final int MAX_HOST_CHARACTERS = 4 << 20;

  private static final long UNKNOWN = StreamClock.UNKNOWN;
  private static final int INITIAL = 64;

  /** The arrays grow by their length divided by this. */
  private static final int GROWTH = 8;

  private static final byte ABSENT = 0;

  /** Known from before the take-over, and without a message since then. */
  private static final byte EXPECTED = 1;

  private static final byte ACTIVE = 2;
  private static final byte EXCLUDED = 3;

  private final long silenceMillis;
  private final StreamClock clock;

  // By number of an agent

  private byte[] states = new byte[INITIAL];

  /** The ID, two of them: the number of a forgotten agent may be given to another one. */
  private long[] ids = new long[2 * INITIAL];

  private long[] marks = new long[INITIAL];

  /** Stream time since the take-over, at the last message. */
  private long[] heard = new long[INITIAL];

  /** Null if it is unknown. */
  private String[] hosts = new String[INITIAL];

  /** Exceeds all numbers in use. */
  private int numbers;

  private int hostCharacters;

  /** Age from which batches of the agent of the last message may be missing. */
  private int unconfirmedMillis = BatchAges.UNKNOWN;

  /** Stream time at the take-over; {@link #UNKNOWN} if the journal does not contain it. */
  private long startMillis = UNKNOWN;

  private long untilMillis = UNKNOWN;

  /** Whether an agent has a mark, or had one before the take-over. */
  private boolean hasMarks;

  /**
   * @param silenceMillis stream time after which an agent is excluded
   * @param clock of the queue; advanced by {@link #message}
   */
  AgentMarks(long silenceMillis, StreamClock clock) {
    this.silenceMillis = silenceMillis;
    this.clock = clock;
  }

  /**
   * Continues after a take-over. Call it first.
   *
   * @param last of the last window that has one
   * @param history of the batches before
   * @param sinceMillis agents with batches in windows sealed after this time are expected
   */
  void restore(WindowCompleteness last, BatchHistory history, long sinceMillis) {
    if (!last.isEmpty()) {
      startMillis = last.streamMillis();
      untilMillis = last.untilMillis();
      hasMarks = true;
      clock.restore(untilMillis + MARGIN_MILLIS);
    }
    for (int agent : history.lastHeardFirst()) {
      if (history.heardMillis(agent) > sinceMillis) {
        put(agent, history.agentHigh(agent), history.agentLow(agent), EXPECTED);
        // Of all that were waited for, none had a lower mark.
        marks[agent] = untilMillis;
      }
    }
    for (Agent named : last.named()) {
      int agent = history.find(named.high(), named.low());
      if (agent != BatchHistory.NONE) {
        if (!isKnown(agent, named.high(), named.low())) {
          put(agent, named.high(), named.low(), named.isExcluded() ? EXCLUDED : EXPECTED);
          marks[agent] = untilMillis;
        }
        host(agent, named.high(), named.low(), named.host());
      }
    }
  }

  /**
   * Begins a message.
   *
   * @param storeMillis when the broker stored it, milliseconds since 1970
   * @param ages may have the mark of its agent
   */
  void message(long storeMillis, BatchAges ages) {
    clock.message(storeMillis);
    if (startMillis == UNKNOWN) {
      startMillis = storeMillis - clock.elapsedMillis();
    }
    unconfirmedMillis = ages.unconfirmedMillis();
  }

  /**
   * Records the agent of the message.
   *
   * @param agent its number in the {@link BatchHistory}
   */
  void from(int agent, long high, long low) {
    if (unconfirmedMillis == BatchAges.UNKNOWN) {
      if (isKnown(agent, high, low) && states[agent] == EXPECTED) {
        // Agents of older versions do not hold the time back.
        remove(agent);
      }
      return;
    }
    if (isKnown(agent, high, low)) {
      states[agent] = ACTIVE;
    } else {
      put(agent, high, low, ACTIVE);
    }
    // May be lower: a send that timed out may be stored late, with an age that was too young then.
    marks[agent] = clock.nowMillis() - unconfirmedMillis;
    heard[agent] = clock.elapsedMillis();
    hasMarks = true;
  }

  /** Records that the agent of the message does not use the queue any more. */
  void goodbye(int agent, long high, long low) {
    if (isKnown(agent, high, low)) {
      remove(agent);
    }
  }

  /** Records the name of an agent's host. */
  void host(int agent, long high, long low, String host) {
    if (!isKnown(agent, high, low)) {
      return;
    }
    int before = hosts[agent] == null ? 0 : hosts[agent].length();
    int after = hostCharacters - before + host.length();
    if (!host.equals(hosts[agent]) && after <= MAX_HOST_CHARACTERS) {
      hosts[agent] = host;
      hostCharacters = after;
    }
  }

  private boolean isKnown(int agent, long high, long low) {
    return agent < numbers
        && states[agent] != ABSENT
        && ids[2 * agent] == high
        && ids[2 * agent + 1] == low;
  }

  private void put(int agent, long high, long low, byte state) {
    if (agent >= states.length) {
      grow(Math.max(agent + 1, states.length + states.length / GROWTH));
    }
    numbers = Math.max(numbers, agent + 1);
    remove(agent);
    states[agent] = state;
    ids[2 * agent] = high;
    ids[2 * agent + 1] = low;
    heard[agent] = clock.elapsedMillis();
  }

  private void grow(int capacity) {
    states = Arrays.copyOf(states, capacity);
    ids = Arrays.copyOf(ids, 2 * capacity);
    marks = Arrays.copyOf(marks, capacity);
    heard = Arrays.copyOf(heard, capacity);
    hosts = Arrays.copyOf(hosts, capacity);
  }

  private void remove(int agent) {
    states[agent] = ABSENT;
    if (hosts[agent] != null) {
      hostCharacters -= hosts[agent].length();
      hosts[agent] = null;
    }
  }

  /**
   * Excludes agents that are silent now, and returns until when the messages that were read are
   * complete.
   */
  WindowCompleteness endWindow() {
    long storedMillis = clock.nowMillis();
    long least = Long.MAX_VALUE;
    int waitsFor = 0;
    First behind = new First();
    First excluded = new First();
    for (int agent = 0; agent < numbers; agent++) {
      exclude(agent);
      if (isWaitedFor(agent)) {
        waitsFor++;
        least = Math.min(least, marks[agent]);
        if (marks[agent] < storedMillis - NAMED_BEHIND_MILLIS) {
          behind.add(agent, marks[agent]);
        }
      } else if (states[agent] == EXCLUDED) {
        excluded.add(agent, -heard[agent]);
      }
    }
    if (!hasMarks || storedMillis == UNKNOWN || waitsFor > 0 && least == UNKNOWN) {
      return WindowCompleteness.NONE;
    }
    untilMillis = Math.max(untilMillis, Math.min(least, storedMillis) - MARGIN_MILLIS);
    List<Agent> named = new ArrayList<>();
    behind.addTo(named);
    excluded.addTo(named);
    return new WindowCompleteness(
        untilMillis, startMillis + clock.elapsedMillis(), named, waitsFor);
  }

  private void exclude(int agent) {
    long silent = clock.elapsedMillis() - heard[agent];
    if (isWaitedFor(agent) && silent > silenceMillis) {
      states[agent] = EXCLUDED;
      if (marks[agent] == UNKNOWN) {
        // It may be of a version that does not send marks.
        remove(agent);
      }
    } else if (states[agent] == EXCLUDED && silent > NAMED_MILLIS) {
      remove(agent);
    }
  }

  /** Returns whether the time waits for an agent. */
  boolean isWaiting() {
    for (int agent = 0; agent < numbers; agent++) {
      if (isWaitedFor(agent)) {
        return true;
      }
    }
    return false;
  }

  private boolean isWaitedFor(int agent) {
    return states[agent] == EXPECTED || states[agent] == ACTIVE;
  }

  private Agent agent(int agent) {
    return new Agent(
        states[agent] == EXCLUDED,
        ids[2 * agent],
        ids[2 * agent + 1],
        hosts[agent] == null ? "" : hosts[agent]);
  }

  /** The agents with the lowest keys, ascending. There may be many that are not kept. */
  private final class First {
    private final int[] agents = new int[WindowCompleteness.MAX_NAMED];
    private final long[] keys = new long[agents.length];
    private int size;

    void add(int agent, long key) {
      if (size == agents.length && key >= keys[size - 1]) {
        return;
      }
      int at = Math.min(size, agents.length - 1);
      for (; at > 0 && keys[at - 1] > key; at--) {
        agents[at] = agents[at - 1];
        keys[at] = keys[at - 1];
      }
      agents[at] = agent;
      keys[at] = key;
      size = Math.min(size + 1, agents.length);
    }

    void addTo(List<Agent> named) {
      for (int i = 0; i < size && named.size() < agents.length; i++) {
        named.add(agent(agents[i]));
      }
    }
  }
}
