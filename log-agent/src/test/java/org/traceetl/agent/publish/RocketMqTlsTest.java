package org.traceetl.agent.publish;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.apache.rocketmq.remoting.netty.TlsSystemConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.access.TestCertificates;
import org.traceetl.agent.config.PublishConfig;

/** Tests that invalid TLS settings end the start: the client would connect without TLS. */
final class RocketMqTlsTest {
  private static final String NO_FILE = TlsSystemConfig.tlsConfigFile;

  @TempDir private Path directory;

  @AfterEach
  void resetTheClient() {
    TlsSystemConfig.tlsConfigFile = NO_FILE;
    TlsSystemConfig.tlsTestModeEnable = true;
    TlsSystemConfig.tlsClientAuthServer = false;
    TlsSystemConfig.tlsClientTrustCertPath = null;
    TlsSystemConfig.tlsClientCertPath = null;
    TlsSystemConfig.tlsClientKeyPath = null;
  }

  @Test
  void unreadableRootsAreRefused() {
    assertRefused("none.crt", "TLS cannot be set up", "none.crt");
  }

  @Test
  void unreadableClientCertificateIsRefused() throws Exception {
    roots();
    TlsSystemConfig.tlsClientCertPath = directory.resolve("none.pem").toString();
    TlsSystemConfig.tlsClientKeyPath = directory.resolve("none.key").toString();

    assertRefused("ca.crt", "TLS cannot be set up", "none.pem");
  }

  @Test
  void clientFileThatDisablesTheCheckIsRefused() throws Exception {
    roots();
    for (String line :
        new String[] {
          "tls.test.mode.enable=true",
          "tls.client.authServer=false",
          "tls.client.trustCertPath=" + directory.resolve("other.crt")
        }) {
      Path file = Files.writeString(directory.resolve("tls.properties"), line + "\n");
      TlsSystemConfig.tlsConfigFile = file.toString();
      assertRefused("ca.crt", "tls.properties has the RocketMQ client check certificates");
    }
  }

  private void roots() throws IOException {
    Files.write(directory.resolve("ca.crt"), new TestCertificates("the root").caPem());
    Files.write(directory.resolve("other.crt"), new TestCertificates("another root").caPem());
  }

  private void assertRefused(String roots, String... messages) {
    PublishConfig.Tls tls = new PublishConfig.Tls(Optional.of(directory.resolve(roots)));
    PublishConfig config =
        new PublishConfig(
            "127.0.0.1:1",
            "spans",
            "edges",
            "agents",
            "",
            "",
            100,
            1,
            1,
            1_000,
            Optional.of(tls),
            PublishConfig.Bundles.OFF,
            0);
    assertThatThrownBy(() -> RocketMqTransport.start(config, "refused").close())
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll(messages);
  }
}
