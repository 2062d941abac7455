package org.traceetl.agent.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.agent.telemetry.MetricValues.value;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.PublishConfig;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.publish.DecisionsWatch.Newest;
import org.traceetl.agent.publish.DecisionsWatch.Place;
import org.traceetl.agent.state.StateDirectory;
import org.traceetl.common.Clocks;
import org.traceetl.proto.Demand;
import org.traceetl.proto.EdgeQueues;
import org.traceetl.proto.HotspotDecisions;
import org.traceetl.proto.HotspotDecisions.Decision;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.NameRule;
import org.traceetl.proto.NameRules;
import org.traceetl.proto.RulesRecord;
import org.traceetl.proto.SignedRecord;

final class DecisionsWatchTest {
  private PublishMetrics metrics;
  private final List<byte[]> topic = new ArrayList<>();
  private final List<HotspotDecisions> told = new ArrayList<>();
  private final List<LearntNames> learnt = new ArrayList<>();
  private RecordFollower<HotspotDecisions> hotspots;
  private RecordFollower<LearntNames> names;
  private boolean hotspotsFollowed = true;
  private boolean namesFollowed = true;
  private RecordFollower<Demand> demand;
  private boolean demandFollowed = true;
  // Those that came into force, and NONE for each that expired.
  private final List<Demand> demanded = new ArrayList<>();
  private final List<Demand> renewed = new ArrayList<>();
  private RecordFollower<EdgeQueues> edges;
  private boolean edgesFollowed = true;
  private final List<EdgeQueues> edgeQueues = new ArrayList<>();
  private final AtomicLong nanos = new AtomicLong();
  private final AtomicLong millis = new AtomicLong(1_000);
  private String broker = "a";
  private boolean away;

  private Path publicKeys;

  @TempDir private Path directory;
  private StateDirectory state;

  @BeforeEach
  void open() throws IOException {
    state = StateDirectory.open(directory.resolve("state"), Disk.SYSTEM);
  }

  @AfterEach
  void close() throws IOException {
    state.close();
  }

  @Test
  void recordWithoutAValidSignatureIsRefused() throws Exception {
    KeyPair servers = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
    KeyPair stranger = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
    publicKeys = writtenTo("keys.pem", servers);
    DecisionsWatch watch = watch();
    topic.add(decisions(9, 32).encode());
    topic.add(signed(decisions(8, 16), stranger));
    topic.add(signed(decisions(5, 4), servers));
    topic.add(signed(decisions(4, 2), servers));
    watch.doWork();
    assertThat(told).containsExactly(decisions(5, 4));
    assertThat(refused("signature")).isEqualTo(2);

    // Keys change while the agent runs; without keys it accepts no decisions.
    Files.writeString(publicKeys, "rubbish");
    topic.add(signed(decisions(10, 64), stranger));
    watch.doWork();
    assertThat(told).hasSize(1);
    writtenTo("keys.pem", stranger);
    watch.doWork();
    assertThat(hotspots.current()).isEqualTo(decisions(10, 64));
  }

  @Test
  void signedRecordIsAcceptedWithoutPublicKeys() throws Exception {
    DecisionsWatch watch = watch();
    topic.add(signed(decisions(5, 4), KeyPairGenerator.getInstance("Ed25519").generateKeyPair()));
    topic.add(decisions(6, 8).encode());
    watch.doWork();
    assertThat(told).containsExactly(decisions(5, 4), decisions(6, 8));
  }

  private static byte[] signed(HotspotDecisions decisions, KeyPair pair) {
    return SignedRecord.sign(decisions.encode(), "trace-routing", pair.getPrivate());
  }

  private Path writtenTo(String name, KeyPair pair) throws IOException {
    return Files.writeString(
        directory.resolve(name),
        "-----BEGIN PUBLIC KEY-----\n"
            + Base64.getEncoder().encodeToString(pair.getPublic().getEncoded())
            + "\n-----END PUBLIC KEY-----\n");
  }

  @Test
  void highestEpochWinsInAnyOrder() throws IOException {
    DecisionsWatch watch = watch();
    topic.add(decisions(5, 4).encode());
    topic.add(decisions(7, 8).encode());
    topic.add(decisions(6, 32).encode());
    watch.doWork();
    topic.add(decisions(7, 16).encode());
    watch.doWork();
    topic.add(decisions(7, 8).encode());
    watch.doWork();

    assertThat(hotspots.current()).isEqualTo(decisions(7, 16));
    assertThat(told).containsExactly(decisions(5, 4), decisions(7, 8), decisions(7, 16));
    away = true;
    try (DecisionsWatch next = watch()) {
      next.start();
      assertThat(hotspots.current()).isEqualTo(decisions(7, 16));
    }
  }

  @Test
  void recordsAreReadAgainFromAnotherBroker() throws IOException {
    DecisionsWatch watch = watch();
    topic.add(decisions(5, 4).encode());
    watch.doWork();
    topic.set(0, decisions(6, 8).encode());
    broker = "b";
    watch.doWork();

    assertThat(hotspots.current()).isEqualTo(decisions(6, 8));
  }

  @Test
  void anEpochFarAheadOfTheClockIsRefused() throws IOException {
    DecisionsWatch watch = watch();
    topic.add(decisions(Long.MAX_VALUE, 32).encode());
    topic.add(decisions(5, 4).encode());
    watch.doWork();

    assertThat(hotspots.current()).isEqualTo(decisions(5, 4));
    assertThat(refused("content")).isEqualTo(1);
  }

  @Test
  void decisionsInForceAreMeasured() throws IOException {
    DecisionsWatch watch = watch();
    topic.add(decisions(7, 8).encode());
    watch.doWork();

    assertThat(sample("hotspot_epoch")).isEqualTo(7);
    assertThat(sample("hotspot_applications")).isEqualTo(1);
  }

  @Test
  void invalidRecordsAreCountedAndTheOthersApply() throws IOException {
    DecisionsWatch watch = watch();
    byte[] later = decisions(9, 4).encode();
    later[4] = 2;
    topic.add(new byte[0]);
    topic.add(later);
    topic.add(decisions(5, 4).encode());
    topic.add(new byte[100]);
    watch.doWork();

    assertThat(hotspots.current()).isEqualTo(decisions(5, 4));
    assertThat(refused("length")).isEqualTo(1);
    assertThat(refused("version")).isEqualTo(1);
    assertThat(refused("magic")).isEqualTo(1);
  }

  @Test
  void storedDecisionsApplyWhileTheBrokerIsUnreachable() throws IOException {
    topic.add(decisions(7, 8).encode());
    watch().doWork();
    told.clear();
    away = true;
    try (DecisionsWatch next = watch()) {
      next.start();
      assertThat(hotspots.current()).isEqualTo(decisions(7, 8));
      assertThat(told).containsExactly(decisions(7, 8));
    }
    try (DecisionsWatch elsewhere = watch("another-topic")) {
      elsewhere.start();
      assertThat(hotspots.current()).isEqualTo(HotspotDecisions.NONE);
    }
  }

  @Test
  void damagedFileIsIgnored() throws IOException {
    topic.add(decisions(7, 8).encode());
    watch().doWork();
    byte[] content = state.read("hotspots").orElseThrow();
    content[content.length - 1]++;
    state.write("hotspots", content);
    away = true;
    try (DecisionsWatch next = watch()) {
      next.start();
      assertThat(hotspots.current()).isEqualTo(HotspotDecisions.NONE);
    }
  }

  @Test
  void learntNamesAndHotspotsAreFollowedAndStored() throws IOException {
    topic.add(decisions(7, 8).encode());
    topic.add(learnt(6, "/users/").encode());
    topic.add(learnt(5, "/orders/").encode());
    watch().doWork();

    assertThat(hotspots.current()).isEqualTo(decisions(7, 8));
    assertThat(learnt).containsExactly(learnt(6, "/users/"));
    assertThat(sample("learnt_names_epoch")).isEqualTo(6);
    assertThat(sample("learnt_name_rules")).isEqualTo(1);
    assertThat(refused("magic")).isZero();
    learnt.clear();
    away = true;
    try (DecisionsWatch next = watch()) {
      next.start();
      assertThat(names.current()).isEqualTo(learnt(6, "/users/"));
      assertThat(hotspots.current()).isEqualTo(decisions(7, 8));
      assertThat(learnt).hasSize(1);
    }
  }

  @Test
  void recordsOfAnUnfollowedKindAreIgnored() throws IOException {
    namesFollowed = false;
    topic.add(learnt(6, "/users/").encode());
    topic.add(decisions(7, 8).encode());
    watch().doWork();

    assertThat(names.current()).isEqualTo(LearntNames.NONE);
    assertThat(hotspots.current()).isEqualTo(decisions(7, 8));
    assertThat(refused("magic")).isZero();
  }

  @Test
  void rulesOfServersAreIgnoredAndRecordsOfAnUnknownKindCounted() throws IOException {
    byte[] rules = new RulesRecord(12, 1, Map.of()).encode();
    byte[] ofLaterRelease = rules.clone();
    ofLaterRelease[3]++;
    topic.add(rules);
    topic.add(ofLaterRelease);
    topic.add(decisions(7, 8).encode());
    watch().doWork();

    assertThat(hotspots.current()).isEqualTo(decisions(7, 8));
    assertThat(refused("magic")).isEqualTo(1);
  }

  @Test
  void invalidRecordsAreCountedIfHotspotsAreNotFollowed() throws IOException {
    hotspotsFollowed = false;
    topic.add(new byte[0]);
    topic.add(new byte[100]);
    topic.add(decisions(7, 8).encode());
    topic.add(learnt(6, "/users/").encode());
    watch().doWork();

    assertThat(names.current()).isEqualTo(learnt(6, "/users/"));
    assertThat(hotspots.current()).isEqualTo(HotspotDecisions.NONE);
    assertThat(refused("length")).isEqualTo(1);
    assertThat(refused("magic")).isEqualTo(1);
  }

  @Test
  void demandIsFollowedAndMeasured() throws IOException {
    topic.add(decisions(7, 8).encode());
    topic.add(demand(6, 5, "http.route").encode());
    watch().doWork();

    assertThat(demanded).containsExactly(demand(6, 5, "http.route"));
    assertThat(sample("demand_version")).isEqualTo(5);
    assertThat(refused("magic")).isZero();
  }

  @Test
  void demandThatIsNotFollowedIsIgnoredSilently() throws IOException {
    demandFollowed = false;
    topic.add(demand(6, 5, "http.route").encode());
    topic.add(decisions(7, 8).encode());
    watch().doWork();

    assertThat(demanded).isEmpty();
    assertThat(sample("demand_version")).isZero();
    assertThat(hotspots.current()).isEqualTo(decisions(7, 8));
    assertThat(refused("magic")).isZero();
    assertThat(state.read("demand")).isEmpty();
  }

  @Test
  void renewalOfADemandIsNoChange() throws IOException {
    DecisionsWatch watch = watch();
    topic.add(demand(6, 5, "http.route").encode());
    watch.doWork();
    topic.add(demand(7, 5, "http.route").encode());
    watch.doWork();
    assertThat(demanded).containsExactly(demand(6, 5, "http.route"));
    assertThat(renewed).containsExactly(demand(6, 5, "http.route"), demand(7, 5, "http.route"));

    topic.add(demand(8, 8, "http.route", "peer.service").encode());
    watch.doWork();
    assertThat(demanded)
        .containsExactly(demand(6, 5, "http.route"), demand(8, 8, "http.route", "peer.service"));
  }

  @Test
  void demandExpires24HoursAfterItsLastRenewal() throws IOException {
    DecisionsWatch watch = watch();
    topic.add(demand(6, 5, "http.route").encode());
    watch.doWork();
    elapse(Duration.ofHours(23));
    topic.add(demand(7, 5, "http.route").encode());
    watch.doWork();
    elapse(Duration.ofHours(24).minusMillis(1));
    away = true;
    watch.doWork();
    assertThat(sample("demand_version")).isEqualTo(5);

    elapse(Duration.ofMillis(1));
    watch.doWork();
    assertThat(demanded).containsExactly(demand(6, 5, "http.route"), Demand.NONE);
    assertThat(sample("demand_version")).isZero();

    // The same record again is no renewal.
    away = false;
    broker = "b";
    watch.doWork();
    assertThat(sample("demand_version")).isZero();
    topic.add(demand(8, 5, "http.route").encode());
    watch.doWork();
    assertThat(demanded).last().isEqualTo(demand(8, 5, "http.route"));
    assertThat(sample("demand_version")).isEqualTo(5);
  }

  @Test
  void otherRecordsDoNotExpire() throws IOException {
    DecisionsWatch watch = watch();
    topic.add(decisions(7, 8).encode());
    topic.add(learnt(6, "/users/").encode());
    watch.doWork();
    elapse(Duration.ofDays(300));
    watch.doWork();

    assertThat(hotspots.current()).isEqualTo(decisions(7, 8));
    assertThat(names.current()).isEqualTo(learnt(6, "/users/"));
  }

  @Test
  void storedDemandIsUsedUntil24HoursAfterItsRenewal() throws IOException {
    topic.add(demand(6, 5, "http.route").encode());
    watch().doWork();
    away = true;
    millis.addAndGet(Duration.ofHours(23).toMillis());
    restart();
    DecisionsWatch next = watch();
    renewed.clear();
    next.load();
    assertThat(demanded).containsExactly(demand(6, 5, "http.route"));
    assertThat(renewed).containsExactly(demand(6, 5, "http.route"));

    elapse(Duration.ofMinutes(59));
    next.doWork();
    assertThat(sample("demand_version")).isEqualTo(5);
    elapse(Duration.ofMinutes(1));
    next.doWork();
    assertThat(demanded).last().isEqualTo(Demand.NONE);
  }

  @Test
  void storedDemandOfAnEarlierDayIsNotUsedUntilItIsRenewed() throws IOException {
    topic.add(demand(6, 5, "http.route").encode());
    watch().doWork();
    millis.addAndGet(Duration.ofHours(24).toMillis());
    restart();
    DecisionsWatch next = watch();
    next.load();
    next.doWork();
    assertThat(demanded).isEmpty();
    assertThat(sample("demand_version")).isZero();

    topic.add(demand(7, 5, "http.route").encode());
    next.doWork();
    assertThat(demanded).containsExactly(demand(7, 5, "http.route"));
  }

  @Test
  void stepsOfTheTimeOfDayDoNotExpireADemandInForce() throws IOException {
    topic.add(demand(6, 5, "http.route").encode());
    DecisionsWatch watch = watch();
    watch.doWork();
    millis.addAndGet(Duration.ofDays(3).toMillis());
    watch.doWork();
    millis.addAndGet(-Duration.ofDays(6).toMillis());
    watch.doWork();
    assertThat(sample("demand_version")).isEqualTo(5);
    nanos.addAndGet(Duration.ofHours(24).toNanos());
    watch.doWork();
    assertThat(demanded).last().isEqualTo(Demand.NONE);
  }

  @Test
  void timeOfDaySetBackBeforeARestartProlongsNothingBeyond24Hours() throws IOException {
    topic.add(demand(6, 5, "http.route").encode());
    watch().doWork();
    away = true;
    millis.addAndGet(-Duration.ofHours(1).toMillis());
    restart();
    DecisionsWatch next = watch();
    next.load();
    assertThat(demanded).containsExactly(demand(6, 5, "http.route"));
    elapse(Duration.ofHours(24));
    next.doWork();
    assertThat(demanded).last().isEqualTo(Demand.NONE);
  }

  @Test
  void queuesOfHalfEdgesComeIntoForceAndAreKeptForTheNextRun() throws IOException {
    DecisionsWatch watch = watch();
    assertThat(sample("edge_queues_epoch")).isZero();
    topic.add(decisions(9, 4).encode());
    topic.add(edgeQueues(5, 0, 1).encode());
    watch.doWork();
    assertThat(edgeQueues).containsExactly(edgeQueues(5, 0, 1));
    assertThat(sample("edge_queues_epoch")).isEqualTo(5);

    away = true;
    try (DecisionsWatch next = watch()) {
      next.start();
      assertThat(edges.current()).isEqualTo(edgeQueues(5, 0, 1));
      assertThat(edgeQueues).last().isEqualTo(edgeQueues(5, 0, 1));
      assertThat(edgeQueues).hasSize(2);
    }
  }

  @Test
  void aListOfALowerEpochReplacesNone() throws IOException {
    DecisionsWatch watch = watch();
    topic.add(edgeQueues(7, 0, 1).encode());
    topic.add(edgeQueues(6, 2).encode());
    watch.doWork();
    topic.add(edgeQueues(5).encode());
    topic.add(edgeQueues(7, 0, 1).encode());
    watch.doWork();
    assertThat(edgeQueues).containsExactly(edgeQueues(7, 0, 1));

    topic.add(edgeQueues(8, 0, 1, 2).encode());
    watch.doWork();
    topic.add(edgeQueues(9).encode());
    watch.doWork();
    assertThat(edgeQueues)
        .containsExactly(edgeQueues(7, 0, 1), edgeQueues(8, 0, 1, 2), edgeQueues(9));
    away = true;
    watch().load();
    assertThat(edges.current()).isEqualTo(edgeQueues(9));
  }

  @Test
  void damagedListsOfQueuesAreRefused() throws IOException {
    byte[] record = edgeQueues(7, 0, 1).encode();
    record[record.length - 1] ^= 1;
    DecisionsWatch watch = watch();
    topic.add(record);
    topic.add(edgeQueues(6, 3).encode());
    watch.doWork();
    assertThat(edgeQueues).containsExactly(edgeQueues(6, 3));
    byte[] stored = state.read("edge-queues").orElseThrow();
    state.write("edge-queues", Arrays.copyOf(stored, stored.length - 1));
    away = true;
    edgeQueues.clear();
    watch().load();
    assertThat(edgeQueues).isEmpty();
  }

  @Test
  void listsOfQueuesAreIgnoredIfNoHalfEdgesAreSent() throws IOException {
    edgesFollowed = false;
    DecisionsWatch watch = watch();
    topic.add(edgeQueues(7, 0, 1).encode());
    watch.doWork();

    assertThat(edgeQueues).isEmpty();
    assertThat(state.read("edge-queues")).isEmpty();
  }

  private static EdgeQueues edgeQueues(long epoch, int... queues) {
    return new EdgeQueues(
        epoch,
        1,
        queues.length == 0 ? Map.of() : Map.of("broker-a", new EdgeQueues.Queues(queues)));
  }

  @Test
  void damagedStoredDemandIsIgnored() throws IOException {
    topic.add(demand(6, 5, "http.route").encode());
    watch().doWork();
    byte[] content = state.read("demand").orElseThrow();
    away = true;
    for (int length : List.of(content.length - 1, content.length - 40, content.length - 200)) {
      state.write("demand", Arrays.copyOf(content, Math.max(0, length)));
      restart();
      watch().load();
      assertThat(demanded).isEmpty();
    }
  }

  private void elapse(Duration time) {
    nanos.addAndGet(time.toNanos());
    millis.addAndGet(time.toMillis());
  }

  /** The monotonic clock of the next process begins elsewhere. */
  private void restart() {
    nanos.set(-nanos.get() - 17);
    demanded.clear();
  }

  private static Demand demand(long epoch, long version, String... keys) {
    Demand.Part part =
        new Demand.Part(
            epoch * 1_000, version, false, 15_000, List.of(keys), List.of(), 1, List.of());
    return new Demand(epoch, 1, Map.of("a1", part));
  }

  private static LearntNames learnt(long epoch, String prefix) {
    NameRules rules = new NameRules(List.of(new NameRule(prefix, 1, 501, 1)));
    return new LearntNames(epoch, 1, Map.of("shop", rules));
  }

  private DecisionsWatch watch() {
    return watch("trace-routing");
  }

  private DecisionsWatch watch(String name) {
    metrics = new PublishMetrics();
    hotspots =
        new RecordFollower<>(
            HotspotDecisions.FORMAT,
            HotspotDecisions.NONE,
            hotspotsFollowed
                ? new DecisionsFile(state, "hotspots", name, PublishConfig.defaults())
                : null,
            told::add);
    names =
        new RecordFollower<>(
            LearntNames.FORMAT,
            LearntNames.NONE,
            namesFollowed
                ? new DecisionsFile(state, "learnt-names", name, PublishConfig.defaults())
                : null,
            learnt::add);
    Clocks clocks = new Clocks(nanos::get, () -> Instant.ofEpochMilli(millis.get()));
    demand =
        new RecordFollower<>(
            Demand.FORMAT,
            Demand.NONE,
            demandFollowed
                ? new DecisionsFile(state, "demand", name, PublishConfig.defaults())
                : null,
            demanded::add,
            renewed::add,
            Demand::sameContent,
            new Expiry(Duration.ofHours(24), clocks));
    edges =
        new RecordFollower<>(
            EdgeQueues.FORMAT,
            EdgeQueues.NONE,
            edgesFollowed
                ? new DecisionsFile(state, "edge-queues", name, PublishConfig.defaults())
                : null,
            edgeQueues::add);
    return new DecisionsWatch(
        new DecisionsWatch.Options(name, Optional.ofNullable(publicKeys), 600_000),
        known -> {
          if (away) {
            throw new IOException("the broker is away");
          }
          Place end = new Place(broker, topic.size());
          return new Newest(end, end.equals(known) ? List.of() : topic);
        },
        hotspots,
        names,
        demand,
        edges,
        metrics,
        clocks);
  }

  private static HotspotDecisions decisions(long epoch, int queues) {
    return new HotspotDecisions(epoch, 1, Map.of("hot", new Decision(queues, false, 1, 1)));
  }

  private double sample(String name) {
    return value(metrics, name);
  }

  private double refused(String reason) {
    return value(metrics, "hotspot_records_refused_total", "reason", reason);
  }
}
