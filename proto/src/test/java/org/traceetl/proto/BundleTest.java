package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

final class BundleTest {
  private final BundleWriter writer = new BundleWriter();
  private final BundleReader reader = new BundleReader();

  private static byte[] batch(String application, int spans, int sequence) {
    SpanBatchWriter batch = new SpanBatchWriter();
    batch.begin();
    byte[] name = application.getBytes(UTF_8);
    int index = batch.intern(name, 0, name.length);
    batch.application(index);
    for (int i = 0; i < spans; i++) {
      batch.startGroupedSpan(index, 2, 0, 5, 0);
      batch.endSpan();
    }
    int length = batch.finish(1, 2, 3, sequence);
    return Arrays.copyOf(batch.buffer(), length);
  }

  private byte[] bundle(byte[]... batches) {
    writer.begin();
    for (byte[] batch : batches) {
      assertThat(writer.add(batch)).isTrue();
    }
    return writer.finish();
  }

  private Rejection read(byte[] message) {
    return reader.wrap(message, 0, message.length);
  }

  private byte[] part(byte[] message, int part) {
    return Arrays.copyOfRange(
        message, reader.offset(part), reader.offset(part) + reader.length(part));
  }

  @Test
  void bundleHasTheseBytes() throws IOException {
    byte[] first = batch("shop", 2, 7);
    byte[] second = {1, 2, 3};
    byte[] message = bundle(first, second);

    assertThat(GoldenBytesTest.lines(message)).isEqualTo(GoldenBytesTest.golden("bundle_1.hex"));
    assertThat(BundleReader.begins(message, 0, message.length)).isTrue();
    assertThat(read(message)).isEqualTo(Rejection.NONE);
    assertThat(reader.count()).isEqualTo(2);
    assertThat(reader.declaredSpans()).isEqualTo(2);
    assertThat(reader.application(0)).isEqualTo("shop");
    assertThat(reader.spans(0)).isEqualTo(2);
    assertThat(reader.application(1)).isEmpty();
    assertThat(part(message, 0)).isEqualTo(first);
    assertThat(part(message, 1)).isEqualTo(second);
  }

  @Test
  void singleBatchIsSentAsItIs() {
    byte[] batch = batch("shop", 1, 0);

    assertThat(bundle(batch)).isSameAs(batch);
    assertThat(BundleReader.begins(batch, 0, batch.length)).isFalse();
    byte[] large = new byte[BundleWriter.MAX_BYTES + 1];
    assertThat(bundle(large)).isSameAs(large);
    assertThatThrownBy(writer::finish).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void bundleIsBounded() {
    writer.begin();
    byte[] small = batch("shop", 1, 0);
    for (int i = 0; i < BundleReader.MAX_PARTS; i++) {
      assertThat(writer.add(small)).isTrue();
    }
    assertThat(writer.add(small)).isFalse();
    assertThat(read(writer.finish())).isEqualTo(Rejection.NONE);
    assertThat(reader.count()).isEqualTo(BundleReader.MAX_PARTS);

    byte[] half = new byte[BundleWriter.MAX_BYTES / 2];
    writer.begin();
    assertThat(writer.add(half)).isTrue();
    assertThat(writer.add(half)).isFalse();
    assertThat(writer.add(Arrays.copyOf(half, half.length - 27))).isTrue();
    assertThat(writer.finish()).hasSize(BundleWriter.MAX_BYTES);
  }

  @Test
  void longApplicationsFitOrAreLeftOut() {
    byte[] named = batch("a".repeat(Limits.MAX_STRING_BYTES), 1, 0);
    writer.begin();
    int added = 0;
    while (writer.add(named)) {
      added++;
    }
    byte[] message = writer.finish();

    assertThat(added).isEqualTo(1);
    assertThat(message).isSameAs(named);
    byte[] other = batch("b", 1, 1);
    assertThat(read(bundle(named, other))).isEqualTo(Rejection.NONE);
    assertThat(reader.application(0)).hasSize(Limits.MAX_STRING_BYTES);
  }

  @Property(tries = 300)
  void anyBatchesAreReadBack(@ForAll long seed) {
    Random random = new Random(seed);
    List<byte[]> batches = new ArrayList<>();
    writer.begin();
    int spans = 0;
    for (int i = 0; i < 2 + random.nextInt(20); i++) {
      int declared = random.nextInt(5);
      byte[] batch = batch("service " + random.nextInt(1_000), declared, i);
      assertThat(writer.add(batch)).isTrue();
      batches.add(batch);
      spans += declared;
    }
    byte[] message = writer.finish();

    // In the middle of an array, as in a larger buffer.
    byte[] buffer = new byte[message.length + 20];
    System.arraycopy(message, 0, buffer, 10, message.length);
    assertThat(reader.wrap(buffer, 10, message.length)).isEqualTo(Rejection.NONE);
    assertThat(reader.declaredSpans()).isEqualTo(spans);
    assertThat(reader.count()).isEqualTo(batches.size());
    for (int part = 0; part < batches.size(); part++) {
      assertThat(part(buffer, part)).isEqualTo(batches.get(part));
    }
  }

  @Test
  void everyTruncationAndExtensionIsRejected() {
    byte[] message = bundle(batch("shop", 2, 0), batch("bank", 3, 1));
    for (int length = 0; length < message.length; length++) {
      assertThat(read(Arrays.copyOf(message, length))).isEqualTo(Rejection.TRUNCATED);
      assertThat(reader.wrap(message, 0, length)).isEqualTo(Rejection.TRUNCATED);
      assertThat(reader.count()).isZero();
      assertThat(reader.declaredSpans()).isIn(0, 2, 5);
    }
    assertThat(read(Arrays.copyOf(message, message.length + 1))).isEqualTo(Rejection.MALFORMED);
  }

  @Test
  void hostileHeadsAreRejected() {
    assertThat(read("00544542 02 0001")).isEqualTo(Rejection.UNSUPPORTED_VERSION);
    assertThat(read("00544543 01 0001")).isEqualTo(Rejection.MALFORMED);
    assertThat(read("00544542 01 0000")).isEqualTo(Rejection.BAD_LENGTH);
    assertThat(read("00544542 01 0101")).isEqualTo(Rejection.BAD_LENGTH);
    assertThat(read("00544542 01 ffff")).isEqualTo(Rejection.BAD_LENGTH);
    assertThat(read("00544542 01 0001 ffff")).isEqualTo(Rejection.TRUNCATED);
    assertThat(read("00544542 01 0001 0000 00010001 00000000")).isEqualTo(Rejection.BAD_LENGTH);
    assertThat(read("00544542 01 0001 0000 ffffffff 00000000")).isEqualTo(Rejection.BAD_LENGTH);
    assertThat(read("00544542 01 0001 0000 00000000 ffffffff")).isEqualTo(Rejection.BAD_LENGTH);
    assertThat(read("00544542 01 0001 0000 00000007 7fffffff")).isEqualTo(Rejection.TRUNCATED);
    assertThat(reader.declaredSpans()).isEqualTo(7);
    assertThat(
            read("00544542 01 0002 0000 00000001 7fffffff 0000 00000001 7fffffff" + "00".repeat(9)))
        .isEqualTo(Rejection.TRUNCATED);
    assertThat(read(new byte[Limits.MAX_MESSAGE_BYTES + 1])).isEqualTo(Rejection.TOO_LARGE);
  }

  private Rejection read(String hex) {
    return read(HexFormat.of().parseHex(hex.replace(" ", "")));
  }

  @Property(tries = 2_000)
  void changedBytesAreReadOrRejected(@ForAll long seed) {
    Random random = new Random(seed);
    byte[] message = bundle(batch("shop", 2, 0), batch("bank", 3, 1), batch("", 0, 2));
    for (int i = random.nextInt(8); i >= 0; i--) {
      message[random.nextInt(60)] = (byte) random.nextInt();
    }
    int end = 0;
    if (read(message) == Rejection.NONE) {
      for (int part = 0; part < reader.count(); part++) {
        assertThat(reader.offset(part)).isGreaterThanOrEqualTo(end);
        end = reader.offset(part) + reader.length(part);
        assertThat(reader.spans(part)).isBetween(0, Limits.MAX_SPANS);
        reader.application(part);
      }
      assertThat(end).isEqualTo(message.length);
    }
    assertThat(reader.declaredSpans()).isNotNegative();
  }

  @Test
  void readingAllocatesNothing() {
    byte[] message = bundle(batch("shop", 2, 0), batch("bank", 3, 1));
    read(message);

    assertThat(AllocatedBytes.by(() -> read(message))).isZero();
  }
}
