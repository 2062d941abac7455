package org.traceetl.server.minutes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.math.LongMath;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

final class MinuteColumnsTest {
  private static final int COLUMNS = 4;
  private static final long NOW = 29_920_320;

  private final MinuteColumns columns = new MinuteColumns(COLUMNS);
  private final MinuteColumns.Minutes minutes = new MinuteColumns.Minutes();

  /** Something that is added so many minutes before or after a clock that goes on. */
  record Addition(int later, int before, List<Long> values) {}

  @Provide
  Arbitrary<List<Addition>> additions() {
    Arbitrary<Long> values =
        Arbitraries.oneOf(
            Arbitraries.just(0L),
            Arbitraries.longs().between(0, 200),
            Arbitraries.longs().between(0, Long.MAX_VALUE));
    return Combinators.combine(
            Arbitraries.of(0, 0, 0, 0, 1, 2, 30, 300),
            Arbitraries.integers().between(-1, 60),
            values.list().ofSize(COLUMNS))
        .as(Addition::new)
        .list()
        .ofMaxSize(200);
  }

  @Test
  void otherIntervalsAreKeptAsLongAsConfigured() {
    MinuteColumns quarters = new MinuteColumns(1, 200);
    for (long quarter = NOW - 400; quarter <= NOW; quarter++) {
      quarters.add(minutes, quarter, new long[] {1}, quarter);
    }
    long[] sum = new long[1];
    quarters.sum(minutes, NOW - 400, NOW, sum);
    assertThat(sum[0]).isEqualTo(200);
    assertThatThrownBy(() -> new MinuteColumns(1, 201)).hasMessageContaining("201");
  }

  @Property(tries = 300)
  void sumsAreThoseOfAllThatWasAdded(@ForAll("additions") List<Addition> additions) {
    MinuteColumns.Minutes packed = new MinuteColumns.Minutes();
    TreeMap<Long, long[]> expected = new TreeMap<>();
    long now = NOW;
    for (Addition addition : additions) {
      now += addition.later;
      long minute = now - addition.before;
      long[] values = addition.values.stream().mapToLong(Long::longValue).toArray();
      columns.add(packed, minute, values, now);
      long[] sum = expected.computeIfAbsent(minute, absent -> new long[COLUMNS]);
      for (int i = 0; i < COLUMNS; i++) {
        sum[i] = LongMath.saturatedAdd(sum[i], values[i]);
      }
    }
    TreeMap<Long, long[]> read = new TreeMap<>();
    long oldest = now - 60;
    columns.read(packed, oldest, now + 1, (minute, values) -> read.put(minute, values.clone()));

    assertThat(read.keySet()).isEqualTo(expected.tailMap(oldest).keySet());
    read.forEach((minute, values) -> assertThat(values).isEqualTo(expected.get(minute)));
    long[] all = new long[COLUMNS];
    columns.sum(packed, oldest, now + 1, all);
    long[] sum = new long[COLUMNS];
    expected
        .tailMap(oldest)
        .values()
        .forEach(values -> {
          for (int i = 0; i < COLUMNS; i++) {
            sum[i] = LongMath.saturatedAdd(sum[i], values[i]);
          }
        });
    assertThat(all).isEqualTo(sum);
    assertThat(packed.endedBefore(oldest)).isEqualTo(expected.tailMap(oldest).isEmpty());
  }

  @Test
  void whatLiesInTheFutureSinceTheClockWasSetBackLeaves() {
    columns.add(minutes, NOW, new long[] {1, 2, 3, 4}, NOW);
    columns.add(minutes, NOW - 500, new long[] {1, 0, 0, 0}, NOW - 500);

    long[] sum = new long[COLUMNS];
    columns.sum(minutes, Long.MIN_VALUE, Long.MAX_VALUE, sum);
    assertThat(sum).containsExactly(1, 0, 0, 0);
  }

  @Test
  void whatDoesNotLieInTheFutureStaysWhenTheClockIsSetBack() {
    for (int before = 10; before >= 0; before--) {
      columns.add(minutes, NOW - before, new long[] {1, 0, 0, 0}, NOW - before);
    }
    columns.add(minutes, NOW - 3, new long[] {0, 1, 0, 0}, NOW - 3);

    List<String> read = new ArrayList<>();
    columns.read(
        minutes,
        NOW - 4,
        NOW + 1,
        (minute, values) -> read.add(minute - NOW + ": " + values[0] + ", " + values[1]));
    // The minute after the clock's may have begun at another server.
    assertThat(read).containsExactly("-4: 1, 0", "-3: 1, 1", "-2: 1, 0");
    columns.add(minutes, NOW, new long[] {0, 0, 1, 0}, NOW);
    long[] sum = new long[COLUMNS];
    columns.sum(minutes, Long.MIN_VALUE, Long.MAX_VALUE, sum);
    assertThat(sum).containsExactly(9, 1, 1, 0);
  }

  @Test
  void columnsThatTheLengthCannotTellAreRefused() {
    assertThatThrownBy(() -> new MinuteColumns(1_001)).hasMessageContaining("1001");
  }
}
