package org.traceetl.agent.flow;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class KeySetTest {
  @Test
  void keysOfAllLengthsAreFoundAndOthersAreNot() {
    Random random = new Random(7);
    for (int round = 0; round < 200; round++) {
      List<byte[]> in = new ArrayList<>();
      List<byte[]> out = new ArrayList<>();
      // Some lengths are equal modulo 64.
      for (int length = 0; length < 260; length++) {
        (random.nextInt(10) == 0 ? in : out).add("k".repeat(length).getBytes(UTF_8));
      }
      KeySet keys = new KeySet(in);

      assertThat(in).allMatch(key -> contains(keys, key));
      assertThat(out).noneMatch(key -> contains(keys, key));
    }
  }

  /** Looks for a slice in the middle of an array. */
  private static boolean contains(KeySet keys, byte[] key) {
    byte[] bytes = new byte[key.length + 4];
    System.arraycopy(key, 0, bytes, 2, key.length);
    return keys.contains(bytes, 2, key.length);
  }
}
