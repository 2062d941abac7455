package org.traceetl.server.hotspot;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.traceetl.server.window.QueueId;

final class LoadMeterTest {
  private static final QueueId A = new QueueId("a", 0);
  private static final QueueId B = new QueueId("a", 1);
  private static final Set<QueueId> BOTH = Set.of(B, A);

  private final LoadMeter meter = new LoadMeter();

  @Test
  void ratesAreSpansByTheTimeThatTheWindowsCover() {
    add(A, "shop", 300, 15_000);
    add(A, "shop", 300, 15_000);
    add(B, "shop", 50, 5_000);
    add(B, "cart", 100, 5_000);

    QueueLoads loads = meter.take(BOTH);

    assertThat(loads.queues()).containsExactly(A, B);
    assertThat(loads.rates()).containsOnlyKeys("shop", "cart");
    assertThat(loads.rates().get("shop")).containsExactly(20, 5);
    assertThat(loads.rates().get("cart")).containsExactly(0, 10);
    assertThat(loads.totals()).containsExactly(20, 15);
  }

  @Test
  void whatIsTakenBeginsAnew() {
    add(A, "shop", 300, 15_000);
    add(B, "shop", 300, 15_000);
    meter.take(BOTH);
    add(A, "shop", 150, 15_000);
    add(B, "cart", 150, 15_000);

    assertThat(meter.take(BOTH).rates().get("shop")).containsExactly(10, 0);
  }

  @Test
  void aQueueThatFallsSilentMakesTwoTakesVoid() {
    add(A, "shop", 300, 15_000);
    add(B, "shop", 300, 15_000);
    assertThat(meter.take(BOTH)).isNotNull();
    for (int silent = 0; silent < 2; silent++) {
      add(A, "shop", 300, 15_000);
      assertThat(meter.take(BOTH)).isNull();
    }
    add(A, "shop", 300, 15_000);
    assertThat(meter.take(BOTH).totals()).containsExactly(20, 0);
  }

  @Test
  void aSparseQueueThatFallsSilentMakesNoTakeVoid() {
    add(A, "shop", 30_000, 15_000);
    add(B, "rare", 700, 15_000);
    assertThat(meter.take(BOTH)).isNotNull();
    add(A, "shop", 30_000, 15_000);
    assertThat(meter.take(BOTH).totals()).containsExactly(2_000, 0);
    add(A, "shop", 30_000, 15_000);
    add(B, "rare", 800, 15_000); // more than a twentieth of the mean
    assertThat(meter.take(BOTH)).isNotNull();
    add(A, "shop", 30_000, 15_000);
    assertThat(meter.take(BOTH)).isNull();
  }

  @Test
  void queuesThatAreGoneDoNotCount() {
    add(B, "shop", 300, 15_000);

    assertThat(meter.take(Set.of(A)).rates()).isEmpty();
  }

  @Test
  void applicationsWithoutRoomCountForTheirQueue() {
    for (int i = 0; i < 20_010; i++) {
      add(A, "application-" + i, 1, 1);
    }

    QueueLoads loads = meter.take(Set.of(A));
    assertThat(loads.rates()).hasSize(20_001);
    assertThat(loads.rates().get("")).hasSize(1);
    assertThat(loads.totals()[0]).isBetween(999.9, 1_000.1);
  }

  private void add(QueueId queue, String application, long spans, long millis) {
    meter.add(HotspotDeciderTest.window(queue, application, spans, 1_000, 1_000 + millis));
  }
}
