package org.traceetl.server.features.why;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class AttributeValuesTest {
  private static final int LETTERS = 10;

  private final AttributeValues values = new AttributeValues();

  /** Returns one of 1,024 texts with equal hashes. */
  private static String colliding(int number) {
    BitSet bits = BitSet.valueOf(new long[] {number});
    return IntStream.range(0, LETTERS)
        .mapToObj(bit -> bits.get(bit) ? "Aa" : "BB")
        .reduce("", String::concat);
  }

  @Test
  void equalValuesHaveOneNumberAndOthersAnother() {
    int key = values.keyNumber("host");
    int other = values.keyNumber("zone");
    Set<Integer> numbers = new HashSet<>();
    for (int i = 0; i < 10_000; i++) {
      String text =
          "host-" + (char) ('a' + i % 26) + (char) ('a' + i / 26 % 26) + (char) ('a' + i / 676);
      numbers.add(values.number(key, text));
      assertThat(values.number(key, text)).isEqualTo(values.number(key, text));
    }

    assertThat(numbers).hasSize(10_000).doesNotContain(AttributeValues.NONE);
    assertThat(values.number(other, "host-aaa")).isNotIn(numbers);
  }

  @Test
  void ofTextsWithEqualHashesMostAreLeftOut() {
    int key = values.keyNumber("host");
    int known = 0;
    for (int i = 0; i < 1 << LETTERS; i++) {
      known += values.number(key, colliding(i)) == AttributeValues.NONE ? 0 : 1;
    }

    assertThat(known).isEqualTo(256);
    assertThat(values.isComplete(key)).isFalse();
    assertThat(values.number(key, colliding(0))).isZero();
  }
}
