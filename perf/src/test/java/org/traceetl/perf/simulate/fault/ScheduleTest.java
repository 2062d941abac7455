package org.traceetl.perf.simulate.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ScheduleTest {
  private static final Fleet FLEET = new Fleet(5, 2, 2, 3);

  @Test
  void aDrawnScheduleReadsBackFromItsText() {
    Schedule drawn = Drawing.draw(7, FLEET, Duration.ofHours(20), 2);

    assertThat(Schedule.read(drawn.lines())).isEqualTo(drawn);
  }

  @Test
  void aSeedRepeatsItsScheduleAndAnotherDoesNot() {
    Schedule drawn = Drawing.draw(7, FLEET, Duration.ofHours(2), 1);

    assertThat(Drawing.draw(7, FLEET, Duration.ofHours(2), 1)).isEqualTo(drawn);
    assertThat(Drawing.draw(8, FLEET, Duration.ofHours(2), 1)).isNotEqualTo(drawn);
  }

  @Test
  void eachKindIsDrawnAndEndsBeforeTheNextQuietPoint() {
    Schedule drawn =
        Drawing.withChangedRules(
            1,
            FLEET,
            Drawing.withAddedEdgeQueue(1, Drawing.draw(1, FLEET, Duration.ofHours(100), 1)));

    // Backfills are in kept schedules only.
    assertThat(drawn.faults().stream().map(Object::getClass).distinct())
        .hasSize(Fault.class.getPermittedSubclasses().length - 1)
        .doesNotContain(Fault.Backfill.class);
    assertThat(drawn.faults())
        .allSatisfy(fault -> {
          long quiet =
              drawn.quietMillis().stream()
                  .filter(one -> one > fault.atMillis())
                  .findFirst()
                  .orElseThrow();
          assertThat(fault.endMillis()).isLessThan(quiet);
        });
  }

  @Test
  void faultsOccurAtTheirMeanRate() {
    Schedule drawn = Drawing.draw(1, FLEET, Duration.ofHours(100), 1);

    assertThat(drawn.faults().size() / (drawn.endMillis() / 60_000.0)).isBetween(0.9, 1.1);
  }

  @Test
  void aRateOfZeroDrawsNoFaults() {
    Schedule drawn = Drawing.draw(1, FLEET, Duration.ofHours(100), 0);

    assertThat(drawn.faults()).isEmpty();
    assertThat(drawn.endMillis()).isGreaterThan(Duration.ofHours(100).toMillis());
  }

  @Test
  void aShortScheduleHasOneRound() {
    Schedule drawn = Drawing.draw(1, FLEET, Duration.ofSeconds(1), 1);

    assertThat(drawn.quietMillis()).hasSize(1);
  }

  @Test
  void aFaultIsWrittenWithItsTimeKindAndComponents() {
    Fault crash = new Fault.Crash(62_500, Target.agent(1), 37, 4_200);

    assertThat(FaultText.write(crash))
        .isEqualTo("0:01:02.500 crash target=agent-1 operations=37 lasts-millis=4200");
  }

  @Test
  void aFaultThatLastsUntilAQuietPointIsRefused() {
    assertThatThrownBy(() ->
            Schedule.read(
                List.of(
                    "0:00:50.000 drain target=agent-1 lasts-millis=10000",
                    "0:01:00.000 quiet",
                    "0:02:00.000 quiet")))
        .hasMessage(
            "fault = 0:00:50.000 drain target=agent-1 lasts-millis=10000: ends at 0:01:00.000; must"
                + " end before the next quiet point, 0:01:00.000");
  }

  @Test
  void aFaultAfterTheLastQuietPointIsRefused() {
    assertThatThrownBy(() ->
            Schedule.read(
                List.of("0:01:00.000 quiet", "0:02:00.000 drain target=agent-1 lasts-millis=9")))
        .hasMessageContaining("must begin before the last quiet point, 0:01:00.000");
  }

  @Test
  void anUnknownKindIsRefusedWithTheKnownOnes() {
    assertThatThrownBy(() -> Schedule.read(List.of("0:00:01.000 quake target=agent-1")))
        .hasMessageContaining("quake")
        .hasMessageContaining("broker-crash");
  }
}
