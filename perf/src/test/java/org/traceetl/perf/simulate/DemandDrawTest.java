package org.traceetl.perf.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.traceetl.perf.simulate.fault.Fleet;
import org.traceetl.perf.simulate.fault.Schedule;

final class DemandDrawTest {
  private static final int SEEDS = 400;
  private static final Fleet FLEET = new Fleet(5, 2, 1, 1);

  private final List<DemandDraw> draws =
      LongStream.range(0, SEEDS).mapToObj(seed -> DemandDraw.of(plan(seed, true), false)).toList();

  private static Plan plan(long seed, boolean demand) {
    return new Plan(
        seed, FLEET, 2, 1, demand, Optional.empty(), new Schedule(List.of(1L), List.of()));
  }

  @Test
  void halfOfTheSeedsUseDemand() {
    assertThat(LongStream.range(0, SEEDS).filter(DemandDraw::isUsedBy).count())
        .isBetween(160L, 240L);
  }

  @Test
  void mostInstallationsAreCompleteAndSomeAreNot() {
    assertThat(draws.stream().filter(DemandDraw::published).count()).isBetween(320L, 380L);
    assertThat(draws.stream().filter(draw -> draw.agents().contains(true)).count())
        .isBetween(320L, 380L);
    assertThat(draws.stream().filter(DemandDraw::twoConfigurations).count()).isBetween(140L, 240L);
    assertThat(draws.stream().filter(DemandDraw::sizes).count()).isBetween(140L, 240L);
    assertThat(draws.stream().filter(DemandDraw::weights).count()).isBetween(140L, 240L);
    assertThat(draws.stream().filter(DemandDraw::forms).count()).isBetween(140L, 240L);
    assertThat(draws)
        .allMatch(draw -> draw.published() || !draw.sizes() && !draw.weights() && !draw.forms());
    assertThat(draws)
        .anyMatch(draw -> draw.agents().contains(true) && draw.agents().contains(false));
  }

  @Test
  void withoutDemandNothingIsDrawn() {
    DemandDraw none = DemandDraw.of(plan(1, false), false);

    assertThat(none.published() || none.dimension() || none.twoConfigurations()).isFalse();
    assertThat(none.sizes() || none.weights() || none.forms()).isFalse();
    assertThat(none.agents()).hasSize(FLEET.agents()).containsOnly(false);
    assertThat(none.sampleRatios()).hasSize(FLEET.agents()).containsOnly(0.0);
  }

  @Test
  void agentsSendSamplesOfAnyRatio() {
    assertThat(draws).flatExtracting(DemandDraw::sampleRatios).contains(0.0, 1.0 / 128, 1.0);
    assertThat(draws).allMatch(draw -> draw.sampleRatios().size() == FLEET.agents());
  }

  @Test
  void aPlanIsReadWithItsDemand() {
    for (boolean demand : List.of(true, false)) {
      Plan plan = plan(7, demand);

      assertThat(Plan.read(plan.lines())).isEqualTo(plan);
    }
  }

  @Test
  void whatIsRecordedHasNoDimensionsAndSizesSoThatEachBuildCanContinueWithIt() {
    for (int seed = 0; seed < SEEDS; seed++) {
      DemandDraw recorded = DemandDraw.of(plan(seed, true), true);

      assertThat(recorded.dimension() || recorded.sizes() || recorded.weights()).isFalse();
      assertThat(recorded.forms()).isFalse();
      assertThat(recorded.agents()).isEqualTo(draws.get(seed).agents());
    }
  }
}
