package org.traceetl.server.dedup;

import java.time.Duration;
import org.traceetl.server.window.AcceptedBatches;

/**
 * Remembers which batches of which agents were seen on one queue, so that repeats are not counted.
 * A batch's name is agent, epoch and sequence. Agents number a queue's batches 0, 1, 2, ... within
 * an epoch, and raise the epoch when they start.
 *
 * <p>For each agent two epochs are kept, the newest seen and the one before it, each with the last
 * {@value #WIDTH} sequences up to its highest. A batch is first or a repeat by these rules:
 *
 * <ul>
 *   <li>within those sequences: exact;
 *   <li>at or below the highest sequence minus {@value #WIDTH}: a repeat. An agent has fewer
 *       unconfirmed batches than that on one queue, so a first arrival cannot be that late;
 *   <li>of an epoch between the two: first, because no batch of that epoch was seen; it becomes the
 *       one before;
 *   <li>of an epoch older than both: a repeat.
 * </ul>
 *
 * <p>An agent is forgotten after {@link #SILENCE_MILLIS} without a batch. If the memory limit is
 * reached, the agent silent for longest is evicted; a repeat from it counts again. An agent needs
 * {@link Agents#BYTES} bytes of heap, and {@link SeenRing#BYTES} more for each epoch with a gap.
 * Without gaps, it needs about 30 bytes in a snapshot. The batches taken since the last window need
 * 40 bytes for each run without a gap.
 *
 * <p>Silence is elapsed time: the sum of the steps between given times. A step back counts as 0 and
 * a step forward as at most {@link #MAX_STEP_MILLIS}: a change of the wall clock does not make
 * agents silent. The same limit applies to time without an owner. One owner thread.
 */
public final class BatchHistory {
  /** Remembered sequences of an epoch. */
  static final int WIDTH = SeenRing.WIDTH;

  /**
   * Agents silent for this time may be forgotten: their earlier batches cannot arrive any more, as
   * spools drop batches after 24 hours by default.
   */
  public static final long SILENCE_MILLIS = Duration.ofHours(26).toMillis();

  /** Maximum elapsed time between two given times: the longest window. */
  static final long MAX_STEP_MILLIS = Duration.ofHours(1).toMillis();

  /** Accuracy of an agent's silence: within this time its position in the order is not updated. */
  static final long RESOLUTION_MILLIS = Duration.ofMinutes(1).toMillis();

  /** Instead of the number of an agent. */
  public static final int NONE = Agents.NONE;

  private static final long UNKNOWN = Long.MIN_VALUE;

  private final long maxBytes;
  private final Agents agents = new Agents();

  /** Batches taken since {@link #takeAccepted}. */
  private final AcceptedBatches.Builder accepted = new AcceptedBatches.Builder(64);

  /** The last given time. */
  private long givenMillis = UNKNOWN;

  /** Time elapsed since the first given time. */
  private long elapsedMillis;

  private long evicted;
  private int latest = NONE;

  /** Counts how often the run numbers in {@link #accepted} became invalid. */
  private int runsTaken;

  /**
   * @param maxBytes maximum heap of agents and their gaps; the last active agent is always
   *     remembered
   */
  public BatchHistory(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Records a batch; returns false if it was recorded before. */
  public boolean isFirst(long agentHigh, long agentLow, long epoch, long sequence, long nowMillis) {
    tick(nowMillis);
    int agent = heard(agentHigh, agentLow, RESOLUTION_MILLIS);
    latest = agent;
    int kept = agents.epoch(agent, epoch);
    boolean first = kept != Agents.NONE && agents.isFirst(kept, sequence);
    makeRoom(agent);
    if (first) {
      noteAccepted(agent, epoch, sequence);
    }
    return first;
  }

  /** Returns the number of the agent of the last batch that was passed to {@link #isFirst}. */
  public int latest() {
    return latest;
  }

  /**
   * Returns the number of the agent with this ID, or {@link #NONE}. Numbers of forgotten agents are
   * given to others.
   */
  public int find(long agentHigh, long agentLow) {
    return agents.find(agentHigh, agentLow);
  }

  /** Returns the first half of an agent's ID. */
  public long agentHigh(int number) {
    return agents.high(number);
  }

  /** Returns the second half of an agent's ID. */
  public long agentLow(int number) {
    return agents.low(number);
  }

  /** Returns the agent with this ID, now active. Updates its position after the given time. */
  private int heard(long high, long low, long moveAfterMillis) {
    int agent = agents.find(high, low);
    if (agent == Agents.NONE) {
      return agents.addLast(high, low, elapsedMillis);
    }
    if (elapsedMillis - agents.heard(agent) >= moveAfterMillis) {
      agents.hear(agent, elapsedMillis);
    }
    return agent;
  }

  private void tick(long nowMillis) {
    if (nowMillis == givenMillis) {
      return;
    }
    if (givenMillis != UNKNOWN) {
      elapsedMillis += Math.clamp(nowMillis - givenMillis, 0, MAX_STEP_MILLIS);
    }
    givenMillis = nowMillis;
  }

  private void makeRoom(int agent) {
    if (agents.bytes() > maxBytes) {
      // It may be the first in the order: within the resolution its position is not updated.
      agents.hear(agent, elapsedMillis);
      evict();
    }
  }

  private void evict() {
    while (agents.bytes() > maxBytes && agents.size() > 1) {
      agents.remove(agents.first());
      evicted++;
    }
  }

  /** Adds a batch to the accepted ones. An agent's mark is {@link #runsTaken} and its last run. */
  private void noteAccepted(int agent, long epoch, long sequence) {
    long mark = agents.mark(agent);
    if ((int) (mark >>> 32) == runsTaken && accepted.extend((int) mark, epoch, sequence)) {
      return;
    }
    if (accepted.isFull()) {
      // Batches out of order leave adjacent runs; joining these often makes enough room.
      accepted.merge();
      accepted.reserve();
      runsTaken++;
    }
    int run = accepted.add(agents.high(agent), agents.low(agent), epoch, sequence, sequence);
    agents.mark(agent, (long) runsTaken << 32 | run);
  }

  /**
   * Returns the batches for which {@link #isFirst} was true since the last call, unsorted, so that
   * the worker does not wait for the sort.
   */
  public AcceptedBatches.Builder takeAccepted() {
    runsTaken++;
    return accepted.takeUnsorted();
  }

  /**
   * Records batches that were taken before, for a recovery; {@link #takeAccepted} excludes them.
   *
   * <p>What is remembered depends only on the set of batches, not on their order. So the runs of a
   * log, recorded in order, give the history of their writer, except for evicted agents and the
   * times of repeats. The agent recorded last was active at the time given last, so a history
   * restored from a snapshot continues identically.
   *
   * @param first sequence, at or above 0
   * @param last sequence, included
   * @param nowMillis when they were taken, milliseconds since 1970
   */
  public void accept(
      long agentHigh, long agentLow, long epoch, long first, long last, long nowMillis) {
    tick(nowMillis);
    int agent = heard(agentHigh, agentLow, 0);
    note(agent, epoch, first, last);
    makeRoom(agent);
  }

  private void note(int agent, long epoch, long first, long last) {
    int kept = agents.epoch(agent, epoch);
    if (kept != Agents.NONE) {
      agents.note(kept, first, last);
    }
  }

  /**
   * Adds an agent of a snapshot, to be followed by its {@link #restore(long, long, long, long,
   * long)}. Agents come in the order of {@link #lastHeardFirst}; those without room are skipped.
   *
   * @param heardMillis value of {@link #heardMillis}
   */
  public void restore(long agentHigh, long agentLow, long heardMillis) {
    if (agents.find(agentHigh, agentLow) != Agents.NONE) {
      return;
    }
    if (givenMillis == UNKNOWN) {
      givenMillis = heardMillis;
    }
    long heard = elapsedMillis - Math.clamp(givenMillis - heardMillis, 0, SILENCE_MILLIS);
    if (agents.first() != Agents.NONE) {
      heard = Math.min(heard, agents.heard(agents.first()));
    }
    agents.addFirst(agentHigh, agentLow, heard);
    evict();
  }

  /** Records a run of an agent of a snapshot, unless the agent was skipped. */
  public void restore(long agentHigh, long agentLow, long epoch, long first, long last) {
    int agent = agents.find(agentHigh, agentLow);
    if (agent != Agents.NONE) {
      note(agent, epoch, first, last);
      evict();
    }
  }

  /** Returns the number of agents evicted since the last call. */
  public long takeEvicted() {
    long taken = evicted;
    evicted = 0;
    return taken;
  }

  /** Returns the numbers of all agents, most recently active first. */
  public int[] lastHeardFirst() {
    int[] numbers = new int[agents.size()];
    int agent = agents.last();
    for (int at = 0; at < numbers.length; at++) {
      numbers[at] = agent;
      agent = agents.earlier(agent);
    }
    return numbers;
  }

  /** Returns the remembered batches of an agent; recorded in order, they give the same history. */
  public AcceptedBatches remembered(int number) {
    AcceptedBatches.Builder runs = new AcceptedBatches.Builder(2);
    agents.remembered(number, runs);
    return runs.take();
  }

  /**
   * Returns when an agent was last active, in milliseconds since 1970, as of the last given time.
   */
  public long heardMillis(int number) {
    return givenMillis - (elapsedMillis - agents.heard(number));
  }

  /** Forgets agents silent for {@link #SILENCE_MILLIS} now. */
  public void forgetSilent(long nowMillis) {
    tick(nowMillis);
    forgetSilent();
  }

  /** Forgets agents silent for {@link #SILENCE_MILLIS} at the last given time. */
  public void forgetSilent() {
    while (agents.size() > 0 && elapsedMillis - agents.heard(agents.first()) > SILENCE_MILLIS) {
      agents.remove(agents.first());
    }
  }

  /** Returns the number of remembered agents. */
  public int agents() {
    return agents.size();
  }
}
