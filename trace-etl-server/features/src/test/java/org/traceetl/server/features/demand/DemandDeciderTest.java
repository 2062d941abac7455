package org.traceetl.server.features.demand;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.proto.Demand;
import org.traceetl.proto.Demand.Part;
import org.traceetl.proto.HotspotDecisions;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.decisions.DecisionLog;
import org.traceetl.server.features.hotspot.HotspotsConfig;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.MemoryLogs;
import org.traceetl.server.journal.MemoryLogs.MemoryLog;
import org.traceetl.server.series.SlowThresholds;
import org.traceetl.server.series.SpanNeeds;
import org.traceetl.server.window.QueueId;

final class DemandDeciderTest {
  private static final QueueId ROUTING = new QueueId("a", 0);
  private static final long INTERVAL_MILLIS = HotspotsConfig.defaults().interval().toMillis();
  private static final SlowThresholds SLOW = new SlowThresholds(DocumentsConfig.defaults());
  private static final OwnPart ROUTES = own("routes", "http.route");
  private static final OwnPart METHODS = own("methods", "rpc.method");

  private final MemoryLogs logs = new MemoryLogs();
  private final MemoryLog log = logs.open(ROUTING);
  private long nanos;
  private long nowMillis = 1_795_255_000_000L;
  private boolean away;
  private QueueId place = ROUTING;

  /** Whether the name server knows brokers of the spans. */
  private boolean brokers = true;

  /** Runs before the brokers of the spans are returned. */
  private Runnable registering = () -> {};

  private final Server one = new Server(ROUTES);
  private final Server other = new Server(METHODS);

  /** A server that owns no queue: it does not decide on anything else. */
  private final class Server implements DecisionLog {
    private final DemandDecider decider;
    private final List<Boolean> panes = new ArrayList<>();
    private final List<Boolean> openPanes = new ArrayList<>();
    private int looksWithoutTopic;
    private OwnPart own;
    private SpanNeeds needs = new SpanNeeds(SLOW, Map.of());

    /** How far this server's wall clock is ahead. */
    private long aheadMillis;

    /** Writes another server's record before this one's next record. */
    private Demand raced;

    /** The broker does not return its messages yet. */
    private boolean unreadable;

    Server(OwnPart own) {
      this(own, HotspotsConfig.defaults().interval());
    }

    Server(OwnPart own, Duration interval) {
      this.own = own;
      decider =
          new DemandDecider(
              HotspotsConfig.defaults().topic(),
              interval,
              () -> needs,
              changed -> this.own,
              this,
              this::learnt,
              () -> looksWithoutTopic++,
              new Clocks(() -> nanos, () -> Instant.ofEpochMilli(nowMillis + aheadMillis)));
    }

    private void learnt(Demand now) {
      panes.add(now.readsPanes());
      openPanes.add(now.readsOpenPanes());
    }

    @Override
    public QueueId place() throws IOException {
      if (away) {
        throw new IOException("no name server");
      }
      return place;
    }

    @Override
    public JournalLog open(QueueId queue) {
      MemoryLog opened = logs.open(queue);
      return new JournalLog() {
        @Override
        public long append(byte[] message) throws IOException {
          if (raced != null) {
            opened.store(raced.encode());
            raced = null;
          }
          return opened.append(message);
        }

        @Override
        public List<Entry> read(long from) {
          return unreadable ? List.of() : opened.read(from);
        }

        @Override
        public long begin() {
          return opened.begin();
        }

        @Override
        public long end() {
          return opened.end();
        }

        @Override
        public long mark(String group) {
          return opened.mark(group);
        }

        @Override
        public void mark(String group, long offset) {
          opened.mark(group, offset);
        }
      };
    }

    @Override
    public boolean upToDate() {
      return false;
    }

    @Override
    public Set<QueueId> queues() {
      registering.run();
      return brokers ? Set.of(new QueueId("a", 0), new QueueId("a", 1)) : Set.of();
    }

    @Override
    public long end(QueueId queue) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Set<QueueId> owned() {
      return Set.of();
    }

    Part part(OwnPart own) {
      return decider.current().parts().get(own.fingerprint());
    }
  }

  @Test
  void everyServerAddsThePartOfItsConfiguration() throws Exception {
    look();
    look();

    assertThat(newest()).isEqualTo(one.decider.current()).isEqualTo(other.decider.current());
    assertThat(newest().parts()).containsOnlyKeys("routes", "methods");
    assertThat(newest().of("shop").spanKeys()).containsExactly("http.route", "rpc.method");
    assertThat(log.end()).as("records").isEqualTo(2);
    assertThat(one.part(ROUTES).changedEpoch()).isLessThan(one.part(METHODS).changedEpoch());
    assertThat(newest().version()).isEqualTo(newest().epoch());
  }

  @Test
  void otherThresholdsMakeAPartBesideThePreviousOneUntilThatExpires() throws Exception {
    look();
    look();
    one.own = own("slower", "http.route");
    look();
    assertThat(one.decider.fingerprint()).as("same thresholds").isEqualTo("routes");
    one.needs = new SpanNeeds(new SlowThresholds(DocumentsConfig.defaults()), Map.of());
    look();

    assertThat(one.decider.fingerprint()).isEqualTo("slower");
    assertThat(newest().parts()).containsOnlyKeys("routes", "methods", "slower");
    pass(DemandDecider.EXPIRES_AFTER.plus(DemandDecider.RENEWED_AFTER), one, other);
    assertThat(newest().parts()).containsOnlyKeys("methods", "slower");
  }

  @Test
  void otherAttributesOfRulesMakeAPart() throws Exception {
    look();
    one.own = own("wider", "http.route", "region");
    one.needs = new SpanNeeds(SLOW, Map.of());
    look();
    assertThat(one.decider.fingerprint()).as("same needs").isEqualTo("routes");
    one.needs = new SpanNeeds(SLOW, Map.of("*", Set.of("region")));
    look();

    assertThat(one.decider.fingerprint()).isEqualTo("wider");
    assertThat(newest().of("shop").spanKeys()).contains("region");
  }

  @Test
  void demandWaitsUntilThresholdsAreKnown() throws Exception {
    Server server = new Server(ROUTES);
    SpanNeeds known = server.needs;
    server.needs = null;
    look(server);
    assertThat(log.end()).isZero();
    assertThat(server.decider.fingerprint()).isEmpty();

    server.needs = known;
    look(server);
    assertThat(newest().parts()).containsOnlyKeys("routes");
  }

  @Test
  void panesAreWrittenWhileAllServersReadThem() throws Exception {
    OwnPart reads = own("new", Demand.PANES);
    Server newer = new Server(reads);
    look(newer);
    assertThat(newer.panes).containsExactly(true);

    Server older = new Server(own("old", Demand.BUNDLES));
    look(older, newer);
    assertThat(older.panes).containsExactly(false);
    assertThat(newer.panes).containsExactly(true, false);

    pass(DemandDecider.EXPIRES_AFTER.plus(DemandDecider.RENEWED_AFTER), newer);
    assertThat(newer.panes).endsWith(true);
  }

  @Test
  void openPanesAreWrittenWhileAllServersReadThem() throws Exception {
    Server newer = new Server(own("new", Demand.PANES | Demand.OPEN_PANES));
    look(newer);
    Server older = new Server(own("old", Demand.PANES));
    look(older, newer);

    assertThat(newer.openPanes).containsExactly(true, false);
    assertThat(newer.panes).containsExactly(true, true);
  }

  @Test
  void aFailedLookChangesNothingOfPanes() throws Exception {
    Server server = new Server(own("new", Demand.PANES));
    away = true;
    look(server);
    away = false;
    server.unreadable = true;
    log.append(new Demand(nowMillis, nowMillis, Map.of("old", ROUTES.part())).encode());
    look(server);
    assertThat(server.panes).isEmpty();

    server.unreadable = false;
    look(server);
    assertThat(server.panes).containsExactly(false);
  }

  @Test
  void withoutTheTopicNothingIsExpectedOfPanes() throws Exception {
    Server server = new Server(own("new", Demand.PANES));
    place = null;
    look(server);
    assertThat(server.panes).isEmpty();
    assertThat(server.looksWithoutTopic).isEqualTo(1);

    place = ROUTING;
    look(server);
    place = null;
    look(server);
    assertThat(server.panes).containsExactly(true);
  }

  @Test
  void withoutABrokerNothingIsKnownOfPanes() throws Exception {
    Server server = new Server(own("new", Demand.PANES));
    place = null;
    brokers = false;
    assertThat(server.decider.step()).isEqualTo(TimeUnit.SECONDS.toNanos(1));
    assertThat(server.looksWithoutTopic).isZero();

    // One comes between the two questions to the name server.
    registering =
        () -> {
          brokers = true;
          place = ROUTING;
        };
    look(server);
    assertThat(server.panes).containsExactly(true);
    assertThat(server.looksWithoutTopic).isZero();
  }

  @Test
  void serversOfOneConfigurationShareAPart() throws Exception {
    Server same = new Server(ROUTES);
    look(one, same);
    look(one, same);

    assertThat(log.end()).isEqualTo(1);
    assertThat(newest().parts()).containsOnlyKeys("routes");
  }

  @Test
  void partIsRenewedByOneServerAndKeepsItsVersion() throws Exception {
    Server same = new Server(ROUTES);
    look(one, same);
    Demand first = newest();
    pass(DemandDecider.RENEWED_AFTER, one, same);
    look(one, same);

    assertThat(log.end()).isEqualTo(2);
    assertThat(newest().sameContent(first)).isTrue();
    assertThat(newest().version()).isEqualTo(first.version());
    assertThat(newest().epoch()).isGreaterThan(first.epoch());
    assertThat(newest().parts().get("routes").seenMillis())
        .isGreaterThanOrEqualTo(
            first.parts().get("routes").seenMillis() + DemandDecider.RENEWED_AFTER.toMillis());
  }

  @Test
  void partThatNoServerRenewsExpires() throws Exception {
    look();
    look();
    pass(DemandDecider.EXPIRES_AFTER.minusMinutes(1), one);
    assertThat(newest().parts()).containsOnlyKeys("routes", "methods");
    pass(DemandDecider.RENEWED_AFTER.plusMinutes(1), one);

    assertThat(newest().parts()).containsOnlyKeys("routes");
    look(other);
    assertThat(newest().parts()).as("back").containsOnlyKeys("routes", "methods");
  }

  @Test
  void partOfServersThatRunDoesNotExpire() throws Exception {
    pass(Duration.ofHours(2), one, other);

    assertThat(newest().parts()).containsOnlyKeys("routes", "methods");
    assertThat(log.end()).isLessThanOrEqualTo(2 + 2 * 24);
  }

  @Test
  void longAbsenceOfTheBrokerIsNoChange() throws Exception {
    look(one);
    Demand first = newest();
    away = true;
    pass(Duration.ofHours(1), one);
    away = false;
    look(one);

    assertThat(newest().epoch()).as("renewed").isGreaterThan(first.epoch());
    assertThat(newest().version()).isEqualTo(first.version());
  }

  @Test
  void serverWithAWrongClockNeitherRemovesPartsNorWritesMoreOften() throws Exception {
    one.aheadMillis = TimeUnit.HOURS.toMillis(5);
    pass(Duration.ofHours(1), one, other, new Server(ROUTES));

    assertThat(newest().parts()).containsOnlyKeys("routes", "methods");
    assertThat(log.end()).isLessThanOrEqualTo(2 + 2 * 12);
  }

  @Test
  void recordThatLosesTheRaceIsWrittenAgain() throws Exception {
    // The epoch of the other server's record is higher: it was written first and is in force.
    one.raced =
        new Demand(
            nowMillis + 2 * INTERVAL_MILLIS,
            nowMillis,
            Map.of("methods", METHODS.part().at(nowMillis, nowMillis)));
    look(one);
    assertThat(one.decider.current().parts()).containsOnlyKeys("methods");
    look(one);
    look(other);

    assertThat(newest()).isEqualTo(one.decider.current());
    assertThat(newest().parts()).containsOnlyKeys("routes", "methods");
  }

  @Test
  void partWithAnotherContentIsReplaced() throws Exception {
    log.append(
        new Demand(
                nowMillis, nowMillis, Map.of("routes", METHODS.part().at(nowMillis, nowMillis - 5)))
            .encode());
    look(one);

    assertThat(newest().of("shop").spanKeys()).containsExactly("http.route");
    assertThat(newest().version()).as("a new version").isEqualTo(newest().epoch());
  }

  @Test
  void withoutTheTopicNothingIsWritten() throws Exception {
    place = null;
    look();
    look();
    assertThat(log.end()).isZero();
    assertThat(one.decider.current()).isEqualTo(Demand.NONE);

    place = ROUTING;
    look();
    assertThat(newest().parts()).containsOnlyKeys("routes", "methods");
  }

  @Test
  void recreatedTopicReceivesTheDemandAgain() throws Exception {
    look();
    look();
    Demand before = newest();
    log.deleteFrom(0);
    look();

    assertThat(log.end()).isEqualTo(1);
    assertThat(newest()).isEqualTo(before);
  }

  @Test
  void behindManyOtherRecordsTheDemandIsWrittenAgain() throws Exception {
    look();
    look();
    Demand before = newest();
    for (int i = 0; i < 20; i++) {
      log.append(new HotspotDecisions(nowMillis + i, 1, Map.of()).encode());
    }
    look();
    look();

    assertThat(log.end()).isEqualTo(2 + 20 + 1);
    assertThat(newest()).isEqualTo(before);
    assertThat(one.decider.refused()).isZero();
  }

  @Test
  void unconfirmedRecordIsReadBeforeAnotherIsWritten() throws Exception {
    log.leaveUnconfirmed(true);
    look(one);
    assertThat(one.decider.current()).isEqualTo(Demand.NONE);
    log.leaveUnconfirmed(false);
    look(one);

    assertThat(log.end()).isEqualTo(1);
    assertThat(newest()).isEqualTo(one.decider.current());
  }

  @Test
  void recordsThatCannotBeReadYetAreNotReplaced() throws Exception {
    look(other);
    one.unreadable = true;
    look(one);
    assertThat(log.end()).isEqualTo(1);
    one.unreadable = false;
    look(one);

    assertThat(newest().parts()).containsOnlyKeys("routes", "methods");
  }

  @Test
  void untilTheBrokerIsThereItIsAskedSooner() throws Exception {
    away = true;
    assertThat(one.decider.step()).isEqualTo(TimeUnit.SECONDS.toNanos(1));
    away = false;
    nanos += TimeUnit.SECONDS.toNanos(1);
    assertThat(one.decider.step()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(INTERVAL_MILLIS));
    assertThat(log.end()).isEqualTo(1);
  }

  @Test
  void serverThatLooksSeldomStillRenewsInTime() throws Exception {
    pass(Duration.ofHours(2), new Server(METHODS, Duration.ofHours(2)), one);

    assertThat(newest().parts()).containsOnlyKeys("routes", "methods");
    assertThat(nowMillis - newest().parts().get("methods").seenMillis())
        .isLessThanOrEqualTo(2 * DemandDecider.RENEWED_AFTER.toMillis());
  }

  @Test
  void seventeenthConfigurationWaitsForRoom() throws Exception {
    Map<String, Part> parts = new HashMap<>();
    for (int i = 0; i < Demand.MAX_PARTS; i++) {
      parts.put("p" + i, METHODS.part().at(nowMillis, nowMillis));
    }
    log.append(new Demand(nowMillis, nowMillis, parts).encode());
    look(one);
    assertThat(log.end()).isEqualTo(1);

    pass(DemandDecider.EXPIRES_AFTER, one);
    assertThat(newest().parts()).containsOnlyKeys("routes");
  }

  private static OwnPart own(String fingerprint, String... keys) {
    return new OwnPart(
        fingerprint,
        new Part(0, 1, false, 15_000, List.of(keys), List.of(), 1_000_000_000, List.of()));
  }

  private static OwnPart own(String fingerprint, int formats) {
    return new OwnPart(
        fingerprint, new Part(0, 1, false, 15_000, List.of(), List.of(), 0, List.of(), formats));
  }

  /** The demand of the newest records. */
  private Demand newest() throws Exception {
    Demand newest = Demand.NONE;
    for (long offset = log.begin(); offset < log.end(); offset++) {
      byte[] body = log.read(offset).getFirst().body();
      if (Demand.FORMAT.begins(body)) {
        Demand read = Demand.FORMAT.decode(body, nowMillis + TimeUnit.DAYS.toMillis(1));
        newest = read.holdsOver(newest) ? read : newest;
      }
    }
    return newest;
  }

  private void look(Server... servers) throws InterruptedException {
    nowMillis += INTERVAL_MILLIS;
    nanos += TimeUnit.MILLISECONDS.toNanos(INTERVAL_MILLIS);
    for (Server server : servers.length == 0 ? new Server[] {one, other} : servers) {
      server.decider.step();
    }
  }

  private void pass(Duration time, Server... servers) throws InterruptedException {
    for (long passed = 0; passed < time.toMillis(); passed += INTERVAL_MILLIS) {
      look(servers);
    }
  }
}
