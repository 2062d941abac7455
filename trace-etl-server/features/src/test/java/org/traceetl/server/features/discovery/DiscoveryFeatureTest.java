package org.traceetl.server.features.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.server.rocketmq.Announcement;
import org.traceetl.server.rocketmq.Endpoint;

/** Looks are made by hand, at times that are told. */
class DiscoveryFeatureTest {
  private static final Endpoint OWN = new Endpoint(false, "10.0.0.1", 8080);
  private static final Endpoint OTHER = new Endpoint(true, "10.0.0.2", 8443);
  private static final Endpoint THIRD = new Endpoint(false, "2001:db8::3", 8080);
  private static final int FORGET_AFTER_SECONDS = 45;

  private final Group group = new Group();
  private long nowNanos;
  private final DiscoveryFeature fleet =
      new DiscoveryFeature(
          new DiscoveryConfig(null, Duration.ofSeconds(FORGET_AFTER_SECONDS)),
          group,
          new Clocks(() -> nowNanos, Clock.fixed(Instant.EPOCH, ZoneOffset.UTC)));

  /** What brokers say. */
  private static final class Group implements DiscoveryFeature.Members {
    private final Set<String> names = new HashSet<>();
    private boolean away;

    void join(Endpoint server) {
      // Each of its workers is a member.
      names.add(name(server, 0));
      names.add(name(server, 1));
    }

    void leave(Endpoint server) {
      names.removeIf(name -> name.endsWith("=" + server));
    }

    private static String name(Endpoint server, int worker) {
      return "10.9.9.9@" + Announcement.instance("77-123456789-" + worker, server);
    }

    @Override
    public Collection<String> names() throws IOException {
      if (away) {
        throw new IOException("no broker answers");
      }
      return names;
    }
  }

  @BeforeEach
  void thisServerIsSomewhere() {
    fleet.at(OWN);
  }

  @Test
  void nobodyIsToldOfBeforeABrokerHasAnswered() throws Exception {
    group.away = true;
    look(0);

    assertThat(fleet.servers()).isEmpty();
    assertThat(fleet.current()).isFalse();
  }

  @Test
  void eachServerIsListedOnceInOrder() throws Exception {
    group.join(THIRD);
    group.join(OTHER);
    look(0);

    // Itself as well, though no broker knows it yet.
    assertThat(fleet.servers()).contains(List.of(OWN, OTHER, THIRD));
    assertThat(fleet.current()).isTrue();
    assertThat(fleet.leftOut()).isEmpty();
  }

  @Test
  void whoLeavesIsForgottenAfterTheTimeTold() throws Exception {
    group.join(OTHER);
    look(0);
    group.leave(OTHER);
    look(1);
    look(FORGET_AFTER_SECONDS);
    assertThat(fleet.servers()).contains(List.of(OWN, OTHER));

    look(FORGET_AFTER_SECONDS + 1);

    assertThat(fleet.servers()).contains(List.of(OWN));
  }

  @Test
  void brokersThatAreAwayTakeNobodyFromTheList() throws Exception {
    group.join(OTHER);
    look(0);
    group.away = true;
    look(2);
    look(10_000);

    assertThat(fleet.servers()).contains(List.of(OWN, OTHER));
    assertThat(fleet.current()).isFalse();
  }

  @Test
  void aBrokerThatIsBackHasTimeToHearOfItsClients() throws Exception {
    group.join(OTHER);
    look(0);
    group.away = true;
    look(100);
    group.away = false;
    group.leave(OTHER);
    look(1_000);
    look(1_000 + FORGET_AFTER_SECONDS);
    assertThat(fleet.servers()).contains(List.of(OWN, OTHER));

    group.join(OTHER);
    look(1_000 + 2 * FORGET_AFTER_SECONDS);
    assertThat(fleet.servers()).contains(List.of(OWN, OTHER));
    assertThat(fleet.current()).isTrue();

    // Who does not come back has left meanwhile.
    group.leave(OTHER);
    look(1_001 + 3 * FORGET_AFTER_SECONDS);
    assertThat(fleet.servers()).contains(List.of(OWN));
  }

  @Test
  void whatIsNoEndpointIsLeftOutByReason() throws Exception {
    group.names.addAll(
        List.of(
            "10.0.0.5@77-1-0",
            "10.0.0.5@77-1-0=",
            "10.0.0.5@77-1-0=http://10.0.0.5",
            "10.0.0.5@77-1-0=http://10.0.0.5:0",
            "10.0.0.5@77-1-0=http://10.0.0.5:65536",
            "10.0.0.5@77-1-0=http://user@10.0.0.5:8080",
            "10.0.0.5@77-1-0=http://10.0.0.5:8080/metrics",
            "10.0.0.5@77-1-0=http://a b:8080",
            "10.0.0.5@77-1-0=http://[fe80::1%eth0]:8080",
            "10.0.0.5@77-1-0=gopher://10.0.0.5:8080",
            "10.0.0.5@77-1-0=http://" + "a".repeat(254) + ":8080"));
    look(0);

    assertThat(fleet.servers()).contains(List.of(OWN));
    assertThat(fleet.leftOut())
        .containsExactlyInAnyOrderEntriesOf(Map.of("unannounced", 1, "malformed", 10));
  }

  @Test
  void theListHasABoundThatTakesNoServerOutOfIt() throws Exception {
    group.join(OTHER);
    look(0);
    IntStream.range(1, 65_536).forEach(port -> group.join(new Endpoint(false, "flood", port)));
    look(1);

    assertThat(fleet.servers()).isPresent();
    assertThat(fleet.servers().get()).hasSize(DiscoveryFeature.MAX_SERVERS).contains(OWN, OTHER);
    assertThat(fleet.leftOut()).containsOnlyKeys("too_many");
  }

  private void look(long seconds) throws InterruptedException {
    nowNanos = TimeUnit.SECONDS.toNanos(seconds);
    assertThat(fleet.look()).isEqualTo(DiscoveryFeature.LOOK_NANOS);
  }
}
