package org.traceetl.server.features.history;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.traceetl.server.minutes.MinuteColumns;
import org.traceetl.server.window.AcceptedBatches;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * The agents whose batches counted in the last hour. Not thread-safe.
 *
 * <p>Bounded: if the maximum number of agents is reached, further ones are left out. An agent
 * without batches for an hour is removed.
 */
public final class RecentAgents {
  /** Maximum number: about 500 bytes for each agent, and 8 for each of its queues. */
  static final int MAX = 20_000;

  /**
   * An agent.
   *
   * @param startedMillis start of its newest epoch, milliseconds since 1970, with the precision of
   *     a window; 0 if it was before the last hour or is unknown
   * @param seenMillis seal time of its newest window, milliseconds since 1970
   * @param batches batches that counted in the last hour
   * @param queues queues of these batches
   */
  public record View(UUID agent, long startedMillis, long seenMillis, long batches, int queues) {}

  private static final class Agent {
    private final MinuteColumns.Minutes batches = new MinuteColumns.Minutes();
    private long epoch;

    /** Start of the oldest known window with batches of this epoch. */
    private long begunMillis = Long.MAX_VALUE;

    /** Whether that window has the first batch that the agent sent on its queue. */
    private boolean fromFirst;

    /** Whether there were batches of an earlier epoch. */
    private boolean follows;

    private long seenMillis;

    /** By number of a queue: the newest minute with batches. */
    private long[] minutes = new long[0];

    void saw(long epochOfRun, long first, long openedMillis) {
      if (epochOfRun > epoch) {
        follows = epoch != 0;
        epoch = epochOfRun;
        begunMillis = Long.MAX_VALUE;
      }
      if (epochOfRun < epoch) {
        // A window of another queue that is read later.
        follows = true;
      } else if (openedMillis <= begunMillis) {
        fromFirst = first == 0 || openedMillis == begunMillis && fromFirst;
        begunMillis = openedMillis;
      }
    }

    long startedMillis() {
      return follows || fromFirst ? begunMillis : 0;
    }

    void at(int queue, long minute) {
      if (queue >= minutes.length) {
        minutes = Arrays.copyOf(minutes, queue + 1);
      }
      minutes[queue] = Math.max(minutes[queue], minute);
    }
  }

  private final MinuteColumns columns = new MinuteColumns(1);
  private final Map<UUID, Agent> agents = new HashMap<>();
  private final Map<QueueId, Integer> queues = new HashMap<>();
  private final int max;

  /** The newest minute in which an agent was left out. */
  private long leftOutMinute = Long.MIN_VALUE;

  RecentAgents(int max) {
    this.max = max;
  }

  void add(SealedWindow window, long minute, long now) {
    AcceptedBatches batches = window.batches();
    int queue = queues.computeIfAbsent(window.queue(), absent -> queues.size());
    for (int run = 0; run < batches.size(); run++) {
      UUID id = new UUID(batches.agentHigh(run), batches.agentLow(run));
      Agent agent = agents.get(id);
      if (agent == null && agents.size() < max) {
        agent = new Agent();
        agents.put(id, agent);
      }
      if (agent == null) {
        leftOutMinute = Math.max(leftOutMinute, minute);
        continue;
      }
      agent.saw(batches.epoch(run), batches.first(run), window.openedMillis());
      agent.seenMillis = Math.max(agent.seenMillis, window.sealedMillis());
      agent.at(queue, minute);
      long count = Math.max(0, batches.last(run) - batches.first(run) + 1);
      columns.add(agent.batches, minute, new long[] {count}, now);
    }
  }

  void sweep(long oldest) {
    agents.values().removeIf(agent -> agent.batches.endedBefore(oldest));
  }

  boolean leftOut(long oldest) {
    return leftOutMinute >= oldest;
  }

  /** Returns the agents with batches in these minutes, the most silent first. */
  List<View> views(long oldest, long newest) {
    List<View> views = new ArrayList<>();
    agents.forEach((id, agent) -> {
      if (!agent.batches.endedBefore(oldest)) {
        long[] sum = new long[1];
        columns.sum(agent.batches, oldest, newest, sum);
        int by = 0;
        for (long minute : agent.minutes) {
          by += minute >= oldest ? 1 : 0;
        }
        views.add(new View(id, agent.startedMillis(), agent.seenMillis, sum[0], by));
      }
    });
    views.sort(Comparator.comparingLong(View::seenMillis).thenComparing(View::agent));
    return views;
  }
}
