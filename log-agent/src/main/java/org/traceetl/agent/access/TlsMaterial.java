package org.traceetl.agent.access;

import java.io.ByteArrayInputStream;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * A checked certificate with its key: they match, and the certificate is valid now.
 *
 * @param chain the certificate, followed by its intermediate certificates
 * @param clientCas root certificates for clients; if empty, clients need no certificate
 */
public record TlsMaterial(
    List<X509Certificate> chain, PrivateKey privateKey, List<X509Certificate> clientCas) {
  public TlsMaterial {
    chain = List.copyOf(chain);
    clientCas = List.copyOf(clientCas);
  }

  /**
   * Checks the contents of the files.
   *
   * @throws TlsFileException if they cannot be used
   */
  public static TlsMaterial of(TlsFiles.Contents contents, Instant now) throws TlsFileException {
    TlsFiles files = contents.files;
    List<X509Certificate> chain = certificates(files.certificate(), contents.certificate);
    X509Certificate own = chain.getFirst();
    PrivateKey key = PrivateKeys.parse(files, contents.privateKey, own.getPublicKey());
    if (now.isAfter(own.getNotAfter().toInstant())) {
      throw new TlsFileException(
          files.certificate(),
          "expired at "
              + own.getNotAfter().toInstant()
              + ": replace it with a renewed certificate");
    }
    if (now.isBefore(own.getNotBefore().toInstant())) {
      throw new TlsFileException(
          files.certificate(),
          "is not valid before "
              + own.getNotBefore().toInstant()
              + ": check this host's clock, or use a certificate that is valid now");
    }
    if (!belongTogether(own, key)) {
      throw mismatch(files);
    }
    return new TlsMaterial(
        chain,
        key,
        files.clientCa().isEmpty()
            ? List.of()
            : certificates(files.clientCa().get(), contents.clientCa));
  }

  static TlsFileException mismatch(TlsFiles files) {
    return new TlsFileException(
        files.privateKey(),
        "does not match the first certificate in "
            + files.certificate()
            + ": use a matching pair, with the port's own certificate first");
  }

  /** Returns when the certificate expires. */
  public Instant end() {
    return chain.getFirst().getNotAfter().toInstant();
  }

  static List<X509Certificate> certificates(Path file, byte[] pem) throws TlsFileException {
    List<X509Certificate> certificates = new ArrayList<>();
    try {
      CertificateFactory.getInstance("X.509")
          .generateCertificates(new ByteArrayInputStream(pem))
          .forEach(certificate -> certificates.add((X509Certificate) certificate));
    } catch (CertificateException e) {
      throw new TlsFileException(
          file, "contains an invalid certificate (" + e.getMessage() + "): use a PEM file");
    }
    if (certificates.isEmpty()) {
      throw new TlsFileException(
          file, "contains no certificate: use a PEM file (-----BEGIN CERTIFICATE-----)");
    }
    return certificates;
  }

  private static boolean belongTogether(X509Certificate certificate, PrivateKey key) {
    if (!certificate.getPublicKey().getAlgorithm().equals(key.getAlgorithm())) {
      return false;
    }
    String algorithm = key.getAlgorithm().equals("RSA") ? "SHA256withRSA" : "SHA256withECDSA";
    byte[] anything = new byte[32];
    try {
      Signature signer = Signature.getInstance(algorithm);
      signer.initSign(key);
      signer.update(anything);
      byte[] signature = signer.sign();
      Signature verifier = Signature.getInstance(algorithm);
      verifier.initVerify(certificate.getPublicKey());
      verifier.update(anything);
      return verifier.verify(signature);
    } catch (GeneralSecurityException e) {
      return false;
    }
  }
}
