package org.traceetl.perf.systest.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class PlannedFaultTest {
  private static final Set<FaultKind> ALL = EnumSet.allOf(FaultKind.class);

  @Test
  void equalSeedsGiveEqualPlans() {
    assertThat(PlannedFault.plan(40, 7, ALL))
        .isEqualTo(PlannedFault.plan(40, 7, ALL))
        .isNotEqualTo(PlannedFault.plan(40, 8, ALL));
  }

  @Test
  void shortRunHasEachEssentialKind() {
    List<PlannedFault> plan = PlannedFault.plan(FaultKind.ESSENTIAL, 7, ALL);
    assertThat(plan)
        .extracting(PlannedFault::kind)
        .containsExactlyInAnyOrderElementsOf(
            List.of(FaultKind.values()).subList(0, FaultKind.ESSENTIAL));
    assertThat(plan).extracting(PlannedFault::number).startsWith(1, 2, 3);
  }

  @Test
  void longRunHasAllKindsEquallyOften() {
    List<PlannedFault> plan = PlannedFault.plan(10 * ALL.size(), 7, ALL);
    for (FaultKind kind : ALL) {
      assertThat(plan).filteredOn(fault -> fault.kind() == kind).hasSize(10);
    }
  }

  @Test
  void sixtyTwoFaultsHaveTheEssentialKindsAndEachOtherOneTwice() {
    List<PlannedFault> plan = PlannedFault.plan(62, 20261122, ALL);
    for (FaultKind kind : ALL) {
      assertThat(plan)
          .filteredOn(fault -> fault.kind() == kind)
          .hasSizeGreaterThanOrEqualTo(kind.isEssential() ? 1 : 2);
    }
  }

  @Test
  void oneBrokerHasNoFaultThatNeedsReplicas() {
    Set<FaultKind> oneBroker = EnumSet.allOf(FaultKind.class);
    oneBroker.removeIf(FaultKind::needsReplicas);
    assertThat(PlannedFault.plan(60, 7, oneBroker))
        .hasSize(60)
        .extracting(PlannedFault::kind)
        .noneMatch(FaultKind::needsReplicas);
  }

  @Test
  void impossibleFaultsAreNotPlanned() {
    Set<FaultKind> possible = EnumSet.complementOf(EnumSet.of(FaultKind.FILL_SPOOL_DISK));
    assertThat(PlannedFault.plan(50, 7, possible))
        .hasSize(50)
        .extracting(PlannedFault::kind)
        .doesNotContain(FaultKind.FILL_SPOOL_DISK);
  }

  @Test
  void faultLastsWithinTheLimitsOfItsKind() {
    assertThat(PlannedFault.plan(200, 7, ALL))
        .allSatisfy(fault ->
            assertThat(fault.holdMillis())
                .isBetween(fault.kind().minSeconds() * 1_000L, fault.kind().maxSeconds() * 1_000L));
  }
}
