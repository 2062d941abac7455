package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.WindowCompleteness;

class PaneClosingTest {
  private static final long PANE_MILLIS = 15_000;
  private static final long GRACE_MILLIS = 120_000;

  /** A multiple of the panes' length. */
  private static final long START_MILLIS = 1_790_000_010_000L;

  private static final long UNKNOWN = SealedWindow.UNKNOWN_CLOSED;

  /** Seven days: no span is older. A multiple of the panes' length. */
  private static final long OLDEST_MILLIS = 604_800_000;

  private final StreamClock clock = new StreamClock();
  private PaneClosing closing = new PaneClosing(GRACE_MILLIS, clock, UNKNOWN, UNKNOWN);

  /** Ends a window whose last message was stored at a time after the start. */
  private long window(long storedMillis) {
    clock.message(START_MILLIS + storedMillis);
    return end(WindowCompleteness.NONE);
  }

  private long complete(long untilMillis) {
    return end(new WindowCompleteness(START_MILLIS + untilMillis, 0, List.of(), 0));
  }

  /** Returns until when panes are closed, as a time after the start. */
  private long end(WindowCompleteness completeness) {
    long closedMillis = closing.endWindow(completeness, START_MILLIS, PANE_MILLIS);
    return closedMillis == UNKNOWN ? UNKNOWN : closedMillis - START_MILLIS;
  }

  @Test
  void panesThatEndBeforeTheQueueIsCompleteAreClosed() {
    assertThat(window(100_000)).as("without spans").isEqualTo(UNKNOWN);
    closing.counted(START_MILLIS, PANE_MILLIS);
    assertThat(window(100_000)).isEqualTo(90_000 - OLDEST_MILLIS);
    assertThat(complete(44_999)).isEqualTo(30_000);
    assertThat(complete(45_000)).isEqualTo(45_000);
    assertThat(complete(20_000)).as("it never goes back").isEqualTo(45_000);
  }

  @Test
  void aQueueWithoutMessagesClosesNothing() {
    assertThat(complete(100_000)).isEqualTo(UNKNOWN);
  }

  @Test
  void aPaneThatIsNotOverStaysOpen() {
    window(44_999);
    assertThat(complete(100_000)).isEqualTo(30_000);
    clock.pass(1);
    assertThat(complete(100_000)).isEqualTo(45_000);
  }

  @Test
  void panesAreClosedAfterTheGrace() {
    closing.counted(START_MILLIS, PANE_MILLIS);
    for (int at = 0; at < 120_000; at += 15_000) {
      assertThat(window(at)).isEqualTo(-OLDEST_MILLIS);
    }
    assertThat(window(120_000)).isZero();
    assertThat(window(134_999)).isZero();
    assertThat(window(135_000)).isEqualTo(15_000);
    assertThat(complete(60_000)).isEqualTo(60_000);
    assertThat(window(150_000)).as("the grace is earlier").isEqualTo(60_000);
  }

  /** Stream time stays behind store time for ever. */
  @Test
  void aGapBetweenMessagesNeitherShortensNorLengthensTheGrace() {
    for (int at = 0; at <= 120_000; at += 15_000) {
      window(at);
    }
    long after = 3_600_000;
    assertThat(window(after)).as("the gap counts as a pane").isEqualTo(15_000);
    for (int at = 15_000; at < 120_000; at += 15_000) {
      assertThat(window(after + at)).isLessThanOrEqualTo(120_000);
    }
    assertThat(window(after + 120_000)).isEqualTo(after);
    assertThat(window(after + 135_000)).isEqualTo(after + 15_000);
  }

  @Test
  void silentTimeAtTheEndOfTheQueueClosesPanes() {
    closing.counted(START_MILLIS, PANE_MILLIS);
    window(7_000);
    for (int i = 0; i < 9; i++) {
      clock.pass(15_000);
      assertThat(closing.hasOpenPane()).isTrue();
      end(WindowCompleteness.NONE);
    }
    assertThat(closing.hasOpenPane()).isFalse();
  }

  @Test
  void lateSpansCountInTheNextPane() {
    window(100_000);
    assertThat(complete(45_000)).isEqualTo(45_000);
    assertThat(closing.hasOpenPane()).isFalse();
    closing.counted(START_MILLIS, PANE_MILLIS);
    assertThat(closing.hasOpenPane()).isTrue();
    assertThat(complete(59_999)).isEqualTo(45_000);
    assertThat(closing.hasOpenPane()).isTrue();
    assertThat(complete(60_000)).isEqualTo(60_000);
    assertThat(closing.hasOpenPane()).isFalse();
  }

  /** Windows end early while a backlog is read. */
  @Property(tries = 50)
  void theGraceIsExactToItsStepsHoweverOftenWindowsEnd(@ForAll long seed) {
    Random random = new Random(seed);
    StreamClock its = new StreamClock();
    closing = new PaneClosing(GRACE_MILLIS, its, UNKNOWN, UNKNOWN);
    int most = random.nextInt(1, 15_000);
    long stored = START_MILLIS;
    for (int i = 0; i < 2_000; i++) {
      stored += random.nextInt(most);
      its.message(stored);
      long closed = closing.endWindow(WindowCompleteness.NONE, START_MILLIS, 1);
      assertThat(closed).isLessThanOrEqualTo(stored - GRACE_MILLIS);
      if (its.elapsedMillis() > GRACE_MILLIS) {
        assertThat(closed)
            .isGreaterThanOrEqualTo(stored - GRACE_MILLIS - GRACE_MILLIS / 32 - 2L * most);
      }
    }
  }

  @Test
  void itContinuesAfterATakeOver() {
    closing = new PaneClosing(GRACE_MILLIS, clock, START_MILLIS + 40_000, START_MILLIS + 60_000);
    assertThat(closing.hasOpenPane()).isTrue();
    assertThat(end(WindowCompleteness.NONE)).isEqualTo(40_000);

    clock.restore(START_MILLIS + 40_000);
    assertThat(end(WindowCompleteness.NONE)).isEqualTo(40_000);
    assertThat(window(61_000)).isEqualTo(40_000);
    assertThat(complete(59_000)).isEqualTo(45_000);
    assertThat(complete(60_000)).isEqualTo(60_000);
    assertThat(closing.hasOpenPane()).isFalse();
  }

  @Test
  void timesThatAreFarAwayFitIntoTheJournal() {
    clock.message(Long.MAX_VALUE);

    assertThat(complete(Long.MAX_VALUE - START_MILLIS)).isBetween(0L, 10L * 365 * 86_400_000);
  }
}
