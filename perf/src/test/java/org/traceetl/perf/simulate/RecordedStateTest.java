package org.traceetl.perf.simulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.traceetl.perf.simulate.fault.Drawing;
import org.traceetl.perf.simulate.fault.Fleet;
import org.traceetl.perf.simulate.fault.Schedule;
import org.traceetl.perf.simulate.world.Durable;
import org.traceetl.perf.simulate.world.Timeline;
import org.traceetl.perf.simulate.world.World;

final class RecordedStateTest {
  static final List<String> RELEASES = RecordedState.RELEASES;

  private static final Fleet FLEET = new Fleet(5, 2, 1, 3);
  private static final Schedule ONE_QUIET_POINT = Schedule.read(List.of("0:01:00.000 quiet"));

  @TempDir private Path folder;

  @ParameterizedTest
  @FieldSource("RELEASES")
  void programsContinueWithTheStateOfARelease(String release) {
    Schedule faults = Drawing.draw(3, FLEET, Duration.ofMinutes(5), 2);
    Plan plan = new Plan(3, FLEET, 8, 20, false, Optional.of(release), faults);

    assertThat(new Run(plan, progress -> {}).call().failures()).isEmpty();
  }

  @Test
  void aRunContinuesWhatAnotherRunLeft() {
    Fleet small = new Fleet(2, 1, 1, 1);
    Schedule faults = Drawing.draw(4, small, Duration.ofMinutes(9), 2);
    Path state = folder.resolve("state.zip");
    Plan first = new Plan(4, small, 4, 20, true, Optional.empty(), faults);
    Plan second = new Plan(4, small, 4, 20, true, Optional.of(state.toString()), ONE_QUIET_POINT);

    assertThat(
            new Run(first, progress -> {}).record(state, Duration.ofMinutes(3)).call().failures())
        .isEmpty();
    assertThat(new Run(second, progress -> {}).call().failures()).isEmpty();
  }

  @Test
  void lostJournalsOfARecordedStateAreFound() throws IOException {
    String release = RELEASES.getLast();
    RecordedState recorded = RecordedState.read(release);
    World world = new World(1, new Timeline(1), recorded.unixMillis());
    Plan plan = new Plan(1, FLEET, 8, 20, false, Optional.of(release), ONE_QUIET_POINT);
    SortedMap<String, Durable> parts =
        new SimulatedInstallation(world, plan, true, failure -> {}).durable();
    recorded.continueIn(parts);
    parts.remove("brokers");
    Path state = folder.resolve("state.zip");
    RecordedState.write(state, recorded.unixMillis(), parts);

    Plan without = new Plan(1, FLEET, 8, 20, false, Optional.of(state.toString()), ONE_QUIET_POINT);
    assertThat(new Run(without, progress -> {}).call().failures()).isNotEmpty();
  }

  @Test
  void aStateOfMoreAgentsIsRefused() {
    Fleet small = new Fleet(2, 1, 1, 1);
    Plan plan = new Plan(1, small, 8, 20, false, Optional.of(RELEASES.getFirst()), ONE_QUIET_POINT);

    assertThatThrownBy(() -> new Run(plan, progress -> {}).call())
        .hasMessageContaining("the state has agent-3, which this plan lacks");
  }

  @Test
  void linesOfAPlanNameItsState() {
    Plan plan = new Plan(1, FLEET, 8, 20, false, Optional.of("release-1.zip"), ONE_QUIET_POINT);

    assertThat(Plan.read(plan.lines())).isEqualTo(plan);
  }
}
