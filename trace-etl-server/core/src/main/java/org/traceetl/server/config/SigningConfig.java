package org.traceetl.server.config;

import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.checkReadable;

import java.nio.file.Path;

/**
 * Signatures of the records that agents follow: {@code trace-etl.hotspots.signing}.
 *
 * @param privateKeyFile PEM file of the private key (Ed25519, PKCS #8) that signs decisions and
 *     learnt names; none: unsigned. Read at each use
 * @param publicKeysFile PEM file of public keys; records without a signature of one of them do not
 *     count; must contain the public key of {@code private-key-file}. Read at each use. None: all
 *     records count
 */
public record SigningConfig(Path privateKeyFile, Path publicKeysFile) {
  /** Key of {@link #privateKeyFile}. */
  public static final String PRIVATE_KEY_FILE = "trace-etl.hotspots.signing.private-key-file";

  /** Key of {@link #publicKeysFile}. */
  public static final String PUBLIC_KEYS_FILE = "trace-etl.hotspots.signing.public-keys-file";

  public SigningConfig {
    check(
        publicKeysFile == null || privateKeyFile != null,
        PUBLIC_KEYS_FILE,
        publicKeysFile,
        "requires private-key-file: without it this server would refuse its own records");
    checkReadable(PRIVATE_KEY_FILE, privateKeyFile, "a readable file");
    checkReadable(PUBLIC_KEYS_FILE, publicKeysFile, "a readable file");
  }

  /** Records are neither signed nor verified. */
  public static SigningConfig defaults() {
    return new SigningConfig(null, null);
  }
}
