package org.traceetl.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A self-signed certificate for 127.0.0.1 with its key, created by the JDK. */
public final class OwnCertificate {
  private static final String ALIAS = "port";
  private static final String PASSWORD = "changeit";

  private final Path certificate;
  private final Path privateKey;
  private final KeyStore store;

  private OwnCertificate(Path certificate, Path privateKey, KeyStore store) {
    this.certificate = certificate;
    this.privateKey = privateKey;
    this.store = store;
  }

  /** Creates an elliptic-curve certificate in an existing directory. */
  public static OwnCertificate in(Path directory)
      throws IOException, GeneralSecurityException, InterruptedException {
    Path file = directory.resolve("own.p12");
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
            "-genkeypair",
            "-alias",
            ALIAS,
            "-keyalg",
            "EC",
            "-groupname",
            "secp256r1",
            "-validity",
            "30",
            "-dname",
            "CN=localhost",
            "-ext",
            "san=ip:127.0.0.1,dns:localhost",
            "-storetype",
            "PKCS12",
            "-keystore",
            file.toString(),
            "-storepass",
            PASSWORD);
    Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
    String told = new String(keytool.getInputStream().readAllBytes());
    if (keytool.waitFor() != 0) {
      throw new IOException("keytool made no certificate: " + told);
    }
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, PASSWORD.toCharArray());
    }
    return new OwnCertificate(
        pem(directory.resolve("tls.crt"), "CERTIFICATE", store.getCertificate(ALIAS).getEncoded()),
        pem(
            directory.resolve("tls.key"),
            "PRIVATE KEY",
            store.getKey(ALIAS, PASSWORD.toCharArray()).getEncoded()),
        store);
  }

  private static Path pem(Path file, String what, byte[] content) throws IOException {
    return Files.writeString(
        file,
        "-----BEGIN %1$s-----%n%2$s%n-----END %1$s-----%n"
            .formatted(what, Base64.getMimeEncoder().encodeToString(content)));
  }

  /** Returns the PEM file. */
  public Path certificate() {
    return certificate;
  }

  /** Returns the PKCS#8 PEM file. */
  public Path privateKey() {
    return privateKey;
  }

  /** Returns a client context that trusts this certificate only. */
  public SSLContext trusting() throws GeneralSecurityException, IOException {
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry(ALIAS, store.getCertificate(ALIAS));
    TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
    trust.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }
}
