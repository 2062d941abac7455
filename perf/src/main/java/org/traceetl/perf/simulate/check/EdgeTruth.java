package org.traceetl.perf.simulate.check;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.traceetl.perf.simulate.check.EdgeSeries.Measure;
import org.traceetl.perf.simulate.check.StoredHalf.StoreTime;
import org.traceetl.testkit.PageSample;

/**
 * The edges that pages must show. The half-edges that brokers store are compared with what agents
 * accepted, and the edges on pages with the half-edges that brokers stored.
 *
 * <p>Two halves are a request for certain if they have the same queue and were stored within the
 * waiting time, with a margin for what lets stream time pass faster. If they were stored in
 * different queues, because the list of queues changed in between, both expire. Other halves are a
 * request, or expire both. A half that expires after a change of the list may count as moved, or as
 * without a change: servers learn of it some time later, and do not know where its other half is. A
 * half without another one expires; it is known to have expired only after a rest without faults,
 * see {@link Rests}.
 */
public final class EdgeTruth {
  /** The client of a request without a parent. */
  static final String USER = "user";

  /** The server of a call of a database without a name. */
  private static final String UNKNOWN = "unknown";

  /** What clocks that drift, and messages under way, add to the time between two halves. */
  private static final long MARGIN_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** What a step of a broker's clock adds at most. */
  private static final long CLOCK_STEP_NANOS = TimeUnit.SECONDS.toNanos(15);

  /** How long after a change servers may count halves as moved, apart from the waiting time. */
  private static final long MOVED_NANOS = TimeUnit.MINUTES.toNanos(3);

  private static final long NOT_KNOWN = Long.MAX_VALUE;

  private record CallKey(long key, int check) {}

  /** The halves of a call or message. */
  private static final class Call {
    final List<StoredHalf> callers = new ArrayList<>(1);
    final List<StoredHalf> callees = new ArrayList<>(1);

    /**
     * Returns whether the order of arrival does not matter: no half has the place of another one,
     * and no message is also a call.
     */
    boolean isRegular() {
      long servers = callees.stream().filter(one -> one.half().side() == HalfEdge.SERVER).count();
      boolean isCall =
          !callers.isEmpty() && callers.getFirst().half().side() == HalfEdge.CLIENT && servers > 0;
      return callers.size() <= 1 && servers <= 1 && !(isCall && callees.size() > 1);
    }
  }

  private final double[] boundsSeconds;
  private final long waitNanos;
  private final LongSupplier nanos;
  private final StoredBatches batches = new StoredBatches();
  private final SentHalves sent = new SentHalves();
  private final Rests rests = new Rests();
  private final Map<CallKey, Call> calls = new HashMap<>();

  /** Of halves that are not in {@link #calls} any more, or never were. */
  private final EdgeSums closed;

  private long settledNanos;
  private long settledBeforeNanos;
  private int clockSteps;
  private boolean messagesLost;

  private boolean listHasChanged;

  /** Since when all agents have had the newest list, or {@link #NOT_KNOWN}. */
  private long sameListNanos = NOT_KNOWN;

  /**
   * @param boundsMillis of the pages' buckets, without infinity
   * @param waitNanos how long servers let halves wait
   * @param nanos the true time
   */
  public EdgeTruth(List<Double> boundsMillis, long waitNanos, LongSupplier nanos) {
    boundsSeconds = boundsMillis.stream().mapToDouble(bound -> bound / 1e3).toArray();
    this.waitNanos = waitNanos;
    this.nanos = nanos;
    closed = new EdgeSums(boundsSeconds);
  }

  /**
   * Adds the half-edge of a span once or several times.
   *
   * @param certain whether the span counts, and its agent knew the queues
   */
  public void sent(HalfEdge half, boolean certain) {
    sent.sent(half, certain);
  }

  /** A broker has stored a message in a queue of half-edges. */
  public void stored(String queue, byte[] message) {
    rests.message(queue, nanos.getAsLong());
    batches.read(queue, message, new StoreTime(nanos.getAsLong(), clockSteps), this::add);
  }

  private void add(StoredHalf stored) {
    HalfEdge half = stored.half();
    sent.stored(half);
    if (!half.waits()) {
      addImmediate(half);
      return;
    }
    Call call = calls.computeIfAbsent(new CallKey(half.key(), half.check()), absent -> new Call());
    (half.isCaller() ? call.callers : call.callees).add(stored);
  }

  private void addImmediate(HalfEdge half) {
    if (!half.isCaller()) {
      EdgeSeries edge = EdgeSeries.requests(null, half, "", EdgeSeries.VIRTUAL);
      addRequest(edge, half.failed(), true, closed);
      closed.add(edge.of(Measure.SERVER), half.durationNanos(), true);
      return;
    }
    String type =
        half.connectionType() == HalfEdge.DATABASE ? EdgeSeries.DATABASE : EdgeSeries.VIRTUAL;
    String server = half.peer().isEmpty() ? UNKNOWN : half.peer();
    EdgeSeries edge = EdgeSeries.requests(half, null, server, type);
    addRequest(edge, half.failed(), true, closed);
    closed.add(edge.of(Measure.CLIENT), half.durationNanos(), true);
  }

  /** A fault begins, so stream times may stand still until the next quiet point. */
  public void disturbed() {
    rests.end();
  }

  /** The clock of a broker was set. */
  public void clockStepped() {
    clockSteps++;
  }

  /** Brokers lost messages that servers had read. Servers read those of its time again. */
  public void messagesLost() {
    messagesLost = true;
  }

  /** A broker has another list of queues, which agents read some time later. */
  public void listChanged() {
    sameListNanos = NOT_KNOWN;
    listHasChanged = true;
  }

  /** Returns whether brokers have had half-edges. */
  public boolean areStored() {
    return !closed.isEmpty() || !calls.isEmpty();
  }

  /** Compares the pages of all servers, read at one time, with what must be shown. */
  public void compare(Collection<List<PageSample>> pages, Consumer<String> differences) {
    sent.compare(differences);
    calls.values().forEach(call -> compareQueues(call, differences));
    EdgeSums all = open();
    all.addAll(closed);
    all.compare(pages, differences);
  }

  /** Both ends of a call are in one queue if their agents had the same list. */
  private void compareQueues(Call call, Consumer<String> differences) {
    Stream.concat(call.callers.stream(), call.callees.stream())
        .filter(half -> half.first().nanos() >= sameListNanos)
        .map(StoredHalf::queue)
        .distinct()
        .skip(1)
        .forEach(queue ->
            differences.accept(
                "queue "
                    + queue
                    + " has one end of a call whose other end is in another queue, although the"
                    + " list of queues has not changed"));
  }

  /** Returns the values of halves that are not closed. */
  private EdgeSums open() {
    EdgeSums open = new EdgeSums(boundsSeconds);
    calls.values().forEach(call -> add(call, open));
    return open;
  }

  /**
   * Begins the next comparison, after one without differences.
   *
   * @param pages of all servers, at a time when no span is under way
   * @param haveNewestList whether all agents have the newest list of queues
   */
  public void settle(Collection<List<PageSample>> pages, boolean haveNewestList) {
    if (messagesLost) {
      calls.values().forEach(this::setAtRisk);
      messagesLost = false;
    }
    for (Iterator<Call> each = calls.values().iterator(); each.hasNext(); ) {
      Call call = each.next();
      if (isClosed(call)) {
        add(call, closed);
        each.remove();
      }
    }
    closed.settle(open(), pages);
    sent.settle();
    batches.settle();
    settledBeforeNanos = settledNanos;
    settledNanos = nanos.getAsLong();
    rests.begin(settledNanos);
    if (sameListNanos == NOT_KNOWN && haveNewestList) {
      sameListNanos = settledNanos;
    }
  }

  private void setAtRisk(Call call) {
    call.callers.stream().filter(this::isOfThisRound).forEach(StoredHalf::setAtRisk);
    call.callees.stream().filter(this::isOfThisRound).forEach(StoredHalf::setAtRisk);
  }

  private boolean isOfThisRound(StoredHalf half) {
    return half.last().nanos() >= settledNanos;
  }

  /** Returns whether nothing that may still happen changes the outcome of the halves. */
  private boolean isClosed(Call call) {
    boolean isAnswered =
        call.isRegular()
            && call.callers.size() == 1
            && call.callees.size() == 1
            && isCall(call.callers.getFirst(), call.callees.getFirst())
            && isRequest(call.callers.getFirst(), call.callees.getFirst())
            && isOld(call.callers.getFirst())
            && isOld(call.callees.getFirst());
    return isAnswered
        || call.callers.stream().allMatch(this::isExpired)
            && call.callees.stream().allMatch(this::isExpired);
  }

  /** Returns whether its batch is not stored again. */
  private boolean isOld(StoredHalf half) {
    return half.last().nanos() < settledBeforeNanos;
  }

  /** Returns whether it is not open any more for certain. */
  private boolean isExpired(StoredHalf half) {
    return half.last().nanos() < rests.expiredBefore(half.queue(), waitNanos);
  }

  private static boolean isCall(StoredHalf caller, StoredHalf callee) {
    return caller.half().side() == HalfEdge.CLIENT && callee.half().side() == HalfEdge.SERVER;
  }

  /** Returns whether two halves were together for certain. */
  private boolean isRequest(StoredHalf one, StoredHalf other) {
    boolean isOneFirst = one.first().nanos() <= other.first().nanos();
    StoreTime first = (isOneFirst ? one : other).first();
    StoreTime last = (one.last().nanos() >= other.last().nanos() ? one : other).last();
    int steps = last.clockSteps() - first.clockSteps();
    boolean atRisk =
        one.isAtRisk()
            || other.isAtRisk()
            || messagesLost && (isOfThisRound(one) || isOfThisRound(other));
    return one.queue().equals(other.queue())
        && !atRisk
        && last.nanos() - first.nanos() < waitNanos - MARGIN_NANOS - steps * CLOCK_STEP_NANOS;
  }

  private void add(Call call, EdgeSums to) {
    if (!call.isRegular()) {
      addIrregular(call, to);
      return;
    }
    StoredHalf caller = call.callers.isEmpty() ? null : call.callers.getFirst();
    boolean isPaired = false;
    boolean mayBePaired = false;
    for (StoredHalf callee : call.callees) {
      boolean isTogether = caller != null && caller.queue().equals(callee.queue());
      boolean isRequest = isTogether && isRequest(caller, callee);
      if (isTogether) {
        addPair(caller.half(), callee.half(), isRequest, to);
      }
      if (!isRequest) {
        addExpired(callee, !isTogether && isExpired(callee), to);
      }
      addEnd(Measure.CALLEES, callee.half(), isRequest || isExpired(callee), to);
      isPaired |= isRequest;
      mayBePaired |= isTogether;
    }
    if (caller != null) {
      boolean isExpired = isExpired(caller);
      if (!isPaired) {
        addExpired(caller, !mayBePaired && isExpired, to);
      }
      boolean isMessage =
          caller.half().side() == HalfEdge.PRODUCER
              || call.callees.stream().anyMatch(one -> one.half().side() == HalfEdge.CONSUMER);
      if (!isMessage) {
        addEnd(Measure.CALLERS, caller.half(), isPaired || isExpired, to);
      } else if (!isPaired) {
        addEnd(Measure.CALLERS, caller.half(), !mayBePaired && isExpired, to);
      }
    }
  }

  /** Adds what may be, in any order of arrival. */
  private void addIrregular(Call call, EdgeSums to) {
    for (StoredHalf caller : call.callers) {
      for (StoredHalf callee : call.callees) {
        addPair(caller.half(), callee.half(), false, to);
      }
      addExpired(caller, false, to);
      addEnd(Measure.CALLERS, caller.half(), false, to);
    }
    for (StoredHalf callee : call.callees) {
      addExpired(callee, false, to);
      addEnd(Measure.CALLEES, callee.half(), false, to);
    }
  }

  private static void addPair(HalfEdge caller, HalfEdge callee, boolean certain, EdgeSums to) {
    boolean isMessage = caller.side() == HalfEdge.PRODUCER || callee.side() == HalfEdge.CONSUMER;
    String type = isMessage ? EdgeSeries.MESSAGE : EdgeSeries.CALL;
    EdgeSeries edge = EdgeSeries.requests(caller, callee, "", type);
    addRequest(edge, caller.failed() || callee.failed(), certain, to);
    to.add(edge.of(Measure.SERVER), callee.durationNanos(), certain);
    to.add(edge.of(Measure.CLIENT), caller.durationNanos(), certain);
    if (!isMessage) {
      long between = Math.max(0, caller.durationNanos() - callee.durationNanos());
      to.add(edge.of(Measure.LATENCY), between, certain);
      return;
    }
    // A clock that was set between them makes it negative.
    long micros = callee.messageMicros() - caller.messageMicros();
    if (caller.messageMicros() > 0 && micros >= 0) {
      long between = TimeUnit.MICROSECONDS.toNanos(micros);
      to.add(edge.of(Measure.MESSAGING), between, certain);
    }
  }

  private void addExpired(StoredHalf stored, boolean expired, EdgeSums to) {
    HalfEdge half = stored.half();
    boolean mayBeMoved = mayBeMoved(stored);
    boolean certain = expired && !mayBeMoved;
    if (mayBeMoved) {
      to.add(EdgeSeries.unpaired(half, EdgeSeries.MOVED), 0, false);
    }
    if (half.isCaller() && !half.peer().isEmpty()) {
      EdgeSeries edge = EdgeSeries.requests(half, null, half.peer(), EdgeSeries.VIRTUAL);
      addRequest(edge, half.failed(), certain, to);
      to.add(edge.of(Measure.CLIENT), half.durationNanos(), certain);
      return;
    }
    boolean isMessage = half.connectionType() == HalfEdge.MESSAGE;
    String type = isMessage ? EdgeSeries.MESSAGE : EdgeSeries.CALL;
    to.add(EdgeSeries.unpaired(half, type), 0, certain);
  }

  private boolean mayBeMoved(StoredHalf half) {
    return listHasChanged
        && (sameListNanos == NOT_KNOWN
            || half.first().nanos() < sameListNanos + waitNanos + MOVED_NANOS);
  }

  private static void addRequest(EdgeSeries edge, boolean failed, boolean certain, EdgeSums to) {
    to.add(edge, 0, certain);
    if (failed) {
      to.add(edge.of(Measure.FAILED), 0, certain);
    }
  }

  /** Adds an end that must be shown in a request or as unpaired. */
  private static void addEnd(Measure measure, HalfEdge half, boolean certain, EdgeSums to) {
    to.add(
        EdgeSeries.ofEnds(
            measure,
            half.isCaller() ? half.application() : "",
            half.isCaller() ? "" : half.application()),
        0,
        certain);
  }
}
