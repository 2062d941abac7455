package org.traceetl.server.consume.broker;

import static org.apache.rocketmq.common.action.Action.GET;
import static org.apache.rocketmq.common.action.Action.PUB;
import static org.apache.rocketmq.common.action.Action.SUB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.common.action.Action;
import org.apache.rocketmq.common.message.MessageQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.common.Clocks;
import org.traceetl.common.Secret;
import org.traceetl.server.TraceEtlServer;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.consume.queue.BatchMessage;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.log.RocketMqLogs;
import org.traceetl.server.rocketmq.Endpoint;
import org.traceetl.server.window.QueueId;
import org.traceetl.testkit.TestRocketMq;

/**
 * Against a real RocketMQ that asks what a user may do: the rights of the manual, and one fewer.
 */
@Timeout(180)
final class RocketMqPermissionsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String SPANS = "permitted-spans";
  private static final String WINDOWS = "permitted-windows";
  private static final String DECISIONS = "permitted-routing";
  private static final String GROUP = "permitted-servers";
  private static final QueueId QUEUE = new QueueId(TestRocketMq.BROKER, 0);

  /** Of a whole server: whoever else was in its group might have its queue for a while. */
  private static final String SERVER_GROUP = "permitted-whole-servers";

  @TempDir private static Path home;
  private static TestRocketMq rocketMq;

  /** What a server does at the broker, each of which needs a right. */
  enum Deed {
    APPEND_A_WINDOW {
      @Override
      void of(String user) throws Exception {
        with(user, logs -> logs.open(QUEUE).append(new byte[1]));
      }
    },
    READ_WINDOWS {
      @Override
      void of(String user) throws Exception {
        with(user, logs -> logs.open(QUEUE).read(0));
      }
    },
    FIND_THE_END_OF_WINDOWS {
      @Override
      void of(String user) throws Exception {
        with(user, logs -> logs.open(QUEUE).end());
      }
    },
    APPEND_A_DECISION {
      @Override
      void of(String user) throws Exception {
        with(user, logs -> decisions(logs).append(new byte[1]));
      }
    },
    READ_DECISIONS {
      @Override
      void of(String user) throws Exception {
        with(user, logs -> decisions(logs).read(0));
      }
    },
    FIND_THE_END_OF_DECISIONS {
      @Override
      void of(String user) throws Exception {
        with(user, logs -> decisions(logs).end());
      }
    },
    FIND_THE_OTHER_SERVERS {
      @Override
      void of(String user) throws Exception {
        RocketMqConfig config = config(rocketMq.namesrvAddress(), user);
        DefaultLitePullConsumer consumer =
            RocketMqSpanConsumer.newConsumer(config, 0, new Endpoint(false, "etl-1", 8080), 1, 0);
        consumer.subscribe(SPANS, "*");
        consumer.start();
        try {
          with(
              user,
              logs ->
                  await()
                      .atMost(PATIENCE)
                      .ignoreExceptions()
                      .untilAsserted(() ->
                          // A broker keeps a member that has left for some time if a heartbeat of
                          // it arrives late: only this one announces an address.
                          assertThat(logs.members())
                              .filteredOn(member -> member.contains("="))
                              .singleElement()
                              .asString()
                              .contains("=http://etl-1:8080@")));
        } finally {
          consumer.shutdown();
        }
      }
    },
    FIND_THE_PLACE_IN_SPANS {
      @Override
      void of(String user) throws Exception {
        RocketMqConfig config = config(rocketMq.namesrvAddress(), user);
        DefaultLitePullConsumer consumer = RocketMqSpanConsumer.newConsumer(config, 0, null, 1, 0);
        consumer.start();
        try {
          RocketMqSpanConsumer.offsets(consumer, config)
              .of(new MessageQueue(SPANS, TestRocketMq.BROKER, 0));
        } finally {
          consumer.shutdown();
        }
      }
    };

    abstract void of(String user) throws Exception;

    private static JournalLog decisions(RocketMqLogs logs) throws Exception {
      return logs.open(DECISIONS, logs.lowest(DECISIONS));
    }

    private static void with(String user, Use use) throws Exception {
      try (RocketMqLogs logs =
          new RocketMqLogs(
              config(rocketMq.namesrvAddress(), user), WINDOWS, TIMEOUT, Clocks.SYSTEM)) {
        logs.start();
        use.of(logs);
      }
    }
  }

  private interface Use {
    void of(RocketMqLogs logs) throws Exception;
  }

  @BeforeAll
  static void start() throws Exception {
    rocketMq = new TestRocketMq(home, new TestRocketMq.Auth("admin", true), false);
    for (String topic : List.of(SPANS, WINDOWS, DECISIONS)) {
      rocketMq.createTopic(topic, 1);
    }
    // Something to be read.
    rocketMq.send(DECISIONS, 0, new byte[1]);
    rocketMq.createUser("servers", rights(GROUP));
    rocketMq.createUser("a-server", rights(SERVER_GROUP));
  }

  @AfterAll
  static void stop() {
    rocketMq.close();
  }

  @Test
  void theRightsOfTheManualSuffice() throws Exception {
    rocketMq.send(SPANS, 0, new BatchMessage("shop").span("a", 5_000_000).message(1));
    Map<String, Object> properties =
        Map.of(
            "server.port",
            0,
            "trace-etl.rocketmq.name-server",
            rocketMq.namesrvAddress(),
            "trace-etl.rocketmq.topic",
            SPANS,
            "trace-etl.rocketmq.consumer-group",
            SERVER_GROUP,
            "trace-etl.rocketmq.access-key",
            "a-server",
            "trace-etl.rocketmq.secret-key",
            "hunter2",
            "trace-etl.journal.topic",
            WINDOWS,
            "trace-etl.window.length",
            "200ms",
            "trace-etl.metrics.queue-label",
            "always",
            "trace-etl.hotspots.topic",
            DECISIONS);
    try (TraceEtlServer server = TraceEtlServer.start(properties);
        HttpClient http = HttpClient.newHttpClient()) {
      HttpRequest metrics =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/metrics"))
              .build();
      // Counted, and what was read of it committed for the group.
      await()
          .atMost(PATIENCE)
          .untilAsserted(() ->
              assertThat(http.send(metrics, BodyHandlers.ofString()).body())
                  .containsPattern("traces_span_metrics_calls_total\\{[^}]*\"shop\"[^}]*} 1"));
      await().atMost(PATIENCE).until(() -> rocketMq.committed(SERVER_GROUP, SPANS, 0) == 1);
    }
    for (Deed deed : Deed.values()) {
      deed.of("servers");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "APPEND_A_WINDOW, Topic:" + WINDOWS + ", PUB",
    "READ_WINDOWS, Topic:" + WINDOWS + ", SUB",
    "READ_WINDOWS, Group:" + GROUP + ", SUB",
    "FIND_THE_END_OF_WINDOWS, Topic:" + WINDOWS + ", GET",
    "APPEND_A_DECISION, Topic:" + DECISIONS + ", PUB",
    "READ_DECISIONS, Topic:" + DECISIONS + ", SUB",
    "FIND_THE_END_OF_DECISIONS, Topic:" + DECISIONS + ", GET",
    "FIND_THE_PLACE_IN_SPANS, Topic:" + SPANS + ", GET"
  })
  void oneFewerIsTold(Deed deed, String resource, Action action) {
    String user = deed + "-" + resource.replace(':', '-');
    Map<String, List<Action>> rights = new HashMap<>(rights(GROUP));
    List<Action> left = new ArrayList<>(rights.get(resource));
    left.remove(action);
    rights.put(resource, left);
    if (left.isEmpty()) {
      rights.remove(resource);
    }
    rocketMq.createUser(user, rights);

    assertThatThrownBy(() -> deed.of(user)).hasStackTraceContaining("no permission");
  }

  /** As docs/install.md has them. */
  private static Map<String, List<Action>> rights(String group) {
    return Map.of(
        "Topic:" + SPANS,
        List.of(SUB, GET),
        "Topic:" + WINDOWS,
        List.of(PUB, SUB, GET),
        "Topic:" + DECISIONS,
        List.of(PUB, SUB, GET),
        "Group:" + group,
        List.of(SUB));
  }

  private static RocketMqConfig config(String nameServer, String user) {
    return new RocketMqConfig(nameServer, SPANS, GROUP, user, new Secret("hunter2"), 1);
  }
}
