package org.traceetl.server.features.push;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.traceetl.common.ConfigException;
import org.traceetl.common.Reason;

/** Certificates of a client, from PEM files. */
public final class ClientTls {
  private static final String KEY = PushConfig.ENDPOINTS + ".tls.";
  private static final Pattern PKCS8 =
      Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]*+)-----END PRIVATE KEY-----");
  private static final char[] NO_PASSWORD = {};

  private ClientTls() {}

  /**
   * Returns a context that shows no certificate.
   *
   * @param trusted null for the certificates of the JDK
   */
  public static SSLContext trusting(TrustManager[] trusted) {
    return context(null, trusted);
  }

  /**
   * Returns a context with the configured certificates.
   *
   * @throws ConfigException if a file cannot be used
   */
  static SSLContext context(PushConfig.Tls tls) {
    return context(keys(tls), trusted(tls));
  }

  private static SSLContext context(KeyManager[] keys, TrustManager[] trusted) {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys, trusted, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("each JDK has TLS", e);
    }
  }

  /**
   * Returns the certificates to trust; null for those of the JDK.
   *
   * @throws ConfigException if the file cannot be used
   */
  static TrustManager[] trusted(PushConfig.Tls tls) {
    return trusted(KEY + "ca-file", tls.caFile());
  }

  /**
   * Returns what trusts the certificates of a file; null without a file.
   *
   * @param name name of the file in messages
   * @throws ConfigException if the file cannot be used
   */
  public static TrustManager[] trusted(String name, Path caFile) {
    if (caFile == null) {
      return null;
    }
    try {
      KeyStore store = emptyStore();
      int number = 0;
      for (Certificate certificate : certificates(name, caFile)) {
        store.setCertificateEntry("ca-" + number++, certificate);
      }
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(store);
      return factory.getTrustManagers();
    } catch (GeneralSecurityException e) {
      throw new ConfigException(name, caFile, Reason.of(e));
    }
  }

  /**
   * Returns the certificate to show, with its key; null for none.
   *
   * @throws ConfigException if a file cannot be used
   */
  static KeyManager[] keys(PushConfig.Tls tls) {
    if (tls.certificateFile() == null) {
      return null;
    }
    try {
      Certificate[] chain =
          certificates(KEY + "certificate-file", tls.certificateFile()).toArray(new Certificate[0]);
      KeyStore store = emptyStore();
      store.setKeyEntry("client", privateKey(tls.keyFile()), NO_PASSWORD, chain);
      KeyManagerFactory factory =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      factory.init(store, NO_PASSWORD);
      return factory.getKeyManagers();
    } catch (GeneralSecurityException e) {
      throw new ConfigException(KEY + "certificate-file", tls.certificateFile(), Reason.of(e));
    }
  }

  private static KeyStore emptyStore() throws GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try {
      store.load(null, null);
    } catch (IOException e) {
      throw new IllegalStateException("an empty store needs no file", e);
    }
    return store;
  }

  private static Collection<? extends Certificate> certificates(String name, Path file) {
    try (InputStream pem = Files.newInputStream(file)) {
      Collection<? extends Certificate> all =
          CertificateFactory.getInstance("X.509").generateCertificates(pem);
      ConfigException.check(!all.isEmpty(), name, file, "must be a PEM file with a certificate");
      return all;
    } catch (IOException | GeneralSecurityException e) {
      throw new ConfigException(
          name, file, "must be a PEM file with a certificate (" + Reason.of(e) + ")");
    }
  }

  private static PrivateKey privateKey(Path file) throws GeneralSecurityException {
    String rule = "must be a PEM file with an unencrypted private key in PKCS#8";
    Matcher pem;
    try {
      pem = PKCS8.matcher(Files.readString(file, ISO_8859_1));
    } catch (IOException e) {
      throw new ConfigException(KEY + "key-file", file, rule + " (" + Reason.of(e) + ")");
    }
    if (pem.find()) {
      PKCS8EncodedKeySpec encoded =
          new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem.group(1)));
      for (String algorithm : List.of("RSA", "EC", "EdDSA")) {
        try {
          return KeyFactory.getInstance(algorithm).generatePrivate(encoded);
        } catch (InvalidKeySpecException e) {
          // Of another algorithm.
          continue;
        }
      }
    }
    throw new ConfigException(KEY + "key-file", file, rule);
  }
}
