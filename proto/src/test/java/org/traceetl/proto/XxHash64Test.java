package org.traceetl.proto;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import net.jpountz.xxhash.XXHash64;
import net.jpountz.xxhash.XXHashFactory;
import org.junit.jupiter.api.Test;

final class XxHash64Test {
  private static final XXHash64 OTHER = XXHashFactory.safeInstance().hash64();

  @Test
  void isTheHashOfAnotherImplementationAtEveryLengthAndOffset() {
    Random random = new Random(1);
    byte[] bytes = new byte[300];
    random.nextBytes(bytes);
    for (int offset = 0; offset < 9; offset++) {
      for (int length = 0; length <= bytes.length - offset; length++) {
        long seed = random.nextLong();
        assertThat(XxHash64.hash(bytes, offset, length, seed))
            .isEqualTo(OTHER.hash(bytes, offset, length, seed));
      }
    }
  }
}
