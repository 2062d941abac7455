package org.traceetl.server.dedup;

import java.time.Duration;
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
 *   <li>within those sequences: exactly;
 *   <li>at or below the highest sequence minus {@value #WIDTH}: a repeat. An agent has fewer
 *       batches than that under way on one queue, so a first arrival cannot be that late;
 *   <li>of an epoch between the two: first, as no batch of that epoch was seen; it becomes the one
 *       before;
 *   <li>of an epoch older than both: a repeat.
 * </ul>
 *
 * <p>An agent is forgotten when it was silent for {@link #SILENCE_MILLIS}. If the memory is used
 * up, the agent silent for longest is evicted; a repeat from it counts again. An agent takes {@link
 * Agents#BYTES} bytes of heap, and {@link SeenRing#BYTES} more for each epoch whose batches have a
 * gap. It takes some 30 bytes in a snapshot if its batches have no gaps. The batches taken since
 * the last window take 40 bytes for each run without a gap.
 *
 * <p>Silence is elapsed time: the sum of the steps between the times given. A step back is no time,
 * and a step forward is {@link #MAX_STEP_MILLIS} at most, so that a wall clock that is set does not
 * make agents silent. The time without an owner therefore counts up to that as well. One owner
 * thread.
 */
public final class BatchHistory {
  /** Sequences remembered of an epoch. */
  static final int WIDTH = SeenRing.WIDTH;

  /**
   * Agents silent for so long may be forgotten: nothing they sent before is under way any more, as
   * their spools drop batches after 24 hours by default.
   */
  public static final long SILENCE_MILLIS = Duration.ofHours(26).toMillis();

  /** The most elapsed time between two times given: the longest window. */
  static final long MAX_STEP_MILLIS = Duration.ofHours(1).toMillis();

  /** How exact an agent's silence is: within this time it is not moved among the others again. */
  static final long RESOLUTION_MILLIS = Duration.ofMinutes(1).toMillis();

  private static final long UNKNOWN = Long.MIN_VALUE;

  private final long maxBytes;
  private final Agents agents = new Agents();

  /** The batches taken since {@link #takeAccepted}. */
  private final AcceptedBatches.Builder accepted = new AcceptedBatches.Builder(64);

  /** The time given last. */
  private long givenMillis = UNKNOWN;

  /** The time elapsed since the first one given. */
  private long elapsedMillis;

  private long evicted;

  /** Counts how often the numbers of the runs in {@link #accepted} became void. */
  private int runsTaken;

  /**
   * @param maxBytes most heap for agents and their gaps; the agent heard last is remembered in any
   *     case
   */
  public BatchHistory(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Notes a batch. False if it was noted before. */
  public boolean isFirst(long agentHigh, long agentLow, long epoch, long sequence, long nowMillis) {
    tick(nowMillis);
    int agent = heard(agentHigh, agentLow, RESOLUTION_MILLIS);
    int kept = agents.epoch(agent, epoch);
    boolean first = kept != Agents.NONE && agents.isFirst(kept, sequence);
    makeRoom(agent);
    if (first) {
      noteAccepted(agent, epoch, sequence);
    }
    return first;
  }

  /** The agent of this ID, which is heard now. It is moved if it was moved so long ago. */
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
      // It may be the one to leave: within the resolution it is not moved.
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

  /** An agent's mark is the run that its last batch is in, and {@link #runsTaken} of that run. */
  private void noteAccepted(int agent, long epoch, long sequence) {
    long mark = agents.mark(agent);
    if ((int) (mark >>> 32) == runsTaken && accepted.extend((int) mark, epoch, sequence)) {
      return;
    }
    if (accepted.isFull()) {
      // Batches out of order leave runs that touch: joining them is often room enough.
      accepted.merge();
      accepted.reserve();
      runsTaken++;
    }
    int run = accepted.add(agents.high(agent), agents.low(agent), epoch, sequence, sequence);
    agents.mark(agent, (long) runsTaken << 32 | run);
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
   * room and for the time at which repeats were heard. The agent noted last was heard at the time
   * given last: so a history that is made of a snapshot of this one goes on alike.
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
   * long)}. Agents come in the order of {@link #lastHeardFirst}: those for which there is no room
   * are left out.
   *
   * @param heardMillis as {@link #heardMillis} told it
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

  /** Notes a run of an agent of a snapshot, unless there was no room for it. */
  public void restore(long agentHigh, long agentLow, long epoch, long first, long last) {
    int agent = agents.find(agentHigh, agentLow);
    if (agent != Agents.NONE) {
      note(agent, epoch, first, last);
      evict();
    }
  }

  /** Agents that had to make room since the last call. */
  public long takeEvicted() {
    long taken = evicted;
    evicted = 0;
    return taken;
  }

  /** Numbers of all agents, the last heard first. */
  public int[] lastHeardFirst() {
    int[] numbers = new int[agents.size()];
    int agent = agents.last();
    for (int at = 0; at < numbers.length; at++) {
      numbers[at] = agent;
      agent = agents.earlier(agent);
    }
    return numbers;
  }

  /** What is remembered of an agent: noted in its order, it makes the same history. */
  public AcceptedBatches remembered(int number) {
    AcceptedBatches.Builder runs = new AcceptedBatches.Builder(2);
    agents.remembered(number, runs);
    return runs.take();
  }

  /**
   * When an agent was last heard, milliseconds since 1970: its silence before the time given last.
   */
  public long heardMillis(int number) {
    return givenMillis - (elapsedMillis - agents.heard(number));
  }

  /** Forgets the agents that have been silent for {@link #SILENCE_MILLIS} now. */
  public void forgetSilent(long nowMillis) {
    tick(nowMillis);
    forgetSilent();
  }

  /** Forgets the agents that were silent for {@link #SILENCE_MILLIS} at the time given last. */
  public void forgetSilent() {
    while (agents.size() > 0 && elapsedMillis - agents.heard(agents.first()) > SILENCE_MILLIS) {
      agents.remove(agents.first());
    }
  }

  /** Agents remembered. */
  public int agents() {
    return agents.size();
  }
}
