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

final class CompleteMinutesTest {
  private final List<String> failures = new ArrayList<>();
  private final CompleteMinutes complete = new CompleteMinutes(failures::add);
  private final Map<Integer, Long> history = new TreeMap<>(Map.of(1, 6L, 2, 6L, 3, 4L));

  private void look(int nowMinute, Long untilMillis) {
    complete.look("server-1.1", "cart", untilMillis, millis(nowMinute), this::minutes);
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

  @Test
  void laterMinutesMayChange() {
    look(4, millis(3) + 20_000);
    history.put(3, 6L);
    look(5, millis(4));

    assertThat(failures).isEmpty();
  }

  @Test
  void aCompleteMinuteThatChangesIsFound() {
    look(4, millis(3));
    history.put(2, 7L);
    look(5, null);

    assertThat(failures)
        .containsExactly(
            "server-1.1 showed 12 calls of cart from 1969-12-31T23:48:00Z to 1970-01-01T00:03:00Z"
                + " as complete, and now 13");
  }

  @Test
  void whatWasCompleteOnceStaysComplete() {
    look(4, millis(3));
    look(5, null);
    history.put(1, 5L);
    look(6, null);

    assertThat(failures).hasSize(1);
  }

  @Test
  void uncertainMinutesMayChange() {
    look(4, millis(3));
    complete.uncertain("cart");
    history.put(2, 7L);
    look(5, millis(3));
    complete.settle();
    look(6, millis(3));
    complete.uncertain();
    history.put(2, 8L);
    look(7, millis(3));
    complete.settle();
    complete.uncertainUntil(millis(9));
    look(8, millis(3));
    history.put(2, 9L);
    look(9, millis(3));

    look(10, millis(3));
    complete.uncertainServer("server-1.1");
    history.put(2, 11L);
    look(10, millis(3));
    complete.settle();
    look(10, millis(3));

    assertThat(failures).isEmpty();
    history.put(2, 10L);
    look(10, millis(3));
    assertThat(failures).hasSize(1);
  }
}
