package org.traceetl.server.compare;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class CountedSeriesTest {
  private static final long MAX_EXACT = 1L << 53;

  /** Ten panes of a second, of which two settle on each side. */
  private final Panes panes =
      Panes.of(
          Instant.ofEpochSecond(8),
          Duration.ofSeconds(6),
          Duration.ofSeconds(1),
          Duration.ofSeconds(2));

  /**
   * A program counts, is scraped and restarts. Each restart is visible, because a program counts
   * less before its first scrape than the one before it had. What a restart loses is known.
   */
  @Property
  void theIncreaseIsWhatTheProgramsCountedUntilTheirLastScrape(
      @ForAll long before,
      @ForAll @Size(max = 60) List<@IntRange(min = -20, max = 1_000) Integer> events) {
    double start = Math.floorMod(before, MAX_EXACT / 2);
    Samples samples = new Samples();
    double value = start;
    double expected = 0;
    int second = 0;
    for (int event : events) {
      if (event < 0 && value > -event) {
        expected += -event;
        value = -event;
      } else {
        expected += Math.max(event, 0);
        value += Math.max(event, 0);
      }
      samples.add(second++ % 10 == 0 ? second / 6.0 : second / 6.0 + 0.001, value);
    }
    CountedSeries series = new CountedSeries(panes);

    if (samples.size() > 0) {
      series.add(samples, start, true);
      series.finish();
    }

    double sum = 0;
    for (double increase : series.increases()) {
      assertThat(increase).isNotNegative();
      sum += increase;
    }
    assertThat(sum).isEqualTo(expected);
  }

  @Test
  void aSampleAtTheEndOfAPaneBelongsToIt() {
    CountedSeries series = new CountedSeries(panes);
    series.add(samples(0.5, 1, 1, 2, 1.001, 4, 10, 8), 0, true);

    assertThat(series.increases()).containsExactly(2, 2, 0, 0, 0, 0, 0, 0, 0, 4);
    assertThat(series.total()).isZero();
    assertThat(series.restarts().isEmpty()).isTrue();
  }

  @Test
  void panesBetweenTheSamplesAroundARestartAreMarked() {
    CountedSeries series = new CountedSeries(panes);
    series.add(samples(2.5, 10, 5.5, 3), 10, true);

    assertThat(series.total()).isEqualTo(3);
    assertThat(series.restarts().stream()).containsExactly(2, 3, 4, 5);
  }

  @Test
  void aSeriesOfANewProgramAfterTheOldOneIsARestart() {
    CountedSeries series = new CountedSeries(panes);
    series.add(samples(2.5, 10, 3.5, 11), 10, true);
    series.add(samples(4.5, 3), Double.NaN, true);
    series.finish();

    assertThat(series.total()).isEqualTo(4);
    assertThat(series.restarts().stream()).containsExactly(3, 4);
  }

  @Test
  void aSeriesThatIsScrapedBesideAnotherIsNoRestart() {
    CountedSeries series = new CountedSeries(panes);
    series.add(samples(2.5, 10, 6.5, 11), 10, true);
    series.add(samples(4.5, 3, 5.5, 5), Double.NaN, false);
    series.finish();

    assertThat(series.total()).isEqualTo(3);
    assertThat(series.restarts().isEmpty()).isTrue();
  }

  private static Samples samples(double... timesAndValues) {
    Samples samples = new Samples();
    for (int i = 0; i < timesAndValues.length; i += 2) {
      samples.add(timesAndValues[i], timesAndValues[i + 1]);
    }
    return samples;
  }
}
