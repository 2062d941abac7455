package org.traceetl.server.dedup;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.primitives.Longs;
import java.util.ArrayList;
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
import org.traceetl.server.window.AcceptedBatches;

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

  /** What recovery does: snapshots and the runs of the windows after them. */
  @Property(tries = 500)
  void theRunsOfItsWindowsMakeTheSameHistory(@ForAll long seed) {
    Random random = new Random(seed);
    BatchHistory live = new BatchHistory(10);
    BatchHistory rebuilt = new BatchHistory(10);
    BatchHistory restored = new BatchHistory(10);
    Map<Integer, Long> highest = new HashMap<>();
    Set<Name> taken = new HashSet<>();
    Set<Name> told = new HashSet<>();
    List<Name> asked = new ArrayList<>();
    for (int window = random.nextInt(1, 8); window > 0; window--) {
      for (int i = random.nextInt(300); i > 0; i--) {
        Name name = arrival(random, highest, asked);
        asked.add(name);
        if (live.isFirst(name.agent, 1, name.epoch, name.sequence, window)) {
          taken.add(name);
        }
      }
      AcceptedBatches runs = live.takeAccepted().take();
      assertApart(runs);
      note(runs, rebuilt);
      note(runs, restored);
      names(runs, told);
      if (random.nextInt(3) == 0) {
        restored = copy(restored);
      }
    }
    assertThat(told).isEqualTo(taken);
    assertThat(live.takeAccepted().take().size()).isZero();

    assertThat(remembered(rebuilt)).isEqualTo(remembered(live));
    assertThat(remembered(restored)).isEqualTo(remembered(live));
    for (int i = 0; i < 300; i++) {
      Name name = arrival(random, highest, asked);
      boolean first = live.isFirst(name.agent, 1, name.epoch, name.sequence, 0);
      assertThat(rebuilt.isFirst(name.agent, 1, name.epoch, name.sequence, 0)).isEqualTo(first);
      assertThat(restored.isFirst(name.agent, 1, name.epoch, name.sequence, 0)).isEqualTo(first);
    }
  }

  /** Mostly the next one, sometimes a repeat, a gap, a late one, or one of another epoch. */
  private static Name arrival(Random random, Map<Integer, Long> highest, List<Name> before) {
    int agent = random.nextInt(3);
    long epoch = 5 + (random.nextInt(10) == 0 ? random.nextInt(5) : 0);
    long next = highest.merge(agent, 1L, Long::sum);
    return switch (random.nextInt(12)) {
      case 0 ->
          before.isEmpty() ? new Name(agent, epoch, 0) : before.get(random.nextInt(before.size()));
      case 1 -> new Name(agent, epoch, Math.max(0, next - random.nextInt(6_000)));
      case 2 -> {
        long far = random.nextInt(20) == 0 ? Long.MAX_VALUE : next + random.nextInt(5_000);
        yield new Name(agent, epoch, far);
      }
      case 3 -> new Name(agent, epoch, next + random.nextInt(130));
      default -> new Name(agent, epoch, next);
    };
  }

  private static void assertApart(AcceptedBatches runs) {
    for (int run = 1; run < runs.size(); run++) {
      int order = Long.compareUnsigned(runs.agentHigh(run - 1), runs.agentHigh(run));
      order = order != 0 ? order : Long.compare(runs.epoch(run - 1), runs.epoch(run));
      assertThat(order).isNotPositive();
      if (order == 0) {
        assertThat(runs.first(run) - 1).isGreaterThan(runs.last(run - 1));
      }
    }
  }

  private static void note(AcceptedBatches runs, BatchHistory history) {
    for (int run = 0; run < runs.size(); run++) {
      history.accept(
          runs.agentHigh(run),
          runs.agentLow(run),
          runs.epoch(run),
          runs.first(run),
          runs.last(run),
          0);
    }
  }

  private static void names(AcceptedBatches runs, Set<Name> names) {
    for (int run = 0; run < runs.size(); run++) {
      for (long i = 0; i <= runs.last(run) - runs.first(run); i++) {
        names.add(new Name((int) runs.agentHigh(run), runs.epoch(run), runs.first(run) + i));
      }
    }
  }

  private static BatchHistory copy(BatchHistory history) {
    BatchHistory copy = new BatchHistory(10);
    for (int agent : history.lastHeardFirst()) {
      note(history.remembered(agent), copy);
    }
    return copy;
  }

  private static Set<List<Long>> remembered(BatchHistory history) {
    Set<List<Long>> all = new HashSet<>();
    for (int agent : history.lastHeardFirst()) {
      all.add(Longs.asList(history.remembered(agent).runs()));
    }
    return all;
  }

  @Test
  void aRunLongerThanWhatIsRememberedLeavesItsEnd() {
    history.accept(1, 0, 1, 0, Long.MAX_VALUE - 1, 0);

    assertThat(first(1, 1, 5)).isFalse();
    assertThat(first(1, 1, Long.MAX_VALUE - 1)).isFalse();
    assertThat(first(1, 1, Long.MAX_VALUE)).isTrue();
    assertThat(history.remembered(0).runs())
        .containsExactly(1, 0, 1, Long.MAX_VALUE - BatchHistory.WIDTH + 1, Long.MAX_VALUE);
  }

  @Test
  void batchesOfTheLogAreNotToldAgain() {
    history.accept(1, 0, 1, 0, 9, 0);
    first(1, 1, 9);
    first(1, 1, 10);

    assertThat(history.takeAccepted().take().runs()).containsExactly(1, 0, 1, 10, 10);
  }

  @Test
  void batchesOutOfOrderBecomeOneRun() {
    for (long sequence = 1_000; sequence > 0; sequence -= 2) {
      first(1, 1, sequence);
    }
    for (long sequence = 999; sequence > 0; sequence -= 2) {
      first(1, 1, sequence);
    }

    assertThat(history.takeAccepted().take().runs()).containsExactly(1, 0, 1, 1, 1_000);
    assertThat(history.takeAccepted().take().size()).isZero();
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
