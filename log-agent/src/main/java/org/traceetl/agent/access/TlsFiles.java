package org.traceetl.agent.access;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.cert.X509Certificate;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.traceetl.common.Reason;

/**
 * The files that a port with TLS needs, all PEM.
 *
 * @param certificate PEM file of the port's certificate, followed by its intermediate certificates.
 *     With it and the key, the port speaks only TLS 1.2 or 1.3. Reloaded
 * @param privateKey PEM file of the certificate's key, RSA or EC, unencrypted: PKCS#8, PKCS#1 or
 *     SEC 1. Reloaded
 * @param clientCa PEM file of root certificates. If set, each client must present a certificate
 *     issued by one of them, for {@code /health} as well. Reloaded
 */
public record TlsFiles(Path certificate, Path privateKey, Optional<Path> clientCa) {
  private static final int MAX_FILE_BYTES = 1024 * 1024;

  /**
   * Reads the files.
   *
   * @throws TlsFileException if one cannot be read
   */
  public Contents read() throws TlsFileException {
    return new Contents(
        this,
        bytes(certificate),
        bytes(privateKey),
        clientCa.isPresent() ? bytes(clientCa.get()) : new byte[0]);
  }

  /**
   * Checks a file of root certificates that another component reads.
   *
   * @throws TlsFileException if it has no readable certificate
   */
  public static void checkRoots(Path file) throws TlsFileException {
    TlsMaterial.certificates(file, bytes(file));
  }

  /**
   * Returns a context for clients that trusts a file of root certificates.
   *
   * @throws TlsFileException if it has no readable certificate
   */
  public static SSLContext trusting(Path file) throws TlsFileException {
    try {
      KeyStore roots = KeyStore.getInstance(KeyStore.getDefaultType());
      roots.load(null, null);
      for (X509Certificate root : TlsMaterial.certificates(file, bytes(file))) {
        roots.setCertificateEntry("root-" + roots.size(), root);
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(roots);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (TlsFileException e) {
      throw e;
    } catch (GeneralSecurityException | IOException e) {
      throw new TlsFileException(file, "cannot be used: " + Reason.of(e));
    }
  }

  private static byte[] bytes(Path file) throws TlsFileException {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MAX_FILE_BYTES + 1);
      if (bytes.length > MAX_FILE_BYTES) {
        throw new TlsFileException(
            file, "longer than " + MAX_FILE_BYTES + " bytes: remove everything that is not PEM");
      }
      return bytes;
    } catch (TlsFileException e) {
      throw e;
    } catch (IOException e) {
      throw new TlsFileException(file, "cannot be read: " + e);
    }
  }

  /** The unchecked contents of the files at one time. */
  public static final class Contents {
    final TlsFiles files;
    final byte[] certificate;
    final byte[] privateKey;
    final byte[] clientCa;

    private Contents(TlsFiles files, byte[] certificate, byte[] privateKey, byte[] clientCa) {
      this.files = files;
      this.certificate = certificate;
      this.privateKey = privateKey;
      this.clientCa = clientCa;
    }

    /** Returns a hash of the contents that does not reveal them. */
    public ByteBuffer fingerprint() {
      try {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (byte[] file : new byte[][] {certificate, privateKey, clientCa}) {
          digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, file.length));
          digest.update(file);
        }
        return ByteBuffer.wrap(digest.digest());
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("every JDK has SHA-256", e);
      }
    }
  }
}
