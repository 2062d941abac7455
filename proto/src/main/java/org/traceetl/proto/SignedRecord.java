package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.traceetl.proto.MalformedDecisionsException.Reason;

/**
 * A record of the routing topic with an Ed25519 signature of the servers. Uses the JVM's
 * implementation, so it needs Java 15.
 *
 * <p>Layout:
 *
 * <pre>
 *  0  magic       4 bytes  {@code TERS}
 *  4  version     1 byte   1
 *  5  signature  64 bytes  of the topic and the record
 * 69  record
 * </pre>
 */
public final class SignedRecord {
  private static final int MAGIC = 0x54455253;
  private static final byte VERSION = 1;
  private static final int SIGNATURE_AT = 5;
  private static final int SIGNATURE_BYTES = 64;
  private static final int RECORD_AT = SIGNATURE_AT + SIGNATURE_BYTES;
  private static final int MAX_KEYS = 16;
  private static final String ALGORITHM = "Ed25519";
  private static final byte[] CONTEXT = "trace-etl routing 1".getBytes(US_ASCII);
  private static final Pattern PEM =
      Pattern.compile("-----BEGIN ([A-Z ]+)-----([A-Za-z0-9+/=\\s]*)-----END \\1-----");

  private SignedRecord() {}

  /** Returns the signed message for a topic. */
  public static byte[] sign(byte[] record, String topic, PrivateKey key) {
    try {
      Signature signature = Signature.getInstance(ALGORITHM);
      signature.initSign(key);
      update(signature, topic, record, 0);
      return ByteBuffer.allocate(RECORD_AT + record.length)
          .putInt(MAGIC)
          .put(VERSION)
          .put(signature.sign())
          .put(record)
          .array();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("This JVM cannot sign with this key", e);
    }
  }

  /**
   * Returns the record of a message, which is not trusted.
   *
   * @param keys one of which must have signed it; none: signatures are neither required nor
   *     verified
   * @throws MalformedDecisionsException if it has no signature by one of these keys
   */
  public static byte[] open(byte[] message, String topic, List<PublicKey> keys)
      throws MalformedDecisionsException {
    boolean signed =
        message.length >= RECORD_AT
            && ByteBuffer.wrap(message).getInt() == MAGIC
            && message[Integer.BYTES] == VERSION;
    if (keys.isEmpty()) {
      return signed ? Arrays.copyOfRange(message, RECORD_AT, message.length) : message;
    }
    if (!signed) {
      throw new MalformedDecisionsException(Reason.SIGNATURE, "it is not signed");
    }
    for (PublicKey key : keys) {
      if (verifies(message, topic, key)) {
        return Arrays.copyOfRange(message, RECORD_AT, message.length);
      }
    }
    throw new MalformedDecisionsException(
        Reason.SIGNATURE, "its signature is of none of the public keys");
  }

  private static boolean verifies(byte[] message, String topic, PublicKey key) {
    try {
      Signature signature = Signature.getInstance(ALGORITHM);
      signature.initVerify(key);
      update(signature, topic, message, RECORD_AT);
      return signature.verify(message, SIGNATURE_AT, SIGNATURE_BYTES);
    } catch (GeneralSecurityException e) {
      // The bytes are not a point of the curve, for example if they are forged.
      return false;
    }
  }

  private static void update(Signature signature, String topic, byte[] message, int from)
      throws GeneralSecurityException {
    byte[] name = topic.getBytes(UTF_8);
    signature.update(CONTEXT);
    signature.update(ByteBuffer.allocate(Integer.BYTES).putInt(name.length).array());
    signature.update(name);
    signature.update(message, from, message.length - from);
  }

  /**
   * Returns the keys of a PEM file, {@code openssl pkey -pubout}: one or more.
   *
   * @throws IllegalArgumentException if it has no key, or one of another kind
   */
  public static List<PublicKey> publicKeys(String pem) {
    List<PublicKey> keys = new ArrayList<>();
    for (byte[] key : blocks(pem, "PUBLIC KEY")) {
      try {
        keys.add(KeyFactory.getInstance(ALGORITHM).generatePublic(new X509EncodedKeySpec(key)));
      } catch (GeneralSecurityException e) {
        throw new IllegalArgumentException("must have public keys of Ed25519 alone", e);
      }
    }
    if (keys.isEmpty() || keys.size() > MAX_KEYS) {
      throw new IllegalArgumentException("must have 1 to " + MAX_KEYS + " PUBLIC KEY in PEM");
    }
    return keys;
  }

  /**
   * Returns the key of a PEM file, {@code openssl genpkey -algorithm ed25519}.
   *
   * @throws IllegalArgumentException if it has no key, several, or one of another kind; the message
   *     does not contain the key
   */
  public static PrivateKey privateKey(String pem) {
    List<byte[]> keys = blocks(pem, "PRIVATE KEY");
    if (keys.size() != 1) {
      throw new IllegalArgumentException("must have one PRIVATE KEY in PEM");
    }
    try {
      return KeyFactory.getInstance(ALGORITHM)
          .generatePrivate(new PKCS8EncodedKeySpec(keys.get(0)));
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException("must have a private key of Ed25519", e);
    }
  }

  private static List<byte[]> blocks(String pem, String kind) {
    List<byte[]> blocks = new ArrayList<>();
    Matcher matcher = PEM.matcher(pem);
    while (matcher.find()) {
      if (!matcher.group(1).equals(kind)) {
        throw new IllegalArgumentException("must have " + kind + " alone");
      }
      blocks.add(Base64.getMimeDecoder().decode(matcher.group(2)));
    }
    return blocks;
  }
}
