package org.traceetl.agent.route;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.agent.route.TestTopology.topology;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.NotEmpty;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.config.RoutingRules.Rule;
import org.traceetl.agent.config.RoutingRules.Spread;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.proto.HotspotDecisions;
import org.traceetl.proto.HotspotDecisions.Decision;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.NameRule;
import org.traceetl.proto.NameRules;

final class RouterTest {
  private final Router router = new Router(RoutingRules.defaults());

  @Property(tries = 200)
  void spansMoveOnlyToTheAddedQueue(
      @ForAll @NotEmpty String application,
      @ForAll @IntRange(min = 1, max = 40) int queues,
      @ForAll @IntRange(min = 1, max = 5) int candidates) {
    Router routerOfK = ruled(candidates, Map.of());
    Topology before = topology(queues);
    Topology after = topology(queues + 1);
    BrokerQueue added = after.queues().getLast();

    Route old = route(routerOfK, application, before);
    Route now = route(routerOfK, application, after);

    Set<BrokerQueue> joined = candidates(now);
    joined.removeAll(candidates(old));
    assertThat(joined).isSubsetOf(added);
    for (int i = 0; i < 50; i++) {
      SpanView span = span("operation" + i, 2, 0);
      BrokerQueue was = old.queue(old.candidate(span, new SeriesHash()));
      BrokerQueue is = now.queue(now.candidate(span, new SeriesHash()));
      if (!is.equals(was) && candidates(now).contains(was)) {
        assertThat(is).isEqualTo(added);
      }
    }
  }

  @Property(tries = 200)
  void orderOfQueuesDoesNotMatter(@ForAll String application) {
    List<BrokerQueue> reversed = new ArrayList<>(topology(9).queues()).reversed();

    Route one = route(router, application, topology(9));
    Route other = route(router, application, new Topology(reversed));

    SpanView span = span("GET /", 2, 0);
    assertThat(one.queue(one.candidate(span, new SeriesHash())))
        .isEqualTo(other.queue(other.candidate(span, new SeriesHash())));
    assertThat(candidates(one)).isEqualTo(candidates(other));
  }

  @Test
  void seriesStaysOnOneQueue() {
    Route route = route(router, "checkout", topology(8));
    SpanView span = span("GET /", 2, 0);
    int candidate = route.candidate(span, new SeriesHash());
    span.spanId = 99;
    span.traceIdLow = 123;
    span.durationNanos = 5;

    assertThat(route.candidate(span, new SeriesHash())).isEqualTo(candidate);
  }

  @Test
  void applicationsAndSeriesAreBalanced() {
    Topology topology = topology(8);
    int[] applicationsOf = new int[8];
    int[] seriesOf = new int[8];
    for (int a = 0; a < 4_000; a++) {
      Route route = route(router, "application-" + a, topology);
      assertThat(candidates(route)).hasSize(2);
      for (BrokerQueue queue : candidates(route)) {
        applicationsOf[queue.id()]++;
      }
      for (int s = 0; s < 10; s++) {
        seriesOf[
            route.queue(route.candidate(span("operation" + s, 2, s % 3), new SeriesHash())).id()]++;
      }
    }
    // 1,000 applications and 5,000 series a queue; the bounds are five standard deviations.
    for (int queue = 0; queue < 8; queue++) {
      assertThat(applicationsOf[queue]).isBetween(860, 1_140);
      assertThat(seriesOf[queue]).isBetween(4_300, 5_700);
    }
  }

  @Test
  void ruleOfAnApplicationDeterminesItsQueues() {
    Router ruled = ruled(2, Map.of("hot", new Rule(4, Spread.RANDOM, true)));
    Topology topology = topology(8);
    Route hot = route(ruled, "hot", topology);

    assertThat(route(ruled, "other", topology).size()).isEqualTo(2);
    assertThat(hot.size()).isEqualTo(4);
    int[] spansOf = new int[4];
    for (int i = 0; i < 4_000; i++) {
      SpanView span = span("the one operation", 2, 0);
      span.spanId = 0x9e3779b97f4a7c15L * i;
      spansOf[hot.candidate(span, new SeriesHash())]++;
    }
    assertThat(IntStream.of(spansOf).boxed())
        .allSatisfy(spans -> assertThat(spans).isBetween(850, 1_150));
  }

  @Test
  void allQueuesAreCandidatesInASmallTopic() {
    assertThat(route(router, "checkout", topology(1)).size()).isEqualTo(1);
  }

  @Test
  void anExcludedApplicationHasNoRoute() {
    Router ruled =
        new Router(new RoutingRules(new Rule(2, Spread.SERIES, false), Map.of(), Set.of("load-*")));

    assertThat(route(ruled, "load-test", topology(8))).isNull();
    assertThat(route(ruled, "unload-test", topology(8))).isNotNull();
  }

  @Test
  void decisionsAddQueuesUnlessTheRulesPinThem() {
    RoutingRules rules =
        new RoutingRules(
            new Rule(3, Spread.SERIES, false),
            Map.of(
                "pinned", new Rule(2, Spread.SERIES, true),
                "spread", new Rule(3, Spread.RANDOM, false)),
            Set.of());
    Decision six = new Decision(6, false, 1, 1);
    Router decided =
        new Router(
            rules,
            new HotspotDecisions(
                1,
                1,
                Map.of(
                    "hot", six,
                    "pinned", six,
                    "spread", six,
                    "small", new Decision(1, false, 1, 1),
                    "single", new Decision(4, true, 1, 1))),
            LearntNames.NONE);
    Topology topology = topology(8);

    assertThat(route(decided, "hot", topology).size()).isEqualTo(6);
    assertThat(route(decided, "pinned", topology).size()).isEqualTo(2);
    assertThat(route(decided, "spread", topology).size()).isEqualTo(6);
    assertThat(route(decided, "small", topology).size()).isEqualTo(3);
    assertThat(route(decided, "other", topology).size()).isEqualTo(3);
    Route single = route(decided, "single", topology);
    Set<Integer> used = new HashSet<>();
    for (int i = 0; i < 200; i++) {
      SpanView span = span("the one operation", 2, 0);
      span.spanId = 0x9e3779b97f4a7c15L * i;
      used.add(single.candidate(span, new SeriesHash()));
    }
    assertThat(used).hasSize(4);
  }

  @Test
  void identifiersInNamesDoNotChangeTheQueue() {
    Route route = route(ruled(8, Map.of()), "shop", topology(8));
    SeriesHash seriesHash = new SeriesHash();
    int ofTemplate = route.candidate(span("GET /users/{id}", 2, 0), seriesHash);

    for (int user = 0; user < 5_000; user++) {
      assertThat(route.candidate(span("GET /users/" + user, 2, 0), seriesHash))
          .isEqualTo(ofTemplate);
    }
  }

  @Test
  void learntRuleJoinsASeriesOnOneQueue() {
    NameRules rules = new NameRules(List.of(new NameRule("/users/", 1, 500, 1)));
    Router learnt =
        new Router(
            new RoutingRules(new Rule(8, Spread.SERIES, false), Map.of(), Set.of()),
            HotspotDecisions.NONE,
            new LearntNames(1, 1, Map.of("shop", rules)));
    Route before = route(ruled(8, Map.of()), "shop", topology(8));
    Route after = route(learnt, "shop", topology(8));
    Route ofOther = route(learnt, "bank", topology(8));
    SeriesHash seriesHash = new SeriesHash();
    Set<Integer> used = new HashSet<>();
    for (int user = 0; user < 100; user++) {
      used.add(before.candidate(span(cartOf(user), 2, 0), seriesHash));
    }
    assertThat(used).hasSize(8);
    seriesHash.forget();
    int ofRule = after.candidate(span("/users/{*}/cart", 2, 0), new SeriesHash());
    used.clear();
    for (int user = 0; user < 100; user++) {
      assertThat(after.candidate(span(cartOf(user), 2, 0), seriesHash)).isEqualTo(ofRule);
      used.add(ofOther.candidate(span(cartOf(user), 2, 0), seriesHash));
    }
    assertThat(used).hasSize(8);
  }

  /** Returns a name without an identifier. */
  private static String cartOf(int user) {
    return "/users/" + (char) ('a' + user % 26) + (char) ('a' + user / 26) + "/cart";
  }

  @Property(tries = 200)
  void growingApplicationKeepsItsQueues(
      @ForAll @NotEmpty String application, @ForAll @IntRange(min = 1, max = 10) int k) {
    Topology topology = topology(20);
    Route before = route(ruled(k, Map.of()), application, topology);
    Route after = route(ruled(2 * k, Map.of()), application, topology);

    assertThat(candidates(after)).containsAll(candidates(before));
    for (int i = 0; i < 50; i++) {
      SpanView span = span("operation" + i, 2, 0);
      BrokerQueue is = after.queue(after.candidate(span, new SeriesHash()));
      if (candidates(before).contains(is)) {
        assertThat(is).isEqualTo(before.queue(before.candidate(span, new SeriesHash())));
      }
    }
  }

  private static Router ruled(int queues, Map<String, Rule> applications) {
    return new Router(
        new RoutingRules(new Rule(queues, Spread.SERIES, false), applications, Set.of()));
  }

  static Route route(Router router, String application, Topology topology) {
    byte[] name = application.getBytes(UTF_8);
    return router.route(name, 0, name.length, topology);
  }

  private static Set<BrokerQueue> candidates(Route route) {
    Set<BrokerQueue> all = new HashSet<>();
    for (int i = 0; i < route.size(); i++) {
      all.add(route.queue(i));
    }
    return all;
  }

  static SpanView span(String name, int kind, int status) {
    SpanView span = new SpanView();
    span.name = name.getBytes(UTF_8);
    span.nameLength = span.name.length;
    span.kind = kind;
    span.status = status;
    return span;
  }
}
