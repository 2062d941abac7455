package org.traceetl.perf.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.traceetl.perf.simulate.fault.Drawing;
import org.traceetl.perf.simulate.fault.Fleet;

final class RunTest {
  private static final Fleet FLEET = new Fleet(2, 2, 1, 1);

  @Test
  void aRunWithFaultsPassesAndItsSeedRepeatsIt() {
    Plan plan = new Plan(5, FLEET, 4, 20, Drawing.draw(5, FLEET, Duration.ofMinutes(5), 2));

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
}
