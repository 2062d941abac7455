package org.traceetl.server.dedup;

import java.util.Arrays;
import org.traceetl.server.series.HashIndex;
import org.traceetl.server.window.AcceptedBatches;

/**
 * Which batches of which agents were seen on one queue, so that a batch that is sent again counts
 * once. A batch's name is agent, epoch and sequence; agents number a queue's batches 0, 1, 2, ...
 * within an epoch, and raise the epoch when they start.
 *
 * <p>For an agent two epochs are kept, the newest seen and the one before it, each with the last
 * {@value #WIDTH} sequences up to its highest. A batch is first or a repeat as follows:
 *
 * <ul>
 *   <li>within those sequences: exactly, by its bit;
 *   <li>at or below the highest sequence minus {@value #WIDTH}: a repeat. An agent has fewer
 *       batches than that under way on one queue, so a first arrival cannot be that late;
 *   <li>of an epoch between the two: first, as no batch of that epoch was seen; it becomes the one
 *       before;
 *   <li>of an epoch older than both: a repeat.
 * </ul>
 *
 * <p>Agents are bounded and leave when they were silent for long; when there is no room, the one
 * silent for longest leaves. A repeat from an agent that left counts anew. One owner thread.
 */
public final class BatchHistory {
  /** Sequences remembered of an epoch. */
  static final int WIDTH = 4_096;

  private static final int WORDS = WIDTH / Long.SIZE;
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

  /** The last sequences of one epoch: bit {@code sequence % WIDTH} of a ring. */
  private static final class Epoch {
    private final long[] seen = new long[WORDS];
    private long number;
    private long highest;
    private boolean used;

    void begin(long epoch) {
      Arrays.fill(seen, 0);
      number = epoch;
      highest = -1;
      used = true;
    }

    boolean isFirst(long sequence) {
      if (sequence > highest) {
        forget(highest + 1, sequence);
        highest = sequence;
      } else if (sequence <= highest - WIDTH) {
        return false;
      }
      int word = (int) (sequence % WIDTH) / Long.SIZE;
      long bit = 1L << sequence;
      boolean first = (seen[word] & bit) == 0;
      seen[word] |= bit;
      return first;
    }

    /** Makes room for the sequences from {@code from} to {@code to}. */
    private void forget(long from, long to) {
      if (to - from >= WIDTH - 1) {
        Arrays.fill(seen, 0);
        return;
      }
      for (long sequence = from; sequence <= to; sequence++) {
        seen[(int) (sequence % WIDTH) / Long.SIZE] &= ~(1L << sequence);
      }
    }
  }

  private static final class Agent {
    private final long high;
    private final long low;
    private final int hash;
    private Epoch newest = new Epoch();
    private Epoch before = new Epoch();
    private long heardMillis;

    Agent(long high, long low, int hash, long epoch) {
      this.high = high;
      this.low = low;
      this.hash = hash;
      newest.begin(epoch);
    }

    boolean isFirst(long epoch, long sequence) {
      if (epoch == newest.number) {
        return newest.isFirst(sequence);
      }
      if (epoch > newest.number) {
        Epoch reused = before;
        before = newest;
        newest = reused;
        newest.begin(epoch);
        return newest.isFirst(sequence);
      }
      if (!before.used || epoch > before.number) {
        before.begin(epoch);
      }
      return epoch == before.number && before.isFirst(sequence);
    }
  }

  private final int maxAgents;
  private final HashIndex index = new HashIndex(64);
  private Agent[] agents = new Agent[64];

  /**
   * @param maxAgents most agents remembered
   */
  public BatchHistory(int maxAgents) {
    this.maxAgents = maxAgents;
  }

  /** Notes a batch. False if it was noted before. */
  public boolean isFirst(long agentHigh, long agentLow, long epoch, long sequence, long nowMillis) {
    int hash = hash(agentHigh, agentLow);
    Agent agent = find(hash, agentHigh, agentLow);
    if (agent == null) {
      agent = add(new Agent(agentHigh, agentLow, hash, epoch));
    }
    agent.heardMillis = nowMillis;
    return agent.isFirst(epoch, sequence);
  }

  /**
   * Notes a run of batches that were taken, as at recovery.
   *
   * @param heardMillis when the agent was heard, milliseconds since 1970
   */
  public void accept(AcceptedBatches batches, int run, long heardMillis) {
    // A run longer than what is remembered leaves only its end.
    long first = Math.max(batches.first(run), batches.last(run) - WIDTH + 1);
    for (long sequence = first; sequence <= batches.last(run); sequence++) {
      isFirst(
          batches.agentHigh(run), batches.agentLow(run), batches.epoch(run), sequence, heardMillis);
    }
  }

  /** The batches taken since the last call. */
  public AcceptedBatches takeAccepted() {
    return AcceptedBatches.NONE;
  }

  private static int hash(long high, long low) {
    long hash = (high * MIX ^ low) * MIX;
    return (int) (hash >>> 32);
  }

  private Agent find(int hash, long high, long low) {
    for (int slot = index.first(hash); index.isTaken(slot); slot = index.next(slot)) {
      if (index.hasHash(slot, hash)) {
        Agent agent = agents[index.number(slot)];
        if (agent.high == high && agent.low == low) {
          return agent;
        }
      }
    }
    return null;
  }

  private Agent add(Agent agent) {
    if (index.size() >= maxAgents) {
      removeLongestSilent();
    }
    int number = index.size();
    if (number == agents.length) {
      agents = Arrays.copyOf(agents, number * 2);
    }
    agents[number] = agent;
    index.add(agent.hash, number);
    return agent;
  }

  private void removeLongestSilent() {
    int longest = 0;
    for (int number = 1; number < index.size(); number++) {
      if (agents[number].heardMillis < agents[longest].heardMillis) {
        longest = number;
      }
    }
    remove(longest);
  }

  /** The last agent takes the number that becomes free: numbers stay dense. */
  private void remove(int number) {
    int last = index.size() - 1;
    index.remove(agents[number].hash, number);
    if (number != last) {
      index.remove(agents[last].hash, last);
      agents[number] = agents[last];
      index.add(agents[number].hash, number);
    }
    agents[last] = null;
  }

  /** Forgets the agents not heard since {@code sinceMillis}. */
  public void forgetSilent(long sinceMillis) {
    for (int number = index.size() - 1; number >= 0; number--) {
      if (agents[number].heardMillis < sinceMillis) {
        remove(number);
      }
    }
  }

  /** Agents remembered. */
  public int agents() {
    return index.size();
  }
}
