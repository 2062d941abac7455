package org.traceetl.perf.systest.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;

final class PaneScheduleTest {
  /** More than the time that an agent usually needs for its answer. */
  private static final long ANSWER_MILLIS = 350;

  @Property
  void spanOfAQuickRequestHasACertainPane(
      @ForAll @LongRange(min = 4_000, max = 60_000) long lengthMillis,
      @ForAll @LongRange(min = 0, max = 2_000_000_000_000L) long nowMillis) {
    PaneSchedule panes = new PaneSchedule(lengthMillis);
    long begunMillis = nowMillis + panes.pauseMillis(nowMillis);
    assertThat(panes.pauseMillis(begunMillis)).isZero();
    assertThat(begunMillis - nowMillis).isBetween(0L, lengthMillis);
    assertThat(panes.latest(begunMillis + ANSWER_MILLIS))
        .isEqualTo(panes.earliest(begunMillis))
        .isEqualTo(panes.paneOf(begunMillis));
  }

  @Property
  void requestsMayBeginInTheNamedPartOfTime(
      @ForAll @LongRange(min = 4_000, max = 60_000) long lengthMillis) {
    PaneSchedule panes = new PaneSchedule(lengthMillis);
    long begin = 0;
    for (long millis = 0; millis < lengthMillis; millis++) {
      begin += panes.pauseMillis(millis) == 0 ? 1 : 0;
    }
    assertThat((double) begin / lengthMillis).isEqualTo(panes.sendingPart());
    assertThat(panes.sendingPart()).isGreaterThan(0.5);
  }
}
