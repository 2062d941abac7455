package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

final class SpanIdTest {
  @Property
  void hexIsThatOfTheJdk(@ForAll long id) {
    byte[] hex = new byte[20];
    SpanId.writeHex(id, hex, 3);
    assertThat(new String(hex, 3, 16, US_ASCII)).isEqualTo("%016x".formatted(id));
    assertThat(hex[2]).isZero();
    assertThat(hex[19]).isZero();
  }

  @Property
  void bothCasesAreRead(@ForAll long id) {
    byte[] lower = " %016x".formatted(id).getBytes(US_ASCII);
    byte[] upper = " %016X".formatted(id).getBytes(US_ASCII);
    assertThat(SpanId.isHex(lower, 1)).isTrue();
    assertThat(SpanId.isHex(upper, 1)).isTrue();
    assertThat(SpanId.parseHex(lower, 1)).isEqualTo(id);
    assertThat(SpanId.parseHex(upper, 1)).isEqualTo(id);
  }

  @Test
  void nothingButHexDigitsIsHex() {
    byte[] hex = "0123456789abcdef".getBytes(US_ASCII);
    for (int at = 0; at < hex.length; at++) {
      byte kept = hex[at];
      for (int c = 0; c < 256; c++) {
        hex[at] = (byte) c;
        boolean isDigit = c < 128 && Character.digit(c, 16) >= 0;
        assertThat(SpanId.isHex(hex, 0)).as("byte %d at %d", c, at).isEqualTo(isDigit);
      }
      hex[at] = kept;
    }
  }

  @Test
  void aTraceIdIsTwoHalves() {
    byte[] hex = " 0af7651916cd43dd8448EB211C80319C".getBytes(US_ASCII);
    assertThat(TraceId.isHex(hex, 1)).isTrue();
    assertThat(TraceId.isHex(hex, 0)).isFalse();
    long high = SpanId.parseHex(hex, 1);
    long low = SpanId.parseHex(hex, 1 + SpanId.HEX_LENGTH);
    assertThat(high).isEqualTo(0x0af7651916cd43ddL);
    assertThat(low).isEqualTo(0x8448eb211c80319cL);
    assertThat(TraceId.toHex(high, low)).isEqualTo("0af7651916cd43dd8448eb211c80319c");
  }
}
