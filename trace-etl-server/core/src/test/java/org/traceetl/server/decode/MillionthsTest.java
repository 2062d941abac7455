package org.traceetl.server.decode;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.RoundingMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Numbers of attributes as whole millionths. */
final class MillionthsTest {
  private static long of(String text) {
    byte[] bytes = ("x" + text + "7").getBytes(UTF_8);
    return Millionths.of(bytes, 1, bytes.length - 2);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "-0, 0",
    "-0.0, 0",
    "+7, 7000000",
    "1024, 1024000000",
    "0.25, 250000",
    ".5, 500000",
    "5., 5000000",
    "1.0E-5, 10",
    "1e3, 1000000000",
    "2.5e+3, 2500000000",
    "1.0000004, 1000000",
    "1.0000005, 1000001",
    "4.9E-7, 0",
    "1e-400, 0",
    "0e999999999999, 0",
    "9000000000000, 9000000000000000000",
    "9000000000001, -3",
    "1e13, -3",
    "1e999999999999, -3",
    "123456789012345678901234567890, -3",
    "-1, -2",
    "-1e-9, -2",
    "NaN, -1",
    "Infinity, -1",
    "'', -1",
    "-, -1",
    "., -1",
    "e5, -1",
    "1e, -1",
    "1e+, -1",
    "1e5x, -1",
    "1.2.3, -1",
    "12 , 12000000",
    "'12 ', -1",
    "0x10, -1",
    "true, -1"
  })
  void textsAreReadAsMillionths(String text, long expected) {
    assertThat(of(text)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({"64, 1000000", "65, -1"})
  void longTextsAreNoNumbers(int length, long expected) {
    assertThat(of("1." + "0".repeat(length - 2))).isEqualTo(expected);
  }

  @Property
  void wholeNumbersAreExact(@ForAll @LongRange(min = 0, max = Millionths.MAX_UNITS) long number) {
    assertThat(of(Long.toString(number))).isEqualTo(number * 1_000_000);
  }

  @Property
  void doublesAreRoundedToTheNearestMillionth(
      @ForAll @DoubleRange(min = 0, max = 8e12) double number) {
    BigDecimal exact = new BigDecimal(Double.toString(number));
    assertThat(of(Double.toString(number)))
        .isEqualTo(exact.movePointRight(6).setScale(0, RoundingMode.HALF_UP).longValueExact());
  }
}
