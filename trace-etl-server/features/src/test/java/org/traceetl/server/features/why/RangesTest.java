package org.traceetl.server.features.why;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Ranges of numbers: 200 units of the selection, then 800 of the baseline. */
final class RangesTest {
  private static final int KEY = 3;
  private static final int SELECTION = 200;
  private static final int ALL = 1_000;

  private static List<Unit> units(IntUnaryOperator number) {
    List<Unit> units = new ArrayList<>();
    for (int i = 0; i < ALL; i++) {
      Unit unit = new Unit(0, i, 0);
      unit.numericKeys = new int[] {KEY + 1, KEY};
      unit.numbers = new double[] {7, number.applyAsInt(i)};
      units.add(unit);
    }
    return units;
  }

  private static Ranges.Range best(List<Unit> units) {
    return Ranges.best(units, KEY, new Contrast.Strata(new int[ALL], 1, SELECTION, 1));
  }

  @Test
  void theRangeOfTheSelectionIsFound() {
    IntUnaryOperator baseline = i -> i % 100;

    Ranges.Range high = best(units(i -> i < SELECTION ? 500 + i : baseline.applyAsInt(i)));
    Ranges.Range low = best(units(i -> i < SELECTION ? i - 900 : baseline.applyAsInt(i)));
    Ranges.Range middle =
        best(units(i -> i < SELECTION ? 50 : baseline.applyAsInt(i) < 50 ? i % 50 : 51 + i % 50));

    assertThat(high.text()).startsWith("at least ");
    assertThat(high.contrast().selectionShare()).isEqualTo(1);
    assertThat(high.units()).contains(0, SELECTION - 1).isSorted();
    assertThat(low.text()).startsWith("at most ");
    assertThat(middle.text()).contains(" to ");
    assertThat(middle.contrast().selectionShare()).isEqualTo(1);
  }

  @Test
  void theProbabilityIsThatOfAllRanges() {
    List<Unit> units = units(i -> i < SELECTION ? 50 + i % 50 : i % 100);
    Ranges.Range range = best(units);

    Contrast alone = new Contrast.Strata(new int[ALL], 1, SELECTION, 1).of(range.units());

    assertThat(range.contrast().g()).isEqualTo(alone.g());
    // Eight eighths: 36 ranges without the whole.
    assertThat(range.contrast().p()).isEqualTo(35 * alone.p());
  }

  @Test
  void fewNumbersOrUnitsHaveNoRange() {
    assertThat(best(units(i -> i % 7))).isNull();
    List<Unit> few = units(i -> i);
    few.subList(39, ALL).forEach(unit -> unit.numericKeys = new int[0]);
    assertThat(best(few)).isNull();
  }

  /** An eighth may end within many equal numbers. */
  @Test
  void equalNumbersAreInOneRange() {
    Ranges.Range range = best(units(i -> i < SELECTION ? 1 : i % 9));

    // Three eighths would begin with a 1.
    assertThat(range.text()).isEqualTo("1 to 2");
    long baseline = IntStream.range(SELECTION, ALL).filter(i -> i % 9 == 1 || i % 9 == 2).count();
    assertThat(range.units()).hasSize((int) baseline + SELECTION);
  }

  @Test
  void onlyDecimalNumbersAreNumbers() {
    assertThat(Ranges.number("-12.5e3")).isEqualTo(-12_500);
    for (String text : List.of("", "1d", "0x1p3", "NaN", "Infinity", "1e999", "1.2.3", "12 ms")) {
      assertThat(Ranges.number(text)).as(text).isNaN();
    }
  }
}
