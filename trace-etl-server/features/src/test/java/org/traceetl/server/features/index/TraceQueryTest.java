package org.traceetl.server.features.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.traceetl.server.http.ParameterRefused;

final class TraceQueryTest {
  @Test
  void theLimitHasBounds() {
    assertThat(Traces.pages(1, null).limit()).isEqualTo(1);
    assertThat(Traces.pages(TraceQuery.MAX_LIMIT, null).limit()).isEqualTo(1000);
    for (int limit : new int[] {Integer.MIN_VALUE, 0, 1001}) {
      assertThatExceptionOfType(ParameterRefused.class)
          .isThrownBy(() -> Traces.pages(limit, null))
          .withMessage("limit = %d: must be between 1 and 1000", limit);
    }
  }

  @Test
  void theRangeHasAnOrder() {
    assertThatExceptionOfType(ParameterRefused.class)
        .isThrownBy(() -> Traces.between(2, 1))
        .withMessage("from = 2 ns is after to = 1 ns");
    assertThatExceptionOfType(ParameterRefused.class).isThrownBy(() -> Traces.between(-1, 1));
  }

  @Test
  void aCursorReadsBack() {
    Random random = new Random(1);
    for (int i = 0; i < 1_000; i++) {
      Cursor cursor =
          Cursor.of(Traces.document(random.nextLong(), random.nextLong(Long.MAX_VALUE)));
      assertThat(Cursor.parse(cursor.toText())).isEqualTo(cursor);
    }
    assertThat(Cursor.of(Traces.document(1, 2)).toText()).matches("[A-Za-z0-9_-]{43}");
  }

  @Test
  void aCursorThatIsNoneIsRefused() {
    String good = Cursor.of(Traces.document(1, 2)).toText();
    for (String bad :
        List.of(
            "",
            "x",
            good + "AAAA",
            good.substring(1),
            "%" + good,
            "\0",
            "gA" + good.substring(2))) {
      assertThatExceptionOfType(ParameterRefused.class)
          .as(bad)
          .isThrownBy(() -> Cursor.parse(bad))
          .withMessageStartingWith("cursor: ");
    }
  }
}
