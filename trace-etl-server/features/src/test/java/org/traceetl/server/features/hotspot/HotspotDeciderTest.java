package org.traceetl.server.features.hotspot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.proto.HotspotDecisions;
import org.traceetl.proto.HotspotDecisions.Decision;
import org.traceetl.proto.LearntNames;
import org.traceetl.server.decisions.DecisionLog;
import org.traceetl.server.features.hotspot.Hotspots.State;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.MemoryLogs;
import org.traceetl.server.journal.MemoryLogs.MemoryLog;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.RowlessWindow;
import org.traceetl.server.window.SealedWindow;

final class HotspotDeciderTest {
  private static final QueueId ROUTING = new QueueId("a", 0);
  private static final HotspotsConfig CONFIG =
      new HotspotsConfig(
          null, null, null, null, null, null, 2, null, 3, 1_000L, null, List.of("pinned-*"), null);

  private final MemoryLogs logs = new MemoryLogs();
  private final MemoryLog log = logs.open(ROUTING);
  private final Set<QueueId> queues = new HashSet<>();
  private final Map<QueueId, Long> ends = new HashMap<>();
  private final Set<String> awayBrokers = new HashSet<>();
  private long nowMillis = 1_795_255_000_000L;
  private long wallAheadMillis;
  private QueueId place = ROUTING;
  private boolean readsLag;
  private boolean upToDate = true;
  private boolean away;
  private final Server one = new Server();
  private final Server other = new Server();

  HotspotDeciderTest() {
    for (int i = 0; i < 6; i++) {
      queues.add(new QueueId("a", i));
    }
  }

  /** A server with the queues it owns. */
  private final class Server implements DecisionLog {
    private final Set<QueueId> owned = new HashSet<>();
    private final List<String> asked = new ArrayList<>();
    private Runnable beforeAppend = () -> {};
    private final HotspotDecider decider =
        new HotspotDecider(
            CONFIG,
            this,
            new Clocks(
                () -> TimeUnit.MILLISECONDS.toNanos(nowMillis),
                () -> Instant.ofEpochMilli(nowMillis + wallAheadMillis)));

    @Override
    public QueueId place() {
      return place;
    }

    @Override
    public JournalLog open(QueueId queue) {
      return new Interrupted(this, logs.open(queue));
    }

    @Override
    public boolean upToDate() {
      return upToDate;
    }

    @Override
    public Set<QueueId> queues() throws IOException {
      if (away) {
        throw new IOException("no name server");
      }
      return queues;
    }

    @Override
    public long end(QueueId queue) throws IOException {
      asked.add(queue.broker());
      if (awayBrokers.contains(queue.broker())) {
        throw new IOException("no broker");
      }
      return ends.getOrDefault(queue, 0L);
    }

    @Override
    public Set<QueueId> owned() {
      return owned;
    }

    Hotspots picture() {
      return decider.picture();
    }

    Hotspots.Application application(String name) {
      return picture().applications().stream()
          .filter(application -> application.application().equals(name))
          .findFirst()
          .orElseThrow();
    }
  }

  /** The log, in which somebody else may come just before an append. */
  private final class Interrupted implements JournalLog {
    private final Server server;
    private final MemoryLog underneath;

    Interrupted(Server server, MemoryLog underneath) {
      this.server = server;
      this.underneath = underneath;
    }

    @Override
    public long append(byte[] message) {
      server.beforeAppend.run();
      return underneath.store(message);
    }

    @Override
    public List<Entry> read(long from) {
      return readsLag ? List.of() : underneath.read(from);
    }

    @Override
    public long begin() {
      return underneath.begin();
    }

    @Override
    public long end() {
      return underneath.end();
    }

    @Override
    public long mark(String group) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void mark(String group, long offset) {
      throw new UnsupportedOperationException();
    }
  }

  @Test
  void ownerOfTheLowestQueueDecidesForAllServers() throws Exception {
    one.owned.add(new QueueId("a", 0));
    other.owned.add(new QueueId("a", 1));
    looks(2);

    assertThat(one.picture().state()).isEqualTo(State.DECIDER);
    assertThat(other.picture().state()).isEqualTo(State.FOLLOWER);
    assertThat(newest().applications().get("hot").queues()).isEqualTo(6);
    assertThat(one.decider.decided()).isEqualTo(1);
    looks(1);
    assertThat(other.picture().epoch()).isEqualTo(newest().epoch());
    assertThat(other.application("hot").queues()).isEqualTo(6);
    assertThat(other.application("hot").share()).isBetween(0.88, 0.92);
    assertThat(other.application("other").sinceMillis()).isZero();
    assertThat(other.picture().maxToMean()).isGreaterThan(2);
  }

  @Test
  void nextDeciderContinuesFromTheCurrentDecisions() throws Exception {
    one.owned.add(new QueueId("a", 0));
    looks(2);
    long epoch = newest().epoch();
    other.owned.addAll(one.owned);
    one.owned.clear();
    looks(1);

    assertThat(other.picture().state()).isEqualTo(State.DECIDER);
    assertThat(newest().epoch()).isEqualTo(epoch);
    assertThat(other.application("hot").queues()).isEqualTo(6);
  }

  @Test
  void secondOfTwoDecidersAdoptsTheFirstRecord() throws Exception {
    one.owned.add(new QueueId("a", 0));
    looks(1);
    HotspotDecisions theirs = theirs(nowMillis + 3_600_000);
    one.beforeAppend = () -> log.store(theirs.encode());
    looks(1);

    assertThat(one.decider.lost()).isEqualTo(1);
    assertThat(one.decider.decided()).isZero();
    assertThat(one.picture().epoch()).isEqualTo(theirs.epoch());
    one.beforeAppend = () -> {};
    looks(2);
    assertThat(newest().epoch()).isEqualTo(theirs.epoch() + 1);
    assertThat(newest().applications()).containsKeys("theirs", "hot");
  }

  @Test
  void recordsBeforeADecisionAreReadAtTheNextLook() throws Exception {
    one.owned.add(new QueueId("a", 0));
    looks(1);
    HotspotDecisions theirs = theirs(nowMillis + 3_600_000);
    one.beforeAppend =
        () -> {
          log.store(theirs.encode());
          readsLag = true;
        };
    looks(1);
    assertThat(one.picture().state()).isEqualTo(State.AWAY);
    readsLag = false;
    one.beforeAppend = () -> {};
    looks(1);

    assertThat(one.decider.decided()).isZero();
    assertThat(one.picture().epoch()).isEqualTo(theirs.epoch());
    assertThat(one.application("theirs").queues()).isEqualTo(3);
  }

  @Test
  void allServersAdoptTheSameOfTwoEqualEpochs() throws Exception {
    looks(1);
    log.append(theirs(nowMillis).encode());
    looks(1);
    HotspotDecisions greater = theirs(nowMillis - CONFIG.interval().toMillis(), 5);
    log.append(greater.encode());
    looks(1);

    assertThat(one.application("theirs").queues()).isEqualTo(5);
    Server late = new Server();
    nowMillis += 40_000;
    late.decider.step();
    assertThat(late.application("theirs").queues()).isEqualTo(5);
    looks(1);
    assertThat(one.application("theirs").queues()).isEqualTo(5);
  }

  @Test
  void epochFarInTheFutureIsRefused() throws Exception {
    one.owned.add(new QueueId("a", 0));
    log.append(theirs(Long.MAX_VALUE).encode());
    looks(2);

    assertThat(one.decider.refused()).isEqualTo(1);
    assertThat(one.application("hot").queues()).isEqualTo(6);
    assertThat(one.picture().epoch()).isEqualTo(nowMillis);
  }

  @Test
  void recordIsRepeatedAtANewLowestQueue() throws Exception {
    one.owned.add(new QueueId("a", 0));
    looks(2);
    HotspotDecisions before = newest();
    upToDate = false; // no further decision
    place = new QueueId("0", 0);
    looks(2);

    assertThat(newest(logs.open(place))).isEqualTo(before);
    assertThat(logs.open(place).end()).isEqualTo(1);
    place = ROUTING;
    long end = log.end();
    looks(2);
    assertThat(log.end()).isEqualTo(end);
  }

  @Test
  void emptyRecordIsWrittenWithoutDecisions() throws Exception {
    one.owned.add(new QueueId("a", 0));
    other.owned.add(new QueueId("a", 1));
    upToDate = false;
    looks(2);

    assertThat(newest().epoch()).isPositive();
    assertThat(newest().applications()).isEmpty();
    assertThat(log.end()).isEqualTo(1);
    assertThat(one.decider.decided()).isZero();
    assertThat(other.picture().epoch()).isEqualTo(newest().epoch());
  }

  @Test
  void unreadableRecordsPreventAnEmptyRecord() throws Exception {
    log.append(theirs(nowMillis).encode());
    one.owned.add(new QueueId("a", 0));
    readsLag = true;
    looks(1);
    assertThat(log.end()).isEqualTo(1);
    readsLag = false;
    upToDate = false;
    looks(1);
    assertThat(log.end()).isEqualTo(1);
    assertThat(one.picture().epoch()).isEqualTo(newest().epoch());
  }

  @Test
  void emptyRecordIsRepeatedAfterTheBrokerDeletedAll() throws Exception {
    log.append(theirs(nowMillis).encode());
    log.deleteBefore(1);
    one.owned.add(new QueueId("a", 0));
    looks(1);

    assertThat(log.end()).isEqualTo(2);
    assertThat(newest().applications()).isEmpty();
  }

  @Test
  void nothingIsDecidedUntilAllQueuesAreKnown() throws Exception {
    one.owned.add(new QueueId("a", 0));
    upToDate = false;
    looks(5);
    assertThat(newest().applications()).isEmpty();
    upToDate = true;
    looks(2);
    assertThat(newest().applications()).containsKey("hot");
  }

  @Test
  void windowsOfASlowClockCount() throws Exception {
    one.owned.add(new QueueId("a", 0));
    wallAheadMillis = 600_000;
    looks(2);

    assertThat(newest().applications()).containsKey("hot");
  }

  @Test
  void malformedRecordIsSkippedAndCounted() throws Exception {
    one.owned.add(new QueueId("a", 0));
    looks(2);
    for (int i = 0; i < 5; i++) {
      log.append(new byte[] {1, 2, 3});
    }
    looks(1);
    HotspotDecider late = new Server().decider;
    nowMillis += 40_000;
    late.step();

    assertThat(late.picture().epoch()).isEqualTo(one.picture().epoch()).isPositive();
    assertThat(late.refused()).isEqualTo(5);
  }

  @Test
  void learntNamesAreSkippedAndDoNotDisplaceTheRecord() throws Exception {
    one.owned.add(new QueueId("a", 0));
    looks(2);
    upToDate = false; // no further decision
    HotspotDecisions before = newest();
    for (int i = 1; i <= 20; i++) {
      log.append(new LearntNames(nowMillis + i, 1, Map.of()).encode());
    }
    long end = log.end();
    looks(2);

    assertThat(one.decider.refused()).isZero();
    assertThat(log.end()).isEqualTo(end + 1);
    assertThat(HotspotDecisions.FORMAT.decode(log.read(end).getFirst().body(), Long.MAX_VALUE))
        .isEqualTo(before);
  }

  @Test
  void deciderWithoutItsTopicOnlyReads() throws Exception {
    place = null;
    one.owned.add(new QueueId("a", 0));
    looks(5);

    assertThat(one.picture().state()).isEqualTo(State.NO_TOPIC);
    assertThat(one.picture().applications()).isNotEmpty();
    assertThat(log.end()).isZero();
    place = ROUTING;
    looks(2);
    assertThat(newest().applications()).containsKey("hot");
  }

  @Test
  void decisionsStayWhileABrokerIsAway() throws Exception {
    one.owned.add(new QueueId("a", 0));
    looks(2);
    away = true;
    looks(2);
    assertThat(one.picture().state()).isEqualTo(State.AWAY);
    assertThat(one.picture().epoch()).isEqualTo(newest().epoch());
    away = false;
    looks(1);
    assertThat(one.picture().state()).isEqualTo(State.DECIDER);
  }

  @Test
  void recordIsRepeatedBeforeTheBrokerDeletesIt() throws Exception {
    one.owned.add(new QueueId("a", 0));
    looks(2);
    long end = log.end();
    nowMillis += TimeUnit.HOURS.toMillis(2);
    looks(1);

    assertThat(log.end()).isEqualTo(end + 1);
    assertThat(one.picture().epoch()).isEqualTo(newest().epoch());
  }

  @Test
  void recordIsRepeatedAfterAClockChange() throws Exception {
    one.owned.add(new QueueId("a", 0));
    looks(2);
    long end = log.end();
    upToDate = false; // no further decision
    wallAheadMillis = -TimeUnit.HOURS.toMillis(10);
    nowMillis += TimeUnit.HOURS.toMillis(2);
    looks(1);
    assertThat(log.end()).isEqualTo(end + 1);
    wallAheadMillis = TimeUnit.HOURS.toMillis(10);
    looks(1);
    assertThat(log.end()).isEqualTo(end + 1);
  }

  /** Set forward, others would refuse what it writes; set back, it would refuse what they write. */
  @Test
  void otherServersAdoptDecisionsAfterAClockChange() throws Exception {
    one.owned.add(new QueueId("a", 0));
    looks(1);
    for (long hours : List.of(48L, -48L)) {
      wallAheadMillis = TimeUnit.HOURS.toMillis(hours);
      long before = one.picture().epoch();
      log.append(theirs(Math.max(before + 1, nowMillis - 1)).encode());
      looks(2);
      assertThat(newest().epoch()).isGreaterThan(before).isLessThanOrEqualTo(nowMillis);
      assertThat(other.picture().epoch()).isEqualTo(newest().epoch());
      assertThat(other.decider.refused()).isZero();
    }
  }

  @Test
  void recordIsRepeatedInARecreatedTopic() throws Exception {
    one.owned.add(new QueueId("a", 0));
    looks(2);
    HotspotDecisions before = newest();
    log.deleteFrom(0);
    looks(1);

    assertThat(newest()).isEqualTo(before);
  }

  @Test
  void nothingIsDecidedWhileAQueueIsSilent() throws Exception {
    one.owned.add(new QueueId("a", 0));
    looks(1);
    nowMillis += CONFIG.interval().toMillis();
    queues.forEach(queue -> ends.merge(queue, 1L, Long::sum));
    one.decider.window(window(new QueueId("a", 1), Map.of("hot", 450_000L)));
    one.decider.step();

    assertThat(newest().applications()).isEmpty();
  }

  @Test
  void failedLookIsRepeatedAfterTheInterval() throws Exception {
    one.owned.add(new QueueId("a", 0));
    nowMillis += CONFIG.interval().toMillis();
    one.beforeAppend =
        () -> {
          throw new IllegalStateException("planted");
        };

    assertThatThrownBy(one.decider::step).hasMessage("planted");
    assertThat(one.decider.step()).isEqualTo(CONFIG.interval().toNanos());
  }

  @Test
  void hotspotOnGrowingQueuesIsFoundAndShown() throws Exception {
    one.owned.add(new QueueId("a", 0));
    Map<QueueId, Long> taken = new HashMap<>();
    for (int look = 0; look < 4; look++) {
      nowMillis += CONFIG.interval().toMillis();
      for (QueueId queue : queues) {
        // All are taken in alike, but on two of them four times as much comes.
        boolean behind = queue.queue() < 2;
        long from = taken.merge(queue, 1_000L, Long::sum) - 1_000;
        ends.merge(queue, behind ? 4_000L : 1_000L, Long::sum);
        one.decider.window(
            window(
                queue,
                List.of(new Books(behind ? "hot" : "other", 300_000, 0, 0, 0, 0, Map.of(), 0)),
                from,
                from + 1_000,
                nowMillis - CONFIG.interval().toMillis(),
                nowMillis));
      }
      one.decider.step();
    }

    assertThat(newest().applications()).containsOnlyKeys("hot");
    assertThat(one.application("hot").rate()).isEqualTo(80_000);
    assertThat(one.application("hot").lag()).isEqualTo(2 * 12_000 * 300);
    assertThat(one.application("other").lag()).isZero();
    assertThat(one.picture().maxToMean()).isEqualTo(2);
    assertThat(one.picture().behind())
        .hasSize(2)
        .contains(
            new Hotspots.Queue(new QueueId("a", 1), 40_000, 10_000, 12_000, 12_000 * 300, true));
  }

  @Test
  void silentBrokerIsAskedOncePerLook() throws Exception {
    awayBrokers.add("a");
    queues.add(new QueueId("b", 0));
    one.owned.add(new QueueId("a", 0));
    looks(2);

    assertThat(one.picture().state()).isEqualTo(State.DECIDER);
    assertThat(one.asked).containsExactly("a", "b", "a", "b");
    assertThat(newest().applications()).containsKey("hot");
  }

  private static HotspotDecisions theirs(long epoch) {
    return theirs(epoch, 3);
  }

  private static HotspotDecisions theirs(long epoch, int queues) {
    return new HotspotDecisions(epoch, 1, Map.of("theirs", new Decision(queues, false, 1, 1)));
  }

  /** So many looks of both, with a message and a window of it in all queues before each. */
  private void looks(int times) throws InterruptedException {
    for (int i = 0; i < times; i++) {
      nowMillis += CONFIG.interval().toMillis();
      queues.forEach(queue -> ends.merge(queue, 1L, Long::sum));
      for (Server server : List.of(one, other)) {
        for (QueueId queue : queues) {
          long hot = queue.queue() < 2 ? 450_000L : 0;
          server.decider.window(
              window(queue, Map.of("hot", hot, "other", 10_000L, "pinned-1", 10_000L)));
        }
        server.decider.step();
      }
    }
  }

  private SealedWindow window(QueueId queue, Map<String, Long> spans) {
    List<Books> books = new ArrayList<>();
    spans.forEach(
        (name, received) -> books.add(new Books(name, received, 0, 0, 0, 0, Map.of(), 0)));
    return window(queue, books, 0, 1, nowMillis - 15_000, nowMillis);
  }

  static SealedWindow window(
      QueueId queue, List<Books> books, long from, long to, long openedMillis, long sealedMillis) {
    return new RowlessWindow(queue, from, to, openedMillis, sealedMillis).books(books).seal();
  }

  private HotspotDecisions newest() throws Exception {
    return newest(log);
  }

  private HotspotDecisions newest(MemoryLog of) throws Exception {
    HotspotDecisions newest = HotspotDecisions.NONE;
    for (JournalLog.Entry entry : of.read(0)) {
      if (entry.body().length > 10) {
        HotspotDecisions read = HotspotDecisions.FORMAT.decode(entry.body(), Long.MAX_VALUE);
        newest = read.epoch() > newest.epoch() ? read : newest;
      }
    }
    return newest;
  }
}
