package org.traceetl.proto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.zip.CRC32C;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.HotspotDecisions.Decision;
import org.traceetl.proto.MalformedDecisionsException.Reason;

final class HotspotDecisionsTest {
  private static final HotspotDecisions EXAMPLE =
      new HotspotDecisions(
          1_795_255_028_312L,
          1_795_255_028_000L,
          Map.of(
              "checkout", new Decision(8, false, 1_420, 1_795_255_000_000L),
              "größe", new Decision(64, true, 0, 1_795_250_000_000L)));

  private static final String GOLDEN =
      "54454853" // magic
          + "01" // version
          + "000001a1fd89ca58" // epoch
          + "000001a1fd89c920" // decided
          + "0002"
          + ("0008" + "636865636b6f7574" + "0008" + "00" + "0000058c" + "000001a1fd895bc0")
          + ("0007" + "6772c3b6c39f65" + "0040" + "01" + "00000000" + "000001a1fd3d1080")
          + "f7cbede8"; // checksum

  static byte[] example() {
    return EXAMPLE.encode();
  }

  @Test
  void itIsWrittenAsItAlwaysWas() throws MalformedDecisionsException {
    assertThat(HexFormat.of().formatHex(EXAMPLE.encode())).isEqualTo(GOLDEN);
    assertThat(HotspotDecisions.FORMAT.decode(HexFormat.of().parseHex(GOLDEN))).isEqualTo(EXAMPLE);
  }

  @Property(tries = 300)
  void whatIsWrittenIsRead(
      @ForAll @LongRange(min = 1) long epoch,
      @ForAll long decided,
      @ForAll @Size(max = 20) Map<String, @IntRange(min = 1, max = 1_024) Integer> queues)
      throws MalformedDecisionsException {
    Map<String, Decision> applications = new HashMap<>();
    queues.forEach((name, k) -> {
      if (HotspotDecisions.takes(name)) {
        applications.put(name, new Decision(k, k % 2 == 0, k * 7, decided - k));
      }
    });
    HotspotDecisions decisions = new HotspotDecisions(epoch, decided, applications);

    assertThat(HotspotDecisions.FORMAT.decode(decisions.encode())).isEqualTo(decisions);
  }

  @Property(tries = 500)
  void aByteThatHasChangedIsFound(@ForAll int at, @ForAll byte other) {
    byte[] bytes = EXAMPLE.encode();
    int index = Math.floorMod(at, bytes.length);
    if (bytes[index] != other) {
      bytes[index] = other;
      assertThatThrownBy(() -> HotspotDecisions.FORMAT.decode(bytes))
          .isInstanceOf(MalformedDecisionsException.class);
    }
  }

  @Property(tries = 1_000)
  void anyBytesWithARightChecksumAreReadAsTheyAreOrRefused(
      @ForAll byte[] tail, @ForAll @IntRange(max = 3) int count) {
    byte[] bytes = EXAMPLE.encode();
    ByteBuffer out = ByteBuffer.allocate(23 + tail.length + 4);
    out.put(bytes, 0, 21).putShort((short) count).put(tail);
    byte[] forged = sealed(out.array());

    try {
      assertThat(HotspotDecisions.FORMAT.decode(forged).encode()).isEqualTo(forged);
    } catch (MalformedDecisionsException e) {
      assertThat(e.reason()).isIn(Reason.LENGTH, Reason.CONTENT);
    }
  }

  @Test
  void whatIsWrongHasItsReason() {
    byte[] good = EXAMPLE.encode();

    assertThat(reason(new byte[0])).isEqualTo(Reason.LENGTH);
    assertThat(reason(new byte[2 << 20])).isEqualTo(Reason.LENGTH);
    assertThat(reason(Arrays.copyOf(good, good.length - 1))).isEqualTo(Reason.CHECKSUM);
    assertThat(reason(sealed(Arrays.copyOf(good, good.length - 1)))).isEqualTo(Reason.LENGTH);
    assertThat(reason(sealed(Arrays.copyOf(good, good.length + 1)))).isEqualTo(Reason.LENGTH);
    assertThat(reason(changed(good, 0, 0))).isEqualTo(Reason.MAGIC);
    assertThat(reason(changed(good, 4, 2))).isEqualTo(Reason.VERSION);
    assertThat(reason(changed(good, 5, -1))).isEqualTo(Reason.CONTENT); // epoch
    assertThat(reason(changed(good, 21, 4))).isEqualTo(Reason.CONTENT); // 1,026 applications
    assertThat(reason(changed(good, 25, 'z'))).isEqualTo(Reason.CONTENT); // order
    assertThat(reason(changed(good, 25, -1))).isEqualTo(Reason.CONTENT); // UTF-8
    assertThat(reason(changed(good, 34, 0))).isEqualTo(Reason.CONTENT); // queues
    assertThat(reason(changed(good, 35, 2))).isEqualTo(Reason.CONTENT); // flags
    assertThat(reason(changed(good, 36, -1))).isEqualTo(Reason.CONTENT); // level
    assertThat(reason(changed(good, 23, 127))).isEqualTo(Reason.LENGTH); // of a name
  }

  @Test
  void ofTwoTheSameHoldsWhicheverIsReadFirst() {
    HotspotDecisions later = with(2, 1, 4);
    HotspotDecisions fewer = with(1, 1, 4);
    HotspotDecisions more = with(1, 1, 200);

    assertThat(later.holdsOver(more)).isTrue();
    assertThat(more.holdsOver(later)).isFalse();
    assertThat(more.holdsOver(fewer)).isTrue();
    assertThat(fewer.holdsOver(more)).isFalse();
    assertThat(more.holdsOver(with(1, 1, 200))).isFalse();
    assertThat(with(1, -1, 4).holdsOver(more)).isTrue(); // unsigned
    assertThat(fewer.holdsOver(HotspotDecisions.NONE)).isTrue();
  }

  @Test
  void anEpochMoreThanADayAheadIsRefused() throws MalformedDecisionsException {
    long nowMillis = 1_795_255_000_000L;
    HotspotDecisions ahead = with(nowMillis + 86_400_000, 1, 4);
    assertThat(HotspotDecisions.FORMAT.decode(ahead.encode(), nowMillis)).isEqualTo(ahead);

    for (long epoch : new long[] {ahead.epoch() + 1, Long.MAX_VALUE}) {
      byte[] further = with(epoch, 1, 4).encode();
      assertThatThrownBy(() -> HotspotDecisions.FORMAT.decode(further, nowMillis))
          .isInstanceOf(MalformedDecisionsException.class)
          .hasMessageContaining("epoch " + epoch)
          .extracting("reason")
          .isEqualTo(Reason.CONTENT);
    }
  }

  private static HotspotDecisions with(long epoch, long decidedMillis, int queues) {
    return new HotspotDecisions(
        epoch, decidedMillis, Map.of("hot", new Decision(queues, false, 1, 1)));
  }

  private static Reason reason(byte[] bytes) {
    return catchThrowableOfType(
            MalformedDecisionsException.class, () -> HotspotDecisions.FORMAT.decode(bytes))
        .reason();
  }

  private static byte[] changed(byte[] good, int at, int value) {
    byte[] bytes = good.clone();
    bytes[at] = (byte) value;
    return sealed(bytes);
  }

  private static byte[] sealed(byte[] bytes) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes, 0, bytes.length - 4);
    ByteBuffer.wrap(bytes).putInt(bytes.length - 4, (int) checksum.getValue());
    return bytes;
  }
}
