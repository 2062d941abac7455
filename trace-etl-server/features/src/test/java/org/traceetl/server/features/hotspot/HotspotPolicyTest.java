package org.traceetl.server.features.hotspot;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.HotspotDecisions.Decision;
import org.traceetl.server.window.QueueId;

final class HotspotPolicyTest {
  private static final int GROW_AFTER = 3;
  private static final int SHRINK_AFTER = 5;

  private final Map<String, Double> loads = new HashMap<>();
  private final Map<String, Integer> seriesOf = new HashMap<>();
  private final Set<String> pinned = new java.util.HashSet<>();
  private int queues = 8;
  private HotspotPolicy policy = new HotspotPolicy(config(false));
  private long nowMillis = 1_000_000;

  private static HotspotsConfig config(boolean random) {
    return new HotspotsConfig(
        null, null, null, 2, 256, 1.25, GROW_AFTER, 0.5, SHRINK_AFTER, 1_000L, random, null, null);
  }

  @Test
  void anApplicationThatCarriesNearlyAllGoesToAllQueues() {
    loads.put("hot", 90_000.0);
    others(2_000, 10_000);

    assertThat(look(1)).isFalse();
    assertThat(look(GROW_AFTER - 1)).isTrue();
    assertThat(queuesOf("hot")).isEqualTo(4);
    assertThat(look(GROW_AFTER - 1)).isFalse();
    assertThat(look(1)).isTrue();
    assertThat(queuesOf("hot")).isEqualTo(8);
    assertThat(look(50)).isFalse();
    assertThat(maxToMean()).isLessThan(1.15);
    assertThat(policy.decided()).containsOnlyKeys("hot");
  }

  @Test
  void oneThatHasShrunkGivesItsQueuesBackStepByStep() {
    loads.put("hot", 90_000.0);
    others(2_000, 30_000);
    look(20);
    assertThat(queuesOf("hot")).isEqualTo(8);
    Map<String, Decision> then = policy.decided();

    loads.put("hot", 1_000.0);
    look(SHRINK_AFTER);
    assertThat(queuesOf("hot")).isEqualTo(4);
    look(SHRINK_AFTER);
    assertThat(policy.decided()).doesNotContainKey("hot").hasSizeLessThanOrEqualTo(then.size());
  }

  @Test
  void halfTheLoadIsNotYetAReasonToGiveBack() {
    loads.put("hot", 90_000.0);
    others(2_000, 30_000);
    look(20);
    loads.put("hot", 70_000.0);

    assertThat(look(100)).isFalse();
  }

  @Test
  void onQueuesWithLittleToDoNobodyIsAHotspot() {
    loads.put("hot", 900.0);

    assertThat(look(50)).isFalse();
  }

  @Test
  void thePinnedAreLeftAloneAndNextIsWhoElseIsHeavy() {
    loads.put("pinned", 50_000.0);
    loads.put("hot", 40_000.0);
    pinned.add("pinned");
    look(30);

    assertThat(policy.decided()).containsKey("hot").doesNotContainKey("pinned");

    pinned.add("hot");
    assertThat(look(1)).isTrue();
    assertThat(policy.decided()).isEmpty();
  }

  @Test
  void aSingleSeriesIsSaidToBeStuckOnceAndDoesNotTakeAllQueues() {
    queues = 64;
    loads.put("single", 90_000.0);
    seriesOf.put("single", 1);
    others(300, 30_000);
    look(60);

    assertThat(policy.stuck("single")).isTrue();
    assertThat(queuesOf("single")).isEqualTo(8);
    assertThat(policy.takeNewlyStuck()).contains("single");
    assertThat(policy.takeNewlyStuck()).isEmpty();

    seriesOf.remove("single");
    look(60);
    assertThat(policy.stuck("single")).isFalse();
    assertThat(queuesOf("single")).isEqualTo(64);
  }

  @Test
  void aSingleSeriesIsSpreadAtRandomWhereThatIsAllowed() {
    policy = new HotspotPolicy(config(true));
    loads.put("single", 90_000.0);
    seriesOf.put("single", 1);
    others(100, 10_000);
    look(60);

    assertThat(policy.decided().get("single").random()).isTrue();
    assertThat(queuesOf("single")).isEqualTo(8);
    assertThat(maxToMean()).isLessThan(1.25);
  }

  @Test
  void aNewDeciderGoesOnWhereTheLastOneStopped() {
    loads.put("hot", 90_000.0);
    others(2_000, 30_000);
    look(20);
    HotspotPolicy next = new HotspotPolicy(config(false));
    next.adopt(policy.decided());
    policy = next;

    assertThat(look(100)).isFalse();
    loads.put("hot", 1_000.0);
    look(3 * SHRINK_AFTER);
    assertThat(policy.decided()).doesNotContainKey("hot");
  }

  @Test
  void manySeriesThatLieUnevenlyByChanceAreNotStuck() {
    policy = new HotspotPolicy(config(true));
    policy.adopt(Map.of("hot", new Decision(8, false, 500, 1)));
    look(20, 1.4, false);

    assertThat(policy.stuck("hot")).isFalse();
    assertThat(policy.decided().get("hot").random()).isFalse();

    look(2 * GROW_AFTER, 1.6, false);
    assertThat(policy.decided().get("hot").random()).isTrue();
  }

  @Test
  void theyAreWhereTheirServerDoesNotKeepUp() {
    policy.adopt(Map.of("hot", new Decision(8, false, 500, 1)));
    look(20, 1.4, true);

    assertThat(policy.stuck("hot")).isTrue();
    assertThat(policy.takeNewlyStuck()).containsExactly("hot");
    look(20, 1.4, true);
    assertThat(policy.takeNewlyStuck()).isEmpty();
  }

  @Test
  void aServerThatIsBehindForALookChangesNothing() {
    policy = new HotspotPolicy(config(true));
    policy.adopt(Map.of("hot", new Decision(8, false, 500, 1)));
    look(20, 1.4, false);
    look(GROW_AFTER - 1, 1.4, true);
    look(20, 1.4, false);

    assertThat(policy.decided().get("hot").random()).isFalse();
  }

  @Test
  void whoIsNoLongerOverloadedIsNotStuck() {
    policy.adopt(Map.of("hot", new Decision(8, false, 500, 1)));
    look(20, 2, false);
    assertThat(policy.takeNewlyStuck()).containsExactly("hot");
    look(GROW_AFTER - 1, 1, false);
    assertThat(policy.stuck("hot")).isTrue();
    look(1, 1, false);
    assertThat(policy.stuck("hot")).isFalse();
  }

  @Test
  void aQueueWithLittleToDoThatTheFleetFallsBehindWithIsOverloaded() {
    List<QueueId> ids = IntStream.range(0, queues).mapToObj(i -> new QueueId("a", i)).toList();
    Map<String, double[]> rates = Map.of("hot", new double[] {90, 90, 0, 0, 0, 0, 0, 0});
    List<QueueLag> lags = new ArrayList<>(new QueueLoads(ids, rates).lags());
    for (int i = 0; i < 2 * GROW_AFTER; i++) {
      policy.look(new QueueLoads(ids, rates, lags, Map.of()), pinned::contains, nowMillis++);
    }
    assertThat(policy.decided()).isEmpty();

    lags.set(1, new QueueLag(1_000, 10_000, 5, true));
    for (int i = 0; i < GROW_AFTER; i++) {
      policy.look(new QueueLoads(ids, rates, lags, Map.of()), pinned::contains, nowMillis++);
    }
    assertThat(queuesOf("hot")).isEqualTo(4);
  }

  /**
   * So many looks at an application on all queues, the first of which has a multiple of its mean.
   */
  private void look(int times, double heaviest, boolean behind) {
    List<QueueId> ids = IntStream.range(0, queues).mapToObj(i -> new QueueId("a", i)).toList();
    double[] rates = new double[queues];
    Arrays.fill(rates, 10_000 * (queues - heaviest) / (queues - 1));
    rates[0] = 10_000 * heaviest;
    List<QueueLag> lags = new ArrayList<>(new QueueLoads(ids, Map.of()).lags());
    lags.set(0, new QueueLag(1_000, 10_000, 5, behind));
    for (int i = 0; i < times; i++) {
      policy.look(
          new QueueLoads(ids, Map.of("hot", rates), lags, Map.of()), pinned::contains, nowMillis++);
    }
  }

  @Property(tries = 60)
  void whateverTheLoadItSettlesAndNoiseMovesNothing(
      @ForAll Random random,
      @ForAll @IntRange(min = 1, max = 24) int queues,
      @ForAll @IntRange(min = 1, max = 300) int applications,
      @ForAll @DoubleRange(min = 0.3, max = 2.5) double skew) {
    begin(queues);
    for (int i = 0; i < applications; i++) {
      loads.put("application-" + i, 1e6 / Math.pow(i + 1, skew));
    }
    Map<String, Decision> before = policy.decided();
    int decisions = 0;
    for (int look = 0; look < 400; look++) {
      if (lookOnce(load -> load * (0.85 + 0.3 * random.nextDouble()))) {
        decisions++;
      }
      for (Map.Entry<String, Decision> now : policy.decided().entrySet()) {
        Decision was = before.get(now.getKey());
        int wasQueues = Math.min(queues, was == null ? 2 : was.queues());
        assertThat(now.getValue().queues()).isBetween(wasQueues, queues);
        assertThat(now.getValue().queues() <= 2 * wasQueues || now.getValue().queues() == queues)
            .isTrue();
      }
      assertThat(policy.decided().keySet()).containsAll(before.keySet());
      before = policy.decided();
    }
    // Each application can double its queues five times until it has 24 of them.
    assertThat(decisions).isLessThanOrEqualTo(5 * applications);
    look(400);
    assertThat(look(100)).isFalse();
  }

  @Property(tries = 60)
  void loadsThatCanBeSpreadAre(
      @ForAll @IntRange(min = 2, max = 24) int queues,
      @ForAll @IntRange(min = 1, max = 200) int applications,
      @ForAll @DoubleRange(min = 0.3, max = 2.5) double skew) {
    begin(queues);
    for (int i = 0; i < applications; i++) {
      loads.put("application-" + i, 1e6 / Math.pow(i + 1, skew));
    }
    look(400);

    // What is left may be too many applications to be worth moving: each below a twentieth.
    double[] totals = current(load -> load).totals();
    double mean = Arrays.stream(totals).average().orElseThrow();
    for (int queue = 0; queue < queues; queue++) {
      if (totals[queue] > 1.25 * mean) {
        for (Map.Entry<String, double[]> entry : current(load -> load).rates().entrySet()) {
          assertThat(
                  entry.getValue()[queue] < 0.05 * mean
                      || queuesOf(entry.getKey()) == queues
                      || policy.stuck(entry.getKey()))
              .as(entry.getKey())
              .isTrue();
        }
      }
    }
  }

  @Property(tries = 200)
  void anyLoadsAreTaken(@ForAll @IntRange(max = 5) int queues, @ForAll double[][] rates) {
    begin(queues);
    List<QueueId> ids = IntStream.range(0, queues).mapToObj(i -> new QueueId("a", i)).toList();
    Map<String, double[]> byName = new HashMap<>();
    for (int i = 0; i < rates.length; i++) {
      byName.put("a" + i, Arrays.stream(Arrays.copyOf(rates[i], queues)).map(Math::abs).toArray());
    }
    for (int i = 0; i < 20; i++) {
      policy.look(new QueueLoads(ids, byName), name -> false, i);
    }
    assertThat(policy.decided().values())
        .allSatisfy(decision -> assertThat(decision.queues()).isBetween(1, Math.max(2, queues)));
  }

  /** Tries share this object. */
  private void begin(int queues) {
    this.queues = queues;
    loads.clear();
    policy = new HotspotPolicy(config(false));
  }

  private void others(int count, double load) {
    for (int i = 0; i < count; i++) {
      loads.put("other-" + i, load / count);
    }
  }

  private int queuesOf(String application) {
    Decision decision = policy.decided().get(application);
    return decision == null ? Math.min(2, queues) : decision.queues();
  }

  /** Whether something was decided in one of so many looks. */
  private boolean look(int times) {
    boolean any = false;
    for (int i = 0; i < times; i++) {
      any |= lookOnce(load -> load);
    }
    return any;
  }

  private boolean lookOnce(Function<Double, Double> noise) {
    return policy.look(current(noise), pinned::contains, nowMillis++);
  }

  private double maxToMean() {
    double[] totals = current(load -> load).totals();
    return Arrays.stream(totals).max().orElseThrow() * queues / Arrays.stream(totals).sum();
  }

  /** The loads as agents would lay them out that follow at once. */
  private QueueLoads current(Function<Double, Double> noise) {
    List<QueueId> ids = IntStream.range(0, queues).mapToObj(i -> new QueueId("a", i)).toList();
    Map<String, double[]> rates = new HashMap<>();
    loads.forEach((application, load) -> {
      Decision decision = policy.decided().get(application);
      int k = Math.min(queues, decision == null ? 2 : decision.queues());
      int used =
          decision != null && decision.random()
              ? k
              : Math.min(k, seriesOf.getOrDefault(application, k));
      List<Integer> order = new ArrayList<>(IntStream.range(0, queues).boxed().toList());
      order.sort(Comparator.comparingLong(queue -> mixed(31L * application.hashCode() + queue)));
      double[] ofApplication = new double[queues];
      double noisy = noise.apply(load);
      for (int i = 0; i < used; i++) {
        ofApplication[order.get(i)] = noisy / used;
      }
      rates.put(application, ofApplication);
    });
    return new QueueLoads(ids, rates);
  }

  private static long mixed(long number) {
    long h = number * 0x9e3779b97f4a7c15L;
    h = (h ^ (h >>> 33)) * 0xff51afd7ed558ccdL;
    return h ^ (h >>> 33);
  }
}
