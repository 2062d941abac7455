package org.traceetl.agent.access;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.security.KeyFactory;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads private keys from PEM. The JDK and Netty read PKCS#8 only, so PKCS#1 (RSA) and SEC 1 (EC)
 * keys are wrapped in its frame, with the algorithm and curve of the certificate's public key:
 *
 * <pre>SEQUENCE { INTEGER 0, SEQUENCE { algorithm, parameters }, OCTET STRING key }</pre>
 */
final class PrivateKeys {
  private static final Pattern BLOCK =
      Pattern.compile(
          "-----BEGIN ((?:[A-Z0-9]+ )*PRIVATE KEY)-----([A-Za-z0-9+/=\\s]*+)-----END \\1-----");

  private static final int OCTET_STRING = 0x04;
  private static final int SEQUENCE = 0x30;
  private static final byte[] VERSION_0 = {0x02, 0x01, 0x00};

  private PrivateKeys() {}

  /**
   * Reads the key of a certificate.
   *
   * @param pem content of the key file
   * @param certified the certificate's public key
   */
  static PrivateKey parse(TlsFiles files, byte[] pem, PublicKey certified) throws TlsFileException {
    Matcher block = BLOCK.matcher(new String(pem, ISO_8859_1));
    if (!block.find()) {
      throw new TlsFileException(
          files.privateKey(), "contains no private key: use an unencrypted key in PEM");
    }
    String kind = block.group(1);
    try {
      byte[] der = Base64.getMimeDecoder().decode(block.group(2));
      return switch (kind) {
        case "PRIVATE KEY" -> pkcs8(der);
        case "RSA PRIVATE KEY" -> framed("RSA", der, files, certified);
        case "EC PRIVATE KEY" -> framed("EC", der, files, certified);
        default ->
            throw new TlsFileException(
                files.privateKey(),
                "contains a key of type "
                    + kind
                    + ", which is not supported: convert it with openssl pkcs8 -topk8 -nocrypt");
      };
    } catch (IllegalArgumentException | InvalidKeySpecException e) {
      throw new TlsFileException(
          files.privateKey(), "contains an invalid private key: use an RSA or EC key");
    }
  }

  private static PrivateKey pkcs8(byte[] der) throws InvalidKeySpecException {
    InvalidKeySpecException none = new InvalidKeySpecException();
    for (String algorithm : List.of("RSA", "EC")) {
      try {
        return key(algorithm, der);
      } catch (InvalidKeySpecException e) {
        none.addSuppressed(e);
      }
    }
    throw none;
  }

  private static PrivateKey framed(
      String algorithm, byte[] der, TlsFiles files, PublicKey certified)
      throws TlsFileException, InvalidKeySpecException {
    if (!certified.getAlgorithm().equals(algorithm)) {
      throw TlsMaterial.mismatch(files);
    }
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    content.writeBytes(VERSION_0);
    content.writeBytes(algorithmOf(certified));
    content.writeBytes(element(OCTET_STRING, der));
    return key(algorithm, element(SEQUENCE, content.toByteArray()));
  }

  private static PrivateKey key(String algorithm, byte[] der) throws InvalidKeySpecException {
    try {
      return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(der));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has " + algorithm, e);
    }
  }

  /**
   * Returns the first element of the JDK's {@code SEQUENCE { algorithm, key }}: short for RSA, EC.
   */
  private static byte[] algorithmOf(PublicKey key) {
    byte[] encoded = key.getEncoded();
    int from = encoded[1] >= 0 ? 2 : 2 + (encoded[1] & 0x7F);
    return Arrays.copyOfRange(encoded, from, from + 2 + encoded[from + 1]);
  }

  private static byte[] element(int tag, byte[] content) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(tag);
    if (content.length < 0x80) {
      out.write(content.length);
    } else {
      out.write(0x83);
      out.write(content.length >> 16);
      out.write(content.length >> 8);
      out.write(content.length);
    }
    out.writeBytes(content);
    return out.toByteArray();
  }
}
