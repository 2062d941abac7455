package org.traceetl.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.traceetl.agent.AgentPage.value;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.apache.rocketmq.remoting.common.TlsMode;
import org.apache.rocketmq.remoting.netty.TlsSystemConfig;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.access.TestCertificates;
import org.traceetl.agent.config.ConfigReader;
import org.traceetl.agent.config.PublishConfig;
import org.traceetl.agent.publish.RocketMqTransport;
import org.traceetl.testkit.TestRocketMq;

/** Tests access to a real RocketMQ that requires keys and TLS. */
@Timeout(180)
final class RocketMqAccessTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final String TOPIC = "guarded";
  private static final int QUEUES = 2;
  private static final TestCertificates CA = new TestCertificates("the brokers' root");
  private static final TestCertificates OTHER_CA = new TestCertificates("nobody's root");

  @TempDir private static Path directory;
  private static TestRocketMq broker;

  @BeforeAll
  static void startBroker() throws Exception {
    CA.issue().writeTo(directory);
    Files.write(directory.resolve("ca.crt"), CA.caPem());
    Files.write(directory.resolve("other.crt"), OTHER_CA.caPem());
    TlsSystemConfig.tlsTestModeEnable = false;
    TlsSystemConfig.tlsMode = TlsMode.ENFORCING;
    TlsSystemConfig.tlsServerCertPath = directory.resolve("tls.crt").toString();
    TlsSystemConfig.tlsServerKeyPath = directory.resolve("tls.key").toString();
    TlsSystemConfig.tlsClientAuthServer = true;
    TlsSystemConfig.tlsClientTrustCertPath = directory.resolve("ca.crt").toString();
    broker =
        new TestRocketMq(
            directory.resolve("rocketmq"), new TestRocketMq.Auth("agents", false), true);
    broker.createTopic(TOPIC, QUEUES);
  }

  @AfterAll
  static void stopBroker() {
    broker.close();
    TlsSystemConfig.tlsTestModeEnable = true;
    TlsSystemConfig.tlsMode = TlsMode.PERMISSIVE;
    TlsSystemConfig.tlsServerCertPath = null;
    TlsSystemConfig.tlsServerKeyPath = null;
    TlsSystemConfig.tlsClientAuthServer = false;
    TlsSystemConfig.tlsClientTrustCertPath = null;
  }

  @Test
  void spansStayInTheSpoolWhileTheKeyIsWrong() throws Exception {
    Path log = directory.resolve("trace.log");
    Files.writeString(log, line(1) + line(2));
    try (RunningAgent wrong = start(log, "not-hunter2")) {
      await().atMost(LONG).until(() -> value(wrong, "send_failures_total{kind=\"denied\",}") > 0);
      assertThat(value(wrong, "spool_spans")).isEqualTo(2);
      assertThat(value(wrong, "spans_published_total")).isZero();
    }

    try (RunningAgent right = start(log, "hunter2")) {
      await().atMost(LONG).until(() -> value(right, "spans_published_total") == 2);
      assertThat(value(right, "spans_recovered_total")).isEqualTo(2);
      assertThat(value(right, "spool_spans")).isZero();
    }
    assertThat(broker.messages(TOPIC, QUEUES)).isNotEmpty();
  }

  @Test
  void clientWithoutTlsGetsNoAnswer() throws Exception {
    try (RocketMqTransport plain = transport("plain", Optional.empty())) {
      assertThatThrownBy(plain::queues)
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith("Cannot reach name server ")
          .hasMessageEndingWith("): start it or correct rocketmq.name-server");
    }
  }

  @Test
  void certificateOfAnotherRootIsRefused() throws Exception {
    PublishConfig.Tls other = new PublishConfig.Tls(Optional.of(directory.resolve("other.crt")));
    try (RocketMqTransport mistrusting = transport("mistrusting", Optional.of(other))) {
      assertThatThrownBy(mistrusting::queues)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("a root in rocketmq.tls-ca-file");
    }
  }

  private static RocketMqTransport transport(String instance, Optional<PublishConfig.Tls> tls)
      throws IOException {
    return RocketMqTransport.start(
        new PublishConfig(
            broker.namesrvAddress(),
            TOPIC,
            "trace-edges",
            "log-agent",
            "agents",
            "hunter2",
            3_000,
            50,
            500,
            1_000,
            tls,
            PublishConfig.Bundles.OFF,
            0),
        instance);
  }

  private static RunningAgent start(Path log, String secretKey) throws Exception {
    String yaml =
        """
        state-directory: %s
        ring: {enabled: false}
        otlp: {enabled: false}
        files: {paths: ['%s'], poll-interval-millis: 20}
        telemetry: {host: 127.0.0.1, port: 0}
        rocketmq:
          name-server: %s
          topic: %s
          access-key: agents
          secret-key: %s
          tls: true
          tls-ca-file: %s
          retry-first-millis: 50
          retry-max-millis: 500
        """
            .formatted(
                directory.resolve("state"),
                log,
                broker.namesrvAddress(),
                TOPIC,
                secretKey,
                directory.resolve("ca.crt"));
    return RunningAgent.start(ConfigReader.read(yaml, Map.of()).config(), Platform.SYSTEM);
  }

  private static String line(int number) {
    return "2026-11-21 10:00:00.000 ||| 1795255028312000000 ### 1500000 ### 10.0.0.7 ### checkout"
        + " ### GET / ### UNSET ### 0af7651916cd43dd8448eb211c80319c ### "
        + String.format("%016x", number)
        + " ### [] ### [] ### {\"serviceName\":\"checkout\",\"tags\":[]} ### [] ### \n";
  }
}
