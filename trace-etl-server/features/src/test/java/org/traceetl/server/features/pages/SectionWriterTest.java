package org.traceetl.server.features.pages;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.util.function.Consumer;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.traceetl.server.expose.Section;

class SectionWriterTest {
  @Property(tries = 500)
  void wholeNumbersAreDecimal(@ForAll @LongRange(min = 0) long number) {
    assertThat(written(writer -> writer.write(number))).isEqualTo(Long.toString(number));
  }

  @Test
  void edgesOfEveryLengthAreDecimal() {
    long power = 1;
    for (int i = 0; i < 18; i++, power *= 10) {
      for (long number : new long[] {power - 1, power, power + 1}) {
        assertThat(written(writer -> writer.write(number))).isEqualTo(Long.toString(number));
      }
    }
    assertThat(written(writer -> writer.write(Long.MAX_VALUE)))
        .isEqualTo(Long.toString(Long.MAX_VALUE));
  }

  @Property(tries = 300)
  void fractionsAreExactAndShort(
      @ForAll @LongRange(min = 0) long whole, @ForAll @IntRange(min = 0, max = 999_999) int part) {
    String text = written(writer -> writer.write(whole, part, 6));

    assertThat(new BigDecimal(text))
        .isEqualByComparingTo(BigDecimal.valueOf(whole).add(BigDecimal.valueOf(part, 6)));
    assertThat(text).doesNotMatch(".*\\.\\d*0").doesNotEndWith(".");
  }

  private static String written(Consumer<SectionWriter> write) {
    try (var writer = new SectionWriter()) {
      writer.begin(true, false);
      writer.ensure(64);
      write.accept(writer);
      Section section = writer.finish();
      return new String(section.plain().getFirst(), US_ASCII);
    }
  }
}
