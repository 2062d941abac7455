package org.traceetl.server.decode;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.RoundingMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.NumericChars;
import net.jqwik.api.constraints.StringLength;
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
    "1234567890123.123456, 1234567890123123456",
    "1234567890123.1234564, 1234567890123123456",
    "1234567890123.1234565, 1234567890123123457",
    "8999999999999.9999995, 9000000000000000000",
    "9000000000000.0000004, 9000000000000000000",
    "9000000000000.000001, -3",
    "0.0000004999999999999999999999, 0",
    "0.9999999999999999999999, 1000000",
    "5000000000000000000e-25, 1",
    "4999999999999999999e-25, 0",
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
  void decimalsAreRoundedHalfUp(
      @ForAll @LongRange(min = 0, max = Millionths.MAX_UNITS) long whole,
      @ForAll @NumericChars @StringLength(max = 40) String fraction,
      @ForAll @IntRange(min = -40, max = 10) int exponent) {
    String text = whole + "." + fraction + "e" + exponent;
    BigDecimal rounded = new BigDecimal(text).movePointRight(6).setScale(0, RoundingMode.HALF_UP);
    BigDecimal most = BigDecimal.valueOf(Millionths.MAX_UNITS).movePointRight(6);
    assertThat(of(text))
        .isEqualTo(rounded.compareTo(most) > 0 ? Millionths.TOO_LARGE : rounded.longValueExact());
  }

  @Property
  void doublesAreRoundedToTheNearestMillionth(
      @ForAll @DoubleRange(min = 0, max = 8e12) double number) {
    BigDecimal exact = new BigDecimal(Double.toString(number));
    assertThat(of(Double.toString(number)))
        .isEqualTo(exact.movePointRight(6).setScale(0, RoundingMode.HALF_UP).longValueExact());
  }
}
