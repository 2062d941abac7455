package org.traceetl.agent.publish;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.apache.rocketmq.common.action.Action.GET;
import static org.apache.rocketmq.common.action.Action.PUB;
import static org.apache.rocketmq.common.action.Action.SUB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.traceetl.agent.AgentPage.value;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.common.action.Action;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.agent.Platform;
import org.traceetl.agent.RunningAgent;
import org.traceetl.agent.config.ConfigReader;
import org.traceetl.agent.config.PublishConfig;
import org.traceetl.testkit.TestRocketMq;

/** Tests a real RocketMQ that checks permissions: the rights in the manual, and one fewer. */
@Timeout(180)
final class RocketMqPermissionsTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final String SPANS = "permitted-spans";
  private static final String DECISIONS = "permitted-routing";

  /** The rights in docs/install.md. */
  private static final Map<String, List<Action>> RIGHTS =
      Map.of(
          "Topic:" + SPANS,
          List.of(PUB),
          "Topic:" + DECISIONS,
          List.of(SUB, GET),
          "Group:log-agent",
          List.of(SUB));

  @TempDir private static Path directory;
  private static TestRocketMq broker;

  @BeforeAll
  static void startBroker() throws Exception {
    broker =
        new TestRocketMq(
            directory.resolve("rocketmq"), new TestRocketMq.Auth("admin", true), false);
    broker.createTopic(SPANS, 1);
    broker.createTopic(DECISIONS, 1);
    broker.send(DECISIONS, 0, "no decision".getBytes(US_ASCII));
  }

  @AfterAll
  static void stopBroker() {
    broker.close();
  }

  @Test
  void theRightsOfTheManualSuffice() throws Exception {
    user("agents", RIGHTS);
    try (RunningAgent agent = start("agents")) {
      await().atMost(LONG).until(() -> value(agent, "spans_published_total") == 1);
      // The agent has read the topic of decisions, whose message is invalid.
      await()
          .atMost(LONG)
          .until(() -> value(agent, "hotspot_records_refused_total{reason=\"[a-z]+\",}") == 1);
      assertThat(value(agent, "send_failures_total{kind=\"denied\",}")).isZero();
    }
  }

  @Test
  void spansStayWithoutThePermissionToPublish() throws Exception {
    user("publishes-nothing", without("Topic:" + SPANS, PUB));
    try (RunningAgent agent = start("publishes-nothing")) {
      await().atMost(LONG).until(() -> value(agent, "send_failures_total{kind=\"denied\",}") > 0);
      assertThat(value(agent, "spool_spans")).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "Topic:" + DECISIONS + ", SUB",
    "Topic:" + DECISIONS + ", GET",
    "Group:log-agent, SUB"
  })
  void deniedReadOfDecisionsNamesTheTopic(String resource, Action action) throws Exception {
    String user = "without-" + action + "-" + resource.replace(':', '-');
    user(user, without(resource, action));
    PublishConfig config =
        new PublishConfig(
            broker.namesrvAddress(), SPANS, "log-agent", user, "hunter2", 3_000, 50, 500, 1_000);
    try (RocketMqTransport transport = RocketMqTransport.start(config, user)) {
      assertThatThrownBy(() -> transport.newest(DECISIONS, DecisionsWatch.Place.NONE))
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith("topic " + DECISIONS + " cannot be read (")
          .hasMessageContaining("no permission");
    }
  }

  private static void user(String name, Map<String, List<Action>> rights) {
    broker.createUser(name, rights);
  }

  private static Map<String, List<Action>> without(String resource, Action action) {
    Map<String, List<Action>> rights = new HashMap<>(RIGHTS);
    List<Action> left = new ArrayList<>(RIGHTS.get(resource));
    left.remove(action);
    if (left.isEmpty()) {
      rights.remove(resource);
    } else {
      rights.put(resource, left);
    }
    return rights;
  }

  private static RunningAgent start(String user) throws Exception {
    Path log = directory.resolve(user + ".log");
    Files.writeString(
        log,
        "2026-11-21 10:00:00.000 ||| 1795255028312000000 ### 1500000 ### 10.0.0.7 ### checkout ###"
            + " GET / ### UNSET ### 0af7651916cd43dd8448eb211c80319c ### 00f067aa0ba902b7 ### []"
            + " ### [] ### {\"serviceName\":\"checkout\",\"tags\":[]} ### [] ### \n");
    String yaml =
        """
        state-directory: %s
        ring: {enabled: false}
        otlp: {enabled: false}
        files: {paths: ['%s'], poll-interval-millis: 20}
        telemetry: {host: 127.0.0.1, port: 0}
        routing: {hotspots-topic: %s}
        rocketmq:
          name-server: %s
          topic: %s
          access-key: %s
          secret-key: hunter2
          retry-first-millis: 50
          retry-max-millis: 500
          route-refresh-millis: 1000
        """
            .formatted(
                directory.resolve(user), log, DECISIONS, broker.namesrvAddress(), SPANS, user);
    return RunningAgent.start(ConfigReader.read(yaml, Map.of()).config(), Platform.SYSTEM);
  }
}
