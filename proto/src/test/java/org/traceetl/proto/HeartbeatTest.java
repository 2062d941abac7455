package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;

final class HeartbeatTest {
  private final byte[] golden;

  HeartbeatTest() throws IOException {
    golden = GoldenBytesTest.bytes("heartbeat_1.hex");
  }

  private static final String HEADER = "00544541 01" + "00".repeat(24) + "00";

  private static byte[] bytes(String hex) {
    return HexFormat.of().parseHex(hex.replaceAll("\\s", ""));
  }

  @Test
  void messageHasTheseBytes() {
    Heartbeat heartbeat = new Heartbeat(1, -1, 7, true, "web3");

    assertThat(heartbeat.encode()).isEqualTo(golden);
    assertThat(Heartbeat.read(golden)).contains(heartbeat);
    assertThat(Heartbeat.begins(golden)).isTrue();
  }

  @Property(tries = 1_000)
  void anyHeartbeatIsReadBack(
      @ForAll long high,
      @ForAll long low,
      @ForAll long epoch,
      @ForAll boolean goodbye,
      @ForAll @StringLength(max = 300) String host) {
    Heartbeat heartbeat = new Heartbeat(high, low, epoch, goodbye, host);

    assertThat(Heartbeat.read(heartbeat.encode())).contains(heartbeat);
    assertThat(heartbeat.host().getBytes(UTF_8)).hasSizeLessThanOrEqualTo(255);
  }

  @Test
  void longHostsLoseTheirLastCharacters() {
    assertThat(host("a".repeat(255))).hasSize(255);
    assertThat(host("a".repeat(256))).isEqualTo("a".repeat(255));
    assertThat(host("a".repeat(254) + "ö")).isEqualTo("a".repeat(254));
    assertThat(host("a".repeat(253) + "ö")).endsWith("ö");
    assertThat(host("a".repeat(252) + "\ud83d\ude00")).isEqualTo("a".repeat(252));
    assertThat(host("a\ud800")).isEqualTo("a?");
  }

  private static String host(String host) {
    return new Heartbeat(1, 2, 3, false, host).host();
  }

  @Test
  void bytesOfLaterVersionsAndUnknownFlagsAreIgnored() {
    Heartbeat heartbeat = new Heartbeat(0, 0, 0, false, "a");

    assertThat(Heartbeat.read(bytes(HEADER + "0001 61 ffff"))).contains(heartbeat);
    assertThat(Heartbeat.read(bytes("00544541 01" + "00".repeat(24) + "fe 0001 61")))
        .contains(heartbeat);
    assertThat(Heartbeat.read(bytes("00544541 01" + "00".repeat(24) + "ff 0000")))
        .contains(new Heartbeat(0, 0, 0, true, ""));
  }

  @Test
  void hostileMessagesAreRefused() {
    for (int length = 0; length < golden.length; length++) {
      assertThat(Heartbeat.read(Arrays.copyOf(golden, length))).as("%d bytes", length).isEmpty();
      assertThat(Heartbeat.begins(Arrays.copyOf(golden, length))).isEqualTo(length >= 4);
    }
    assertRefused(HEADER.replace("41 01", "41 02") + "0000");
    assertRefused(HEADER.replace("41 01", "42 01") + "0000");
    assertRefused(HEADER + "0001");
    assertRefused(HEADER + "ffff" + "61".repeat(255));
    assertRefused(HEADER + "0100" + "61".repeat(256));
    assertThat(Heartbeat.begins(bytes("00544542 01 0001"))).isFalse();
    assertThat(BundleReader.begins(golden, 0, golden.length)).isFalse();
  }

  private static void assertRefused(String hex) {
    assertThat(Heartbeat.read(bytes(hex))).isEmpty();
  }

  @Test
  void hostsOfInvalidBytesKeepTheirLimit() {
    Heartbeat read = Heartbeat.read(bytes(HEADER + "00ff" + "ff".repeat(255))).orElseThrow();

    assertThat(read.host()).isEqualTo("\ufffd".repeat(85));
    assertThat(Heartbeat.read(read.encode())).contains(read);
  }

  @Property(tries = 2_000)
  void changedBytesAreReadOrRefused(@ForAll long seed) {
    Random random = new Random(seed);
    byte[] message = Arrays.copyOf(golden, 36 + random.nextInt(300));
    for (int i = random.nextInt(8); i >= 0; i--) {
      message[random.nextInt(message.length)] = (byte) random.nextInt();
    }

    Optional<Heartbeat> read = Heartbeat.read(message);

    read.ifPresent(
        heartbeat -> assertThat(heartbeat.host().getBytes(UTF_8)).hasSizeLessThanOrEqualTo(255));
  }
}
