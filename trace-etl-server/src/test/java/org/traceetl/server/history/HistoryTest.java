package org.traceetl.server.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

final class HistoryTest {
  private static final long MINUTE = 60_000;
  private static final long[] BOUNDS_NANOS = {10_000_000, 100_000_000};

  private long nowMillis = 1_795_219_200_000L;
  private final History history =
      new History(2, 4, BOUNDS_NANOS, () -> Instant.ofEpochMilli(nowMillis));

  private static Tally tally(boolean failed, long... counts) {
    Tally tally = new Tally(counts.length);
    tally.add(failed, 5_000_000, counts, 0, counts.length, true);
    return tally;
  }

  private void add(long openedMillis, String application, Tally tally) {
    history.addCalls(
        openedMillis, List.of(Histories.operation(application, "GET /", "SERVER", tally)));
  }

  @Test
  void windowsOfAMinuteAddUp() {
    add(nowMillis, "shop", tally(false, 8, 1, 0));
    add(nowMillis + 45_000, "shop", tally(true, 0, 0, 1));
    nowMillis += MINUTE;

    List<History.Minute> minutes = history.minutes("shop", 2);

    Interval first = minutes.getFirst().interval();
    assertThat(first.startMillis()).isEqualTo(nowMillis - MINUTE);
    assertThat(first.ended()).isTrue();
    assertThat(first.calls()).isEqualTo(10);
    assertThat(first.errors()).isEqualTo(1);
    assertThat(first.durationMillis()).isEqualTo(10);
    assertThat(first.p50Millis()).isCloseTo(6.25, within(1e-9));
    assertThat(first.p95Millis()).isEqualTo(100);
    Interval now = minutes.getLast().interval();
    assertThat(now.startMillis()).isEqualTo(nowMillis);
    assertThat(now.ended()).isFalse();
    assertThat(now.calls()).isZero();
    assertThat(now.p99Millis()).isNaN();
  }

  @Test
  void totalsAreOfTheMinutesThatHaveEnded() {
    add(nowMillis, "few", tally(false, 1, 0, 0));
    add(nowMillis, "many", tally(false, 3, 0, 0));
    add(nowMillis + MINUTE, "few", tally(true, 1, 0, 0));
    nowMillis += 2 * MINUTE;
    add(nowMillis, "few", tally(true, 100, 0, 0));

    assertThat(history.totals(5))
        .extracting(History.Total::application, t -> t.interval().calls())
        .containsExactlyInAnyOrder(tuple("many", 3L), tuple("few", 2L));
    assertThat(history.totals(1))
        .extracting(History.Total::application, t -> t.interval().calls())
        .containsExactlyInAnyOrder(tuple("many", 0L), tuple("few", 1L));
  }

  @Test
  void whatIsOlderThanAnHourLeavesAndMakesRoom() {
    add(nowMillis, "a", tally(false, 1, 0, 0));
    add(nowMillis, "b", tally(false, 2, 0, 0));
    add(nowMillis, "c", tally(false, 4, 0, 0));
    add(nowMillis, "d", tally(false, 8, 0, 0));
    assertThat(history.minutes("c", 1)).isEmpty();
    assertThat(history.minutes(History.OTHER, 1).getFirst().interval().calls()).isEqualTo(12);

    nowMillis += 30 * MINUTE;
    add(nowMillis, "a", tally(false, 1, 0, 0));
    nowMillis += 31 * MINUTE;
    assertThat(history.minutes("b", 60)).isEmpty();
    add(nowMillis, "c", tally(false, 4, 0, 0));

    assertThat(history.minutes("a", 60)).hasSize(60);
    assertThat(history.minutes("a", 60).stream().mapToLong(m -> m.interval().calls()).sum())
        .isEqualTo(1);
    assertThat(history.minutes("c", 1).getFirst().interval().calls()).isEqualTo(4);
    assertThat(history.applications()).isEqualTo(2);
  }

  @Test
  void windowsOutsideTheHourAreLeftOut() {
    add(nowMillis - 61 * MINUTE, "old", tally(false, 1, 0, 0));
    add(nowMillis + 2 * MINUTE, "early", tally(false, 1, 0, 0));
    add(nowMillis + MINUTE, "ahead", tally(false, 1, 0, 0));
    add(nowMillis - 60 * MINUTE, "oldest", tally(false, 1, 0, 0));

    assertThat(history.misdated()).isEqualTo(1);
    assertThat(history.minutes("old", 60)).isEmpty();
    assertThat(history.sparks(List.of("oldest")).getFirst().calls()).startsWith(1, 0);
    assertThat(history.minutes("ahead", 60).stream().mapToLong(m -> m.interval().calls()).sum())
        .isZero();
    nowMillis += MINUTE;
    assertThat(history.minutes("ahead", 1).getFirst().interval().calls()).isEqualTo(1);
  }

  @Test
  void quantilesAreAtMostTheHighestBound() {
    Tally tally = tally(false, 0, 0, 5);
    assertThat(tally.quantileMillis(new double[] {10, 100}, 0.5)).isEqualTo(100);
    assertThat(new Tally(3).quantileMillis(new double[] {10, 100}, 0.5)).isNaN();
  }

  @Test
  void sumsOfDurationsSaturate() {
    Tally tally = tally(false, 1, 0, 0);
    tally.add(false, Long.MAX_VALUE, new long[3], 0, 3, true);
    assertThat(tally.durationMillis()).isEqualTo(Long.MAX_VALUE / 1e6);
  }
}
