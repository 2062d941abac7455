package org.traceetl.server.features.completeness;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.traceetl.server.features.completeness.Completeness.View;
import org.traceetl.server.queues.QueueWatch;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.RowlessWindow;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowCompleteness.Agent;

class CompletenessTest {
  private static final QueueId A = new QueueId("a", 0);
  private static final QueueId B = new QueueId("b", 3);
  private static final long START = 1_790_000_000_000L;
  private static final Agent WEB = new Agent(false, 1, 2, "web-1");
  private static final Agent GONE = new Agent(true, 3, 4, "");

  private long nowMillis = START;
  private boolean upToDate = true;
  private QueueWatch.Seen seen = new QueueWatch.Seen(Map.of(), Map.of(), Set.of());
  private final Completeness completeness =
      new Completeness(() -> upToDate, () -> seen, () -> Instant.ofEpochMilli(nowMillis));

  /** Receives a window that was sealed now, with a span of each application. */
  private void window(QueueId queue, WindowCompleteness its, String... applications) {
    windowTo(queue, 1, its, applications);
  }

  private void windowTo(QueueId queue, long to, WindowCompleteness its, String... applications) {
    completeness.window(
        new RowlessWindow(queue, 0, to, nowMillis - 15_000, nowMillis)
            .books(
                List.of(applications).stream()
                    .map(name -> new Books(name, 1, 1, 0, 0, 0, Map.of(), 0))
                    .toList())
            .completeness(its)
            .seal());
  }

  private static WindowCompleteness until(long millis, int agents, Agent... named) {
    return new WindowCompleteness(START + millis, START, List.of(named), agents);
  }

  private Map<String, Double> seconds() {
    return completeness.seconds();
  }

  private static double at(long millis) {
    return (START + millis) / 1e3;
  }

  @Test
  void anApplicationIsCompleteUntilTheEarliestTimeOfItsQueues() {
    window(A, until(-5_000, 3), "shop", "cart");
    window(B, until(-70_000, 2, WEB, GONE), "shop");

    assertThat(seconds()).isEqualTo(Map.of("shop", at(-70_000), "cart", at(-5_000)));
    assertThat(completeness.applications())
        .containsExactly(
            new View("shop", START - 70_000, 5, List.of(WEB, GONE)),
            new View("cart", START - 5_000, 3, List.of()));
    assertThat(completeness.queues())
        .containsExactly(
            new View("a/0", START - 5_000, 3, List.of()),
            new View("b/3", START - 70_000, 2, List.of(WEB, GONE)));
  }

  @Test
  void aQueueThatWaitsForNoAgentHoldsNoApplicationBack() {
    window(A, until(-5_000, 3), "shop");
    window(B, until(-70_000, 0), "shop", "cart");

    assertThat(seconds()).isEqualTo(Map.of("shop", at(-5_000), "cart", at(-5_000)));
  }

  @Test
  void anApplicationWithAQueueThatSaysNothingIsUnknown() {
    window(A, until(-5_000, 3), "shop", "cart");
    window(B, WindowCompleteness.NONE, "shop");

    assertThat(seconds()).isEqualTo(Map.of("cart", at(-5_000)));
    assertThat(completeness.applications().getLast())
        .isEqualTo(new View("shop", null, 3, List.of()));
  }

  @Test
  void theTimeDoesNotGoDownIfANewOwnerKnowsLess() {
    window(A, until(-5_000, 3), "shop");
    window(A, WindowCompleteness.NONE);
    assertThat(seconds()).isEmpty();
    window(A, until(-9_000, 3, WEB));

    assertThat(seconds()).isEqualTo(Map.of("shop", at(-5_000)));
    assertThat(completeness.queues())
        .containsExactly(new View("a/0", START - 5_000, 3, List.of(WEB)));
  }

  /** The server looks at the brokers. */
  private void look(Map<QueueId, Long> ends, QueueId... silent) {
    seen = new QueueWatch.Seen(ends, Map.of(), Set.of(silent));
    completeness.applications();
  }

  @Test
  void unreadMessagesOfAQueueWithoutWindowsHoldAllApplicationsBack() {
    look(Map.of(A, 0L, B, 7L));
    window(A, until(-50_000, 3), "shop");
    look(Map.of(A, 1L, B, 7L));
    window(A, until(-35_000, 3), "shop");
    look(Map.of(A, 1L, B, 7L));
    window(A, until(-20_000, 3), "shop");
    assertThat(seconds()).isEqualTo(Map.of("shop", at(-20_000)));

    look(Map.of(A, 1L, B, 9L));
    window(A, until(-5_000, 3), "shop");
    assertThat(seconds()).isEqualTo(Map.of("shop", at(-50_000)));

    windowTo(B, 8, until(-40_000, 1), "cart");
    look(Map.of(A, 1L, B, 12L));
    assertThat(seconds()).isEqualTo(Map.of("shop", at(-50_000), "cart", at(-50_000)));

    windowTo(B, 9, until(-30_000, 1), "cart");
    look(Map.of(A, 1L, B, 12L));
    assertThat(seconds()).isEqualTo(Map.of("shop", at(-5_000), "cart", at(-30_000)));
  }

  @Test
  void aQueueThatLosesItsUnreadMessagesHoldsNothingBack() {
    look(Map.of(B, 7L));
    window(A, until(-20_000, 3), "shop");
    look(Map.of(B, 9L));
    assertThat(seconds()).isEmpty();
    look(Map.of(B, 7L));
    assertThat(seconds()).hasSize(1);
    look(Map.of(B, 8L));
    window(A, until(-5_000, 3), "shop");
    assertThat(seconds()).isEqualTo(Map.of("shop", at(-20_000)));
    // The queue is not listed any more.
    look(Map.of());
    assertThat(seconds()).isEqualTo(Map.of("shop", at(-5_000)));
  }

  @Test
  void aQueueWithoutWindowsWhoseBrokerDoesNotAnswerHoldsAllApplicationsBack() {
    look(Map.of(A, 0L, B, 7L));
    window(A, until(-20_000, 3), "shop");
    look(Map.of(A, 1L), B);
    assertThat(seconds()).isEmpty();
    look(Map.of(A, 1L, B, 7L));
    assertThat(seconds()).hasSize(1);
    look(Map.of(B, 7L), A);
    assertThat(seconds()).hasSize(1);
  }

  @Test
  void spansWithoutOutcomeDoNotCount() {
    completeness.window(
        new RowlessWindow(A, 0, 1, START - 15_000, START)
            .books(List.of(new Books("shop", 3, 0, 0, 1, 1, Map.of("malformed", 1L), 0)))
            .completeness(until(-5_000, 3))
            .seal());

    assertThat(completeness.applications()).isEmpty();
  }

  @Test
  void queuesCountForAnHourAfterTheirLastSpan() {
    window(A, until(-5_000, 3), "shop");
    nowMillis += 3_600_000;
    window(B, until(-1_000, 1), "shop");
    assertThat(seconds()).isEqualTo(Map.of("shop", at(-5_000)));

    nowMillis += 60_000;
    assertThat(seconds()).isEqualTo(Map.of("shop", at(-1_000)));
    assertThat(completeness.queues()).hasSize(1);
  }

  @Test
  void timesAreExposedOnceTheNewestWindowsAreRead() {
    window(A, until(-5_000, 3), "shop");
    upToDate = false;
    assertThat(seconds()).isEmpty();
    upToDate = true;
    assertThat(seconds()).hasSize(1);
  }

  @Test
  void applicationsAreBounded() {
    window(
        A,
        until(0, 1),
        IntStream.range(0, Completeness.MAX_APPLICATIONS + 1)
            .mapToObj(i -> "shop " + i)
            .toArray(String[]::new));
    window(B, until(-5_000, 1), "shop 7");

    assertThat(completeness.applications()).hasSize(Completeness.MAX_APPLICATIONS);
    assertThat(completeness.applications().getFirst().name()).isEqualTo("shop 7");
  }
}
