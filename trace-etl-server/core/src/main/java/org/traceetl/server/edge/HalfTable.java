package org.traceetl.server.edge;

import static org.traceetl.server.edge.HalfRows.NONE;
import static org.traceetl.server.edge.OpenHalves.ALL;
import static org.traceetl.server.edge.OpenHalves.CALLERS;
import static org.traceetl.server.edge.OpenHalves.CONSUMERS;
import static org.traceetl.server.edge.OpenHalves.SERVERS;

import org.traceetl.server.series.IntStack;

/**
 * The open half-edges of one queue. It pairs halves with equal key and check: a caller (client or
 * producer) with a callee (server or consumer), whichever arrives first.
 *
 * <ul>
 *   <li>Client and server are a call: both leave the table. A later half with their key is a new
 *       one.
 *   <li>Any other pair is a message: the callee leaves, and the caller stays until it expires and
 *       is paired with each further callee. Instrumentations send from client spans, too, and
 *       process messages in server spans; one message may have several receivers.
 *   <li>Callees without a caller wait. When it arrives, it is paired with all of them: the server
 *       first, then the consumers in the order of their arrival.
 *   <li>A caller is a duplicate if its key has an open caller; a server, if its key has a waiting
 *       server. Consumers are never duplicates.
 *   <li>If the table is full, a half without an open partner is refused. Open halves stay.
 * </ul>
 *
 * <p>The order of arrival matters in these cases only: which of two duplicates is refused; which
 * halves have room; whether a further callee of a client arrives before its call is complete;
 * whether a second server of a producer arrives before the producer.
 *
 * <p>Time is stream time, the highest time passed to {@link #advance}. A half expires when it has
 * been open for the waiting time.
 *
 * <p>Books, for each side: halves offered = paired + expired + duplicate + overflowed + increase of
 * {@link #waiting}. A callee of {@link Joins#paired} counts as paired, and a caller unless it
 * {@link Half#isPaired was paired before}. A half of {@link Joins#expired} counts as expired unless
 * it was paired.
 *
 * <p>Recovery: {@link #endWindow} passes on the net change of a window, {@link #visitOpen} all open
 * halves. A new table receives the open halves of one time and then each later change, by its own
 * methods of {@link TableChange}. From then on it behaves like the original if capacity and waiting
 * time are equal, except for the numbers of halves. A half that arrives and leaves within a window
 * is in no change.
 *
 * <p>A half takes constant time, plus that of its pairs, however many halves have its key. Memory
 * grows with the highest number of open halves and is kept: 64 bytes a half, 4 to 16 for its place
 * in the order, 11 to 21 in the index; 88 in all at 1,000,000. The change of a window takes up to 8
 * bytes for a half that left. Without growth nothing is allocated. One owner thread.
 */
public final class HalfTable implements TableChange {
  /** Highest capacity: all halves of a table fit a record of the journal, whatever they contain. */
  public static final int MAX_CAPACITY = 1 << 21;

  private final int capacity;
  private final long waitMillis;
  private final HalfRows rows;
  private final OpenHalves halves;
  private final ArrivalOrder order;

  /** By side: open halves that were not paired. */
  private final int[] waiting = new int[Half.CONSUMER + 1];

  private long streamMillis;

  /** What was read ahead; without meaning. */
  private long touched;

  /** Halves that were open before this window and left in it. */
  private final IntStack left = new IntStack();

  /** Callers that were open before this window and first paired in it. Some of them left. */
  private final IntStack firstPaired = new IntStack();

  /** Carries an open half to a caller. */
  private final Half carried = new Half();

  /**
   * @param capacity maximum number of open halves, 1 to {@link #MAX_CAPACITY}
   * @param waitMillis time after which a half expires, milliseconds, at least 1
   * @param seed of the hashes; random, so that senders cannot prepare collisions
   * @throws IllegalArgumentException if capacity or waiting time is out of range
   */
  public HalfTable(int capacity, long waitMillis, long seed) {
    if (capacity < 1 || capacity > MAX_CAPACITY) {
      throw new IllegalArgumentException(
          "The capacity must be 1 to " + MAX_CAPACITY + " halves, not " + capacity);
    }
    if (waitMillis < 1) {
      throw new IllegalArgumentException(
          "The waiting time must be at least 1 ms, not " + waitMillis);
    }
    this.capacity = capacity;
    this.waitMillis = waitMillis;
    rows = new HalfRows(MAX_CAPACITY);
    halves = new OpenHalves(rows, seed);
    order = halves.order();
  }

  /** Returns the stream time, milliseconds since 1970; 0 before the first {@link #advance}. */
  public long streamMillis() {
    return streamMillis;
  }

  /** Returns the number of open halves, including callers that were paired. */
  public int open() {
    return halves.size();
  }

  /**
   * Returns the number of open halves of a side that were not paired.
   *
   * @param side {@link Half#CLIENT} to {@link Half#CONSUMER}
   */
  public int waiting(int side) {
    return waiting[side];
  }

  /**
   * Sets the stream time, and removes the halves that expire, the oldest first.
   *
   * @param millis milliseconds since 1970; a time at or before the stream time has no effect
   */
  public void advance(long millis, Joins joins) {
    if (millis <= streamMillis) {
      return;
    }
    streamMillis = millis;
    while (order.size() > 0) {
      int oldest = order.at(order.first());
      if (rows.arrivalMillis(oldest) > millis - waitMillis) {
        break;
      }
      rows.read(oldest, carried);
      leave(oldest, halves.hash(carried));
      joins.expired(carried);
    }
  }

  /**
   * Makes the next calls of {@link #offer} faster: reads for many halves together what each call
   * will read.
   *
   * @param keys of halves that will be offered, with their checks; others have no effect either
   * @param to end of the range
   * @return the end of the part of the range that is prepared, above {@code from}
   */
  public int prepare(long[] keys, int[] checks, int from, int to) {
    int end = Math.min(to, from + OpenHalves.MOST_TOUCHED);
    touched ^= halves.touch(keys, checks, from, end);
    return end;
  }

  /**
   * Adds a half. It arrives at the stream time, which is 0 before the first {@link #advance}.
   *
   * @param half as {@link Half#set} leaves it; the table changes its arrival and {@link
   *     Half#isPaired}
   * @param joins receives the pairs that the half completes
   */
  public Outcome offer(Half half, Joins joins) {
    half.arrive(streamMillis, false);
    return half.isCaller() ? offerCaller(half, joins) : offerCallee(half, joins);
  }

  private Outcome offerCaller(Half caller, Joins joins) {
    int hash = halves.hash(caller);
    int found = halves.find(hash, caller, ALL);
    if (found == NONE) {
      return await(hash, caller);
    }
    if (halves.isCaller(found)) {
      return Outcome.DUPLICATE;
    }
    boolean isAnswered = false;
    int server = halves.find(hash, caller, SERVERS);
    if (server != NONE) {
      pairWaiting(hash, caller, server, joins);
      isAnswered = isCall(caller, carried);
    }
    int consumer = halves.find(hash, caller, CONSUMERS);
    while (consumer != NONE) {
      pairWaiting(hash, caller, consumer, joins);
      consumer = halves.find(hash, caller, CONSUMERS);
    }
    if (!isAnswered) {
      keep(hash, caller); // the callees made room
    }
    return Outcome.PAIRED;
  }

  private void pairWaiting(int hash, Half caller, int callee, Joins joins) {
    rows.read(callee, carried);
    leave(callee, hash);
    joins.paired(caller, carried);
    caller.arrive(streamMillis, true);
  }

  private Outcome offerCallee(Half callee, Joins joins) {
    int hash = halves.hash(callee);
    int caller = halves.find(hash, callee, CALLERS);
    if (caller == NONE) {
      boolean isDuplicate =
          callee.side() == Half.SERVER && halves.find(hash, callee, SERVERS) != NONE;
      return isDuplicate ? Outcome.DUPLICATE : await(hash, callee);
    }
    rows.read(caller, carried);
    if (isCall(carried, callee)) {
      leave(caller, hash);
    } else if (!carried.isPaired()) {
      pairFirst(caller);
      if (!order.isNew(caller)) {
        firstPaired.push(caller);
      }
    }
    joins.paired(carried, callee);
    return Outcome.PAIRED;
  }

  private static boolean isCall(Half caller, Half callee) {
    return caller.side() == Half.CLIENT && callee.side() == Half.SERVER;
  }

  private Outcome await(int hash, Half half) {
    if (halves.size() >= capacity) {
      return Outcome.OVERFLOWED;
    }
    keep(hash, half);
    return Outcome.WAITING;
  }

  private void keep(int hash, Half half) {
    halves.add(hash, half);
    countWaiting(half, 1);
  }

  private void pairFirst(int caller) {
    rows.setPaired(caller);
    waiting[rows.side(caller)]--;
  }

  /** Removes the carried half, or one equal to it. */
  private void leave(int number, int hash) {
    if (!order.isNew(number)) {
      left.push(number);
    }
    halves.remove(number, hash);
    countWaiting(carried, -1);
  }

  private void countWaiting(Half half, int change) {
    if (!half.isPaired()) {
      waiting[half.side()] += change;
    }
  }

  /**
   * Passes on the net change since the last call, and begins a window.
   *
   * @param change must not throw; otherwise the table is invalid
   */
  public void endWindow(TableChange change) {
    change.advanced(streamMillis);
    for (int i = 0; i < left.size(); i++) {
      change.left(left.get(i));
    }
    for (int i = 0; i < firstPaired.size(); i++) {
      int number = firstPaired.get(i);
      // If the caller left, its number is free, or belongs to a half of this window.
      if (halves.isOpen(number) && !order.isNew(number)) {
        change.paired(number);
      }
    }
    pass(order.window(), change);
    left.clear();
    firstPaired.clear();
    order.beginWindow();
  }

  /** Passes on the stream time and all open halves: the change of an empty table. */
  public void visitOpen(TableChange change) {
    change.advanced(streamMillis);
    pass(order.first(), change);
  }

  private void pass(int fromPlace, TableChange change) {
    for (int place = fromPlace; place != order.end(); place++) {
      int number = order.at(place);
      if (number != NONE) {
        rows.read(number, carried);
        change.opened(number, carried);
      }
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>Like all parts of a change, it is applied between windows, or before the first one.
   *
   * @throws InconsistentChangeException if a part contradicts the table or an earlier part. The
   *     part has no effect; the table has the earlier ones, and must not be used.
   * @throws IllegalStateException if a half arrived or left in this window
   */
  @Override
  public void advanced(long millis) {
    requireBetweenWindows();
    if (millis < streamMillis) {
      throw new InconsistentChangeException(
          "The stream time must be at least " + streamMillis + ", not " + millis);
    }
    streamMillis = millis;
  }

  @Override
  public void left(int number) {
    requireBetweenWindows();
    requireOpen(number);
    rows.read(number, carried);
    halves.remove(number, halves.hash(carried));
    countWaiting(carried, -1);
  }

  @Override
  public void paired(int number) {
    requireBetweenWindows();
    requireOpen(number);
    if (!halves.isCaller(number) || rows.isPaired(number)) {
      throw new InconsistentChangeException(
          "Half " + number + " must be a caller that was not paired");
    }
    pairFirst(number);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Halves beyond the capacity open as well, because the original may have had a higher one.
   * Memory grows to the number.
   */
  @Override
  public void opened(int number, Half half) {
    requireBetweenWindows();
    if (number < 0 || number >= MAX_CAPACITY) {
      throw new InconsistentChangeException(
          "A half must have a number from 0 to " + (MAX_CAPACITY - 1) + ", not " + number);
    }
    if (halves.isOpen(number)) {
      throw new InconsistentChangeException("Half " + number + " is open already");
    }
    requireInOrder(number, half);
    if (half.isPaired() && !half.isCaller()) {
      throw new InconsistentChangeException(
          "Half " + number + " of side " + half.side() + " must not be open and paired");
    }
    int hash = halves.hash(half);
    if (halves.find(hash, half, excludedBy(half)) != NONE) {
      throw new InconsistentChangeException(
          "Half " + number + " of side " + half.side() + " has the key of another open half");
    }
    halves.add(number, hash, half);
    order.beginWindow();
    countWaiting(half, 1);
  }

  private void requireInOrder(int number, Half half) {
    long earliest = order.size() == 0 ? 0 : rows.arrivalMillis(order.at(order.end() - 1));
    if (half.arrivalMillis() < earliest || half.arrivalMillis() > streamMillis) {
      throw new InconsistentChangeException(
          "Half "
              + number
              + " must arrive from "
              + earliest
              + " to "
              + streamMillis
              + ", not at "
              + half.arrivalMillis());
    }
  }

  /** Returns the sides of which no half with its key is open. */
  private static int excludedBy(Half half) {
    return switch (half.side()) {
      case Half.SERVER -> CALLERS | SERVERS;
      case Half.CONSUMER -> CALLERS;
      default -> ALL;
    };
  }

  private void requireOpen(int number) {
    if (!halves.isOpen(number)) {
      throw new InconsistentChangeException("Half " + number + " must be open");
    }
  }

  private void requireBetweenWindows() {
    if (order.window() != order.end() || left.size() > 0 || firstPaired.size() > 0) {
      throw new IllegalStateException("A change must be applied between windows");
    }
  }
}
