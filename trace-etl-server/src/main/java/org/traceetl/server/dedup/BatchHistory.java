package org.traceetl.server.dedup;

import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
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
 * silent for longest leaves. A repeat from an agent that left counts anew. An agent takes about 1
 * KB here, and in a snapshot some 30 bytes where its batches have no gaps; the batches taken since
 * the last window 40 bytes for each run without a gap. One owner thread.
 */
public final class BatchHistory {
  /** Sequences remembered of an epoch. */
  static final int WIDTH = 4_096;

  /**
   * Agents silent for so long may be forgotten: nothing they sent before is under way any more, as
   * their spools drop batches after 24 hours by default.
   */
  public static final long SILENCE_MILLIS = Duration.ofHours(26).toMillis();

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
        advance(sequence);
      } else if (sequence <= highest - WIDTH) {
        return false;
      }
      int word = (int) (sequence % WIDTH) / Long.SIZE;
      long bit = 1L << sequence;
      boolean first = (seen[word] & bit) == 0;
      seen[word] |= bit;
      return first;
    }

    void accept(long first, long last) {
      if (last > highest) {
        advance(last);
      }
      long from = Math.max(first, lowest());
      if (from <= last) {
        fill(from, last, true);
      }
    }

    /** The first sequence that is told exactly. */
    private long lowest() {
      return Math.max(0, highest - WIDTH + 1);
    }

    private void advance(long sequence) {
      fill(Math.max(highest + 1, sequence - WIDTH + 1), sequence, false);
      highest = sequence;
    }

    /** Sets or clears the bits of at most {@link #WIDTH} sequences, whole words at a time. */
    private void fill(long first, long last, boolean value) {
      int left = (int) (last - first) + 1;
      int at = (int) (first % WIDTH);
      while (left > 0) {
        int bit = at % Long.SIZE;
        int bits = Math.min(left, Long.SIZE - bit);
        long mask = -1L >>> (Long.SIZE - bits) << bit;
        if (value) {
          seen[at / Long.SIZE] |= mask;
        } else {
          seen[at / Long.SIZE] &= ~mask;
        }
        left -= bits;
        at = (at + bits) % WIDTH;
      }
    }

    /** Adds what is remembered as runs. */
    void remembered(Agent agent, AcceptedBatches.Builder runs) {
      long lowest = lowest();
      int sequences = (int) (highest - lowest) + 1;
      int at = next(lowest, 0, sequences, true);
      while (at < sequences) {
        int end = next(lowest, at, sequences, false);
        runs.add(agent.high, agent.low, number, lowest + at, lowest + end - 1);
        at = next(lowest, end, sequences, true);
      }
    }

    /** The first of the sequences {@code base + [from, to)} that was seen, or was not; or to. */
    private int next(long base, int from, int to, boolean wanted) {
      int at = from;
      while (at < to) {
        int place = (int) ((base + at) % WIDTH);
        long word = wanted ? seen[place / Long.SIZE] : ~seen[place / Long.SIZE];
        long ahead = word >>> place;
        if (ahead != 0) {
          return Math.min(at + Long.numberOfTrailingZeros(ahead), to);
        }
        at += Long.SIZE - place % Long.SIZE;
      }
      return to;
    }
  }

  private static final class Agent {
    private final long high;
    private final long low;
    private final int hash;
    private Epoch newest = new Epoch();
    private Epoch before = new Epoch();
    private long heardMillis;

    // The run of accepted batches that its last one is in; void unless of the run numbers in use.
    private int run;
    private long runsTaken = -1;

    Agent(long high, long low, int hash, long epoch) {
      this.high = high;
      this.low = low;
      this.hash = hash;
      newest.begin(epoch);
    }

    /**
     * What is kept of an epoch, which may take the place of an older one; null if it is too old.
     */
    Epoch epoch(long epoch) {
      if (epoch == newest.number) {
        return newest;
      }
      if (epoch > newest.number) {
        Epoch reused = before;
        before = newest;
        newest = reused;
        newest.begin(epoch);
        return newest;
      }
      if (!before.used || epoch > before.number) {
        before.begin(epoch);
      }
      return epoch == before.number ? before : null;
    }
  }

  private final int maxAgents;
  private final HashIndex index = new HashIndex(64);
  private Agent[] agents = new Agent[64];

  /** The batches taken since {@link #takeAccepted}. */
  private final AcceptedBatches.Builder accepted = new AcceptedBatches.Builder(64);

  /** No agent was heard before: none need be looked for. Behind the truth where they were since. */
  private long unheardBeforeMillis = Long.MAX_VALUE;

  /** Counts how often the numbers of the runs in {@link #accepted} became void. */
  private long runsTaken;

  /**
   * @param maxAgents most agents remembered
   */
  public BatchHistory(int maxAgents) {
    this.maxAgents = maxAgents;
  }

  /** Notes a batch. False if it was noted before. */
  public boolean isFirst(long agentHigh, long agentLow, long epoch, long sequence, long nowMillis) {
    Agent agent = agent(agentHigh, agentLow, epoch);
    hear(agent, nowMillis);
    Epoch kept = agent.epoch(epoch);
    if (kept == null || !kept.isFirst(sequence)) {
      return false;
    }
    noteAccepted(agent, epoch, sequence);
    return true;
  }

  private void hear(Agent agent, long nowMillis) {
    agent.heardMillis = nowMillis;
    unheardBeforeMillis = Math.min(unheardBeforeMillis, nowMillis);
  }

  private void noteAccepted(Agent agent, long epoch, long sequence) {
    if (agent.runsTaken == runsTaken && accepted.extend(agent.run, epoch, sequence)) {
      return;
    }
    if (accepted.isFull()) {
      // Batches out of order leave runs that touch: joining them is often room enough.
      accepted.merge();
      accepted.reserve();
      runsTaken++;
    }
    agent.run = accepted.add(agent.high, agent.low, epoch, sequence, sequence);
    agent.runsTaken = runsTaken;
  }

  /**
   * The batches for which {@link #isFirst} was true since the last call, in the order in which they
   * came: the worker does not wait for them to be sorted.
   */
  public AcceptedBatches.Builder takeAccepted() {
    runsTaken++;
    return accepted.takeUnsorted();
  }

  /**
   * Notes batches that were taken before, as at recovery: {@link #takeAccepted} does not tell them.
   *
   * <p>What is remembered depends on the batches taken alone, not on their order; so all runs of a
   * log, noted in its order, make the history of whoever took them, but for agents that had to make
   * room and for the time at which repeats were heard.
   *
   * @param first sequence, at or above 0
   * @param last sequence, included
   * @param heardMillis when the agent was heard, milliseconds since 1970
   */
  public void accept(
      long agentHigh, long agentLow, long epoch, long first, long last, long heardMillis) {
    Agent agent = agent(agentHigh, agentLow, epoch);
    hear(agent, heardMillis);
    Epoch kept = agent.epoch(epoch);
    if (kept != null) {
      kept.accept(first, last);
    }
  }

  /** Numbers of all agents, the last heard first, those heard at one time by their IDs. */
  public int[] lastHeardFirst() {
    Integer[] numbers = new Integer[index.size()];
    Arrays.setAll(numbers, number -> number);
    Arrays.sort(
        numbers,
        Comparator.comparingLong((Integer number) -> agents[number].heardMillis)
            .reversed()
            .thenComparingLong(number -> agents[number].high)
            .thenComparingLong(number -> agents[number].low));
    return Arrays.stream(numbers).mapToInt(number -> number).toArray();
  }

  /** What is remembered of an agent: noted in its order, it makes the same history. */
  public AcceptedBatches remembered(int number) {
    Agent agent = agents[number];
    AcceptedBatches.Builder runs = new AcceptedBatches.Builder(2);
    if (agent.before.used) {
      agent.before.remembered(agent, runs);
    }
    agent.newest.remembered(agent, runs);
    return runs.take();
  }

  /** When an agent was last heard, milliseconds since 1970. */
  public long heardMillis(int number) {
    return agents[number].heardMillis;
  }

  private Agent agent(long high, long low, long epoch) {
    int hash = hash(high, low);
    Agent agent = find(hash, high, low);
    return agent != null ? agent : add(new Agent(high, low, hash, epoch));
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
    if (unheardBeforeMillis >= sinceMillis) {
      return;
    }
    unheardBeforeMillis = Long.MAX_VALUE;
    for (int number = index.size() - 1; number >= 0; number--) {
      if (agents[number].heardMillis < sinceMillis) {
        remove(number);
      } else {
        unheardBeforeMillis = Math.min(unheardBeforeMillis, agents[number].heardMillis);
      }
    }
  }

  /** Agents remembered. */
  public int agents() {
    return index.size();
  }
}
