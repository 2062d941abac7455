package org.traceetl.server.consume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.handler.ssl.util.SelfSignedCertificate;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.common.TlsMode;
import org.apache.rocketmq.remoting.netty.TlsSystemConfig;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.common.Clocks;
import org.traceetl.common.Secret;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.consume.broker.RocketMqSpanConsumer;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.log.RocketMqLogs;
import org.traceetl.server.window.QueueId;
import org.traceetl.testkit.TestRocketMq;

/** Tests access to a real RocketMQ that requires keys and TLS. */
@Timeout(180)
final class RocketMqAccessTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final QueueId QUEUE = new QueueId(TestRocketMq.BROKER, 0);

  @TempDir private static Path home;
  private static SelfSignedCertificate certificate;
  private static TestRocketMq rocketMq;

  @BeforeAll
  static void start() throws Exception {
    certificate = new SelfSignedCertificate("localhost");
    TlsSystemConfig.tlsMode = TlsMode.ENFORCING;
    TlsSystemConfig.tlsServerCertPath = certificate.certificate().toString();
    TlsSystemConfig.tlsServerKeyPath = certificate.privateKey().toString();
    TlsSystemConfig.tlsTestModeEnable = false;
    TlsSystemConfig.tlsClientAuthServer = true;
    TlsSystemConfig.tlsClientTrustCertPath = certificate.certificate().toString();
    rocketMq = new TestRocketMq(home, new TestRocketMq.Auth("servers", false), true);
    rocketMq.createTopic("spans", 1);
    rocketMq.createTopic("windows", 1);
  }

  @AfterAll
  static void stop() {
    rocketMq.close();
    certificate.delete();
    TlsSystemConfig.tlsMode = TlsMode.PERMISSIVE;
    TlsSystemConfig.tlsServerCertPath = null;
    TlsSystemConfig.tlsServerKeyPath = null;
    TlsSystemConfig.tlsTestModeEnable = true;
    TlsSystemConfig.tlsClientAuthServer = false;
    TlsSystemConfig.tlsClientTrustCertPath = null;
  }

  @Test
  void spansAreConsumed() throws Exception {
    RocketMqConfig config = config(rocketMq.namesrvAddress(), "hunter2");
    rocketMq.send("spans", 0, "a batch".getBytes(UTF_8));
    DefaultLitePullConsumer consumer = RocketMqSpanConsumer.newConsumer(config, 0, null, 1, 0);
    consumer.start();
    try {
      consumer.assign(List.of(new MessageQueue("spans", TestRocketMq.BROKER, 0)));
      List<String> bodies = new ArrayList<>();
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> {
            consumer
                .poll(1_000)
                .forEach(message -> bodies.add(new String(message.getBody(), UTF_8)));
            return !bodies.isEmpty();
          });
      assertThat(bodies).containsExactly("a batch");
    } finally {
      consumer.shutdown();
    }
  }

  @Test
  void theJournalIsWrittenAndRead() throws Exception {
    try (RocketMqLogs logs =
        new RocketMqLogs(
            config(rocketMq.namesrvAddress(), "hunter2"), "windows", TIMEOUT, Clocks.SYSTEM)) {
      logs.start();
      JournalLog log = logs.open(QUEUE);
      log.append("a window".getBytes(UTF_8));
      await().untilAsserted(() -> assertThat(log.read(0)).isNotEmpty());
    }
  }

  @Test
  void aWrongKeyIsTold() throws Exception {
    try (RocketMqLogs logs =
        new RocketMqLogs(
            config(rocketMq.namesrvAddress(), "not-hunter2"), "windows", TIMEOUT, Clocks.SYSTEM)) {
      logs.start();
      assertThatThrownBy(() -> logs.open(QUEUE).append(new byte[1]))
          .isInstanceOf(IOException.class)
          .hasStackTraceContaining("check signature failed");
    }
  }

  private static RocketMqConfig config(String nameServer, String secretKey) {
    return new RocketMqConfig(
        nameServer,
        "spans",
        "guarded",
        "servers",
        new Secret(secretKey),
        1,
        true,
        certificate.certificate().toPath(),
        null);
  }
}
