package org.traceetl.perf.simulate.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.traceetl.agent.Platform;
import org.traceetl.agent.RunningAgent;
import org.traceetl.agent.config.AgentConfig;
import org.traceetl.agent.publish.Transport;
import org.traceetl.perf.simulate.agent.OtlpPort.Reply;
import org.traceetl.perf.simulate.world.Exchange;
import org.traceetl.perf.simulate.world.Host;
import org.traceetl.perf.simulate.world.Process;
import org.traceetl.perf.simulate.world.World;

/** An agent's host with its disk. */
public final class SimulatedAgent extends Host {
  private static final int USUAL_QUEUES = 2;
  private static final long RESTART_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long NETWORK_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

  /**
   * One of this number of attempts of a sender fails, but not twice in a row: the request or the
   * answer is lost.
   */
  private static final int[] LOST_ONE_IN = {200, 200, 20, 3};

  /** The looks after which a sender gives up an attempt: 10 s, as SDKs do. */
  private static final int LOOKS = 10;

  private final AgentConfig config;
  private final Function<Process, Transport.Connector> brokers;
  private final SimulatedDisk disk;
  private final int lostOneIn;
  private boolean lostLast;
  private boolean losesPower;
  private boolean drains;
  private boolean startsAgain;
  private int runs;

  /** How long all processes before the latest one lived. */
  private long earlierNanos;

  // Null until it is started.
  private RunningAgent agent;
  private OtlpPort port;

  /**
   * Creates an agent that does not run, on an empty disk.
   *
   * @param brokers connects a process to the brokers
   */
  public SimulatedAgent(
      World world,
      String name,
      AgentConfig config,
      Function<Process, Transport.Connector> brokers) {
    super(world, name);
    this.config = config;
    this.brokers = brokers;
    disk = new SimulatedDisk(world);
    lostOneIn = LOST_ONE_IN[world.random().nextInt(LOST_ONE_IN.length)];
    route(0);
  }

  /** Changes the agent's routing file: the number of queues of each application; 0: as usual. */
  public void route(int queues) {
    byte[] rules =
        ("queues-per-application: " + (queues == 0 ? USUAL_QUEUES : queues) + "\n").getBytes(UTF_8);
    config.routing().file().ifPresent(file -> disk.replace(file.path(), rules));
  }

  public SimulatedDisk disk() {
    return disk;
  }

  /** Returns whether it accepts spans. */
  public boolean isReady() {
    return isRunning() && port != null && agent.problem().isEmpty();
  }

  /** Starts the agent as other programs; a drain is awaited. */
  @Override
  public void start() {
    super.start();
    startsAgain = drains;
  }

  @Override
  protected Process launch() {
    drains = false;
    if (losesPower) {
      losesPower = false;
      disk.losePower();
    }
    agent = null;
    port = null;
    earlierNanos = aliveNanos();
    Process next = world.process(name() + "." + ++runs);
    next.start("main", () -> run(next));
    return next;
  }

  private void run(Process on) {
    try {
      RunningAgent started =
          RunningAgent.start(
              config,
              new Platform(on.clocks(), on.random(), disk.of(on), brokers.apply(on), name()));
      OtlpPort opened = new OtlpPort(on, started.otlpRequests());
      opened.start();
      agent = started;
      port = opened;
    } catch (IOException e) {
      world.timeline().note(on.name(), "cannot start: " + e.getMessage());
      world.after(RESTART_NANOS, () -> startAfter(on));
      on.kill();
    }
  }

  /** Starts it again as a supervisor does, unless someone else did. */
  private void startAfter(Process ended) {
    if (last() == ended) {
      start();
    }
  }

  /**
   * Ends the process at once if there is one, and loses what was not forced.
   *
   * @param operations as in {@link #kill}
   */
  public void losePower(int operations) {
    losesPower = true;
    kill(operations);
  }

  @Override
  public void drain() {
    if (isRunning() && agent != null && !drains) {
      drains = true;
      Process draining = process();
      RunningAgent drained = agent;
      draining.start(
          "drain",
          () -> {
            drained.drain(Duration.ofMillis(config.drainTimeoutMillis()));
            draining.kill();
            if (startsAgain) {
              world.after(0, () -> startAfter(draining));
            }
          });
    }
  }

  /** Returns for how long the agent has had a process: it remembers requests by that time. */
  long aliveNanos() {
    return earlierNanos + (last() == null ? 0 : last().aliveNanos());
  }

  /** Returns the agent's metrics; empty if it does not run. */
  public String page() {
    try {
      return isRunning() && agent != null ? agent.metricsPage() : "";
    } catch (IOException e) {
      throw new IllegalStateException("a page in memory cannot be written", e);
    }
  }

  /** Sends a request and waits for the answer. Called on the thread of a sender. */
  Reply send(byte[] request, RandomGenerator random) throws InterruptedException {
    world.sleep(NETWORK_NANOS);
    Process to = process();
    OtlpPort opened = port;
    if (to == null || opened == null) {
      return Reply.NOT_CONNECTED;
    }
    Exchange<Reply> answer = new Exchange<>(world);
    boolean lost = !lostLast && random.nextInt(lostOneIn) == 0;
    lostLast = lost;
    if (!lost || random.nextBoolean()) {
      opened.deliver(request, answer);
    }
    Reply reply = null;
    for (int look = 0; reply == null && look < LOOKS && to.alive(); look++) {
      reply = answer.await(LOOK_NANOS);
    }
    return lost || reply == null ? Reply.LOST : reply;
  }
}
