package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.BatchAges;
import org.traceetl.server.dedup.BatchHistory;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowCompleteness.Agent;

class AgentMarksTest {
  private static final long SILENCE_MILLIS = 60_000;
  private static final long START_MILLIS = 1_790_000_000_000L;
  private static final long MARGIN_MILLIS = AgentMarks.MARGIN_MILLIS;

  private final BatchHistory history = new BatchHistory(1 << 20);
  private final BatchAges ages = new BatchAges();
  private AgentMarks marks = new AgentMarks(SILENCE_MILLIS, new StreamClock());
  private long sequence;

  /** Reads a batch that the broker stored at a time after the start. */
  private void batch(long atMillis, long agent, String property) {
    assertThat(ages.read(property)).isTrue();
    marks.message(START_MILLIS + atMillis, ages);
    history.isFirst(7, agent, 1, sequence++, START_MILLIS + atMillis);
    marks.from(history.latest(), 7, agent);
  }

  /** Returns until when the queue is complete, as a time after the start. */
  private long until() {
    return marks.endWindow().untilMillis() - START_MILLIS;
  }

  private static Agent heldBack(long agent) {
    return new Agent(false, 7, agent, "");
  }

  private static Agent excluded(long agent) {
    return new Agent(true, 7, agent, "");
  }

  @Test
  void theLowestMarkOfAllAgentsCounts() {
    batch(0, 1, "5;");
    batch(10_000, 2, "5;4000");
    batch(12_000, 3, "5;");
    batch(13_000, 1, "5;");

    WindowCompleteness completeness = marks.endWindow();
    assertThat(completeness.untilMillis()).isEqualTo(START_MILLIS + 6_000 - MARGIN_MILLIS);
    assertThat(completeness.streamMillis()).isEqualTo(START_MILLIS + 13_000);
    assertThat(completeness.agents()).isEqualTo(3);
    assertThat(completeness.named()).isEmpty();
  }

  @Test
  void aQueueIsNotCompleteUpToItsLastMessage() {
    batch(10_000, 1, "5;");

    assertThat(until()).isEqualTo(10_000 - MARGIN_MILLIS);
  }

  @Test
  void agentsWithoutMarksAreNotWaitedFor() {
    batch(0, 1, "5");
    batch(100, 2, "5;x");
    assertThat(marks.endWindow()).isEqualTo(WindowCompleteness.NONE);

    batch(10_000, 3, "5;");
    batch(13_000, 1, "5");
    WindowCompleteness completeness = marks.endWindow();
    assertThat(completeness.untilMillis()).isEqualTo(START_MILLIS + 7_000);
    assertThat(completeness.agents()).isEqualTo(1);
  }

  /** A send that timed out may be stored much later, with the age of its time. */
  @Test
  void theLastStatementOfAnAgentCounts() {
    batch(10_000, 1, "5;");
    batch(50_000, 1, "5;");
    batch(50_100, 1, "40000;40000");

    assertThat(until()).isEqualTo(10_100 - MARGIN_MILLIS);
  }

  @Test
  void theTimeNeverGoesDown() {
    batch(10_000, 1, "5;");
    batch(20_000, 1, "5;");
    assertThat(until()).isEqualTo(17_000);

    batch(21_000, 2, "5;15000");
    assertThat(until()).isEqualTo(17_000);
    batch(30_000, 1, "5;");
    batch(31_000, 1, "5;31000");
    batch(32_000, 2, "5;");
    assertThat(until()).as("a mark goes down").isEqualTo(17_000);
    batch(33_000, 1, "5;");
    assertThat(until()).isEqualTo(29_000);
    batch(5_000, 1, "5;");
    assertThat(until()).as("the broker's clock was set back").isEqualTo(29_000);
  }

  @Test
  void anAgentThatHoldsTheTimeBackIsNamedAndExcludedAfterTheSilence() {
    batch(0, 2, "5;");
    batch(1_000, 1, "5;");
    for (int at = 5_000; at <= 60_000; at += 5_000) {
      batch(at, 1, "5;");
      WindowCompleteness completeness = marks.endWindow();
      assertThat(completeness.untilMillis()).isEqualTo(START_MILLIS - MARGIN_MILLIS);
      assertThat(completeness.agents()).isEqualTo(2);
      assertThat(completeness.named())
          .isEqualTo(at > AgentMarks.NAMED_BEHIND_MILLIS ? List.of(heldBack(2)) : List.of());
    }
    batch(60_001, 1, "5;");
    WindowCompleteness completeness = marks.endWindow();
    assertThat(completeness.untilMillis()).isEqualTo(START_MILLIS + 60_001 - MARGIN_MILLIS);
    assertThat(completeness.agents()).isEqualTo(1);
    assertThat(completeness.named()).containsExactly(excluded(2));

    batch(61_000, 2, "5;50000");
    completeness = marks.endWindow();
    assertThat(completeness.agents()).isEqualTo(2);
    assertThat(completeness.named()).containsExactly(heldBack(2));
    assertThat(completeness.untilMillis()).isEqualTo(START_MILLIS + 60_001 - MARGIN_MILLIS);
  }

  @Test
  void anExcludedAgentIsNamedForAnHour() {
    batch(0, 2, "5;");
    for (long at = 0; at <= AgentMarks.NAMED_MILLIS; at += 10_000) {
      batch(at, 1, "5;");
    }
    assertThat(marks.endWindow().named()).containsExactly(excluded(2));
    batch(AgentMarks.NAMED_MILLIS + 1, 1, "5;");
    assertThat(marks.endWindow().named()).isEmpty();
  }

  @Test
  void anOutageOfTheBrokerExcludesNoAgent() {
    batch(0, 1, "5;");
    batch(0, 2, "5;");
    batch(600_000, 1, "5;");

    WindowCompleteness completeness = marks.endWindow();
    assertThat(completeness.untilMillis()).isEqualTo(START_MILLIS - MARGIN_MILLIS);
    assertThat(completeness.streamMillis()).isEqualTo(START_MILLIS + StreamClock.MAX_STEP_MILLIS);
    assertThat(completeness.named()).containsExactly(heldBack(2));
    assertThat(completeness.agents()).isEqualTo(2);
  }

  @Test
  void anAgentThatSaysGoodbyeIsNotWaitedFor() {
    batch(0, 1, "5;");
    batch(1_000, 2, "5;");
    marks.goodbye(history.find(7, 1), 7, 1);
    batch(50_000, 2, "5;");

    WindowCompleteness completeness = marks.endWindow();
    assertThat(completeness.untilMillis()).isEqualTo(START_MILLIS + 47_000);
    assertThat(completeness.agents()).isEqualTo(1);
    assertThat(completeness.named()).isEmpty();

    marks.goodbye(history.find(7, 2), 7, 2);
    completeness = marks.endWindow();
    assertThat(completeness.untilMillis()).isEqualTo(START_MILLIS + 47_000);
    assertThat(completeness.agents()).isZero();
  }

  @Test
  void anotherAgentWithTheNumberOfAForgottenOneBeginsWithoutMark() {
    BatchHistory small = new BatchHistory(1);
    for (long agent = 1; agent <= 3; agent++) {
      ages.read("5;" + agent * 1_000);
      marks.message(START_MILLIS + 10_000, ages);
      small.isFirst(7, agent, 1, 0, START_MILLIS);
      marks.from(small.latest(), 7, agent);
    }

    // Agents 1 and 3 had the same number.
    WindowCompleteness completeness = marks.endWindow();
    assertThat(completeness.agents()).isEqualTo(2);
    assertThat(completeness.untilMillis()).isEqualTo(START_MILLIS + 7_000 - MARGIN_MILLIS);
  }

  @Test
  void theMostDistantAgentsAreNamed() {
    for (int agent : IntStream.range(0, 1_000).map(i -> i * 7 % 1_000).toArray()) {
      batch(0, agent, "5;" + (1_000 - agent));
    }
    for (int i = 0; i < 2; i++) {
      batch(i * 20_000, 5_000, "5;");
    }
    batch(30_000, 5_000, "5;");

    assertThat(marks.endWindow().named())
        .isEqualTo(IntStream.range(0, 16).mapToObj(AgentMarksTest::heldBack).toList());
  }

  @Test
  void hostsAreNamed() {
    batch(0, 1, "5;");
    marks.host(history.find(7, 1), 7, 1, "web-1");
    marks.host(history.find(7, 1), 7, 2, "another agent's");
    marks.host(40, 7, 3, "unknown");
    batch(14_000, 2, "5;");
    batch(28_000, 2, "5;");

    assertThat(marks.endWindow().named()).containsExactly(new Agent(false, 7, 1, "web-1"));
  }

  /** Takes the queue over with the given agents' batches within the silence. */
  private void takeOver(WindowCompleteness last, long sinceMillis) {
    marks = new AgentMarks(SILENCE_MILLIS, new StreamClock());
    marks.restore(last, history, START_MILLIS + sinceMillis);
  }

  @Test
  void aNewOwnerWaitsForEachAgentOfTheLastSilence() {
    batch(0, 3, "5;");
    for (int at = 10_000; at <= 100_000; at += 10_000) {
      batch(at, 1, "5;");
      batch(at, 2, "5;");
    }
    final WindowCompleteness last = marks.endWindow();
    takeOver(last, 40_000);

    batch(110_000, 1, "5;");
    WindowCompleteness completeness = marks.endWindow();
    assertThat(completeness.untilMillis()).isEqualTo(last.untilMillis());
    assertThat(completeness.streamMillis()).isEqualTo(last.streamMillis());
    assertThat(completeness.agents()).isEqualTo(2);
    assertThat(completeness.named()).containsExactly(excluded(3));
    batch(115_000, 2, "5;1000");
    assertThat(until()).isEqualTo(107_000);
  }

  @Test
  void aNewOwnerExcludesAgentsThatStaySilent() {
    batch(0, 1, "5;");
    batch(1_000, 2, "5;");
    marks.host(history.find(7, 2), 7, 2, "web-2");
    batch(14_000, 1, "5;");
    batch(28_000, 1, "5;");
    final WindowCompleteness last = marks.endWindow();
    assertThat(last.named()).containsExactly(new Agent(false, 7, 2, "web-2"));
    takeOver(last, -1);

    for (int at = 30_000; at <= 90_000; at += 10_000) {
      batch(at, 1, "5;");
      assertThat(marks.endWindow().untilMillis()).isEqualTo(last.untilMillis());
    }
    batch(90_001, 1, "5;");
    WindowCompleteness completeness = marks.endWindow();
    assertThat(completeness.untilMillis()).isEqualTo(START_MILLIS + 87_001);
    assertThat(completeness.named()).containsExactly(new Agent(true, 7, 2, "web-2"));
  }

  @Test
  void agentsOfOlderVersionsDoNotHoldANewOwnerUp() {
    batch(0, 1, "5");
    batch(0, 2, "5;");
    takeOver(marks.endWindow(), -1);

    batch(10_000, 2, "5;");
    assertThat(until()).isEqualTo(-MARGIN_MILLIS);
    batch(12_000, 1, "5");
    assertThat(until()).isEqualTo(7_000);
  }

  @Test
  void aNewOwnerThatDoesNotKnowTheLastTimeWaitsForAllAgents() {
    batch(0, 1, "5;");
    batch(0, 2, "5;");
    takeOver(WindowCompleteness.NONE, -1);

    batch(10_000, 1, "5;");
    assertThat(marks.endWindow()).isEqualTo(WindowCompleteness.NONE);
    batch(12_000, 2, "5;");
    assertThat(until()).isEqualTo(7_000);
  }

  @Test
  void aNewOwnerWithoutMessagesSaysNothing() {
    batch(0, 1, "5;");
    takeOver(marks.endWindow(), -1);

    assertThat(marks.endWindow()).isEqualTo(WindowCompleteness.NONE);
  }

  @Property(tries = 200)
  void noTimeIsBeyondTheStatementsOfAgentsThatAreNotSilent(@ForAll long seed) {
    Random random = new Random(seed);
    marks = new AgentMarks(SILENCE_MILLIS, new StreamClock());
    int agents = 1 + random.nextInt(5);
    long[] stated = new long[agents];
    long[] heard = new long[agents];
    Arrays.fill(stated, Long.MAX_VALUE);
    long at = 0;
    long until = Long.MIN_VALUE;
    for (int i = 0; i < 300; i++) {
      at += random.nextInt(12_000);
      int agent = random.nextInt(20) == 0 ? random.nextInt(agents) : 0;
      int unconfirmed = random.nextInt(20_000);
      batch(at, agent, "5;" + unconfirmed);
      stated[agent] = at - unconfirmed;
      heard[agent] = at;
      if (random.nextInt(5) == 0) {
        long least = at;
        for (int other = 0; other < agents; other++) {
          if (at - heard[other] <= SILENCE_MILLIS) {
            least = Math.min(least, stated[other]);
          }
        }
        until = Math.max(until, least - MARGIN_MILLIS);
        assertThat(until()).isEqualTo(until);
      }
    }
  }
}
