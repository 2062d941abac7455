package org.traceetl.server.dedup;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.primitives.Longs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
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
  private static final long ROOM = 1 << 20;
  private static final long MINUTE = BatchHistory.RESOLUTION_MILLIS;
  private static final long HOUR = BatchHistory.MAX_STEP_MILLIS;

  private final BatchHistory history = new BatchHistory(3 * Agents.BYTES);

  private record Name(int agent, long epoch, long sequence) {}

  @Property
  void withinWhatIsRememberedABatchIsFirstOnce(@ForAll long seed) {
    Random random = new Random(seed);
    long start = random.nextLong(1L << 40);
    BatchHistory all = new BatchHistory(ROOM);
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
    BatchHistory all = new BatchHistory(ROOM);
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

  /** Replays as recovery does: snapshots and the runs of later windows. */
  @Property(tries = 500)
  void theRunsOfItsWindowsMakeTheSameHistory(@ForAll long seed) {
    Random random = new Random(seed);
    BatchHistory live = new BatchHistory(ROOM);
    BatchHistory rebuilt = new BatchHistory(ROOM);
    BatchHistory restored = new BatchHistory(ROOM);
    Map<Integer, Long> highest = new HashMap<>();
    Set<Name> taken = new HashSet<>();
    Set<Name> told = new HashSet<>();
    List<Name> asked = new ArrayList<>();
    for (int window = random.nextInt(1, 8); window > 0; window--) {
      for (int i = random.nextInt(300); i > 0; i--) {
        Name name = arrival(random, 3, highest, asked);
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
      Name name = arrival(random, 3, highest, asked);
      boolean first = live.isFirst(name.agent, 1, name.epoch, name.sequence, 0);
      assertThat(rebuilt.isFirst(name.agent, 1, name.epoch, name.sequence, 0)).isEqualTo(first);
      assertThat(restored.isFirst(name.agent, 1, name.epoch, name.sequence, 0)).isEqualTo(first);
    }
  }

  /** Returns mostly the next name, sometimes a repeat, a gap, a late one or another epoch. */
  private static Name arrival(
      Random random, int agents, Map<Integer, Long> highest, List<Name> before) {
    int agent = random.nextInt(agents);
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
    return copy(history, ROOM);
  }

  /** Copies as a snapshot does. */
  private static BatchHistory copy(BatchHistory history, long maxBytes) {
    BatchHistory copy = new BatchHistory(maxBytes);
    for (int agent : history.lastHeardFirst()) {
      AcceptedBatches runs = history.remembered(agent);
      copy.restore(runs.agentHigh(0), runs.agentLow(0), history.heardMillis(agent));
      for (int run = 0; run < runs.size(); run++) {
        copy.restore(
            runs.agentHigh(run),
            runs.agentLow(run),
            runs.epoch(run),
            runs.first(run),
            runs.last(run));
      }
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
    history.isFirst(1, 0, 1, 0, MINUTE);
    history.isFirst(2, 0, 1, 0, 2 * MINUTE);
    history.isFirst(3, 0, 1, 0, 3 * MINUTE);
    history.isFirst(1, 0, 1, 1, 4 * MINUTE);
    history.isFirst(4, 0, 1, 0, 5 * MINUTE);

    assertThat(history.agents()).isEqualTo(3);
    assertThat(history.takeEvicted()).isEqualTo(1);
    assertThat(history.takeEvicted()).isZero();
    assertThat(history.isFirst(1, 0, 1, 0, 6 * MINUTE)).isFalse();
    assertThat(history.isFirst(3, 0, 1, 0, 6 * MINUTE)).isFalse();
    assertThat(history.isFirst(4, 0, 1, 0, 6 * MINUTE)).isFalse();
    assertThat(history.isFirst(2, 0, 1, 0, 6 * MINUTE)).isTrue();
  }

  @Test
  void anAgentWhoseBatchesGetAGapMakesRoomForItAmongTheOthers() {
    BatchHistory small = new BatchHistory(10 * Agents.BYTES);
    for (int agent = 0; agent < 10; agent++) {
      small.isFirst(agent, 0, 1, 0, 0);
    }
    assertThat(small.isFirst(0, 0, 1, 5, 0)).isTrue();

    assertThat(small.agents()).isEqualTo(5);
    assertThat(small.takeEvicted()).isEqualTo(5);
    assertThat(small.isFirst(0, 0, 1, 0, 0)).isFalse();
    assertThat(small.isFirst(0, 0, 1, 5, 0)).isFalse();
    assertThat(small.isFirst(9, 0, 1, 0, 0)).isFalse();
  }

  @Test
  void theLastAgentStaysHoweverLittleRoomThereIs() {
    BatchHistory none = new BatchHistory(1);
    assertThat(none.isFirst(1, 0, 1, 0, 0)).isTrue();
    assertThat(none.isFirst(1, 0, 1, 7, 0)).isTrue();
    assertThat(none.isFirst(1, 0, 1, 7, 0)).isFalse();
    assertThat(none.isFirst(2, 0, 1, 0, 0)).isTrue();
    assertThat(none.isFirst(2, 0, 1, 0, 0)).isFalse();

    assertThat(none.agents()).isEqualTo(1);
  }

  @Test
  void aGapThatIsFilledOrTooOldTakesNoRoomAnyMore() {
    BatchHistory small = new BatchHistory(Agents.BYTES + SeenRing.BYTES);
    for (long epoch = 1; epoch < 4; epoch++) {
      small.isFirst(1, 0, epoch, 0, 0);
      small.isFirst(1, 0, epoch, 2, 0);
      small.isFirst(1, 0, epoch, 1, 0);
    }
    small.isFirst(1, 0, 4, 0, 0);
    for (long sequence = 2; sequence < BatchHistory.WIDTH + 100; sequence++) {
      assertThat(small.isFirst(1, 0, 4, sequence, 0)).isTrue();
    }
    small.isFirst(2, 0, 1, 0, 0);
    assertThat(small.isFirst(1, 0, 4, 100, 0)).isFalse();

    assertThat(small.agents()).isEqualTo(2);
    assertThat(small.takeEvicted()).isZero();
  }

  @Test
  void silentAgentsAreForgotten() {
    history.isFirst(1, 0, 1, 0, 0);
    history.isFirst(3, 0, 1, 0, 0);
    history.isFirst(2, 0, 1, 0, HOUR);
    for (int hour = 2; hour <= 26; hour++) {
      history.forgetSilent(hour * HOUR);
    }
    assertThat(history.agents()).isEqualTo(3);
    history.forgetSilent(26 * HOUR + 1);

    assertThat(history.agents()).isEqualTo(1);
    assertThat(history.takeEvicted()).isZero();
    assertThat(history.isFirst(2, 0, 1, 0, 26 * HOUR + 1)).isFalse();
  }

  @Test
  void aStepOfTheWallClockIsNoSilence() {
    long now = 1_700_000_000_000L;
    history.isFirst(1, 0, 1, 0, now);
    history.forgetSilent(now + 26 * HOUR + 1);
    history.forgetSilent(now - 100 * HOUR);
    history.forgetSilent(now);

    assertThat(history.isFirst(1, 0, 1, 0, now)).isFalse();
  }

  /** A snapshot's times follow the wall clock of its last window, also after a step. */
  @Test
  void aSnapshotTellsSilenceByTheWallClockOfItsLastWindow() {
    long now = 1_700_000_000_000L;
    history.isFirst(1, 0, 1, 0, now);
    history.isFirst(2, 0, 1, 0, now + 10 * MINUTE);
    long stepped = now + 10 * MINUTE - 50 * HOUR;
    history.forgetSilent(stepped);

    int[] agents = history.lastHeardFirst();
    assertThat(history.heardMillis(agents[0])).isEqualTo(stepped);
    assertThat(history.heardMillis(agents[1])).isEqualTo(stepped - 10 * MINUTE);
  }

  @Test
  void silenceGoesOnInAHistoryThatIsRestored() {
    history.isFirst(1, 0, 1, 0, 0);
    for (int hour = 1; hour <= 20; hour++) {
      history.isFirst(2, 0, 1, hour, hour * HOUR);
    }
    BatchHistory restored = copy(history);
    for (int hour = 21; hour <= 26; hour++) {
      restored.isFirst(2, 0, 1, hour, hour * HOUR);
      restored.forgetSilent(hour * HOUR);
    }
    assertThat(restored.agents()).isEqualTo(2);
    restored.forgetSilent(26 * HOUR + 1);

    assertThat(restored.agents()).isEqualTo(1);
  }

  @Test
  void aRestoredHistoryKeepsTheAgentsHeardLastForWhichItHasRoom() {
    BatchHistory large = new BatchHistory(ROOM);
    for (int agent = 0; agent < 10; agent++) {
      large.isFirst(agent, 0, 1, 0, agent * MINUTE);
    }
    large.isFirst(7, 0, 1, 9, 10 * MINUTE);
    BatchHistory small = copy(large, 3 * Agents.BYTES + SeenRing.BYTES);

    assertThat(small.agents()).isEqualTo(3);
    assertThat(small.takeEvicted()).isEqualTo(7);
    assertThat(small.isFirst(7, 0, 1, 0, 10 * MINUTE)).isFalse();
    assertThat(small.isFirst(7, 0, 1, 9, 10 * MINUTE)).isFalse();
    assertThat(small.isFirst(9, 0, 1, 0, 10 * MINUTE)).isFalse();
    assertThat(small.isFirst(8, 0, 1, 0, 10 * MINUTE)).isFalse();
  }

  @Test
  void timesOfAForgedSnapshotDoNoHarm() {
    for (long[] times :
        new long[][] {
          {Long.MIN_VALUE, Long.MAX_VALUE, 0}, {Long.MAX_VALUE, Long.MIN_VALUE, 0}, {0, 1, -1}
        }) {
      BatchHistory forged = new BatchHistory(ROOM);
      for (int agent = 0; agent < times.length; agent++) {
        forged.restore(agent, 0, times[agent]);
        forged.restore(agent, 0, 1, 0, 0);
      }
      forged.forgetSilent(0);
      for (int agent = 0; agent < times.length; agent++) {
        assertThat(forged.isFirst(agent, 0, 1, 0, 0)).isFalse();
      }
    }
  }

  /** An agent of the model: its last two epochs, and the rounded time of its last batch. */
  private static final class Remembered {
    private final TreeMap<Long, TreeSet<Long>> epochs = new TreeMap<>();
    private long heard;

    Remembered(long heard) {
      this.heard = heard;
    }

    boolean isFirst(long epoch, long sequence) {
      if (!epochs.containsKey(epoch)) {
        if (epochs.size() == 2 && epoch < epochs.firstKey()) {
          return false;
        }
        epochs.put(epoch, new TreeSet<>());
        if (epochs.size() > 2) {
          epochs.pollFirstEntry();
        }
      }
      TreeSet<Long> seen = epochs.get(epoch);
      boolean tooOld = !seen.isEmpty() && sequence <= seen.last() - BatchHistory.WIDTH;
      return !tooOld && seen.add(sequence);
    }

    /** Returns the modelled size: one ring for each epoch with a gap. */
    long bytes() {
      return Agents.BYTES + epochs.values().stream().filter(this::hasGap).count() * SeenRing.BYTES;
    }

    private boolean hasGap(TreeSet<Long> seen) {
      SortedSet<Long> known = seen.tailSet(seen.last() - BatchHistory.WIDTH + 1);
      return known.last() - known.first() + 1 != known.size();
    }
  }

  /**
   * Compares with maps: agents that come and go, repeats, gaps, late batches, epochs, clock steps,
   * snapshots.
   */
  @Property(tries = 300)
  void aHistoryAnswersAsMapsWould(@ForAll long seed) {
    Random random = new Random(seed);
    int agents = random.nextInt(1, 40);
    BatchHistory tested = new BatchHistory(ROOM);
    Map<Integer, Remembered> model = new HashMap<>();
    Map<Integer, Long> highest = new HashMap<>();
    List<Name> asked = new ArrayList<>();
    long now = random.nextLong(1L << 41);
    long elapsed = 0;
    for (int i = 0; i < 3_000; i++) {
      int step = random.nextInt(100);
      long by = step == 0 ? random.nextLong(-60 * HOUR, 60 * HOUR) : random.nextLong(2 * MINUTE);
      now += by;
      elapsed += Math.clamp(by, 0, HOUR);
      if (random.nextInt(20) == 0) {
        tested.forgetSilent(now);
        long since = elapsed - BatchHistory.SILENCE_MILLIS;
        model.values().removeIf(agent -> agent.heard < since);
        assertThat(tested.agents()).isEqualTo(model.size());
      }
      if (random.nextInt(200) == 0) {
        tested.accept(agents, 1, 1, i, i, now);
        model.put(agents, new Remembered(elapsed));
        tested = copy(tested);
      }
      Name name = arrival(random, agents, highest, asked);
      asked.add(name);
      long nowElapsed = elapsed;
      Remembered agent = model.computeIfAbsent(name.agent, a -> new Remembered(nowElapsed));
      if (elapsed - agent.heard >= MINUTE) {
        agent.heard = elapsed;
      }
      assertThat(tested.isFirst(name.agent, 1, name.epoch, name.sequence, now))
          .isEqualTo(agent.isFirst(name.epoch, name.sequence));
    }
  }

  /** With little room, the agents silent for longest leave, in that order. */
  @Property(tries = 300)
  void whoLeavesIsTheAgentThatMapsWouldForget(@ForAll long seed) {
    Random random = new Random(seed);
    long room = random.nextInt(1, 20) * (long) Agents.BYTES;
    BatchHistory tested = new BatchHistory(room);
    LinkedHashMap<Integer, Remembered> model = new LinkedHashMap<>();
    long evicted = 0;
    long now = 0;
    for (int i = 0; i < 2_000; i++) {
      now += random.nextLong(MINUTE / 2);
      int number = random.nextInt(30);
      long epoch = random.nextInt(3);
      long sequence = random.nextInt(random.nextInt(10) == 0 ? 8 : 1);
      Remembered agent = model.get(number);
      if (agent == null) {
        agent = new Remembered(now);
        model.put(number, agent);
      } else if (now - agent.heard >= MINUTE) {
        heard(model, number, now);
      }
      boolean first = agent.isFirst(epoch, sequence);
      if (bytes(model) > room) {
        heard(model, number, now);
      }
      while (bytes(model) > room && model.size() > 1) {
        model.pollFirstEntry();
        evicted++;
      }
      assertThat(tested.isFirst(number, 1, epoch, sequence, now)).isEqualTo(first);
      assertThat(tested.agents()).isEqualTo(model.size());
    }
    assertThat(tested.takeEvicted()).isEqualTo(evicted);
    assertThat(Arrays.stream(tested.lastHeardFirst()).mapToObj(tested::remembered))
        .extracting(runs -> (int) runs.agentHigh(0))
        .containsExactlyElementsOf(model.sequencedKeySet().reversed());
  }

  private static void heard(LinkedHashMap<Integer, Remembered> model, int number, long now) {
    Remembered agent = model.get(number);
    agent.heard = now;
    model.putLast(number, agent);
  }

  private static long bytes(Map<Integer, Remembered> model) {
    return model.values().stream().mapToLong(Remembered::bytes).sum();
  }

  private boolean first(long agent, long epoch, long sequence) {
    return history.isFirst(agent, 0, epoch, sequence, 0);
  }

  @Test
  void agentsWhoseHashesCollideAreDistinct() {
    BatchHistory colliding = new BatchHistory(1 << 20);
    long mix = 0x9E37_79B9_7F4A_7C15L;
    long inverse = mix;
    for (int i = 0; i < 5; i++) {
      inverse *= 2 - mix * inverse;
    }
    // The hash is the upper half of ((high * mix) ^ low) * mix.
    long low = 5;
    long nextLow = ((mix ^ low) + inverse) ^ mix;
    long otherLow = (mix ^ low) ^ (2 * mix);

    assertThat(colliding.isFirst(1, low, 1, 0, 0)).isTrue();
    assertThat(colliding.isFirst(1, nextLow, 1, 0, 0)).isTrue();
    assertThat(colliding.isFirst(2, otherLow, 1, 0, 0)).isTrue();
    assertThat(colliding.agents()).isEqualTo(3);
    assertThat(colliding.isFirst(1, low, 1, 0, 0)).isFalse();
    assertThat(colliding.isFirst(1, nextLow, 1, 0, 0)).isFalse();
    assertThat(colliding.isFirst(2, otherLow, 1, 0, 0)).isFalse();
  }

  @Test
  void theOnlyAgentIsForgottenAndAnotherOneFollows() {
    BatchHistory forgetting = new BatchHistory(1 << 20);
    forgetting.isFirst(1, 1, 1, 0, 0);
    for (long hour = 1; hour <= 27; hour++) {
      forgetting.forgetSilent(Duration.ofHours(hour).toMillis());
    }
    assertThat(forgetting.agents()).isZero();
    assertThat(forgetting.lastHeardFirst()).isEmpty();

    assertThat(forgetting.isFirst(1, 1, 1, 0, Duration.ofHours(28).toMillis())).isTrue();
    assertThat(forgetting.agents()).isEqualTo(1);
  }

  @Test
  void anAgentThatASnapshotHasTwiceIsRestoredOnce() {
    BatchHistory restored = new BatchHistory(1 << 20);
    restored.restore(1, 1, 5);
    restored.restore(1, 1, 1, 0, 3);
    restored.restore(1, 1, 4);

    assertThat(restored.agents()).isEqualTo(1);
    assertThat(restored.isFirst(1, 1, 1, 3, 6)).isFalse();
  }
}
