package org.traceetl.proto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.MalformedDecisionsException.Reason;

final class LearntNamesTest {
  private static final LearntNames EXAMPLE =
      new LearntNames(
          1_795_255_028_312L,
          1_795_255_028_000L,
          Map.of(
              "shop",
              new NameRules(
                  List.of(
                      new NameRule("/users/{*}/orders/", 0, 502, 1_795_255_000_000L),
                      new NameRule("/users/", 1, 501, 1_795_250_000_000L))),
              "größe",
              new NameRules(List.of(new NameRule("GET ", 0, 10_001, 1_795_250_000_000L)))));

  private static final String GOLDEN =
      "54454c4e" // magic
          + "01" // version
          + "000001a1fd89ca58" // epoch
          + "000001a1fd89c920" // decided
          + "0002"
          + ("0007" + "6772c3b6c39f65" + "0001")
          + ("0004" + "47455420" + "00" + "00002711" + "000001a1fd3d1080")
          + ("0004" + "73686f70" + "0002")
          + ("0007" + "2f75736572732f" + "01" + "000001f5" + "000001a1fd3d1080")
          + ("0012" + "2f75736572732f7b2a7d2f6f72646572732f")
          + ("00" + "000001f6" + "000001a1fd895bc0");

  private static final int PREFIX_OF_GET = 36;

  @Test
  void itIsWrittenAsItAlwaysWas() throws MalformedDecisionsException {
    byte[] bytes = EXAMPLE.encode();

    assertThat(HexFormat.of().formatHex(bytes, 0, bytes.length - 4)).isEqualTo(GOLDEN);
    assertThat(LearntNames.FORMAT.decode(bytes)).isEqualTo(EXAMPLE);
    assertThat(EXAMPLE.rules()).isEqualTo(3);
  }

  @Property(tries = 300)
  void whatIsWrittenIsRead(
      @ForAll @LongRange(min = 1) long epoch,
      @ForAll long decided,
      @ForAll @Size(max = 20) Map<String, @IntRange(min = 1, max = 30) Integer> rules)
      throws MalformedDecisionsException {
    Map<String, NameRules> applications = new HashMap<>();
    rules.forEach((name, count) -> {
      List<NameRule> its = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        its.add(new NameRule("x" + i % 5 + "/", i / 5, count, decided - i));
      }
      if (LearntNames.takes(name)) {
        applications.put(name, new NameRules(its));
      }
    });
    LearntNames learnt = new LearntNames(epoch, decided, applications);

    assertThat(LearntNames.FORMAT.decode(learnt.encode())).isEqualTo(learnt);
  }

  @Property(tries = 500)
  void aByteThatHasChangedIsFound(@ForAll int at, @ForAll byte other) {
    byte[] bytes = EXAMPLE.encode();
    int index = Math.floorMod(at, bytes.length);
    if (bytes[index] != other) {
      bytes[index] = other;
      assertThatThrownBy(() -> LearntNames.FORMAT.decode(bytes))
          .isInstanceOf(MalformedDecisionsException.class);
    }
  }

  @Property(tries = 1_000)
  void anyBytesWithARightChecksumAreReadAsTheyAreOrRefused(
      @ForAll byte[] tail, @ForAll @IntRange(max = 3) int count) {
    ByteBuffer out = ByteBuffer.allocate(23 + tail.length + 4);
    out.put(EXAMPLE.encode(), 0, 21).putShort((short) count).put(tail);
    refusedOrRead(sealed(out.array()));
  }

  @Property(tries = 2_000)
  void aChangedByteWithARightChecksumIsReadAsItIsOrRefused(@ForAll int at, @ForAll byte other) {
    byte[] bytes = EXAMPLE.encode();
    bytes[21 + Math.floorMod(at, bytes.length - 25)] = other;
    refusedOrRead(sealed(bytes));
  }

  private static void refusedOrRead(byte[] forged) {
    try {
      assertThat(LearntNames.FORMAT.decode(forged).encode()).isEqualTo(forged);
    } catch (MalformedDecisionsException e) {
      assertThat(e.reason()).isIn(Reason.LENGTH, Reason.CONTENT);
    }
  }

  @Test
  void whatIsWrongHasItsReason() {
    byte[] good = EXAMPLE.encode();

    assertThat(reason(new byte[0])).isEqualTo(Reason.LENGTH);
    assertThat(reason(new byte[LearntNames.MAX_BYTES + 1])).isEqualTo(Reason.LENGTH);
    assertThat(reason(HotspotDecisionsTest.example())).isEqualTo(Reason.MAGIC);
    assertThat(reason(changed(good, 4, 2))).isEqualTo(Reason.VERSION);
    assertThat(reason(changed(good, 5, -1))).isEqualTo(Reason.CONTENT); // epoch
    assertThat(reason(changed(good, 21, 4))).isEqualTo(Reason.CONTENT); // 1,026 applications
    assertThat(reason(changed(good, 25, 'z'))).isEqualTo(Reason.CONTENT); // order
    assertThat(reason(changed(good, 33, 0))).isEqualTo(Reason.CONTENT); // no rules
    assertThat(reason(changed(good, PREFIX_OF_GET + 3, 'x'))).isEqualTo(Reason.CONTENT);
    assertThat(reason(changed(good, PREFIX_OF_GET + 4, 31))).isEqualTo(Reason.CONTENT); // behind
    assertThat(reason(sealed(Arrays.copyOf(good, good.length - 1)))).isEqualTo(Reason.LENGTH);
    assertThat(reason(sealed(Arrays.copyOf(good, good.length + 1)))).isEqualTo(Reason.LENGTH);
  }

  @Test
  void whatARecordSaysIsNotInTheMessage() {
    byte[] forged = changed(EXAMPLE.encode(), PREFIX_OF_GET + 3, '\n');

    assertThatThrownBy(() -> LearntNames.FORMAT.decode(forged))
        .isInstanceOf(MalformedDecisionsException.class)
        .hasMessageContaining("what is no prefix of 4 characters")
        .hasMessageNotContaining("\n")
        .hasMessageNotContaining("GET");
  }

  @Test
  void thereIsABoundForRules() {
    Map<String, NameRules> applications = new HashMap<>();
    for (int i = 0; i <= LearntNames.MAX_RULES; i++) {
      applications.put("a" + i, new NameRules(List.of(new NameRule("x/", 0, 1, 1))));
    }

    assertThatThrownBy(() -> new LearntNames(1, 1, applications))
        .isInstanceOf(IllegalArgumentException.class);
    applications.remove("a0");
    assertThat(new LearntNames(1, 1, applications).rules()).isEqualTo(LearntNames.MAX_RULES);
    assertThatThrownBy(() -> new NameRules(List.of())).hasMessage("no rules");
    NameRule rule = new NameRule("x/", 0, 1, 1);
    assertThatThrownBy(() -> new NameRules(List.of(rule, new NameRule("x/", 0, 2, 2))))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(LearntNames.takes("x".repeat(257))).isFalse();
  }

  private static Reason reason(byte[] bytes) {
    return catchThrowableOfType(
            MalformedDecisionsException.class, () -> LearntNames.FORMAT.decode(bytes))
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
