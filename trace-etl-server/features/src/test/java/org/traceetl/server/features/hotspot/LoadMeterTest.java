package org.traceetl.server.features.hotspot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.traceetl.server.features.hotspot.LoadMeter.End;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

final class LoadMeterTest {
  private static final QueueId A = new QueueId("a", 0);
  private static final QueueId B = new QueueId("a", 1);
  private static final Set<QueueId> BOTH = Set.of(B, A);
  private static final long LOOK_SECONDS = 30;

  private final LoadMeter meter = new LoadMeter();
  private final Map<QueueId, Long> ends = new HashMap<>();
  private final Map<QueueId, Long> taken = new HashMap<>();
  private long nowSeconds = 1_000;

  @Test
  void ratesAreSpansByTheTimeThatTheWindowsCover() {
    add(A, "shop", 300, 15_000);
    add(A, "shop", 300, 15_000);
    add(B, "shop", 50, 5_000);
    add(B, "cart", 100, 5_000);

    QueueLoads loads = take(BOTH);

    assertThat(loads.queues()).containsExactly(A, B);
    assertThat(loads.rates()).containsOnlyKeys("shop", "cart");
    assertThat(loads.rates().get("shop")).containsExactly(20, 5);
    assertThat(loads.rates().get("cart")).containsExactly(0, 10);
    assertThat(loads.totals()).containsExactly(20, 15);
    assertThat(loads.lags()).extracting(QueueLag::messages).containsOnly(-1L);
    assertThat(loads.lags()).extracting(QueueLag::recorded).containsExactly(20.0, 15.0);
  }

  @Test
  void whatIsTakenBeginsAnew() {
    add(A, "shop", 300, 15_000);
    add(B, "shop", 300, 15_000);
    take(BOTH);
    add(A, "shop", 150, 15_000);
    add(B, "cart", 150, 15_000);

    assertThat(take(BOTH).rates().get("shop")).containsExactly(10, 0);
  }

  @Test
  void aQueueThatFallsSilentMakesTwoTakesVoid() {
    add(A, "shop", 300, 15_000);
    add(B, "shop", 300, 15_000);
    assertThat(take(BOTH)).isNotNull();
    for (int silent = 0; silent < 2; silent++) {
      add(A, "shop", 300, 15_000);
      assertThat(take(BOTH)).isNull();
    }
    add(A, "shop", 300, 15_000);
    assertThat(take(BOTH).totals()).containsExactly(20, 0);
  }

  @Test
  void aSparseQueueThatFallsSilentMakesNoTakeVoid() {
    add(A, "shop", 30_000, 15_000);
    add(B, "rare", 700, 15_000);
    assertThat(take(BOTH)).isNotNull();
    add(A, "shop", 30_000, 15_000);
    assertThat(take(BOTH).totals()[1]).isLessThan(50);
    add(A, "shop", 30_000, 15_000);
    add(B, "rare", 800, 15_000); // more than a twentieth of the mean
    assertThat(take(BOTH)).isNotNull();
    add(A, "shop", 30_000, 15_000);
    assertThat(take(BOTH)).isNull();
  }

  @Test
  void queuesThatAreGoneDoNotCount() {
    add(B, "shop", 300, 15_000);

    assertThat(take(Set.of(A)).rates()).isEmpty();
  }

  @Test
  void applicationsWithoutRoomCountForTheirQueue() {
    for (int i = 0; i < 20_010; i++) {
      add(A, "application-" + i, 1, 1);
    }

    QueueLoads loads = take(Set.of(A));
    assertThat(loads.rates()).hasSize(20_001);
    assertThat(loads.rates().get("")).hasSize(1);
    assertThat(loads.totals()[0]).isBetween(999.9, 1_000.1);
  }

  @Test
  void whatArrivesCountsWhereLessIsTakenIn() {
    arrive(A, 100);
    take(A, 100, Map.of("shop", 6_000L, "cart", 3_000L));
    look();
    arrive(A, 400);
    take(A, 100, Map.of("shop", 6_000L, "cart", 3_000L));
    QueueLoads loads = look();

    assertThat(loads.rates().get("shop")).containsExactly(800, 0);
    assertThat(loads.rates().get("cart")).containsExactly(400, 0);
    assertThat(loads.lags().getFirst()).isEqualTo(new QueueLag(300, 27_000, 300, false));
    assertThat(loads.waiting())
        .containsOnly(Map.entry("shop", 18_000.0), Map.entry("cart", 9_000.0));
    assertThat(loads.lags().get(1).messages()).isEqualTo(-1);
  }

  @Test
  void aQueueFallsBehindWhileWhatWaitsRises() {
    List<Boolean> growing = new ArrayList<>();
    for (long taken : new long[] {100, 10, 10, 10, 10, 200, 90, 10}) {
      arrive(A, 100);
      take(A, taken, Map.of("shop", taken));
      growing.add(look().lags().getFirst().growing());
    }

    // Of 100 that arrive in a look, 90, 180, 270, 360, then 260, 270 and 360 wait.
    assertThat(growing).containsExactly(false, false, false, true, true, false, true, true);
  }

  @Test
  void aBacklogThatIsWorkedOffIsNoLoad() {
    for (long taken : new long[] {100, 100, 0, 0, 0, 100, 200, 200, 200, 100}) {
      arrive(A, 100);
      if (taken > 0) {
        take(A, taken, Map.of("shop", 30 * taken));
      }
      QueueLoads loads = look();
      if (loads != null && nowSeconds > 1_000 + LOOK_SECONDS) {
        assertThat(loads.totals()[0]).isEqualTo(100);
      }
    }
  }

  @Test
  void aQueueThatNobodyReadsCountsByWhatItHadBefore() {
    arrive(A, 100);
    take(A, 100, Map.of("shop", 3_000L));
    assertThat(look()).isNotNull();
    arrive(A, 100);
    assertThat(look()).isNull();
    arrive(A, 100);
    assertThat(look()).isNull();
    arrive(A, 300);

    QueueLoads loads = look();
    assertThat(loads.rates().get("shop")).containsExactly(300, 0);
    assertThat(loads.lags().getFirst()).isEqualTo(new QueueLag(500, 15_000, 0, false));
    arrive(A, 300);
    assertThat(look().lags().getFirst().growing()).isTrue();
  }

  @Test
  void aQueueOnWhichNothingArrivesIsNotWaitedFor() {
    arrive(A, 100);
    take(A, 100, Map.of("shop", 3_000L));
    look();

    assertThat(look().totals()).containsExactly(0, 0);
    arrive(A, 100);
    take(A, 100, Map.of("shop", 3_000L));
    assertThat(look().totals()).containsExactly(100, 0);
  }

  @Test
  void tooLittleThatIsTakenInIsNoSampleOfWhatArrives() {
    arrive(A, 100);
    take(A, 100, Map.of("shop", 3_000L));
    look();
    arrive(A, 100);
    take(A, 1, Map.of("odd", 10_000L));
    assertThat(look().rates()).containsOnlyKeys("shop");
  }

  @Test
  void withoutASampleNotMoreIsMadeOfAFewThanTheirMultiple() {
    arrive(A, 1);
    take(A, 0, Map.of());
    look();
    arrive(A, 30_000);
    take(A, 1, Map.of("odd", 30L));

    assertThat(look().totals()).containsExactly(16, 0);
  }

  @Test
  void endsThatAreNotKnownOrOfAnotherTopicLeaveWhatIsInTheWindows() {
    arrive(A, 100);
    take(A, 100, Map.of("shop", 3_000L));
    look();
    ends.clear();
    take(A, 50, Map.of("shop", 1_500L));
    QueueLoads unknown = look();
    assertThat(unknown.totals()).containsExactly(50, 0);
    assertThat(unknown.lags().getFirst().messages()).isEqualTo(-1);

    ends.put(A, 10L); // made anew
    taken.put(A, 0L);
    add(A, 5, 10, "shop", 300);
    assertThat(look().totals()).containsExactly(10, 0);
    meter.add(window(A, Map.of("shop", 300L), 150, 0, 30_000));
    arrive(A, 1_000);
    QueueLoads anew = look();
    assertThat(anew.totals()).containsExactly(10, 0);
    assertThat(anew.lags().getFirst()).isEqualTo(new QueueLag(1_010, 1_010 * 60, 10, false));
  }

  /**
   * Servers of any speed, that stop, are killed and work off what has come meanwhile: wherever a
   * look counts, the loads are what arrives.
   */
  @Property(tries = 200)
  void theLoadIsWhatArrivesWhateverServersDo(@ForAll long seed) {
    Random random = new Random(seed);
    LoadMeter meter = new LoadMeter();
    List<SimulatedQueue> simulated = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      simulated.add(new SimulatedQueue(new QueueId("a", i), random));
    }
    List<QueueId> ids = simulated.stream().map(queue -> queue.id).toList();
    int looks = 0;
    for (int second = 0; second < 3_600; second++) {
      for (SimulatedQueue queue : simulated) {
        queue.second(second, meter);
      }
      if (second % LOOK_SECONDS == 17) {
        long nanos = TimeUnit.SECONDS.toNanos(second);
        Map<QueueId, End> ends = new HashMap<>();
        simulated.forEach(queue -> ends.put(queue.id, new End(queue.end, nanos)));
        QueueLoads loads = meter.take(ids, ends);
        // At first the windows tell of the queue's rate, at their own pace.
        if (loads != null && second > 10 * LOOK_SECONDS) {
          looks++;
          for (int i = 0; i < simulated.size(); i++) {
            simulated.get(i).check(loads, i);
          }
        }
      }
    }
    assertThat(looks).isPositive();
  }

  /** On which messages of two applications arrive, always in the same order. */
  private static final class SimulatedQueue {
    private static final int SHOP_SPANS = 20;
    private static final int CART_SPANS = 60;

    private final QueueId id;
    private final Random random;
    private final int perSecond;
    private final int shops;
    private final int carts;
    private long end;
    private long read;
    private long sealed;
    private int capacity;
    private int idleUntil;
    private int openedAt = -1;

    SimulatedQueue(QueueId id, Random random) {
      this.id = id;
      this.random = random;
      perSecond = random.nextInt(60, 300);
      shops = random.nextInt(1, 4);
      carts = random.nextInt(1, 4);
      capacity = 2 * perSecond;
    }

    void second(int second, LoadMeter meter) {
      end += perSecond;
      if (second > 300 && random.nextInt(120) == 0) {
        // Killed, or the queue has another owner: what is in no window is read again.
        read = sealed;
        openedAt = -1;
        idleUntil = second + random.nextInt(150);
      }
      if (second > 300 && random.nextInt(120) == 0) {
        capacity = random.nextInt(perSecond / 8, 4 * perSecond);
      }
      if (second < idleUntil) {
        return;
      }
      openedAt = openedAt < 0 ? second : openedAt;
      read = Math.min(end, read + capacity);
      if (second - openedAt >= 14) {
        Map<String, Long> spans = new HashMap<>();
        for (long message = sealed; message < read; message++) {
          boolean shop = message % (shops + carts) < shops;
          spans.merge(shop ? "shop" : "cart", shop ? (long) SHOP_SPANS : CART_SPANS, Long::sum);
        }
        meter.add(window(id, spans, sealed, read, 1_000L * (second + 1 - openedAt)));
        sealed = read;
        openedAt = second + 1;
      }
    }

    void check(QueueLoads loads, int queue) {
      double ofShop = (double) perSecond * shops / (shops + carts) * SHOP_SPANS;
      double ofCart = (double) perSecond * carts / (shops + carts) * CART_SPANS;
      assertThat(loads.rates().get("shop")[queue]).isCloseTo(ofShop, within(0.1 * ofShop));
      assertThat(loads.rates().get("cart")[queue]).isCloseTo(ofCart, within(0.1 * ofCart));
      assertThat(loads.lags().get(queue).messages()).isEqualTo(end - sealed);
    }
  }

  private void add(QueueId queue, String application, long spans, long millis) {
    meter.add(window(queue, Map.of(application, spans), 0, 1, millis));
  }

  private void add(QueueId queue, long from, long to, String application, long spans) {
    meter.add(window(queue, Map.of(application, spans), from, to, 30_000));
  }

  private void arrive(QueueId queue, long messages) {
    ends.merge(queue, messages, Long::sum);
  }

  private void take(QueueId queue, long messages, Map<String, Long> spans) {
    long to = taken.merge(queue, messages, Long::sum);
    meter.add(window(queue, spans, to - messages, to, 30_000));
  }

  private QueueLoads look() {
    nowSeconds += LOOK_SECONDS;
    Map<QueueId, End> asked = new HashMap<>();
    ends.forEach((queue, end) -> asked.put(queue, new End(end, nanos())));
    return meter.take(BOTH, asked);
  }

  private QueueLoads take(Set<QueueId> present) {
    return meter.take(present, Map.of());
  }

  private long nanos() {
    return TimeUnit.SECONDS.toNanos(nowSeconds);
  }

  private static SealedWindow window(
      QueueId queue, Map<String, Long> spans, long from, long to, long millis) {
    List<Books> books = new ArrayList<>();
    spans.forEach(
        (name, received) -> books.add(new Books(name, received, 0, 0, 0, 0, Map.of(), 0)));
    return HotspotDeciderTest.window(queue, books, from, to, 1_000, 1_000 + millis);
  }
}
