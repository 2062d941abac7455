package org.traceetl.server.features.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.time.Instant;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.traceetl.server.edge.EdgeMeasure;
import org.traceetl.server.features.graph.GrowthResource.Callees;
import org.traceetl.server.features.graph.GrowthResource.Grown;
import org.traceetl.server.features.graph.GrowthResource.Sort;
import org.traceetl.server.http.Access;
import org.traceetl.server.http.ParameterRefused;
import org.traceetl.server.window.QueueId;

/** Which callees grew: 5 minutes against the 20 before. */
final class GrowthTest {
  private static final long MINUTE = 60_000;
  private static final long NOW = 1_795_219_200_000L;
  private static final long[] BOUNDS_NANOS = {10_000_000, 100_000_000};

  private final ServiceGraph graph =
      new ServiceGraph(
          100, BOUNDS_NANOS, 1, () -> Instant.ofEpochMilli(NOW), new SplittableRandom(1));
  private final EdgeQueue queue = new EdgeQueue(new QueueId("a", 0), 1, BOUNDS_NANOS.length + 1);

  /** Adds windows of some minutes before now, each with the same requests. */
  private void minutes(int from, int to, Runnable requests) {
    for (int minute = from; minute > to; minute--) {
      requests.run();
      graph.window(queue.seal(NOW - minute * MINUTE));
    }
  }

  private Callees ask(Sort sort) {
    return new GrowthResource(new ServicesResource(graph))
        .growth("shop", Long.toString(NOW - 5 * MINUTE), Long.toString(NOW), sort, 10, Access.ALL);
  }

  private static List<String> servers(Callees callees) {
    return callees.callees().stream().map(Grown::server).toList();
  }

  /** Requests of a minute; {@code slow} ones of a database are in its last bucket. */
  private void requests(long load, long toPay, long failed, long slow) {
    queue.ofUser("shop", load).call("shop", "pay", toPay, failed).call("shop", "mail", load, 0);
    queue
        .count("shop", "db", "database", EdgeMeasure.REQUESTS, load)
        .count("shop", "db", "database", EdgeMeasure.CLIENT, load - slow, 0, slow);
    queue.call("other", "pay", 7 * load, load);
  }

  @Test
  void calleesAreRankedByWhatGrew() {
    minutes(25, 5, () -> requests(60, 60, 0, 0));
    minutes(5, 0, () -> requests(120, 600, 300, 60));

    Callees byCalls = ask(Sort.CALLS);

    assertThat(byCalls.from()).isEqualTo(Instant.ofEpochMilli(NOW - 5 * MINUTE));
    assertThat(byCalls.baselineFrom()).isEqualTo(Instant.ofEpochMilli(NOW - 25 * MINUTE));
    assertThat(byCalls.load()).isCloseTo(2, within(0.1));
    // The load doubled, so twice as many calls of mail and the database are expected.
    assertThat(servers(byCalls).getFirst()).isEqualTo("pay");
    Grown pay = byCalls.callees().getFirst();
    assertThat(pay.callsPerSecond()).isEqualTo(10);
    assertThat(pay.moreCallsPerSecond()).isCloseTo(8, within(0.1));
    assertThat(pay.baselineErrorRatio()).isZero();
    assertThat(servers(ask(Sort.ERRORS))).containsExactly("pay");
    assertThat(ask(Sort.ERRORS).callees().getFirst().moreErrorsPerSecond()).isEqualTo(5);
    assertThat(servers(ask(null))).containsExactly("db");
    // Two calls a second, of which half now take at least 100 ms instead of about 5.
    assertThat(ask(null).callees().getFirst().moreMillisPerSecond()).isEqualTo(2 * 0.5 * 95);
  }

  @Test
  void aNewCalleeGrewByAllOfIt() {
    minutes(25, 5, () -> queue.call("shop", "pay", 60, 30));
    minutes(5, 0, () -> queue.call("shop", "pay", 60, 30).call("shop", "new", 60, 60));

    for (Sort sort : Sort.values()) {
      assertThat(servers(ask(sort)).getFirst()).as(sort.name()).isEqualTo("new");
    }
    assertThat(ask(Sort.ERRORS).callees()).hasSize(1);
    assertThat(ask(null).callees().getFirst().moreMillisPerSecond()).isEqualTo(55);
    assertThat(ask(null).callees().getFirst().baselineClientMs()).isNull();
  }

  @Test
  void withoutEarlierMinutesNothingGrew() {
    minutes(3, 0, () -> queue.call("shop", "pay", 60, 30));

    Callees answer = ask(null);

    assertThat(answer.callees()).isEmpty();
    assertThat(answer.baselineFrom()).isEqualTo(answer.from());
  }

  @Test
  void onlyCompleteMinutesOfTheLastHourCount() {
    minutes(25, 0, () -> queue.call("shop", "pay", 60, 0));

    Callees answer =
        new GrowthResource(new ServicesResource(graph))
            .growth(
                "shop",
                Long.toString(NOW - 5 * MINUTE - 1),
                Long.toString(NOW + 9 * MINUTE),
                null,
                10,
                Access.ALL);

    assertThat(answer.from()).isEqualTo(Instant.ofEpochMilli(NOW - 5 * MINUTE));
    assertThat(answer.to()).isEqualTo(Instant.ofEpochMilli(NOW));
    assertThatThrownBy(() ->
            new GrowthResource(new ServicesResource(graph))
                .growth("shop", "2", "1", null, 10, Access.ALL))
        .isInstanceOf(ParameterRefused.class)
        .hasMessage("from = 2: must be before to = 1970-01-01T00:00:00.001Z");
  }
}
