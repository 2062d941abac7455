package org.traceetl.perf.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.traceetl.perf.simulate.fault.Fault;
import org.traceetl.perf.simulate.fault.Installation;
import org.traceetl.perf.simulate.fault.Schedule;
import org.traceetl.perf.simulate.fault.Target;
import org.traceetl.perf.simulate.world.Timeline;
import org.traceetl.perf.simulate.world.World;

final class ScenarioTest {
  private static final Schedule SCHEDULE =
      new Schedule(
          List.of(60_000L, 400_000L),
          List.of(
              new Fault.Pause(10_000, Target.agent(1), 5_000),
              new Fault.Crash(15_000, Target.server(2), 0, 20_000),
              new Fault.Retention(350_000, Target.broker(1), 60_000, 0)));

  private final World world = new World(1, new Timeline(100));
  private final List<String> calls = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();
  private final Installation installation =
      (Installation)
          Proxy.newProxyInstance(
              Installation.class.getClassLoader(),
              new Class<?>[] {Installation.class},
              (proxy, method, arguments) -> {
                add(method.getName() + " " + arguments[0]);
                return null;
              });

  private long visibleAfterNanos = TimeUnit.SECONDS.toNanos(7);

  /** After a quiet point; then nothing is visible for ten seconds. */
  private long hiddenAfterNanos = Long.MAX_VALUE;

  private boolean isCertain = true;

  private final Scenario.Parts parts =
      new Scenario.Parts() {
        private long quietNanos;

        @Override
        public void heal() {
          add("heal");
        }

        @Override
        public void pauseSenders() {
          add("pauseSenders");
          quietNanos = world.nanos();
        }

        @Override
        public void resumeSenders() {
          add("resumeSenders");
        }

        @Override
        public void disturbed() {
          add("disturbed");
        }

        @Override
        public List<String> differences() {
          long nanos = world.nanos() - quietNanos;
          boolean isHidden =
              nanos >= hiddenAfterNanos && nanos < hiddenAfterNanos + TimeUnit.SECONDS.toNanos(10);
          return nanos < visibleAfterNanos || isHidden ? List.of("a span is lost") : List.of();
        }

        @Override
        public boolean isCertain() {
          return isCertain;
        }

        @Override
        public void decide() {
          add("decide");
        }

        @Override
        public void settle() {
          add("settle");
        }
      };

  private final Scenario scenario = new Scenario(world, SCHEDULE, installation, parts, failures);

  @Test
  void faultsBeginAndEndAtTheirTimesAndQuietPointsHeal() {
    run();

    assertThat(calls)
        .containsExactly(
            "10 disturbed",
            "10 pause agent-1",
            "15 resume agent-1",
            "15 disturbed",
            "15 kill server-2",
            "35 start server-2",
            "60 heal",
            "60 pauseSenders",
            "68 settle",
            "68 resumeSenders",
            "350 disturbed",
            "350 deleteMessages broker-1",
            "400 heal",
            "400 pauseSenders",
            "408 settle",
            "408 resumeSenders");
    assertThat(scenario.begun()).containsOnlyKeys("pause", "crash", "retention");
    assertThat(failures).isEmpty();
  }

  @Test
  void whatIsUncertainIsDecidedOnceAllIsVisibleAMinuteLater() {
    isCertain = false;
    // A queue has no owner just then.
    hiddenAfterNanos = TimeUnit.SECONDS.toNanos(65);

    run();

    assertThat(failures).isEmpty();
    assertThat(calls)
        .containsSubsequence("60 heal", "136 decide", "138 settle", "138 resumeSenders");
  }

  @Test
  void whatIsNotVisibleInTimeEndsTheScenario() {
    visibleAfterNanos = Long.MAX_VALUE;

    run();

    assertThat(failures).containsExactly("a span is lost");
    assertThat(calls).endsWith("60 heal", "60 pauseSenders");
    assertThat(scenario.ended()).isTrue();
  }

  private void run() {
    world.spawn("scenario", scenario);
    world.run(TimeUnit.MILLISECONDS.toNanos(SCHEDULE.endMillis()));
  }

  private void add(String call) {
    calls.add(TimeUnit.NANOSECONDS.toSeconds(world.nanos()) + " " + call);
  }
}
