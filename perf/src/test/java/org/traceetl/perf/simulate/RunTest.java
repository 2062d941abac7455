package org.traceetl.perf.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.perf.simulate.fault.Drawing;
import org.traceetl.perf.simulate.fault.Fault;
import org.traceetl.perf.simulate.fault.Fleet;
import org.traceetl.perf.simulate.fault.Schedule;
import org.traceetl.perf.simulate.fault.Target;

final class RunTest {
  /** Seeds whose replicated brokers confirm messages before their flush, and after it. */
  private static final long ASYNC_FLUSH = 0;

  private static final long SYNC_FLUSH = 4;

  private static final long BETWEEN_FLUSHES = 90_300;

  private static final Fleet FLEET = new Fleet(2, 2, 1, 1);

  /**
   * With this seed, servers publish a demand, agents obey it and send half-edges, if the plan has
   * demand.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aRunWithFaultsPassesAndItsSeedRepeatsIt(boolean demand) {
    Schedule drawn =
        Drawing.withAddedEdgeQueue(5, Drawing.draw(5, FLEET, Duration.ofMinutes(5), 2));
    Plan plan = new Plan(5, FLEET, 4, 20, demand, Optional.empty(), drawn);
    assertThat(EdgeDraw.of(plan, false).used()).isEqualTo(demand);

    Outcome first = new Run(plan, progress -> {}).call();
    Outcome second = new Run(plan, progress -> {}).call();

    assertThat(first.failures()).isEmpty();
    assertThat(first.spans()).isPositive();
    assertThat(first.faults()).isNotEmpty();
    assertThat(second.hash()).isEqualTo(first.hash());
  }

  @Test
  void withoutFaultsEachDocumentIsWrittenOnce() {
    Plan plan = new Plan(5, FLEET, 4, 20, Drawing.draw(5, FLEET, Duration.ofMinutes(20), 0));

    assertThat(new Run(plan, progress -> {}).call().failures()).isEmpty();
  }

  @Test
  void anotherSeedTakesAnotherCourse() {
    Plan plan = new Plan(5, FLEET, 4, 20, Drawing.draw(5, FLEET, Duration.ofMinutes(5), 0.001));
    Plan other = new Plan(6, FLEET, 4, 20, plan.schedule());

    assertThat(new Run(other, progress -> {}).call().hash())
        .isNotEqualTo(new Run(plan, progress -> {}).call().hash());
  }

  @ParameterizedTest
  @ValueSource(longs = {ASYNC_FLUSH, SYNC_FLUSH})
  void onlyBrokersThatFlushLateLoseConfirmedMessagesAndEndTheRun(long seed) {
    // The master is back, without its newest messages, before the controllers replace it.
    Fault loss = new Fault.BrokerPowerLoss(BETWEEN_FLUSHES, Target.broker(1), 0, 2_000);
    Schedule schedule = new Schedule(List.of(100_000L), List.of(loss));

    Outcome outcome =
        new Run(new Plan(seed, new Fleet(1, 1, 1, 3), 2, 50, schedule), progress -> {}).call();

    assertThat(outcome.failures()).isEmpty();
    assertThat(outcome.simulatedMillis() < 100_000).isEqualTo(seed == ASYNC_FLUSH);
  }

  @Test
  void timelineOfAFailedRunEndsWithTheStateOfAllParts(@TempDir Path directory) {
    Fault loss = new Fault.BrokerPowerLoss(BETWEEN_FLUSHES, Target.broker(1), 0, 2_000);
    Fault cut = new Fault.Partition(80_000, Target.agent(1), Target.NAME_SERVER, false, 60_000);
    Schedule schedule = new Schedule(List.of(200_000L), List.of(cut, loss));
    Plan plan = new Plan(ASYNC_FLUSH, new Fleet(1, 1, 1, 3), 2, 50, schedule);

    Outcome outcome =
        new Run(plan, progress -> {})
            .record(directory.resolve("state"), Duration.ofHours(1))
            .call();

    assertThat(outcome.failures()).isNotEmpty();
    assertThat(outcome.timeline())
        .containsSubsequence(
            "State at the end:",
            "agent-1 runs",
            "server-1 runs",
            "broker-1",
            "Nothing arrives from agent-1 at name-server");
  }
}
