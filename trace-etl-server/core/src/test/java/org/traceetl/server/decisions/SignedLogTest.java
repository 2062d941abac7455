package org.traceetl.server.decisions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Key;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.server.config.SigningConfig;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.MemoryLogs;
import org.traceetl.server.window.QueueId;

final class SignedLogTest {
  private static final String TOPIC = "trace-routing";
  private static final byte[] RECORD = {1, 2, 3};

  private final MemoryLogs.MemoryLog log = new MemoryLogs().open(new QueueId("a", 0));

  @TempDir private Path directory;

  private Path file(String kind, Key key) throws IOException {
    return Files.writeString(
        Files.createTempFile(directory, "key", ".pem"),
        "-----BEGIN "
            + kind
            + "-----\n"
            + Base64.getEncoder().encodeToString(key.getEncoded())
            + "\n-----END "
            + kind
            + "-----\n");
  }

  private SigningConfig config(KeyPair signs, KeyPair counts) throws IOException {
    return new SigningConfig(
        file("PRIVATE KEY", signs.getPrivate()), file("PUBLIC KEY", counts.getPublic()));
  }

  private SignedLog signed(SigningConfig config) {
    return new SignedLog(log, TOPIC, config);
  }

  private static KeyPair pair() throws Exception {
    return KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
  }

  @Test
  void onlyRecordsWithASignatureOfTheServersAreRead() throws Exception {
    KeyPair servers = pair();
    SignedLog decisions = signed(config(servers, servers));
    decisions.append(RECORD);
    log.append(RECORD);
    signed(config(pair(), servers)).append(RECORD);

    assertThat(decisions.read(0)).extracting(JournalLog.Entry::offset).containsExactly(0L, 1L, 2L);
    assertThat(decisions.read(0).getFirst().body()).isEqualTo(RECORD);
    assertThat(decisions.read(1))
        .extracting(JournalLog.Entry::body)
        .containsOnly(JournalLog.LEFT_OUT);
  }

  @Test
  void withoutKeysTheBytesAreThoseOfTheRecord() throws Exception {
    SignedLog plain = signed(SigningConfig.defaults());
    plain.append(RECORD);
    KeyPair servers = pair();
    signed(config(servers, servers)).append(RECORD);

    assertThat(log.read(0).getFirst().body()).isEqualTo(RECORD);
    assertThat(plain.read(0)).extracting(JournalLog.Entry::body).containsExactly(RECORD, RECORD);
  }

  @Test
  void keysThatDoNotBelongTogetherAreRefused() throws Exception {
    KeyPair servers = pair();
    SignedLog.check(SigningConfig.defaults(), TOPIC);
    SignedLog.check(config(servers, servers), TOPIC);

    assertThatThrownBy(() -> SignedLog.check(config(servers, pair()), TOPIC))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("trace-etl.hotspots.signing.public-keys-file");
    SigningConfig swapped = new SigningConfig(file("PUBLIC KEY", servers.getPublic()), null);
    assertThatThrownBy(() -> SignedLog.check(swapped, TOPIC))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("trace-etl.hotspots.signing.private-key-file");
  }
}
