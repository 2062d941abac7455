package org.traceetl.agent.access;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.cert.X509Certificate;
import java.security.interfaces.ECPrivateKey;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.concurrent.atomic.AtomicLong;
import org.bouncycastle.asn1.sec.SECObjectIdentifiers;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.CertIOException;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.openssl.jcajce.JcaPEMWriter;
import org.bouncycastle.openssl.jcajce.JcaPKCS8Generator;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.bouncycastle.util.io.pem.PemObject;

/** A certification authority and its certificates. */
public final class TestCertificates {
  private static final AtomicLong SERIALS = new AtomicLong(1);
  private static final Duration LIFE = Duration.ofDays(1);

  /** A certificate with its key. */
  public record Issued(X509Certificate certificate, KeyPair keys) {
    public byte[] certificatePem() {
      return pem(certificate);
    }

    /** Returns PKCS#8. */
    public byte[] keyPem() {
      try {
        return pem(new JcaPKCS8Generator(keys.getPrivate(), null));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Returns PKCS#1 or SEC 1. */
    public byte[] traditionalKeyPem() {
      if (!(keys.getPrivate() instanceof ECPrivateKey key)) {
        return pem(keys.getPrivate());
      }
      // Includes the curve, as OpenSSL does.
      try {
        return pem(
            new PemObject(
                "EC PRIVATE KEY",
                new org.bouncycastle.asn1.sec.ECPrivateKey(
                        256, key.getS(), SECObjectIdentifiers.secp256r1)
                    .getEncoded()));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Writes {@code tls.crt} and {@code tls.key}. */
    public void writeTo(Path directory) throws IOException {
      Files.createDirectories(directory);
      Files.write(directory.resolve("tls.crt"), certificatePem());
      Files.write(directory.resolve("tls.key"), keyPem());
    }
  }

  private final X500Name name;
  private final KeyPair keys = keys("EC");
  private final X509Certificate certificate;

  public TestCertificates(String name) {
    this.name = new X500Name("CN=" + name);
    Instant now = Instant.now();
    this.certificate = issue(this.name, keys, now.minus(LIFE), now.plus(LIFE), true);
  }

  public byte[] caPem() {
    return pem(certificate);
  }

  /** Issues a certificate for {@code localhost} and 127.0.0.1. */
  public Issued issue() {
    Instant now = Instant.now();
    return issue("EC", now.minus(LIFE), now.plus(LIFE));
  }

  public Issued issue(String algorithm, Instant from, Instant to) {
    KeyPair own = keys(algorithm);
    return new Issued(issue(new X500Name("CN=localhost"), own, from, to, false), own);
  }

  private X509Certificate issue(
      X500Name subject, KeyPair own, Instant from, Instant to, boolean authority) {
    try {
      X509v3CertificateBuilder builder =
          new JcaX509v3CertificateBuilder(
              name,
              BigInteger.valueOf(SERIALS.incrementAndGet()),
              Date.from(from),
              Date.from(to),
              subject,
              own.getPublic());
      builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(authority));
      if (!authority) {
        GeneralName[] names = {
          new GeneralName(GeneralName.dNSName, "localhost"),
          new GeneralName(GeneralName.iPAddress, "127.0.0.1")
        };
        builder.addExtension(Extension.subjectAlternativeName, false, new GeneralNames(names));
      }
      return new JcaX509CertificateConverter()
          .getCertificate(
              builder.build(
                  new JcaContentSignerBuilder("SHA256withECDSA").build(keys.getPrivate())));
    } catch (CertIOException | OperatorCreationException | GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static KeyPair keys(String algorithm) {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
      if (algorithm.equals("EC")) {
        generator.initialize(new ECGenParameterSpec("secp256r1"));
      } else if (algorithm.equals("RSA")) {
        generator.initialize(2048);
      }
      return generator.generateKeyPair();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static byte[] pem(Object content) {
    StringWriter text = new StringWriter();
    try (JcaPEMWriter writer = new JcaPEMWriter(text)) {
      writer.writeObject(content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString().getBytes(StandardCharsets.US_ASCII);
  }
}
