package org.traceetl.server.features.learn;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.proto.Demand;
import org.traceetl.proto.EdgeQueues;
import org.traceetl.proto.HotspotDecisions;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.NameRule;
import org.traceetl.proto.NameRules;
import org.traceetl.proto.RulesRecord;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.TemplatesConfig;
import org.traceetl.server.decisions.DecisionLog;
import org.traceetl.server.features.hotspot.HotspotsConfig;
import org.traceetl.server.features.learn.LearnConfig.Keep;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.MemoryLogs;
import org.traceetl.server.journal.MemoryLogs.MemoryLog;
import org.traceetl.server.series.NamePatterns;
import org.traceetl.server.window.QueueId;

final class NameDeciderTest {
  private static final int MORE_THAN = 50;
  private static final QueueId ROUTING = new QueueId("a", 0);
  private static final long INTERVAL_MILLIS = HotspotsConfig.defaults().interval().toMillis();

  private final MemoryLogs logs = new MemoryLogs();
  private final MemoryLog log = logs.open(ROUTING);
  private long nowMillis = 1_795_255_000_000L;
  private boolean away;
  private QueueId place = ROUTING;
  private final Server one = new Server(new LearnConfig(null, MORE_THAN, null, null), true);
  private final Server other = new Server(new LearnConfig(null, MORE_THAN, null, null), true);

  /** A server with the queues it owns. */
  private final class Server implements DecisionLog {
    private final Set<QueueId> owned = new HashSet<>();
    private final List<LearntNames> told = new ArrayList<>();
    private final NameDecider decider;

    Server(LearnConfig learn, boolean decides) {
      decider =
          new NameDecider(
              HotspotsConfig.defaults().topic(),
              HotspotsConfig.defaults().interval(),
              learn,
              series().maxValueBytes(),
              new NamePatterns(series().templates().patterns())::mayMake,
              decides,
              this,
              new Clocks(
                  () -> TimeUnit.MILLISECONDS.toNanos(nowMillis),
                  () -> Instant.ofEpochMilli(nowMillis)),
              told::add);
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
      return logs.open(queue);
    }

    @Override
    public boolean upToDate() {
      return true;
    }

    @Override
    public Set<QueueId> queues() {
      return Set.of(new QueueId("a", 0), new QueueId("a", 1));
    }

    @Override
    public long end(QueueId queue) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Set<QueueId> owned() {
      return owned;
    }

    List<String> rules() {
      return decider.current().applications().entrySet().stream()
          .flatMap(entry ->
              entry.getValue().rules().stream().map(rule -> entry.getKey() + " " + rule.text()))
          .sorted()
          .toList();
    }
  }

  @Test
  void theOwnerOfTheLowestQueueLearnsAndAllFollow() throws Exception {
    one.owned.add(new QueueId("a", 0));
    other.owned.add(new QueueId("a", 1));
    look();
    assertThat(one.decider.current().epoch()).isPositive(); // that nothing is learnt
    see("shop", "/users/");
    look();
    look();

    assertThat(one.rules()).containsExactly("shop /users/{*}");
    assertThat(other.decider.current()).isEqualTo(one.decider.current());
    assertThat(one.told).containsExactly(one.decider.current());
    NameRule rule = one.decider.current().applications().get("shop").rules().getFirst();
    assertThat(rule.values()).isEqualTo(MORE_THAN + 1);
    assertThat(rule.behind()).isEqualTo(1);
    assertThat(log.end()).isEqualTo(2);
  }

  @Test
  void whoTakesTheQueueOverGoesOnFromWhatIsLearnt() throws Exception {
    one.owned.add(new QueueId("a", 0));
    see("shop", "/users/");
    look();
    see("bank", "/accounts/");
    other.owned.addAll(one.owned);
    one.owned.clear();
    look();
    look();

    assertThat(one.rules())
        .isEqualTo(other.rules())
        .containsExactly("bank /accounts/{*}", "shop /users/{*}");
    Server late = new Server(new LearnConfig(null, MORE_THAN, null, null), true);
    late.decider.step();
    assertThat(late.rules()).isEqualTo(one.rules());
  }

  @Test
  void aServerThatMayNotDecideFollows() throws Exception {
    Server follower = new Server(new LearnConfig(null, MORE_THAN, null, null), false);
    follower.owned.add(new QueueId("a", 0));
    follower.decider.window(NameVarietyTest.window("shop", 500, NameDeciderTest::cart));
    follower.decider.step();
    assertThat(log.end()).isZero();
    log.append(learnt(nowMillis, "shop", "/users/").encode());
    nowMillis += INTERVAL_MILLIS;
    follower.decider.step();

    assertThat(follower.rules()).containsExactly("shop /users/{*}");
  }

  @Test
  void whatIsToBeKeptApartIsNotLearntAndTakenBack() throws Exception {
    log.append(learnt(nowMillis, "shop", "/users/").encode());
    Server keeping =
        new Server(
            new LearnConfig(
                null, MORE_THAN, null, List.of(new Keep("sh*", "/users/*"), new Keep("b*", null))),
            true);
    keeping.owned.add(new QueueId("a", 0));
    keeping.decider.window(NameVarietyTest.window("bank", 500, NameDeciderTest::cart));
    keeping.decider.window(NameVarietyTest.window("shop", 500, NameDeciderTest::cart));
    keeping.decider.window(NameVarietyTest.window("post", 500, NameDeciderTest::cart));
    keeping.decider.step();

    assertThat(keeping.rules()).containsExactly("post /users/{*}");
    assertThat(log.end()).isEqualTo(2);
    nowMillis += INTERVAL_MILLIS;
    keeping.decider.step();
    assertThat(log.end()).isEqualTo(2);
  }

  @Test
  void thereIsNoRoomForMoreRulesThanThat() throws Exception {
    Server small = new Server(new LearnConfig(null, MORE_THAN, 2, null), true);
    small.owned.add(new QueueId("a", 0));
    for (String application : List.of("a", "b", "c")) {
      small.decider.window(NameVarietyTest.window(application, 500, NameDeciderTest::cart));
    }
    small.decider.step();

    assertThat(small.rules()).containsExactly("a /users/{*}", "b /users/{*}");
  }

  @Test
  void oneApplicationDoesNotTakeTheRoomOfAll() throws Exception {
    one.owned.add(new QueueId("a", 0));
    for (int place = 0; place < 150; place++) {
      see("hostile", "/" + NameVarietyTest.word(place) + "/");
    }
    see("shop", "/users/");
    look();

    assertThat(one.rules()).hasSize(101).contains("shop /users/{*}");
  }

  @Test
  void ofTwoDecidersTheSameHolds() throws Exception {
    one.owned.add(new QueueId("a", 0));
    other.owned.add(new QueueId("a", 0));
    one.decider.window(NameVarietyTest.window("shop", 500, NameDeciderTest::cart));
    other.decider.window(NameVarietyTest.window("bank", 500, NameDeciderTest::cart));
    for (int i = 0; i < 3; i++) {
      look();
    }

    assertThat(one.rules())
        .isEqualTo(other.rules())
        .containsExactly("bank /users/{*}", "shop /users/{*}");
  }

  @Test
  void recordsOfOtherKindsArePassedByAndOthersCounted() throws Exception {
    one.owned.add(new QueueId("a", 0));
    see("shop", "/users/");
    look();
    log.append(new HotspotDecisions(nowMillis + 1, 1, Map.of()).encode());
    log.append(new Demand(nowMillis + 1, 1, Map.of()).encode());
    log.append(new EdgeQueues(nowMillis + 1, 1, Map.of()).encode());
    log.append(new RulesRecord(12, 1, Map.of()).encode());
    log.append(new byte[] {1, 2, 3});
    byte[] ofLaterRelease = new RulesRecord(12, 1, Map.of()).encode();
    ofLaterRelease[3]++;
    log.append(ofLaterRelease);
    look();

    assertThat(one.decider.refused()).isEqualTo(2);
    assertThat(one.rules()).hasSize(1);
  }

  @Test
  void behindManyOthersTheRecordIsWrittenAgain() throws Exception {
    one.owned.add(new QueueId("a", 0));
    see("shop", "/users/");
    look();
    look();
    assertThat(log.end()).isEqualTo(1);
    for (int i = 0; i < 20; i++) {
      log.append(new HotspotDecisions(nowMillis + i, 1, Map.of()).encode());
    }
    look();
    look();

    assertThat(log.end()).isEqualTo(22);
    assertThat(LearntNames.FORMAT.decode(log.read(21).getFirst().body(), nowMillis))
        .isEqualTo(one.decider.current());
  }

  @Test
  void untilTheBrokerIsThereItIsAskedSoonerAgain() throws Exception {
    away = true;
    assertThat(one.decider.step()).isEqualTo(TimeUnit.SECONDS.toNanos(1));
    away = false;
    nowMillis += 1_000;
    assertThat(one.decider.step()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(INTERVAL_MILLIS));
    place = null;
    look();
    assertThat(one.decider.current()).isEqualTo(LearntNames.NONE);
  }

  @Test
  void whatALaterRecordLacksIsLearntAgain() throws Exception {
    one.owned.add(new QueueId("a", 0));
    see("shop", "/users/");
    look();
    log.append(learnt(nowMillis + 1, "bank", "/accounts/").encode());
    look();
    look();

    assertThat(one.rules())
        .isEqualTo(other.rules())
        .containsExactly("bank /accounts/{*}", "shop /users/{*}");
  }

  @Test
  void whatPatternsMakeIsNotLearntFrom() throws Exception {
    one.owned.add(new QueueId("a", 0));
    see("patterned", "/tenants/");
    see("shop", "/tenants/");
    look();

    assertThat(one.rules()).containsExactly("shop /tenants/{*}");
  }

  private static SeriesConfig series() {
    List<TemplatesConfig.Rule> patterns =
        List.of(
            new TemplatesConfig.Rule("patterned", "/tenants/([^/]+)/.*/cart", "/tenants/$1/cart"));
    return new SeriesConfig(
        null, null, null, null, null, null, null, null, new TemplatesConfig(null, patterns));
  }

  private static LearntNames learnt(long epoch, String application, String prefix) {
    NameRules rules = new NameRules(List.of(new NameRule(prefix, 1, MORE_THAN + 1, 1)));
    return new LearntNames(epoch, 1, Map.of(application, rules));
  }

  private static String cart(int user) {
    return "/users/" + NameVarietyTest.word(user) + "/cart";
  }

  /** All servers hear of so many names. */
  private void see(String application, String prefix) {
    for (Server server : List.of(one, other)) {
      server.decider.window(
          NameVarietyTest.window(
              application, 2 * MORE_THAN, i -> prefix + NameVarietyTest.word(i) + "/cart"));
    }
  }

  private void look() throws InterruptedException {
    nowMillis += INTERVAL_MILLIS;
    one.decider.step();
    other.decider.step();
  }
}
