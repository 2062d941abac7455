package org.traceetl.perf.simulate.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.perf.simulate.check.PaneTruth;
import org.traceetl.perf.simulate.world.Timeline;
import org.traceetl.perf.simulate.world.World;
import org.traceetl.testkit.PageSample;

final class SimulatedAgentTest {
  private static final int AGENTS = 5;
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final long HOUR = TimeUnit.HOURS.toNanos(1);
  private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

  private final Map<String, Boolean> sent = new HashMap<>();
  private final List<SimulatedAgent> agents = new ArrayList<>();
  private final List<Sender> senders = new ArrayList<>();
  private final List<String> counted = new ArrayList<>();
  private final List<String> possible = new ArrayList<>();
  private World world;
  private StubBrokers brokers;
  private RandomGenerator random;
  private long faultsUntil;

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void acceptedSpansReachBrokersUnderOneName(long seed) {
    simulate(seed, HOUR);

    assertThat(senders).allMatch(Sender::isPaused);
    for (SimulatedAgent agent : agents) {
      assertThat(agent.isReady()).isTrue();
      assertThat(PageSample.sum(PageSample.of(agent.page()), "trace_etl_agent_spool_batches"))
          .isZero();
    }
    assertThat(wrong()).isEmpty();
    assertThat(brokers.repeats).isPositive();
    assertThat(senders.stream().mapToLong(Sender::repeats).sum()).isPositive();
  }

  @Test
  void aSeedDeterminesTheWholeRun() {
    long hash = new SimulatedAgentTest().simulate(3, 5 * MINUTE);

    assertThat(new SimulatedAgentTest().simulate(3, 5 * MINUTE)).isEqualTo(hash);
  }

  @Test
  void aSenderPausesWhenItsAgentHasStoredARequest() {
    world = new World(1, new Timeline(100));
    brokers = new StubBrokers(world);
    SimulatedAgent agent =
        new SimulatedAgent(
            world, "agent-1", AgentSettings.small("agent-1", "trace-spans"), brokers::transports);
    Sender sender =
        new Sender(world, new Sender.Load("cart", 10, HOUR, 5 * SECOND), agent, this::add);
    sender.start();
    sender.pause();
    world.run(MINUTE);
    assertThat(sender.isPaused()).isFalse();

    agent.start();
    world.run(2 * MINUTE);

    assertThat(sender.isPaused()).isTrue();
    assertThat(sent).hasSize(10);
  }

  @Test
  void aRequestMayCountAgainOnlyAfterTheTimeForWhichItIsRemembered() {
    repeatFor(9 * MINUTE, SimulatedAgent::pause, SimulatedAgent::resume);
    assertThat(counted).hasSize(10);
    assertThat(possible).isEmpty();

    repeatFor(15 * MINUTE, SimulatedAgent::pause, SimulatedAgent::resume);
    assertThat(counted).hasSize(20);
    assertThat(possible).hasSize(10).containsAll(counted.subList(10, 20));
  }

  @Test
  void anAgentRemembersRequestsWhileItDoesNotRun() {
    repeatFor(15 * MINUTE, agent -> agent.kill(0), SimulatedAgent::start);

    assertThat(counted).hasSize(10);
    assertThat(possible).isEmpty();
  }

  /** Lets a sender repeat a request to an agent that does not answer for a time. */
  private void repeatFor(
      long nanos, Consumer<SimulatedAgent> ends, Consumer<SimulatedAgent> continues) {
    world = new World(1, new Timeline(100));
    brokers = new StubBrokers(world);
    SimulatedAgent agent =
        new SimulatedAgent(
            world, "agent-1", AgentSettings.small("agent-1", "trace-spans"), brokers::transports);
    agent.start();
    world.run(MINUTE);
    ends.accept(agent);
    Sender sender =
        new Sender(
            world,
            new Sender.Load("cart", 10, SECOND, 2 * HOUR),
            agent,
            (span, certain, when) -> (certain ? counted : possible).add(span.id()));
    sender.pause();
    sender.start();
    world.run(world.nanos() + nanos);
    continues.accept(agent);
    world.run(world.nanos() + MINUTE);
    assertThat(sender.isPaused()).isTrue();
  }

  /** Runs five agents with faults, then without; returns the hash of the run. */
  private long simulate(long seed, long nanos) {
    faultsUntil = nanos;
    world = new World(seed, new Timeline(100));
    brokers = new StubBrokers(world);
    random = world.random();
    for (int i = 1; i <= AGENTS; i++) {
      SimulatedAgent agent =
          new SimulatedAgent(
              world,
              "agent-" + i,
              AgentSettings.small("agent-" + i, "trace-spans"),
              brokers::transports);
      agents.add(agent);
      agent.start();
      for (int j = 0; j < 2; j++) {
        Sender sender =
            new Sender(
                world,
                new Sender.Load("service-" + i + "-" + j, 10, SECOND, 300 * SECOND),
                agent,
                this::add);
        senders.add(sender);
        sender.start();
      }
    }
    world.after(10 * SECOND, this::fault);
    world.run(nanos);
    calm();
    world.run(nanos + 6 * MINUTE);
    return world.timeline().hash();
  }

  /** Returns what is wrong with the spans that arrived. */
  private List<String> wrong() {
    // Plain loops: an assertion on each of many spans takes minutes.
    List<String> wrong = new ArrayList<>();
    brokers.namesOfSpans.forEach((span, names) -> {
      if (names.size() != 1 || !sent.containsKey(span)) {
        wrong.add(span + " arrived in " + names + ", sent: " + sent.get(span));
      }
    });
    sent.forEach((span, certain) -> {
      if (certain && !brokers.namesOfSpans.containsKey(span)) {
        wrong.add(span + " is lost");
      }
    });
    return wrong;
  }

  private void add(SentSpan span, boolean certain, PaneTruth.Accepted when) {
    sent.put(span.id(), certain);
  }

  private void fault() {
    if (world.nanos() > faultsUntil) {
      return;
    }
    SimulatedAgent agent = agents.get(random.nextInt(agents.size()));
    int kind = random.nextInt(9);
    long lasts = (1 + random.nextLong(20)) * SECOND;
    switch (kind) {
      case 0, 1 -> {
        agent.kill(random.nextInt(20));
        world.after(lasts, agent::start);
      }
      case 2, 3 -> {
        agent.losePower(random.nextInt(20));
        world.after(lasts, agent::start);
      }
      case 4 -> {
        agent.drain();
        world.after(lasts, agent::start);
      }
      case 5 -> {
        agent.disk().fill(true);
        world.after(lasts, () -> agent.disk().fill(false));
      }
      case 6 -> {
        agent.disk().failForces(true);
        world.after(lasts, () -> agent.disk().failForces(false));
      }
      case 7 -> agent.route(random.nextInt(1, 5));
      default -> {
        brokers.bad(true);
        world.after(lasts, () -> brokers.bad(false));
      }
    }
    world.after(random.nextLong(20 * SECOND), this::fault);
  }

  private void calm() {
    senders.forEach(Sender::pause);
    world.after(MINUTE, () -> agents.forEach(SimulatedAgent::start));
  }
}
