package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class HexDigitsTest {
  private static final long VALID = digits("09afAF5c");
  private static final String ZEN_3 =
      """
      processor\t: 0
      vendor_id\t: AuthenticAMD
      cpu family\t: 25
      flags\t\t: fpu bmi1 avx2 bmi2
      """;

  @Property
  void bothWaysGiveTheSame(@ForAll int value) {
    long digits = digits("%08x".formatted(value));
    long number = Integer.toUnsignedLong(value);
    assertThat(HexDigits.compressed(digits)).isEqualTo(number);
    assertThat(HexDigits.shifted(digits)).isEqualTo(number);
    assertThat(HexDigits.expanded(value)).isEqualTo(HexDigits.spread(value));
    assertThat(HexDigits.of(value)).isEqualTo(digits);
  }

  @Property
  void upperCaseIsReadBothWays(@ForAll int value) {
    long digits = digits("%08X".formatted(value));
    long number = Integer.toUnsignedLong(value);
    assertThat(HexDigits.compressed(digits)).isEqualTo(number);
    assertThat(HexDigits.shifted(digits)).isEqualTo(number);
  }

  @Property
  void faultsAreFoundWhateverIsBesideThem(@ForAll long bytes) {
    boolean all = true;
    for (byte b : ByteBuffer.allocate(Long.BYTES).putLong(bytes).array()) {
      all &= b >= 0 && Character.digit(b, 16) >= 0;
    }
    assertThat(HexDigits.areHex(bytes, VALID)).isEqualTo(all);
    assertThat(HexDigits.areHex(VALID, bytes)).isEqualTo(all);
    assertThat(HexDigits.areHex(VALID, VALID, bytes, VALID)).isEqualTo(all);
    assertThat(HexDigits.areHex(VALID, VALID, VALID, bytes)).isEqualTo(all);
  }

  /** All pairs, as a byte could only carry into the next one. */
  @Test
  void noByteHidesTheNext() {
    for (int first = 0; first < 256; first++) {
      for (int second = 0; second < 256; second++) {
        boolean digits =
            (first | second) < 128
                && Character.digit(first, 16) >= 0
                && Character.digit(second, 16) >= 0;
        long bytes = digits("aF09") << 32 | (long) first << 24 | second << 16 | '7' << 8 | 'B';
        assertThat(HexDigits.areHex(bytes, bytes))
            .as("bytes %d and %d", first, second)
            .isEqualTo(digits);
      }
    }
  }

  @Test
  void bitsAreMovedWhereOneInstructionDoes() {
    assertThat(HexDigits.movesBits(ZEN_3)).isTrue();
    assertThat(HexDigits.movesBits(ZEN_3.replace("25", "23"))).isFalse();
    assertThat(HexDigits.movesBits(ZEN_3.replace("bmi2", ""))).isFalse();
    assertThat(HexDigits.movesBits(ZEN_3.replace("AuthenticAMD", "HygonGenuine"))).isFalse();
    assertThat(
            HexDigits.movesBits(ZEN_3.replace("AuthenticAMD", "GenuineIntel").replace("25", "6")))
        .isTrue();
    assertThat(HexDigits.movesBits(ZEN_3.replace("25", "none"))).isFalse();
    assertThat(HexDigits.movesBits("nothing\n of a processor")).isFalse();
    assertThat(HexDigits.movesBits("")).isFalse();
  }

  @Test
  void nothingIsAssumedOfOtherMachines(@TempDir Path directory) throws Exception {
    Path processors = Files.writeString(directory.resolve("cpuinfo"), ZEN_3);
    assertThat(HexDigits.movesBits("amd64", processors)).isTrue();
    assertThat(HexDigits.movesBits("aarch64", processors)).isFalse();
    assertThat(HexDigits.movesBits("amd64", directory.resolve("none"))).isFalse();
  }

  private static long digits(String text) {
    byte[] bytes = text.getBytes(US_ASCII);
    long digits = 0;
    for (byte b : bytes) {
      digits = digits << 8 | b;
    }
    return digits;
  }
}
