package org.traceetl.server.expose;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;

class GzipFrameTest {
  @Property(tries = 300)
  void checksumOfPartsIsThatOfTheWhole(
      @ForAll @Size(max = 300) byte[] a, @ForAll @Size(max = 300) byte[] b) {
    byte[] whole = Arrays.copyOf(a, a.length + b.length);
    System.arraycopy(b, 0, whole, a.length, b.length);

    assertThat(GzipFrame.combine(GzipFrame.crc(a), GzipFrame.crc(b), GzipFrame.shift(b.length)))
        .isEqualTo(GzipFrame.crc(whole));
  }
}
