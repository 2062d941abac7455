package org.traceetl.agent.access;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads private keys from PEM. The JDK reads PKCS#8 only, so PKCS#1 (RSA) and SEC 1 (EC) keys are
 * wrapped in its frame:
 *
 * <pre>SEQUENCE { INTEGER 0, SEQUENCE { algorithm, parameters }, OCTET STRING key }</pre>
 */
final class PrivateKeys {
  private static final Pattern BLOCK =
      Pattern.compile(
          "-----BEGIN ((?:[A-Z0-9]+ )*PRIVATE KEY)-----([A-Za-z0-9+/=\\s]*+)-----END \\1-----");

  private static final int INTEGER = 0x02;
  private static final int OCTET_STRING = 0x04;
  private static final int SEQUENCE = 0x30;
  private static final int PARAMETERS = 0xA0;

  private static final byte[] VERSION_0 = hex("020100");
  // rsaEncryption and NULL
  private static final byte[] RSA = hex("06092A864886F70D0101010500");
  private static final byte[] EC_PUBLIC_KEY = hex("06072A8648CE3D0201");

  private PrivateKeys() {}

  static PrivateKey parse(Path file, byte[] pem) throws TlsFileException {
    Matcher block = BLOCK.matcher(new String(pem, ISO_8859_1));
    if (!block.find()) {
      throw new TlsFileException(
          file, "holds no private key that can be read: put PEM there, not encrypted");
    }
    String kind = block.group(1);
    try {
      byte[] der = Base64.getMimeDecoder().decode(block.group(2));
      return switch (kind) {
        case "PRIVATE KEY" -> pkcs8(der);
        case "RSA PRIVATE KEY" -> key("RSA", frame(RSA, der));
        case "EC PRIVATE KEY" -> key("EC", frame(concat(EC_PUBLIC_KEY, curveOf(der)), der));
        default ->
            throw new TlsFileException(
                file,
                "holds a key of the kind "
                    + kind
                    + ", which is not read: make a plain one of it with openssl pkcs8 -topk8"
                    + " -nocrypt");
      };
    } catch (IllegalArgumentException | InvalidKeySpecException e) {
      throw new TlsFileException(
          file, "holds a private key that cannot be read: put a key of RSA or EC there");
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

  private static PrivateKey key(String algorithm, byte[] der) throws InvalidKeySpecException {
    try {
      return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(der));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has " + algorithm, e);
    }
  }

  private static byte[] frame(byte[] algorithm, byte[] key) {
    return element(
        SEQUENCE, concat(VERSION_0, element(SEQUENCE, algorithm), element(OCTET_STRING, key)));
  }

  /**
   * Returns the identifier of the curve, from {@code SEQUENCE { 1, OCTET STRING, [0] { curve }, …
   * }}.
   */
  private static byte[] curveOf(byte[] sec1) {
    Element all = Element.at(sec1, 0, SEQUENCE);
    Element version = Element.at(sec1, all.from, INTEGER);
    Element secret = Element.at(sec1, version.to, OCTET_STRING);
    Element curve = Element.at(sec1, secret.to, PARAMETERS);
    return Arrays.copyOfRange(sec1, curve.from, curve.to);
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

  private static byte[] concat(byte[]... parts) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      out.writeBytes(part);
    }
    return out.toByteArray();
  }

  private static byte[] hex(String digits) {
    return HexFormat.of().parseHex(digits);
  }

  /** The range of a DER element's content. */
  private record Element(int from, int to) {
    static Element at(byte[] der, int at, int tag) {
      if (at + 2 > der.length || (der[at] & 0xFF) != tag) {
        throw new IllegalArgumentException("no element of this kind");
      }
      int from = at + 2;
      int length = der[at + 1] & 0xFF;
      if (length >= 0x80) {
        int digits = length & 0x7F;
        if (digits < 1 || digits > 3 || from + digits > der.length) {
          throw new IllegalArgumentException("no length");
        }
        length = 0;
        for (int i = 0; i < digits; i++) {
          length = length << 8 | der[from + i] & 0xFF;
        }
        from += digits;
      }
      if (length > der.length - from) {
        throw new IllegalArgumentException("cut short");
      }
      return new Element(from, from + length);
    }
  }
}
