package org.traceetl.perf.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.traceetl.perf.simulate.fault.Fault;
import org.traceetl.perf.simulate.fault.Fleet;
import org.traceetl.perf.simulate.fault.Schedule;

final class EdgeDrawTest {
  private static final int SEEDS = 400;

  private static Plan plan(long seed) {
    return new Plan(
        seed,
        new Fleet(5, 2, 1, 1),
        2,
        1,
        DemandDraw.isUsedBy(seed),
        Optional.empty(),
        new Schedule(List.of(1L), List.of()));
  }

  @Test
  void oneOfFiveSeedsUsesHalfEdges() {
    assertThat(LongStream.range(0, SEEDS).filter(seed -> EdgeDraw.of(plan(seed), false).used()))
        .hasSizeBetween(60, 110);
  }

  @Test
  void serversReadHalfEdgesOnlyIfTheyAreUsed() {
    for (long seed = 0; seed < SEEDS; seed++) {
      EdgeDraw draw = EdgeDraw.of(plan(seed), false);

      assertThat(draw.config().enabled()).isEqualTo(draw.used());
      assertThat(draw.queues() > 0).isEqualTo(draw.used());
      assertThat(!draw.used() || DemandDraw.of(plan(seed), false).published()).isTrue();
    }
  }

  @Test
  void recordedStatesHaveNoHalfEdges() {
    assertThat(LongStream.range(0, SEEDS)).noneMatch(seed -> EdgeDraw.of(plan(seed), true).used());
  }

  @Test
  void onlyKeptSchedulesThatAddAQueueOrBackfillUseHalfEdges()
      throws IOException, URISyntaxException {
    for (Path file : RegressionSeedsTest.plans()) {
      Plan plan = Plan.read(Files.readAllLines(file));
      // All others are older than half-edges, and their runs stay as they were.
      boolean isNewer =
          plan.schedule().faults().stream()
              .anyMatch(fault ->
                  fault instanceof Fault.AddedEdgeQueue || fault instanceof Fault.Backfill);

      assertThat(EdgeDraw.of(plan, plan.from().isPresent()).used())
          .as("%s", file)
          .isEqualTo(isNewer);
    }
  }
}
