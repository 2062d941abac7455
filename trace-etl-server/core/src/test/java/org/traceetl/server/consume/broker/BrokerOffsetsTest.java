package org.traceetl.server.consume.broker;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.traceetl.server.consume.broker.BrokerOffsets.Range;

class BrokerOffsetsTest {
  private static final long NONE = BrokerOffsets.NONE;

  @Test
  void readingGoesOnWhereTheLastWindowEnded() {
    assertThat(new Range(0, 100, 40).next(NONE)).isEqualTo(40);
    assertThat(new Range(0, 100, 40).next(50)).isEqualTo(50);
    assertThat(new Range(0, 100, NONE).next(50)).isEqualTo(50);
    // Committed messages are not counted if the journal does not have them.
    assertThat(new Range(0, 100, 60).next(50)).isEqualTo(50);
  }

  @Test
  void aNewGroupBeginsWithTheOldestMessage() {
    assertThat(new Range(7_000, 9_000, NONE).next(NONE)).isEqualTo(7_000);
  }

  @Test
  void whatTheBrokerDeletedUnreadIsLeftToBeSkipped() {
    assertThat(new Range(60, 100, 40).next(NONE)).isEqualTo(40);
  }

  @Test
  void aBrokerThatLostItsTailIsNotReadFromTheStartAgain() {
    assertThat(new Range(0, 90, 100).next(NONE)).isEqualTo(90);
    assertThat(new Range(0, 90, 80).next(100)).isEqualTo(90);
  }

  @Test
  void aTopicMadeAgainIsReadFromItsStart() {
    assertThat(new Range(0, 90, NONE).next(100)).isZero();
  }

  @Property
  void theBrokerCanAlwaysReadOnFromThere(
      @ForAll @LongRange(min = 0, max = 20) long min,
      @ForAll @LongRange(min = 0, max = 20) long messages,
      @ForAll @LongRange(min = -1, max = 50) long committed,
      @ForAll @LongRange(min = -1, max = 50) long kept) {
    Range range = new Range(min, min + messages, committed);

    assertThat(range.next(kept)).isBetween(0L, range.max());
  }
}
