package org.traceetl.agent.access;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PrivateKey;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.RSAPrivateKey;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.agent.access.TestCertificates.Issued;

final class TlsMaterialTest {
  private static final TestCertificates CA = new TestCertificates("a root");
  private static final Instant NOW = Instant.now();

  @TempDir private Path directory;

  @ParameterizedTest
  @CsvSource({"EC,true", "EC,false", "RSA,true", "RSA,false"})
  void keysOfAllFormatsAreRead(String algorithm, boolean pkcs8) throws IOException {
    Issued issued =
        CA.issue(algorithm, NOW.minus(Duration.ofHours(1)), NOW.plus(Duration.ofHours(1)));
    issued.writeTo(directory);
    Files.write(key(), pkcs8 ? issued.keyPem() : issued.traditionalKeyPem());
    Files.write(directory.resolve("ca.crt"), CA.caPem());

    TlsMaterial material = read(Optional.of(directory.resolve("ca.crt")));

    assertThat(secret(material.privateKey())).isEqualTo(secret(issued.keys().getPrivate()));
    assertThat(material.chain()).containsExactly(issued.certificate());
    assertThat(material.clientCas()).hasSize(1);
    assertThat(material.end()).isEqualTo(issued.certificate().getNotAfter().toInstant());
  }

  @Test
  void keyAfterCurveParametersIsRead() throws IOException {
    Issued issued = CA.issue();
    issued.writeTo(directory);
    String parameters =
        "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";
    Files.writeString(key(), parameters + new String(issued.traditionalKeyPem(), US_ASCII));

    assertThat(secret(read(Optional.empty()).privateKey()))
        .isEqualTo(secret(issued.keys().getPrivate()));
  }

  @Test
  void expiredCertificateIsRefused() throws IOException {
    CA.issue("EC", NOW.minus(Duration.ofHours(2)), NOW.minus(Duration.ofHours(1)))
        .writeTo(directory);

    assertThat(problem(certificate())).startsWith("expired at ").contains("renewed");
  }

  @Test
  void certificateOfTheFutureIsRefused() throws IOException {
    CA.issue("EC", NOW.plus(Duration.ofHours(1)), NOW.plus(Duration.ofHours(2))).writeTo(directory);

    assertThat(problem(certificate())).startsWith("is not valid before ").contains("clock");
  }

  @ParameterizedTest
  @ValueSource(strings = {"EC", "RSA"})
  void keyOfAnotherCertificateIsRefused(String algorithm) throws IOException {
    CA.issue().writeTo(directory);
    Files.write(key(), CA.issue(algorithm, NOW, NOW.plus(Duration.ofHours(1))).traditionalKeyPem());

    assertThat(problem(key()))
        .startsWith("does not match the first certificate in " + certificate());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          nothing of the kind                                                    | contains no private key
          -----BEGIN PRIVATE KEY-----QUJD-----END PRIVATE KEY-----               | contains an invalid private key
          -----BEGIN RSA PRIVATE KEY-----QUJD-----END RSA PRIVATE KEY-----       | contains an invalid private key
          -----BEGIN EC PRIVATE KEY-----MIP/-----END EC PRIVATE KEY-----         | contains an invalid private key
          -----BEGIN EC PRIVATE KEY-----MAcCAQEEhP//-----END EC PRIVATE KEY----- | contains an invalid private key
          -----BEGIN ENCRYPTED PRIVATE KEY-----QUJD-----END ENCRYPTED PRIVATE KEY----- | contains a key of type ENCRYPTED
          """)
  void invalidKeyIsRefused(String content, String problem) throws IOException {
    CA.issue(
            content.contains("RSA") ? "RSA" : "EC",
            NOW.minus(Duration.ofHours(1)),
            NOW.plus(Duration.ofHours(1)))
        .writeTo(directory);
    Files.writeString(key(), content);

    assertThat(problem(key())).startsWith(problem).doesNotContain("QUJD");
  }

  @Test
  void invalidCertificateIsRefused() throws IOException {
    CA.issue().writeTo(directory);
    Files.writeString(certificate(), "");
    assertThat(problem(certificate())).startsWith("contains no certificate");

    Files.writeString(
        certificate(), "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n");
    assertThat(problem(certificate())).startsWith("contains an invalid certificate");

    Files.delete(certificate());
    assertThat(problem(certificate())).startsWith("cannot be read");

    Files.write(certificate(), new byte[1024 * 1024 + 1]);
    assertThat(problem(certificate())).startsWith("longer than 1048576 bytes");
  }

  @Test
  void changedFilesHaveAnotherFingerprint() throws IOException {
    CA.issue().writeTo(directory);
    TlsFiles files = new TlsFiles(certificate(), key(), Optional.empty());
    var before = files.read().fingerprint();
    assertThat(files.read().fingerprint()).isEqualTo(before);

    CA.issue().writeTo(directory);
    assertThat(files.read().fingerprint()).isNotEqualTo(before);
  }

  private static BigInteger secret(PrivateKey key) {
    return key instanceof ECPrivateKey curve
        ? curve.getS()
        : ((RSAPrivateKey) key).getPrivateExponent();
  }

  private Path certificate() {
    return directory.resolve("tls.crt");
  }

  private Path key() {
    return directory.resolve("tls.key");
  }

  private TlsMaterial read(Optional<Path> clientCa) throws IOException {
    return TlsMaterial.of(new TlsFiles(certificate(), key(), clientCa).read(), NOW);
  }

  private String problem(Path file) {
    TlsFileException failure =
        catchThrowableOfType(TlsFileException.class, () -> read(Optional.empty()));
    assertThat(failure.file()).isEqualTo(file);
    assertThat(failure).hasMessage(file + ": " + failure.problem());
    return failure.problem();
  }
}
