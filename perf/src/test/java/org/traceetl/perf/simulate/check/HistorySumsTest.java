package org.traceetl.perf.simulate.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.traceetl.perf.simulate.check.HistorySums.Key;
import org.traceetl.perf.simulate.check.HistorySums.Minute;
import org.traceetl.perf.simulate.check.HistorySums.Sums;

final class HistorySumsTest {
  private static final Key CART = Key.of("cart");

  private final HistorySums histories = new HistorySums(0);
  private final List<String> differences = new ArrayList<>();
  private final List<Minute> history = new ArrayList<>();

  @Test
  void aHistoryHasWhatWasSentInEachRound() {
    add(1, 4);
    add(5, 3);
    compare(6, 7);
    settle(6, 7);
    // The clock of a server is late.
    add(5, 1);
    add(9, 2);
    compare(10, 10);

    assertThat(differences).isEmpty();
  }

  @Test
  void aWindowThatIsMissingOrTwiceInTheHistoryIsFound() {
    add(1, 4);
    settle(2, 4);
    compare(6, 6);
    add(3, 4);
    compare(6, 6);

    assertThat(differences).hasSize(2);
    assertThat(differences.get(0)).contains("server-1", "calls=0", "instead of", "calls=2");
    assertThat(differences.get(1)).contains("calls=4", "calls=2");
  }

  @Test
  void wrongErrorsAndDurationsAreFound() {
    history.add(new Minute(0, new Sums(2, 1, 1_000_000)));
    compare(1, new Sums(2, 1, 1_000_001));
    assertThat(differences).isEmpty();

    compare(1, new Sums(2, 0, 1_000_000));
    compare(1, new Sums(2, 1, 2_000_000));

    assertThat(differences).hasSize(2);
  }

  @Test
  void anUncertainApplicationIsNotComparedUntilTheNextQuietPoint() {
    add(1, 4);
    settle(6, 4);
    histories.uncertain("cart");
    // The agent's clock was ahead when it started again.
    add(2, 2);
    compare(7, 6);
    assertThat(differences).isEmpty();

    settle(8, 6);
    add(8, 1);
    compare(9, 7);
    assertThat(differences).isEmpty();
    compare(9, 8);
    assertThat(differences).hasSize(1);
  }

  @Test
  void afterAFaultThatHistoriesDoNotSurviveTheyAreNotCompared() {
    histories.uncertainUntil(millis(10));
    compare(9, 1);
    settle(9, 1);
    compare(11, 2);
    assertThat(differences).isEmpty();

    settle(11, 2);
    compare(12, 3);

    assertThat(differences).hasSize(1);
  }

  @Test
  void aRoundWhoseBeginBrokersHaveDeletedIsNotCompared() {
    add(1, 4);
    settle(5, 4);
    histories.deletedBefore(millis(3));
    compare(6, 5);
    assertThat(differences).hasSize(1);

    histories.deletedBefore(millis(4));
    assertThat(histories.areCompared(millis(6))).isFalse();
    compare(6, 5);
    assertThat(differences).hasSize(1);
  }

  @Test
  void anHistoryOfAnHourCannotHaveALongRound() {
    compare(56, 1);

    assertThat(differences).isEmpty();
  }

  private void add(int minute, int calls) {
    history.add(new Minute(millis(minute), new Sums(calls, 0, 0)));
  }

  private void compare(int minute, int calls) {
    compare(minute, new Sums(calls, 0, 0));
  }

  private void compare(int minute, Sums sent) {
    histories.compare("server-1", millis(minute), of(sent), key -> history, differences::add);
  }

  private void settle(int minute, int calls) {
    histories.settle(millis(minute), of(new Sums(calls, 0, 0)), key -> history);
  }

  private static SortedMap<Key, Sums> of(Sums sums) {
    return new TreeMap<>(Map.of(CART, sums));
  }

  private static long millis(int minute) {
    return TimeUnit.MINUTES.toMillis(minute);
  }
}
