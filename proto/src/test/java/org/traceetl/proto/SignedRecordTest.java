package org.traceetl.proto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.MalformedDecisionsException.Reason;

final class SignedRecordTest {
  private static final String TOPIC = "trace-routing";

  private final KeyPair one = pair("Ed25519");
  private final KeyPair other = pair("Ed25519");
  private final byte[] record = new HotspotDecisions(7, 1, Map.of()).encode();

  private static KeyPair pair(String algorithm) {
    try {
      return KeyPairGenerator.getInstance(algorithm).generateKeyPair();
    } catch (java.security.GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  private static String pem(String kind, byte[] key) {
    return "-----BEGIN "
        + kind
        + "-----\n"
        + Base64.getMimeEncoder().encodeToString(key)
        + "\n-----END "
        + kind
        + "-----\n";
  }

  private static String publicPem(KeyPair pair) {
    return pem("PUBLIC KEY", pair.getPublic().getEncoded());
  }

  @Test
  void aSignedRecordIsOpenedWithAnyOfTheKeys() throws Exception {
    byte[] message =
        SignedRecord.sign(
            record,
            TOPIC,
            SignedRecord.privateKey(pem("PRIVATE KEY", one.getPrivate().getEncoded())));

    assertThat(message).hasSize(69 + record.length);
    assertThat(
            SignedRecord.open(
                message, TOPIC, SignedRecord.publicKeys(publicPem(other) + publicPem(one))))
        .isEqualTo(record);
    assertThat(SignedRecord.open(message, TOPIC, List.of())).isEqualTo(record);
    assertThat(SignedRecord.open(record, TOPIC, List.of())).isEqualTo(record);
  }

  @Test
  void anyChangedByteIsFound() {
    byte[] message = SignedRecord.sign(record, TOPIC, one.getPrivate());
    for (int at = 0; at < message.length; at++) {
      byte[] changed = message.clone();
      changed[at] ^= 1;
      refused(changed, TOPIC, one);
    }
  }

  @Test
  void aRecordWithoutASignatureOrOfAnotherKeyOrTopicIsRefused() {
    refused(record, TOPIC, one);
    refused(new byte[0], TOPIC, one);
    byte[] message = SignedRecord.sign(record, TOPIC, one.getPrivate());
    refused(message, TOPIC, other);
    refused(message, "trace-routing-2", one);
  }

  private static void refused(byte[] message, String topic, KeyPair pair) {
    assertThatThrownBy(() -> SignedRecord.open(message, topic, List.of(pair.getPublic())))
        .isInstanceOfSatisfying(
            MalformedDecisionsException.class,
            e -> assertThat(e.reason()).isEqualTo(Reason.SIGNATURE));
  }

  @Test
  void aFileThatIsNoneOfTheseKeysIsRefused() {
    KeyPair exchange = pair("X25519");
    for (String wrong :
        List.of(
            "",
            "rubbish",
            publicPem(exchange),
            pem("PRIVATE KEY", one.getPrivate().getEncoded()),
            pem("PUBLIC KEY", new byte[5]))) {
      assertThatThrownBy(() -> SignedRecord.publicKeys(wrong))
          .isInstanceOf(IllegalArgumentException.class);
    }
    for (String wrong : List.of("", publicPem(one), pem("PRIVATE KEY", new byte[5]))) {
      assertThatThrownBy(() -> SignedRecord.privateKey(wrong))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
