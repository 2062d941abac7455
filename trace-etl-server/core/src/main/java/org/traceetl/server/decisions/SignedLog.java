package org.traceetl.server.decisions;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.util.ArrayList;
import java.util.List;
import org.traceetl.proto.MalformedDecisionsException;
import org.traceetl.proto.SignedRecord;
import org.traceetl.server.config.SigningConfig;
import org.traceetl.server.journal.ForwardingLog;
import org.traceetl.server.journal.JournalLog;

/**
 * A log of decisions with the servers' signature. Records are signed if there is a private key. If
 * there are public keys, {@link #LEFT_OUT} replaces records without a valid signature. Key files
 * are read at each call: decisions are rare, and a changed key takes effect immediately.
 */
public final class SignedLog extends ForwardingLog {
  private final String topic;
  private final SigningConfig config;

  public SignedLog(JournalLog log, String topic, SigningConfig config) {
    super(log);
    this.topic = topic;
    this.config = config;
  }

  /**
   * Checks the files.
   *
   * @throws IllegalArgumentException if one is invalid, or servers would refuse what they write
   */
  public static void check(SigningConfig config, String topic) {
    try {
      PrivateKey key = privateKey(config);
      List<PublicKey> keys = publicKeys(config);
      if (key != null) {
        SignedRecord.open(SignedRecord.sign(NOTHING, topic, key), topic, keys);
      }
    } catch (IOException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    } catch (MalformedDecisionsException e) {
      throw new IllegalArgumentException(
          SigningConfig.PUBLIC_KEYS_FILE
              + " = "
              + config.publicKeysFile()
              + ": must have the public key of "
              + SigningConfig.PRIVATE_KEY_FILE,
          e);
    }
  }

  private static final byte[] NOTHING = {};

  /** Null without a file. */
  private static PrivateKey privateKey(SigningConfig config) throws IOException {
    Path file = config.privateKeyFile();
    if (file == null) {
      return null;
    }
    try {
      return SignedRecord.privateKey(Files.readString(file));
    } catch (IOException | IllegalArgumentException e) {
      throw wrong(SigningConfig.PRIVATE_KEY_FILE, file, e);
    }
  }

  private static List<PublicKey> publicKeys(SigningConfig config) throws IOException {
    Path file = config.publicKeysFile();
    if (file == null) {
      return List.of();
    }
    try {
      return SignedRecord.publicKeys(Files.readString(file));
    } catch (IOException | IllegalArgumentException e) {
      throw wrong(SigningConfig.PUBLIC_KEYS_FILE, file, e);
    }
  }

  private static IOException wrong(String key, Path file, Exception why) {
    return new IOException(key + " = " + file + ": " + why.getMessage(), why);
  }

  @Override
  public long append(byte[] message) throws IOException, InterruptedException {
    PrivateKey key = privateKey(config);
    return log.append(key == null ? message : SignedRecord.sign(message, topic, key));
  }

  @Override
  public List<Entry> read(long from) throws IOException, InterruptedException {
    List<PublicKey> keys = publicKeys(config);
    List<Entry> read = new ArrayList<>();
    for (Entry entry : log.read(from)) {
      read.add(new Entry(entry.offset(), opened(entry.body(), keys)));
    }
    return read;
  }

  private byte[] opened(byte[] message, List<PublicKey> keys) {
    try {
      return SignedRecord.open(message, topic, keys);
    } catch (MalformedDecisionsException e) {
      return LEFT_OUT;
    }
  }
}
