package org.traceetl.server.features.edges;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.proto.Demand;
import org.traceetl.proto.Demand.Part;
import org.traceetl.proto.EdgeQueues;
import org.traceetl.proto.HotspotDecisions;
import org.traceetl.server.config.EdgesConfig;
import org.traceetl.server.decisions.DecisionLog;
import org.traceetl.server.journal.ForwardingLog;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.MemoryLogs;
import org.traceetl.server.journal.MemoryLogs.MemoryLog;
import org.traceetl.server.window.QueueId;

final class EdgeQueueDeciderTest {
  private static final QueueId ROUTING = new QueueId("a", 0);
  private static final QueueId LOWEST = new QueueId("a", 0);
  private static final Duration INTERVAL = Duration.ofSeconds(30);

  private final MemoryLogs logs = new MemoryLogs();
  private final MemoryLog log = logs.open(ROUTING);
  private long nowMillis = 1_795_255_000_000L;
  private QueueId place = ROUTING;
  private boolean away;

  /** Queues of the topic of half-edges. */
  private Set<QueueId> present = ids("a/0", "a/1", "b/0");

  private final Server decider = new Server(true);
  private final Server other = new Server(true);

  EdgeQueueDeciderTest() {
    decider.owned.add(LOWEST);
    other.owned.add(new QueueId("a", 1));
  }

  /** A server with the span queues that it owns. */
  private final class Server implements DecisionLog {
    private final Set<QueueId> owned = new HashSet<>();
    private final List<EdgeQueues> adopted = new ArrayList<>();
    private final EdgeQueueDecider decider;

    /** The broker does not return the records yet. */
    private boolean unreadable;

    /** Runs before its next record is written. */
    private Runnable beforeAppend = () -> {};

    Server(boolean enabled) {
      decider =
          new EdgeQueueDecider(
              new EdgesConfig(enabled, null, null, null, null, null, null, null, null),
              this::edgeQueues,
              "trace-routing",
              INTERVAL,
              adopted::add,
              this,
              new Clocks(
                  () -> TimeUnit.MILLISECONDS.toNanos(nowMillis),
                  () -> Instant.ofEpochMilli(nowMillis)));
    }

    private Set<QueueId> edgeQueues() throws IOException {
      if (away) {
        throw new IOException("no name server");
      }
      return present;
    }

    @Override
    public QueueId place() {
      return place;
    }

    @Override
    public JournalLog open(QueueId queue) {
      MemoryLog opened = logs.open(queue);
      return new ForwardingLog(opened) {
        @Override
        public long append(byte[] message) throws IOException {
          Runnable before = beforeAppend;
          beforeAppend = () -> {};
          before.run();
          return opened.append(message);
        }

        @Override
        public List<Entry> read(long from) {
          return unreadable ? List.of() : opened.read(from);
        }
      };
    }

    @Override
    public boolean upToDate() {
      return false;
    }

    @Override
    public Set<QueueId> queues() {
      return ids("a/0", "a/1");
    }

    @Override
    public long end(QueueId queue) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Set<QueueId> owned() {
      return owned;
    }

    EdgeQueues list() {
      return decider.current();
    }

    Set<QueueId> listed() {
      Set<QueueId> queues = new TreeSet<>();
      list()
          .brokers()
          .forEach((broker, its) ->
              its.numbers().forEach(number -> queues.add(new QueueId(broker, number))));
      assertThat(decider.queues()).isEqualTo(queues.size());
      return queues;
    }
  }

  @Test
  void theQueuesAreListedOnceAllServersReadHalfEdges() throws Exception {
    look();
    demand(Demand.EDGES, Demand.BUNDLES);
    look();
    assertThat(lists()).as("not all read them").isZero();

    demand(Demand.EDGES, Demand.EDGES | Demand.BUNDLES);
    look();
    look();
    assertThat(decider.listed()).isEqualTo(present);
    assertThat(other.list()).isEqualTo(decider.list());
    assertThat(lists()).isEqualTo(1);
  }

  @Test
  void withoutTheTopicOfHalfEdgesNothingIsListed() throws Exception {
    demand(Demand.EDGES);
    present = Set.of();
    look();
    assertThat(lists()).isZero();

    present = ids("a/0");
    look();
    assertThat(decider.listed()).isEqualTo(present);
  }

  @Test
  void aNewQueueMakesANewList() throws Exception {
    demand(Demand.EDGES);
    look();
    long before = decider.list().epoch();
    EdgeQueues first = decider.list();
    present = ids("a/0", "a/1", "a/2", "b/0", "c/0");
    look();
    look();

    assertThat(decider.listed()).isEqualTo(present);
    assertThat(decider.list().epoch()).isGreaterThan(before);
    assertThat(decider.adopted).containsExactly(first, decider.list());
    assertThat(other.adopted).isEqualTo(decider.adopted);
    look();
    assertThat(lists()).isEqualTo(2);
  }

  @Test
  void aBrokerThatIsAwayKeepsItsQueuesForAWhile() throws Exception {
    demand(Demand.EDGES);
    look();
    EdgeQueues before = decider.list();
    present = ids("a/0", "a/1");
    pass(ListedQueues.REMOVED_AFTER);
    assertThat(decider.list()).isEqualTo(before);
    present = ids("a/0", "a/1", "b/0");
    look();
    present = ids("a/0", "a/1");
    pass(ListedQueues.REMOVED_AFTER);
    assertThat(decider.list()).as("it was back").isEqualTo(before);

    look();
    assertThat(decider.listed()).isEqualTo(present);
    assertThat(other.list()).isEqualTo(decider.list());
  }

  @Test
  void whatAFailedLookDidNotSeeIsNotMissing() throws Exception {
    demand(Demand.EDGES);
    look();
    EdgeQueues before = decider.list();
    present = ids("a/0", "a/1");
    pass(ListedQueues.REMOVED_AFTER);
    away = true;
    look();
    away = false;
    pass(ListedQueues.REMOVED_AFTER);
    assertThat(decider.list()).isEqualTo(before);
    decider.unreadable = true;
    log.append(new HotspotDecisions(nowMillis, 1, Map.of()).encode());
    look();
    decider.unreadable = false;
    pass(ListedQueues.REMOVED_AFTER);
    assertThat(decider.list()).isEqualTo(before);

    look();
    assertThat(decider.listed()).isEqualTo(present);
  }

  @Test
  void aServerThatNoLongerReadsThemEmptiesTheList() throws Exception {
    demand(Demand.EDGES);
    look();
    look();
    demand(Demand.EDGES, 0);
    // The deciding server may be of an earlier release.
    look(other);
    look(other);
    assertThat(other.list().brokers()).isEmpty();
    assertThat(lists()).isEqualTo(2);
    look();
    assertThat(decider.list()).isEqualTo(other.list());
    assertThat(lists()).isEqualTo(2);

    demand(Demand.EDGES);
    look(other);
    assertThat(other.listed()).as("does not decide").isEmpty();
    look();
    assertThat(decider.listed()).isEqualTo(present);
  }

  @Test
  void aDecidingServerWithoutHalfEdgesEmptiesTheList() throws Exception {
    demand(Demand.EDGES);
    look();
    Server disabled = new Server(false);
    look(disabled);
    assertThat(disabled.listed()).as("does not decide").isEqualTo(present);

    disabled.owned.addAll(decider.owned);
    decider.owned.clear();
    look(disabled, decider);
    look(disabled, decider);
    assertThat(disabled.list().brokers()).isEmpty();
    assertThat(decider.list()).isEqualTo(disabled.list());
    assertThat(lists()).isEqualTo(2);
  }

  @Test
  void withoutHalfEdgesNothingIsPublished() throws Exception {
    Server disabled = new Server(false);
    disabled.owned.add(LOWEST);
    look(disabled);
    demand(Demand.BUNDLES);
    look(disabled);
    place = null;
    look(disabled);

    assertThat(lists()).isZero();
  }

  @Test
  void aListWithoutADemandStays() throws Exception {
    demand(Demand.EDGES);
    look();
    look();
    log.deleteFrom(0);
    look();
    assertThat(lists()).as("written to the new topic").isEqualTo(1);

    Server late = new Server(true);
    look(late);
    assertThat(late.list()).isEqualTo(decider.list());
    assertThat(lists()).isEqualTo(1);
  }

  @Test
  void aNewDeciderContinuesWithTheList() throws Exception {
    demand(Demand.EDGES);
    look();
    EdgeQueues before = decider.list();
    present = ids("a/0");
    look();
    other.owned.add(LOWEST);
    decider.owned.clear();
    pass(ListedQueues.REMOVED_AFTER);
    decider.owned.add(LOWEST);
    other.owned.clear();
    pass(ListedQueues.REMOVED_AFTER);
    assertThat(decider.list()).as("each decider begins to wait").isEqualTo(before);
    assertThat(lists()).isEqualTo(1);

    look();
    assertThat(decider.listed()).isEqualTo(present);
  }

  @Test
  void twoServersThatDecideAgree() throws Exception {
    other.owned.add(LOWEST);
    demand(Demand.EDGES);
    decider.beforeAppend =
        () -> {
          present = ids("a/1", "c/0");
          step(other);
        };
    look(decider);
    assertThat(lists()).isEqualTo(2);
    for (int i = 0; i < 3; i++) {
      look();
    }

    assertThat(decider.listed()).containsAll(present);
    assertThat(other.list()).isEqualTo(decider.list());
    long settled = lists();
    look();
    look();
    assertThat(lists()).isEqualTo(settled);
  }

  @Test
  void theListIsWrittenAgainBehindManyOtherRecords() throws Exception {
    demand(Demand.EDGES);
    look();
    for (int i = 0; i < 20; i++) {
      log.append(new HotspotDecisions(nowMillis + i, 1, Map.of()).encode());
    }
    look();

    assertThat(lists()).isEqualTo(2);
    assertThat(log.read(log.end() - 1).getFirst().body()).isEqualTo(decider.list().encode());
    assertThat(decider.decider.refused()).isZero();
  }

  @Test
  void recordsThatAreNoListAreCounted() throws Exception {
    byte[] damaged = new EdgeQueues(nowMillis, 1, Map.of()).encode();
    damaged[damaged.length - 1]++;
    log.append(damaged);
    look(decider);

    assertThat(decider.decider.refused()).isEqualTo(1);
    assertThat(decider.list()).isEqualTo(EdgeQueues.NONE);
  }

  @Test
  void aTopicWithMoreQueuesThanAListHasIsListedInPart() throws Exception {
    demand(Demand.EDGES);
    present = ids("b/0");
    look();
    present = new HashSet<>(ids("b/0", "x".repeat(256) + "/0"));
    IntStream.range(0, 2_000).forEach(queue -> present.add(new QueueId("a", queue)));
    look();

    assertThat(decider.listed())
        .hasSize(EdgeQueues.MAX_QUEUES)
        .contains(new QueueId("b", 0), new QueueId("a", 0), new QueueId("a", 1_022));
  }

  private static Set<QueueId> ids(String... names) {
    Set<QueueId> queues = new TreeSet<>();
    for (String name : names) {
      String[] parts = name.split("/");
      queues.add(new QueueId(parts[0], Integer.parseInt(parts[1])));
    }
    return queues;
  }

  /** Publishes a demand of configurations with these formats. */
  private void demand(int... formats) throws IOException {
    Map<String, Part> parts = new HashMap<>();
    for (int i = 0; i < formats.length; i++) {
      parts.put(
          "p" + i, new Part(0, 1, false, 15_000, List.of(), List.of(), 0, List.of(), formats[i]));
    }
    log.append(new Demand(++nowMillis, nowMillis, parts).encode());
  }

  /** Returns the number of lists in the topic. */
  private long lists() {
    return LongStream.range(log.begin(), log.end())
        .filter(offset -> EdgeQueues.FORMAT.begins(log.read(offset).getFirst().body()))
        .count();
  }

  private void look(Server... servers) {
    nowMillis += INTERVAL.toMillis();
    for (Server server : servers.length == 0 ? new Server[] {decider, other} : servers) {
      step(server);
    }
  }

  private static void step(Server server) {
    try {
      server.decider.step();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void pass(Duration time) {
    for (long passed = 0; passed < time.toMillis(); passed += INTERVAL.toMillis()) {
      look();
    }
  }
}
