package org.traceetl.server.journal.log;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.security.GeneralSecurityException;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

/**
 * A key that servers share. Its ID ends with a fingerprint of the secret, so keys with the same
 * name and different secrets differ.
 */
public final class JournalKey {
  static final String ALGORITHM = "HmacSHA256";

  private static final byte[] FINGERPRINTED = "trace-etl journal key".getBytes(US_ASCII);
  private static final int FINGERPRINT_BYTES = 4;

  private final String id;
  private final SecretKey secret;

  /**
   * @param name of the key: letters, digits, dots, underscores and hyphens
   * @param secret its bytes
   */
  public JournalKey(String name, byte[] secret) {
    this.secret = new SecretKeySpec(secret, ALGORITHM);
    byte[] fingerprint = mac().doFinal(FINGERPRINTED);
    id = name + "-" + HexFormat.of().formatHex(fingerprint, 0, FINGERPRINT_BYTES);
  }

  /** Returns name and fingerprint, as in messages. */
  public String id() {
    return id;
  }

  /** Returns a new code generator for this key, for one thread at a time. */
  Mac mac() {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(secret);
      return mac;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("This JVM has no " + ALGORITHM, e);
    }
  }

  @Override
  public String toString() {
    return id;
  }
}
