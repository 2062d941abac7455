package org.traceetl.server.canary;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.traceetl.common.ConfigException;
import org.traceetl.common.Reason;

/** The CA certificates by which addresses of https are checked. */
final class TrustedCertificates {
  private TrustedCertificates() {}

  /**
   * Returns the trust managers of a PEM file; null without a file, for those of the JVM.
   *
   * @throws ConfigException if the file has no certificates
   */
  static TrustManager[] of(Path pem) {
    if (pem == null) {
      return null;
    }
    try (InputStream in = Files.newInputStream(pem)) {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      for (Certificate one : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
        store.setCertificateEntry("ca-" + store.size(), one);
      }
      if (store.size() == 0) {
        throw new ConfigException("--ca-file", pem, "must have CA certificates as PEM");
      }
      var trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trusted.init(store);
      return trusted.getTrustManagers();
    } catch (IOException | GeneralSecurityException e) {
      throw new ConfigException(
          "--ca-file", pem, "must have CA certificates as PEM (" + Reason.of(e) + ")");
    }
  }

  /** Returns a context that trusts these; null for the one of the JVM. */
  static SSLContext context(TrustManager[] trusted) {
    if (trusted == null) {
      return null;
    }
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trusted, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JVM has TLS", e);
    }
  }
}
