package org.traceetl.perf.simulate.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.traceetl.perf.simulate.check.HistorySums.Minute;
import org.traceetl.perf.simulate.check.HistorySums.Sums;

final class PaneTruthTest {
  private static final long SLACK_MILLIS = 25_000;

  private final PaneTruth truth = new PaneTruth(0);
  private final Map<Integer, Long> history = new TreeMap<>();
  private final List<String> differences = new ArrayList<>();

  /** A request with a span at each of these seconds of some minutes. */
  private void sent(int fromMinute, int toMinute) {
    for (int minute = fromMinute; minute < toMinute; minute++) {
      for (int second = 5; second < 60; second += 10) {
        long millis = millis(minute) + TimeUnit.SECONDS.toMillis(second);
        truth.add("cart", new PaneTruth.Accepted(millis, millis + 100));
      }
    }
  }

  private void shown(int fromMinute, int toMinute) {
    for (int minute = fromMinute; minute < toMinute; minute++) {
      history.merge(minute, 6L, Long::sum);
    }
  }

  private List<Minute> minutes(HistorySums.Key key) {
    assertThat(key).isEqualTo(HistorySums.Key.of("cart"));
    List<Minute> minutes = new ArrayList<>();
    history.forEach(
        (minute, calls) -> minutes.add(new Minute(millis(minute), new Sums(calls, 0, 0))));
    return minutes;
  }

  private static long millis(int minute) {
    return TimeUnit.MINUTES.toMillis(minute);
  }

  private List<String> compare(int minute) {
    differences.clear();
    truth.compare("server-1", millis(minute), SLACK_MILLIS, this::minutes, differences::add);
    return differences;
  }

  @Test
  void callsInTheirMinutesAreRightWheneverTheyArrive() {
    sent(1, 12);
    shown(1, 12);
    assertThat(compare(20)).isEmpty();

    truth.settle(millis(20), this::minutes);
    sent(20, 25);
    shown(20, 25);
    assertThat(compare(26)).isEmpty();
  }

  @Test
  void aSpikeAfterAnOutageIsFound() {
    sent(1, 12);
    shown(1, 2);
    history.put(11, 60L);

    assertThat(compare(12))
        .containsExactly(
            "the history of server-1 has 6 calls of cart before 1970-01-01T00:03:00Z instead of"
                + " 9 to 15 since the last quiet point");
  }

  @Test
  void callsThatCountTooEarlyAreFound() {
    sent(4, 12);
    shown(4, 11);
    history.merge(2, 6L, Long::sum);

    assertThat(compare(12)).singleElement().asString().contains("6 calls", "instead of 0 to 0");
  }

  @Test
  void callsMayBeWrongByTheSlack() {
    truth.add("cart", new PaneTruth.Accepted(millis(2) - 20_000, millis(2) - 20_000));
    truth.add("cart", new PaneTruth.Accepted(millis(4) + 20_000, millis(4) + 20_000));
    history.put(2, 1L);
    history.put(3, 1L);
    assertThat(compare(12)).isEmpty();

    history.put(2, 0L);
    history.put(3, 2L);
    assertThat(compare(12)).singleElement().asString().contains("0 calls", "instead of 1 to 1");
  }

  @Test
  void aRequestMayBeAcceptedAtAnyTimeUntilItsAnswer() {
    truth.add("cart", new PaneTruth.Accepted(millis(2), millis(6)));
    for (int minute = 2; minute < 6; minute++) {
      history.clear();
      history.put(minute, 1L);
      assertThat(compare(12)).isEmpty();
    }
    history.clear();
    history.put(7, 1L);
    assertThat(compare(12)).hasSize(1);
  }

  @Test
  void minutesBeforeTheQuietPointHaveOtherCallsToo() {
    shown(1, 3);
    sent(1, 3);
    truth.settle(millis(3), this::minutes);
    sent(3, 4);
    // The clock of a broker is late.
    history.merge(2, 3L, Long::sum);
    history.merge(3, 3L, Long::sum);
    assertThat(compare(5)).isEmpty();

    history.merge(1, 6L, Long::sum);
    history.remove(3);
    assertThat(compare(5)).hasSize(1);
  }

  @Test
  void applicationsWhoseTimesAreNotKnownAreNotComparedUntilTheNextQuietPoint() {
    sent(1, 12);
    truth.uncertain("cart");
    history.put(11, 66L);
    assertThat(compare(12)).isEmpty();

    truth.settle(millis(12), this::minutes);
    sent(13, 20);
    history.put(19, 42L);
    assertThat(compare(20)).hasSize(1);
  }

  @Test
  void afterAFaultThatHistoriesDoNotSurviveNothingIsCompared() {
    sent(1, 5);
    truth.uncertainUntil(millis(10));
    assertThat(compare(6)).isEmpty();
    truth.settle(millis(6), this::minutes);
    sent(6, 10);
    assertThat(compare(11)).isEmpty();

    truth.settle(millis(11), this::minutes);
    sent(11, 15);
    assertThat(compare(16)).hasSize(1);
  }

  @Test
  void aRoundWhoseBeginBrokersHaveDeletedIsNotCompared() {
    truth.settle(millis(5), this::minutes);
    sent(5, 10);
    truth.deletedBefore(millis(3));
    assertThat(compare(11)).hasSize(1);

    truth.deletedBefore(millis(4));
    assertThat(compare(11)).isEmpty();
  }

  @Test
  void anHistoryOfAnHourCannotHaveALongRound() {
    sent(1, 5);
    assertThat(compare(55)).hasSize(1);
    assertThat(compare(56)).isEmpty();
  }
}
