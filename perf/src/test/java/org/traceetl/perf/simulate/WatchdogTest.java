package org.traceetl.perf.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.traceetl.perf.simulate.world.Timeline;
import org.traceetl.perf.simulate.world.World;

final class WatchdogTest {
  private final Watchdog watchdog = new Watchdog();

  @Test
  void progressIsNoStall() {
    watchdog.stall(minutes(4), 0);
    watchdog.progress(7, minutes(61));

    assertThat(watchdog.stall(minutes(4), 0)).isEmpty();
    assertThat(watchdog.stall(minutes(4), 0)).isEmpty();
  }

  @Test
  void aStallNamesSeedAndSimulatedTime() {
    watchdog.progress(7, minutes(61));
    watchdog.stall(minutes(1), 0);

    assertThat(watchdog.stall(minutes(5), 0)).isEmpty();
    assertThat(watchdog.stall(1, 0).orElseThrow())
        .contains("seed 7")
        .contains("simulated 1:01:00.000");
  }

  @Test
  void waitingForAProcessorIsNoStall() {
    assertThat(watchdog.stall(minutes(20), minutes(15))).isEmpty();
    assertThat(watchdog.stall(minutes(20), minutes(30))).isEmpty();
    assertThat(watchdog.stall(1, 0)).isPresent();
  }

  @Test
  void stacksShowTheSimulatedThreadThatRuns() {
    World world = new World(1, new Timeline(1));
    List<String> stacks = new ArrayList<>();
    world.spawn("endless", () -> stacks.add(Watchdog.stacks()));

    world.run(1_000_000);

    assertThat(stacks.getFirst()).contains("WatchdogTest.lambda");
  }

  private static long minutes(long minutes) {
    return TimeUnit.MINUTES.toNanos(minutes);
  }
}
