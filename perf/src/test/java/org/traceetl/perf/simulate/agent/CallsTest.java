package org.traceetl.perf.simulate.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.traceetl.perf.simulate.check.HalfEdge;

final class CallsTest {
  private static final int REQUESTS = 1_000;

  private final SplittableRandom random = new SplittableRandom(3);
  private final Calls calls = new Calls(random.split(), random.split(), true);
  private int most;
  private final List<HalfEdge> immediate = new ArrayList<>();

  /** Halves that wait, by key. */
  private final Map<Long, List<HalfEdge>> waiting = new HashMap<>();

  CallsTest() {
    List<Traffic> applications =
        List.of(
            new Traffic("cart", true, false, false, calls, random.split()),
            new Traffic("shop", true, false, false, calls, random.split()));
    for (int i = 0; i < REQUESTS; i++) {
      long unixMillis = TimeUnit.SECONDS.toMillis(i);
      applications.get(i % 2).next(10, unixMillis).spans().stream()
          .map(SentSpan::halves)
          .peek(halves -> most = Math.max(most, halves.size()))
          .flatMap(List::stream)
          .forEach(half -> {
            if (half.waits()) {
              waiting.computeIfAbsent(half.key(), key -> new ArrayList<>()).add(half);
            } else {
              immediate.add(half);
            }
          });
    }
  }

  private long calls(int callers, int servers, int consumers) {
    return waiting.values().stream()
        .filter(halves ->
            count(halves, HalfEdge.CLIENT) + count(halves, HalfEdge.PRODUCER) == callers
                && count(halves, HalfEdge.SERVER) == servers
                && count(halves, HalfEdge.CONSUMER) == consumers)
        .count();
  }

  private static long count(List<HalfEdge> halves, int side) {
    return halves.stream().filter(half -> half.side() == side).count();
  }

  @Test
  void spansHaveEachKindOfCall() {
    assertThat(calls(1, 1, 0)).as("calls").isGreaterThan(300);
    assertThat(calls(1, 0, 1)).as("messages with one receiver").isGreaterThan(300);
    assertThat(calls(1, 0, 2)).as("messages with two receivers").isPositive();
    assertThat(calls(1, 0, 3)).as("messages with three receivers").isPositive();
    assertThat(calls(1, 0, 0)).as("without a callee").isPositive();
    assertThat(calls(0, 1, 0)).as("calls without a caller").isPositive();
    assertThat(calls(0, 0, 1)).as("messages without a producer").isPositive();
    assertThat(calls(1, 2, 0)).as("calls answered twice").isPositive();
    assertThat(immediate)
        .extracting(HalfEdge::side)
        .contains(HalfEdge.CLIENT, HalfEdge.SERVER, HalfEdge.CONSUMER);
  }

  @Test
  void someConsumersHaveSeveralLinks() {
    assertThat(most).isEqualTo(3);
  }

  @Test
  void endsHaveValues() {
    assertThat(immediate).extracting(HalfEdge::values).contains("/shop", "eu/shop", "us/cart");
  }

  @Test
  void someEndsNameTheirPeer() {
    assertThat(waiting.values())
        .flatExtracting(halves -> halves)
        .extracting(HalfEdge::peer)
        .contains("", "gateway", "billing", "orders");
    assertThat(immediate).extracting(HalfEdge::peer).contains("", "orders", "redis");
  }
}
