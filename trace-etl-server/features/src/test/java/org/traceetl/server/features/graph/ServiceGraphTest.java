package org.traceetl.server.features.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.web.server.ResponseStatusException;
import org.traceetl.common.Clocks;
import org.traceetl.server.edge.EdgeMeasure;
import org.traceetl.server.features.graph.EdgeSorting.Sort;
import org.traceetl.server.features.graph.ServicesResource.Edge;
import org.traceetl.server.features.graph.ServicesResource.Service;
import org.traceetl.server.features.graph.ServicesResource.Services;
import org.traceetl.server.http.Access;
import org.traceetl.server.http.Order;
import org.traceetl.server.http.ParameterRefused;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.MemoryLogs;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.QueueJournal;
import org.traceetl.server.journal.chain.JournalTail;
import org.traceetl.server.journal.chain.LogJournals;
import org.traceetl.server.journal.fleet.FleetFollower;
import org.traceetl.server.journal.fleet.FleetJournals;
import org.traceetl.server.journal.fleet.FleetSteps;
import org.traceetl.server.window.QueueId;

/** Windows of two queues, followed by hand over journals in memory or passed on directly. */
final class ServiceGraphTest {
  private static final QueueId A = new QueueId("a", 0);
  private static final QueueId B = new QueueId("b", 7);
  private static final long SCHEMA = 1;
  private static final long MINUTE = 60_000;
  private static final long[] BOUNDS_NANOS = {10_000_000, 100_000_000};
  private static final int STRIDE = BOUNDS_NANOS.length + 1;

  private final MemoryLogs logs = new MemoryLogs();
  private final LogJournals journals =
      new LogJournals(
          logs,
          "trace-edges",
          "servers",
          () -> new QueueImage(SCHEMA, STRIDE, 1 << 20),
          new JournalTiming(
              new Clocks(System::nanoTime, this::now),
              new Random(),
              Duration.ofSeconds(30),
              Duration.ofMinutes(10)),
          new JournalCounters());
  private final EdgeQueue a = new EdgeQueue(A, SCHEMA, STRIDE);
  private final EdgeQueue b = new EdgeQueue(B, SCHEMA, STRIDE);

  /** Begin of a minute. */
  private long nowMillis = 1_795_219_200_000L;

  private long nowNanos = Long.MAX_VALUE - 1;
  private ServiceGraph graph = graph(50_000);

  private Instant now() {
    return Instant.ofEpochMilli(nowMillis);
  }

  private ServiceGraph graph(int maxEdges) {
    return new ServiceGraph(maxEdges, BOUNDS_NANOS, SCHEMA, this::now, new SplittableRandom(1));
  }

  /** Reads all journals to their ends. */
  private void follow() throws Exception {
    FleetJournals all =
        new FleetJournals() {
          @Override
          public Set<QueueId> queues() {
            return logs.queues();
          }

          @Override
          public JournalTail open(QueueId queue, long sinceMillis, Consumer<QueueImage> snapshots)
              throws IOException, InterruptedException {
            return journals.tail(queue, sinceMillis, snapshots);
          }
        };
    FleetFollower follower =
        new FleetFollower(
            "trace-service-graph",
            all,
            Duration.ofMinutes(70),
            graph,
            new Clocks(() -> nowNanos, this::now));
    while (!graph.isUpToDate()) {
      nowNanos += FleetSteps.step(follower);
    }
  }

  private ServicesResource resource() {
    return new ServicesResource(graph);
  }

  private Services ask(int minutes) {
    return resource()
        .services(minutes, null, null, null, null, new EdgeSorting(null, null), 500, 0, Access.ALL);
  }

  private List<String> ask(
      String application,
      Integer steps,
      String search,
      String connection,
      Sort sort,
      Order order,
      int limit,
      int offset) {
    return names(
        resource()
            .services(
                5,
                application,
                steps,
                search,
                connection,
                new EdgeSorting(sort, order),
                limit,
                offset,
                Access.ALL));
  }

  private List<String> near(String application, Integer steps) {
    return ask(application, steps, null, null, Sort.CLIENT, null, 500, 0);
  }

  private static List<String> names(Services services) {
    return services.edges().stream().map(edge -> edge.client() + ">" + edge.server()).toList();
  }

  private static Edge edge(Services services, String client, String server) {
    return services.edges().stream()
        .filter(edge -> edge.client().equals(client) && server.equals(edge.server()))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void queuesAddUpToOneGraph() throws Exception {
    QueueJournal first = journals.take(A).journal();
    QueueJournal second = journals.take(B).journal();
    long pane = nowMillis - MINUTE;
    a.call("shop", "pay", 20, 5).ofUser("shop", 30).toNode("shop", "orders", "database", 6);
    a.count("shop", "", null, EdgeMeasure.UNPAIRED_CLIENT, 15);
    first.append(a.seal(pane));
    b.call("shop", "pay", 10, 1).toNode("pay", "bank", "virtual_node", 3);
    b.count("pay", "", null, EdgeMeasure.UNPAIRED_SERVER, 10);
    b.count("shop", null, null, EdgeMeasure.REQUESTS, 9);
    second.append(b.seal(pane));
    a.call("shop", "pay", 30, 9);
    first.append(a.seal(pane));
    follow();

    Services answer = ask(5);
    assertThat(answer.upToDate()).isTrue();
    assertThat(answer.from()).isEqualTo(Instant.ofEpochMilli(nowMillis - 5 * MINUTE));
    assertThat(answer.to()).isEqualTo(now());
    assertThat(names(answer))
        .containsExactly("shop>pay", "user>shop", "shop>null", "shop>orders", "pay>bank");
    // 15 s were observed.
    assertThat(edge(answer, "shop", "pay"))
        .isEqualTo(
            new Edge(
                "shop",
                "pay",
                null,
                60,
                15,
                4,
                1,
                0.25,
                new Durations(55, 95.5, 99.1),
                new Durations(5, 9.5, 9.9),
                new Durations(55, 95.5, 99.1)));
    assertThat(edge(answer, "user", "shop").serverMs()).isEqualTo(new Durations(100, 100, 100));
    assertThat(edge(answer, "user", "shop").clientMs()).isNull();
    assertThat(edge(answer, "shop", "orders").connection()).isEqualTo("database");
    assertThat(answer.services())
        .containsExactly(
            new Service("pay", 0, 10 / 15.0, 60 / 70.0), new Service("shop", 1, 0, 0.8));
    assertThat(graph.unknownRows()).isZero();
  }

  @Test
  void seriesAreKnownFromTheSnapshotAndRowsOfOthersAreCounted() throws Exception {
    QueueJournal journal = journals.take(A).journal();
    journal.append(a.call("shop", "pay", 1, 0).seal(nowMillis - MINUTE));
    long lost = logs.open(A).end();
    journal.append(a.call("shop", "pay", 10, 0).seal(nowMillis - MINUTE));
    journal.snapshot();
    journal.append(a.call("shop", "pay", 100, 0).seal(nowMillis - MINUTE));
    logs.open(A).deleteBefore(lost);
    follow();
    // The window that creates the series is missing.
    a.count("shop", "mail", null, EdgeMeasure.REQUESTS, 1).seal(nowMillis - MINUTE);
    graph.window(a.count("shop", "mail", null, EdgeMeasure.REQUESTS, 1).seal(nowMillis - MINUTE));

    assertThat(ask(5).edges()).extracting(Edge::calls).containsExactly(100L);
    assertThat(graph.unknownRows()).isEqualTo(1);
  }

  @Test
  void requestsCountInTheMinuteOfTheirPane() {
    long earlier = nowMillis - 40 * MINUTE;
    graph.window(a.call("shop", "pay", 20, 4).seal(earlier, nowMillis - MINUTE));
    graph.window(b.call("shop", "pay", 6, 0).seal(nowMillis + 10 * MINUTE, nowMillis - MINUTE));
    graph.window(b.call("shop", "pay", 2, 0).seal(nowMillis - 62 * MINUTE));

    assertThat(ask(39).edges()).extracting(Edge::calls).containsExactly(16L);
    assertThat(ask(59).edges()).extracting(Edge::calls).containsExactly(26L);
    assertThat(ask(59).edges().getFirst().errors()).isEqualTo(4);
    assertThat(graph.misdated()).as("a pane in the future counts with its window").isEqualTo(1);
  }

  @Test
  void seriesOfAllValuesOfDimensionsAddUp() {
    a.with("eu", "eu").call("shop", "pay", 20, 4).ofUser("shop", 5);
    a.with("eu", null).call("shop", "pay", 10, 0);
    a.with("us", "eu").call("shop", "pay", 3, 1);
    a.count("shop", "", null, EdgeMeasure.UNPAIRED_CLIENT, 2);
    a.with("eu", null).count("shop", "", null, EdgeMeasure.UNPAIRED_CLIENT, 5);
    graph.window(a.seal(nowMillis - MINUTE));
    graph.window(b.call("shop", "pay", 7, 0).seal(nowMillis - MINUTE));

    Services answer = ask(5);
    assertThat(names(answer)).containsExactly("shop>pay", "user>shop");
    assertThat(edge(answer, "shop", "pay").calls()).isEqualTo(40);
    assertThat(edge(answer, "shop", "pay").errors()).isEqualTo(5);
    assertThat(edge(answer, "shop", "pay").clientMs()).isEqualTo(new Durations(55, 95.5, 99.1));
    assertThat(answer.services())
        .extracting(Service::name, Service::paired)
        .containsExactly(tuple("pay", 1.0), tuple("shop", 40 / 47.0));
    assertThat(graph.size()).isEqualTo(2);
  }

  @Test
  void requestsWithOtherBucketsCountWithoutThem() {
    graph.window(new EdgeQueue(A, SCHEMA + 1, 7).call("shop", "pay", 20, 0).seal(nowMillis - 1));

    Services answer = ask(1);
    assertThat(answer.edges()).extracting(Edge::calls).containsExactly(20L);
    assertThat(answer.edges().getFirst().clientMs()).isNull();
    assertThat(answer.services()).extracting(Service::paired).containsExactly(1.0, 1.0);
  }

  @Test
  void theNeighbourhoodHasOneOrTwoSteps() {
    a.ofUser("web", 1).ofUser("shop", 1).call("web", "cart", 1, 0).call("cart", "pay", 1, 0);
    a.call("pay", "bank", 1, 0).toNode("cart", "db", "database", 1);
    a.toNode("shop", "db", "database", 1).count("cart", null, null, EdgeMeasure.REQUESTS, 1);
    graph.window(a.seal(nowMillis - MINUTE));

    assertThat(near("pay", null)).containsExactly("cart>pay", "pay>bank");
    assertThat(near("pay", 2))
        .containsExactly("cart>db", "cart>pay", "cart>null", "pay>bank", "web>cart");
    assertThat(near("db", 1)).containsExactly("cart>db", "shop>db");
    // Not the other applications that users call.
    assertThat(near("web", 2))
        .containsExactly("cart>db", "cart>pay", "cart>null", "user>web", "web>cart");
    assertThat(near("user", 1)).containsExactly("user>shop", "user>web");
    assertThat(near("we", 2)).isEmpty();
    assertThatThrownBy(() -> near(null, 2))
        .isInstanceOf(ParameterRefused.class)
        .hasMessage("steps = 2: requires parameter application");
  }

  @Test
  void edgesAreSearchedSortedAndPaged() {
    a.call("Shop", "pay", 8, 1).call("pay", "bank", 2, 1).ofUser("Shop", 9);
    a.toNode("bank", "eshop-db", "database", 20);
    graph.window(a.seal(nowMillis - MINUTE));

    assertThat(ask(null, null, null, null, null, null, 500, 0))
        .containsExactly("bank>eshop-db", "user>Shop", "Shop>pay", "pay>bank");
    assertThat(ask(null, null, null, null, Sort.ERROR_RATIO, null, 2, 0))
        .containsExactly("pay>bank", "Shop>pay");
    assertThat(ask(null, null, null, null, Sort.ERRORS, null, 500, 3)).containsExactly("user>Shop");
    assertThat(ask(null, null, null, null, Sort.P95, Order.ASC, 500, 0))
        .containsExactly("Shop>pay", "pay>bank", "bank>eshop-db", "user>Shop");
    assertThat(ask(null, null, null, null, Sort.SERVER, Order.DESC, 500, 0))
        .containsExactly("Shop>pay", "bank>eshop-db", "pay>bank", "user>Shop");
    assertThat(ask(null, null, "SHOP", null, Sort.CLIENT, null, 500, 0))
        .containsExactly("Shop>pay", "bank>eshop-db", "user>Shop");
    assertThat(ask(null, null, null, "none", Sort.CLIENT, null, 500, 0))
        .containsExactly("Shop>pay", "pay>bank");
    assertThat(ask(null, null, null, "virtual_node", null, null, 500, 0))
        .containsExactly("user>Shop");
    assertThatThrownBy(() -> ask(null, null, null, "virtual-node", null, null, 500, 0))
        .isInstanceOf(ParameterRefused.class)
        .hasMessage(
            "connection = virtual-node: must be one of none, messaging_system, database,"
                + " virtual_node");
    Services page =
        resource()
            .services(5, null, null, "pay", null, new EdgeSorting(null, null), 1, 1, Access.ALL);
    assertThat(page.total()).isEqualTo(4);
    assertThat(page.matching()).isEqualTo(2);
    assertThat(page.services()).extracting(Service::name).containsExactly("bank", "pay");
  }

  @Test
  void edgesAboveTheLimitAreTheRestOfTheirClientUntilOthersAreIdle() {
    graph = graph(2);
    a.call("shop", "pay", 1, 0).call("shop", "cart", 2, 0).call("shop", "mail", 4, 0);
    a.call("shop", "bank", 8, 0).call("pay", "bank", 16, 0);
    a.count("cart", null, null, EdgeMeasure.REQUESTS, 32);
    graph.window(a.evictAll().seal(nowMillis - MINUTE));

    assertThat(names(ask(5)))
        .containsExactly("_other>null", "pay>null", "shop>null", "shop>cart", "shop>pay");
    assertThat(ask(5).edges()).extracting(Edge::calls).containsExactly(32L, 16L, 12L, 2L, 1L);
    assertThat(ask(5).services()).extracting(Service::name).containsExactly("cart", "pay", "shop");
    assertThat(graph.size()).isEqualTo(2);
    assertThat(graph.merged()).isEqualTo(3);
    nowMillis += 61 * MINUTE;
    graph.window(a.call("shop", "mail", 4, 0).seal(nowMillis - MINUTE));
    assertThat(names(ask(59))).containsExactly("shop>mail");
    assertThat(graph.size()).isEqualTo(1);
    assertThat(graph.merged()).isEqualTo(3);
  }

  @Test
  void aLargeFleetIsAnswered() {
    int applications = 5_000;
    for (EdgeQueue queue : List.of(a, b)) {
      for (int client = 0; client < applications; client++) {
        for (int step = 1; step <= 4; step++) {
          queue.call("app-" + client, "app-" + (client + step * step) % applications, step, 0);
        }
      }
      graph.window(queue.seal(nowMillis - MINUTE));
    }

    assertThat(graph.size()).isEqualTo(20_000);
    assertThat(graph.merged()).isZero();
    Services all =
        resource()
            .services(
                5, null, null, null, null, new EdgeSorting(null, null), 5_000, 15_000, Access.ALL);
    assertThat(all.total()).isEqualTo(20_000);
    assertThat(all.edges()).hasSize(5_000).allMatch(edge -> edge.calls() == 2);
    assertThat(all.services()).hasSize(applications);
    assertThat(near("app-100", 1)).hasSize(8);
    assertThat(near("app-100", 2).stream().collect(Collectors.toSet()))
        .hasSizeGreaterThan(40)
        .hasSizeLessThan(72);
    assertThat(edge(ask(5), "app-0", "app-16").callsPerSecond()).isEqualTo(8 / 15.0, within(1e-9));
  }

  @Test
  void aServerWithoutTheGraphSaysSo() {
    ServicesResource without = new ServicesResource(null);

    assertThatThrownBy(without::tag)
        .isInstanceOfSatisfying(
            ResponseStatusException.class,
            e -> assertThat(e.getStatusCode().value()).isEqualTo(404))
        .hasMessageContaining("trace-etl.edges.enabled = false");
  }

  @Test
  void theTagChangesWithEachWindowAndMinute() {
    String before = resource().tag();
    assertThat(resource().tag()).isEqualTo(before);
    graph.window(a.call("shop", "pay", 1, 0).seal(nowMillis - MINUTE));
    String after = resource().tag();
    nowMillis += MINUTE;

    assertThat(List.of(before, after, resource().tag())).doesNotHaveDuplicates();
  }
}
