package org.traceetl.agent.telemetry;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyManagementException;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLContextSpi;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLServerSocketFactory;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.traceetl.agent.access.TlsFiles;
import org.traceetl.agent.access.TlsInForce;
import org.traceetl.agent.access.TlsMaterial;

/**
 * TLS of the telemetry port. The JDK's server keeps one context for good; this one gives each
 * connection an engine by the files as they were when they were last right. Sessions belong to the
 * files they were made under, so none is resumed under others.
 */
final class TelemetryTls {
  private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};
  private static final char[] NO_PASSWORD = {};

  private final TlsInForce inForce;
  private volatile Newest newest;

  /** What stands in the files belongs together: a connection sees one version of it. */
  private record Newest(SSLContext context, boolean needsClients) {
    SSLEngine engine(SSLEngine made) {
      made.setUseClientMode(false);
      made.setEnabledProtocols(PROTOCOLS);
      made.setNeedClientAuth(needsClients);
      return made;
    }
  }

  /**
   * @throws IOException when the files cannot be read, or would not serve
   */
  TelemetryTls(TlsFiles files, InstantSource clock) throws IOException {
    inForce =
        new TlsInForce(
            files,
            clock,
            material -> newest = new Newest(context(material), !material.clientCas().isEmpty()));
  }

  /** For servers; its engines are by the newest files. */
  SSLContext context() {
    return new SSLContext(new Delegate(), newest.context.getProvider(), "TLS") {};
  }

  /** When the certificate in force ends. */
  Instant end() {
    return inForce.end();
  }

  /**
   * Has new connections use the files as they are now.
   *
   * @return true if they are others
   * @throws IOException when they would not serve; all stays as it was
   */
  boolean reload() throws IOException {
    return inForce.reload();
  }

  private static SSLContext context(TlsMaterial material) throws IOException {
    try {
      KeyStore own = KeyStore.getInstance("PKCS12");
      own.load(null, NO_PASSWORD);
      own.setKeyEntry(
          "port",
          material.privateKey(),
          NO_PASSWORD,
          material.chain().toArray(X509Certificate[]::new));
      KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
      keys.init(own, NO_PASSWORD);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys.getKeyManagers(), trusted(material.clientCas()), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IOException("the certificate cannot be used: " + e.getMessage(), e);
    }
  }

  /** Never the JDK's own roots, which would admit the whole world. */
  private static TrustManager[] trusted(List<X509Certificate> roots)
      throws GeneralSecurityException, IOException {
    if (roots.isEmpty()) {
      return new TrustManager[0];
    }
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, NO_PASSWORD);
    for (int i = 0; i < roots.size(); i++) {
      store.setCertificateEntry("root-" + i, roots.get(i));
    }
    TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
    trust.init(store);
    return trust.getTrustManagers();
  }

  private final class Delegate extends SSLContextSpi {
    @Override
    protected SSLEngine engineCreateSSLEngine() {
      Newest now = newest;
      return now.engine(now.context.createSSLEngine());
    }

    @Override
    protected SSLEngine engineCreateSSLEngine(String host, int port) {
      Newest now = newest;
      return now.engine(now.context.createSSLEngine(host, port));
    }

    @Override
    protected SSLSessionContext engineGetServerSessionContext() {
      return newest.context.getServerSessionContext();
    }

    @Override
    protected SSLSessionContext engineGetClientSessionContext() {
      return newest.context.getClientSessionContext();
    }

    @Override
    protected void engineInit(KeyManager[] keys, TrustManager[] trust, SecureRandom random)
        throws KeyManagementException {
      throw new KeyManagementException("it is set by its files");
    }

    @Override
    protected SSLSocketFactory engineGetSocketFactory() {
      throw new UnsupportedOperationException("for engines only");
    }

    @Override
    protected SSLServerSocketFactory engineGetServerSocketFactory() {
      throw new UnsupportedOperationException("for engines only");
    }
  }
}
