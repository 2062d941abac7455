package org.traceetl.perf.simulate.agent;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.traceetl.perf.simulate.agent.OtlpPort.Reply;
import org.traceetl.perf.simulate.check.PaneTruth;
import org.traceetl.perf.simulate.world.ProgramFailure;
import org.traceetl.perf.simulate.world.World;

/**
 * An application that sends spans to one agent. It has one request under way, and repeats it with
 * the same bytes until it is stored, as an SDK does. Its pauses are those of OpenTelemetry's Java
 * SDK ({@code RetryPolicy.getDefault}: 1 s, times 1.5, at most 5 s); it gives up later, or like a
 * collector without {@code max_elapsed_time} never.
 */
public final class Sender {
  private static final long FIRST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(5);

  /**
   * As {@code AnsweredRequests} without repeats, which make it longer, by a clock that runs too
   * fast.
   */
  private static final long REMEMBERED_NANOS = TimeUnit.SECONDS.toNanos(597);

  private static final long NONE = -1;
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /**
   * What is sent.
   *
   * @param application name of the service
   * @param spansPerRequest at least 1
   * @param pauseNanos between two requests
   * @param giveUpNanos when a request is given up
   * @param attributes whether spans have attributes; then their region is a dimension
   * @param amounts whether most spans have an attribute for measures
   * @param weights whether some spans were sampled
   * @param calls between applications; null for spans without parents
   */
  public record Load(
      String application,
      int spansPerRequest,
      long pauseNanos,
      long giveUpNanos,
      boolean attributes,
      boolean amounts,
      boolean weights,
      Calls calls) {
    /** Spans without attributes and parents. */
    public Load(String application, int spansPerRequest, long pauseNanos, long giveUpNanos) {
      this(application, spansPerRequest, pauseNanos, giveUpNanos, false, false, false, null);
    }

    /** Returns the number of series that the spans have. */
    public int series() {
      return Traffic.series(attributes);
    }
  }

  /** Receives the spans whose outcome is known. */
  @FunctionalInterface
  public interface Ledger {
    /**
     * Adds a span once or several times.
     *
     * @param certain whether the span counts; false if it may count, because the sender does not
     *     know whether the agent stored it, or the agent may have forgotten that
     * @param when from the first attempt to its outcome
     */
    void add(SentSpan span, boolean certain, PaneTruth.Accepted when);
  }

  /**
   * The outcome of a request.
   *
   * @param stored whether the agent confirmed it
   * @param more how often it may count in addition
   */
  private record Outcome(boolean stored, long more) {}

  private final World world;
  private final Load load;
  private final SimulatedAgent agent;
  private final Ledger ledger;
  private final RandomGenerator random;
  private final Traffic traffic;
  private boolean active = true;

  /** Whether a request was stored since the last pause was ordered. */
  private boolean storedSincePause = true;

  /** The request that has no outcome yet, or null. */
  private Traffic.Request underWay;

  private long beginNanos;
  private long beginMillis;
  private long repeats;

  public Sender(World world, Load load, SimulatedAgent agent, Ledger ledger) {
    this.world = world;
    this.load = load;
    this.agent = agent;
    this.ledger = ledger;
    random = new SplittableRandom(world.random().nextLong());
    traffic =
        new Traffic(
            load.application, load.attributes, load.amounts, load.weights, load.calls, random);
  }

  /** Starts to send. */
  public void start() {
    world.spawn("sender " + load.application, this::run);
  }

  /** Sends requests until one of them is stored, and then none. */
  public void pause() {
    active = false;
    storedSincePause = false;
  }

  /** Ends {@link #pause}. */
  public void resume() {
    active = true;
    storedSincePause = true;
  }

  /** Returns whether no request is under way, and the agent has stored one since the pause. */
  public boolean isPaused() {
    return !active && storedSincePause && underWay == null;
  }

  /** Returns when the request without an outcome began, or the time of the call. */
  public long waitingSinceNanos() {
    return underWay == null ? world.nanos() : beginNanos;
  }

  /** Gives up the request under way: its spans may be stored or not. The world ends then. */
  public void giveUp() {
    if (underWay != null) {
      PaneTruth.Accepted when = new PaneTruth.Accepted(beginMillis, world.unixMillis());
      underWay.spans().forEach(span -> ledger.add(span, false, when));
    }
  }

  /** Returns how often a request was sent again. */
  public long repeats() {
    return repeats;
  }

  private void run() {
    try {
      sleep(random.nextLong(load.pauseNanos));
      while (true) {
        if (active || !storedSincePause) {
          send();
          sleep(load.pauseNanos);
        } else {
          world.sleep(IDLE_NANOS);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits until the next request, or until the last one before a pause is due. */
  private void sleep(long nanos) throws InterruptedException {
    long untilNanos = world.nanos() + nanos;
    while (world.nanos() < untilNanos && storedSincePause) {
      world.sleep(Math.min(untilNanos - world.nanos(), IDLE_NANOS));
    }
  }

  private void send() throws InterruptedException {
    boolean last = !storedSincePause;
    beginNanos = world.nanos();
    beginMillis = world.unixMillis();
    Traffic.Request request = traffic.next(load.spansPerRequest, beginMillis);
    underWay = request;
    Outcome outcome = deliver(request.bytes());
    PaneTruth.Accepted when = new PaneTruth.Accepted(beginMillis, world.unixMillis());
    for (SentSpan span : request.spans()) {
      if (outcome.stored) {
        ledger.add(span, true, when);
      }
      for (long i = 0; i < outcome.more; i++) {
        ledger.add(span, false, when);
      }
    }
    underWay = null;
    // A request that began before the pause may have been stored before it.
    storedSincePause |= last && outcome.stored;
  }

  private Outcome deliver(byte[] request) throws InterruptedException {
    long endNanos = world.nanos() + load.giveUpNanos;
    long pauseNanos = FIRST_PAUSE_NANOS;
    long unknownSinceNanos = NONE;
    while (true) {
      long beforeNanos = agent.aliveNanos();
      Reply reply = agent.send(request, random);
      if (reply == Reply.STORED) {
        return new Outcome(true, unknownSinceNanos == NONE ? 0 : forgotten(unknownSinceNanos));
      }
      if (reply == Reply.REJECTED) {
        throw new ProgramFailure("an agent rejected spans of " + load.application);
      }
      if (reply == Reply.LOST && unknownSinceNanos == NONE) {
        unknownSinceNanos = beforeNanos;
      }
      if (world.nanos() >= endNanos) {
        return new Outcome(false, unknownSinceNanos == NONE ? 0 : 1 + forgotten(unknownSinceNanos));
      }
      repeats++;
      world.sleep((long) (pauseNanos * random.nextDouble(0.8, 1.2)));
      pauseNanos = Math.min(pauseNanos + pauseNanos / 2, LONGEST_PAUSE_NANOS);
    }
  }

  /** Returns how often the agent may have forgotten that it stored the request. */
  private long forgotten(long sinceNanos) {
    return (agent.aliveNanos() - sinceNanos) / REMEMBERED_NANOS;
  }
}
