package org.traceetl.server.dedup;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class BatchHistoryTest {
  private final BatchHistory history = new BatchHistory(3);

  private record Name(int agent, long epoch, long sequence) {}

  @Property
  void withinWhatIsRememberedABatchIsFirstOnce(@ForAll long seed) {
    Random random = new Random(seed);
    long start = random.nextLong(1L << 40);
    BatchHistory all = new BatchHistory(10);
    Set<Name> model = new HashSet<>();
    for (int i = 0; i < 500; i++) {
      int agent = random.nextInt(3);
      long epoch = 7 + random.nextInt(2);
      long sequence = start + random.nextInt(BatchHistory.WIDTH);
      assertThat(all.isFirst(agent, 1, epoch, sequence, 0))
          .isEqualTo(model.add(new Name(agent, epoch, sequence)));
    }
  }

  @Property
  void aBatchIsNeverFirstTwice(@ForAll @Size(max = 200) List<@From("jumps") Name> names) {
    Map<Name, Integer> firsts = new HashMap<>();
    BatchHistory all = new BatchHistory(10);
    for (Name name : names) {
      if (all.isFirst(name.agent, 1, name.epoch, name.sequence, 0)) {
        firsts.merge(name, 1, Integer::sum);
      }
    }
    assertThat(firsts.values()).allMatch(times -> times == 1);
  }

  @Provide
  Arbitrary<Name> jumps() {
    return Combinators.combine(
            Arbitraries.integers().between(0, 2),
            Arbitraries.longs().between(1, 4),
            Arbitraries.of(0L, 1L, 2L, 63L, 64L, 4_095L, 4_096L, 4_097L, 9_000L, Long.MAX_VALUE))
        .as(Name::new);
  }

  @Test
  void whatIsTooOldToTellIsARepeat() {
    assertThat(first(1, 1, 10_000)).isTrue();
    assertThat(first(1, 1, 10_000 - BatchHistory.WIDTH + 1)).isTrue();
    assertThat(first(1, 1, 10_000 - BatchHistory.WIDTH)).isFalse();
  }

  @Test
  void aNewEpochBeginsAnewAndTheOneBeforeIsStillJudged() {
    assertThat(first(1, 1, 5)).isTrue();
    assertThat(first(1, 2, 5)).isTrue();
    assertThat(first(1, 1, 5)).isFalse();
    assertThat(first(1, 1, 6)).isTrue();
    assertThat(first(1, 2, 5)).isFalse();
  }

  @Test
  void anEpochBetweenTheTwoIsFirstAndOneBeforeBothIsARepeat() {
    assertThat(first(1, 1, 0)).isTrue();
    assertThat(first(1, 5, 0)).isTrue();
    assertThat(first(1, 3, 0)).isTrue();
    assertThat(first(1, 3, 0)).isFalse();
    assertThat(first(1, 1, 1)).isFalse();
    assertThat(first(1, 5, 0)).isFalse();
  }

  @Test
  void theAgentSilentForLongestMakesRoom() {
    history.isFirst(1, 0, 1, 0, 100);
    history.isFirst(2, 0, 1, 0, 200);
    history.isFirst(3, 0, 1, 0, 300);
    history.isFirst(1, 0, 1, 1, 400);
    history.isFirst(4, 0, 1, 0, 500);

    assertThat(history.agents()).isEqualTo(3);
    assertThat(history.isFirst(1, 0, 1, 0, 600)).isFalse();
    assertThat(history.isFirst(3, 0, 1, 0, 600)).isFalse();
    assertThat(history.isFirst(4, 0, 1, 0, 600)).isFalse();
  }

  @Test
  void silentAgentsAreForgotten() {
    history.isFirst(1, 0, 1, 0, 100);
    history.isFirst(2, 0, 1, 0, 200);
    history.isFirst(3, 0, 1, 0, 100);
    history.forgetSilent(150);

    assertThat(history.agents()).isEqualTo(1);
    assertThat(history.isFirst(2, 0, 1, 0, 300)).isFalse();
  }

  private boolean first(long agent, long epoch, long sequence) {
    return history.isFirst(agent, 0, epoch, sequence, 0);
  }
}
