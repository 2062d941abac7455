package org.traceetl.perf.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.traceetl.perf.simulate.fault.Drawing;
import org.traceetl.perf.simulate.fault.Fault;
import org.traceetl.perf.simulate.fault.Fleet;
import org.traceetl.perf.simulate.fault.Schedule;

final class ShrinkerTest {
  private static final Fleet FLEET = new Fleet(5, 2, 1, 3);
  private static final Plan PLAN =
      new Plan(7, FLEET, 8, 100, Drawing.draw(7, FLEET, Duration.ofHours(5), 1));

  @Test
  void aPlanReadsBackFromItsText() {
    assertThat(Plan.read(PLAN.lines())).isEqualTo(PLAN);
  }

  @Test
  void theTwoFaultsThatTogetherFailAreLeft() {
    Fault one = PLAN.schedule().faults().get(40);
    Fault two = PLAN.schedule().faults().get(111);
    Predicate<Schedule> fails = schedule -> schedule.faults().containsAll(List.of(one, two));

    Shrinker shrinker = new Shrinker(plan -> outcome(plan, fails), () -> true);
    Outcome shrunk = shrinker.shrink(outcome(PLAN, fails));

    assertThat(shrunk.plan().schedule().faults()).containsExactly(one, two);
    assertThat(shrunk.plan().schedule().quietMillis().getFirst()).isPositive();
  }

  @Test
  void timeBeforeTheFirstFaultIsRemoved() {
    Predicate<Schedule> fails =
        schedule -> schedule.faults().stream().anyMatch(fault -> fault.kind().equals("drain"));

    Outcome shrunk =
        new Shrinker(plan -> outcome(plan, fails), () -> true).shrink(outcome(PLAN, fails));

    assertThat(shrunk.plan().schedule().faults()).hasSize(1);
    assertThat(shrunk.plan().schedule().faults().getFirst().atMillis()).isEqualTo(1_000);
  }

  @Test
  void anotherKindOfFailureIsNotTheSameOne() {
    Outcome failed = outcome(PLAN, "agent-1 lost 3 spans");
    Shrinker shrinker =
        new Shrinker(
            plan ->
                outcome(
                    plan,
                    plan.schedule().faults().size() < 5
                        ? "queue a/1 is shown by server-1 and server-2"
                        : "agent-2 lost 4 spans"),
            () -> true);

    assertThat(shrinker.shrink(failed).plan().schedule().faults()).hasSize(5);
  }

  @Test
  void withoutTimeTheFaultsUntilTheFailureAreLeft() {
    Schedule beginning = PLAN.schedule().until(PLAN.schedule().quietMillis().getFirst());
    Outcome failed = outcome(PLAN.with(beginning), schedule -> true);

    Outcome shrunk = new Shrinker(plan -> failed, () -> false).shrink(failed.of(PLAN));

    long next =
        PLAN.schedule().quietMillis().stream()
            .filter(quiet -> quiet >= beginning.endMillis())
            .findFirst()
            .orElseThrow();
    assertThat(shrunk.plan().schedule()).isEqualTo(PLAN.schedule().until(next));
  }

  private static Outcome outcome(Plan plan, Predicate<Schedule> fails) {
    return outcome(plan, fails.test(plan.schedule()) ? new String[] {"fails"} : new String[0]);
  }

  private static Outcome outcome(Plan plan, String... failures) {
    return new Outcome(
        plan,
        List.of(failures),
        "0",
        plan.schedule().endMillis(),
        Duration.ZERO,
        0,
        0,
        new TreeMap<>(),
        Collections.emptyList());
  }
}
