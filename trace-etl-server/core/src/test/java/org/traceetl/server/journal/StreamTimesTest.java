package org.traceetl.server.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.WindowCompleteness;

class StreamTimesTest {
  private final StreamTimes times = new StreamTimes();

  private void window(long sealedMillis, long streamMillis) {
    times.add(
        Windows.with(
            Windows.window(new QueueId("b", 0), 0, 1),
            "sealedMillis",
            sealedMillis,
            "completeness",
            new WindowCompleteness(0, streamMillis, List.of(), 1)));
  }

  @Test
  void withoutAWindowTheTimeHasNoGaps() {
    times.add(Windows.window(new QueueId("b", 0), 0, 1));

    assertThat(times.began(60_000, 100_000)).isEqualTo(40_000);
  }

  @Test
  void aGapBetweenMessagesIsShort() {
    for (int window = 0; window <= 10; window++) {
      window(1_000_000 + window * 15_000, 500_000 + window * 15_000);
    }
    assertThat(times.began(60_000, 0)).isEqualTo(1_090_000);
    window(9_000_000, 665_000);
    assertThat(times.began(60_000, 0)).isEqualTo(1_105_000);
    assertThat(times.began(1, 0)).isEqualTo(1_150_000);
    assertThat(times.began(175_000, 0)).as("before the first").isEqualTo(990_000);
  }

  @Test
  void shortWindowsDoNotDisplaceOthers() {
    for (int window = 0; window < 100_000; window++) {
      window(window, window);
    }
    assertThat(times.began(60_000, 0)).isBetween(38_000L, 39_999L);
    for (int window = 0; window < 1_000; window++) {
      window(200_000 + 10_000 * window, 200_000 + 10_000 * window);
    }
    assertThat(times.began(60_000, 0)).isEqualTo(200_000 + 10_000 * 993);
    assertThat(times.began(5_000_000, 0)).isEqualTo(200_000 + 10_000 * 999 - 5_000_000);
  }
}
