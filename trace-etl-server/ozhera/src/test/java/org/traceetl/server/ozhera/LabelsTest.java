package org.traceetl.server.ozhera;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class LabelsTest {
  private static String cut(String text, int maxChars) {
    byte[] bytes = ("é" + text + "é").getBytes(UTF_8);
    int length = Labels.cut(bytes, 2, bytes.length - 4, maxChars);
    return new String(bytes, 2, length, UTF_8);
  }

  @Test
  void aTextIsCutToOneBelowTheMostAndOnlyIfItHasMore() {
    assertThat(cut("a".repeat(100), 100)).hasSize(100);
    assertThat(cut("a".repeat(101), 100)).hasSize(99);
    assertThat(cut("é".repeat(100), 100)).hasSize(100);
    assertThat(cut("表".repeat(101), 100)).hasSize(99);
    // 98 characters and a pair of two: the pair is not taken apart.
    assertThat(cut("a".repeat(98) + "😀bc", 100)).hasSize(98);
  }

  @Property
  void itIsCutAsJavaCutsIt(@ForAll String text, @ForAll @IntRange(min = 2, max = 20) int maxChars) {
    String sound = new String(text.getBytes(UTF_8), UTF_8);
    String expected = sound.length() > maxChars ? sound.substring(0, maxChars - 1) : sound;
    if (Character.isHighSurrogate(
        expected.isEmpty() ? 'a' : expected.charAt(expected.length() - 1))) {
      expected = expected.substring(0, expected.length() - 1);
    }
    assertThat(cut(sound, maxChars)).isEqualTo(expected);
  }
}
