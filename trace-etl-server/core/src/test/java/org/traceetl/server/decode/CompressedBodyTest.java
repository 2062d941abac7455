package org.traceetl.server.decode;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.rocketmq.common.compression.CompressionType;
import org.apache.rocketmq.common.compression.CompressorFactory;
import org.apache.rocketmq.common.sysflag.MessageSysFlag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.traceetl.proto.Limits;
import org.traceetl.proto.Rejection;

/** Tests bodies from RocketMQ's own compressors, and invalid ones. */
final class CompressedBodyTest {
  private final InflatedBody inflated = new InflatedBody();

  private static int flags(CompressionType type) {
    return MessageSysFlag.COMPRESSED_FLAG | type.getCompressionFlag();
  }

  private static byte[] compressed(CompressionType type, byte[] body) throws Exception {
    return CompressorFactory.getCompressor(type).compress(body, 5);
  }

  private byte[] inflate(CompressionType type, byte[] body) throws Exception {
    assertThat(inflated.inflate(compressed(type, body), flags(type))).isEqualTo(Rejection.NONE);
    return Arrays.copyOf(inflated.bytes(), inflated.length());
  }

  @ParameterizedTest
  @EnumSource
  void whatRocketMqCompressesIsInflated(CompressionType type) throws Exception {
    byte[] noise = new byte[100_000];
    new Random(1).nextBytes(noise);
    for (byte[] body :
        List.of(
            new byte[0], "span".getBytes(US_ASCII), noise, new byte[Limits.MAX_MESSAGE_BYTES])) {
      assertThat(inflate(type, body)).isEqualTo(body);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aBodyBeyondTheLimitIsTooLarge(CompressionType type) throws Exception {
    // Zstandard reports a lack of room like damage.
    Rejection tooLarge = type == CompressionType.ZSTD ? Rejection.MALFORMED : Rejection.TOO_LARGE;
    byte[] bomb = compressed(type, new byte[64 * Limits.MAX_MESSAGE_BYTES]);
    assertThat(bomb.length).isLessThan(2 << 20);
    assertThat(inflated.inflate(bomb, flags(type))).isEqualTo(tooLarge);
    assertThat(inflated.bytes().length).isEqualTo(Limits.MAX_MESSAGE_BYTES + 1);
    byte[] barely = compressed(type, new byte[Limits.MAX_MESSAGE_BYTES + 1]);
    assertThat(inflated.inflate(barely, flags(type))).isEqualTo(Rejection.TOO_LARGE);
    assertThat(inflate(type, new byte[] {1, 2})).containsExactly(1, 2);
  }

  @ParameterizedTest
  @EnumSource
  void damagedBodiesAreMalformedAndTheNextOneIsRead(CompressionType type) throws Exception {
    byte[] body = new byte[10_000];
    new Random(2).nextBytes(body);
    byte[] whole = compressed(type, body);
    for (int length : new int[] {1, 5, whole.length / 2, whole.length - 9}) {
      assertThat(inflated.inflate(Arrays.copyOf(whole, length), flags(type)))
          .as("%s bytes", length)
          .isEqualTo(Rejection.MALFORMED);
    }
    assertThat(inflated.inflate("no such thing".getBytes(US_ASCII), flags(type)))
        .isEqualTo(Rejection.MALFORMED);
    assertThat(inflate(type, body)).isEqualTo(body);
  }

  @Test
  void bodiesOfNoTypeAreZlibAndOfUnknownTypesMalformed() throws Exception {
    byte[] zlib = compressed(CompressionType.ZLIB, new byte[] {1, 2});
    assertThat(inflated.inflate(zlib, MessageSysFlag.COMPRESSED_FLAG)).isEqualTo(Rejection.NONE);
    assertThat(inflated.inflate(zlib, MessageSysFlag.COMPRESSION_TYPE_COMPARATOR))
        .isEqualTo(Rejection.MALFORMED);
  }
}
