package org.traceetl.agent.source.payload;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class PayloadArraysTest {
  private final PayloadArrays arrays = new PayloadArrays();

  @Test
  void anArrayGivenBackIsTakenAgainByWhoeverHasRoomInIt() {
    byte[] first = arrays.take(100_000);
    arrays.give(first);

    assertThat(arrays.take(first.length - 1)).isSameAs(first);
    assertThat(arrays.take(first.length - 1)).isNotSameAs(first);
  }

  @Test
  void theOneGivenBackLastIsTakenFirst() {
    byte[] early = arrays.take(50_000);
    byte[] late = arrays.take(50_000);
    arrays.give(early);
    arrays.give(late);

    assertThat(arrays.take(50_000)).isSameAs(late);
    assertThat(arrays.take(50_000)).isSameAs(early);
  }

  @Test
  void arraysOfOtherSizesAreLeftToTheCollector() {
    byte[] foreign = new byte[100_001];
    byte[] small = new byte[16];
    arrays.give(foreign);
    arrays.give(small);

    assertThat(arrays.take(100_001)).isNotSameAs(foreign);
    assertThat(arrays.take(16)).isNotSameAs(small).hasSize(16);
    assertThat(arrays.take(0)).isEmpty();
  }

  @Property
  void thereIsRoomAndAtMostAQuarterMore(@ForAll @IntRange(min = 4_096, max = 1 << 30) int least) {
    int length = PayloadArrays.sizeFor(least);

    assertThat(length).isBetween(least, least + least / 4 + 1);
    assertThat(PayloadArrays.sizeFor(length)).isEqualTo(length);
  }
}
