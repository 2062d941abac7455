package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.traceetl.proto.thrift.SpanBatch;

/** The bytes on the wire stay what they are: agents and servers of different releases meet. */
final class GoldenBytesTest {
  static Stream<Arguments> versions() {
    return Stream.of(
        Arguments.of("span_batch_1.hex", Batches.fixed()),
        Arguments.of("span_batch_2.hex", Batches.fixedWithGroups()),
        Arguments.of("span_batch_events.hex", Batches.fixedWithEvents()),
        Arguments.of("span_batch_demand.hex", Batches.fixedWithDemand()),
        Arguments.of("span_batch_sample.hex", Batches.fixedWithSample()),
        Arguments.of("span_batch_sizes.hex", Batches.fixedWithSizes()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("versions")
  void theWriterMakesTheseBytes(String file, SpanBatch batch) throws IOException {
    byte[] written = Messages.written(batch, new SpanBatchWriter());
    assertThat(lines(written)).isEqualTo(golden(file));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("versions")
  void theReaderReadsTheseBytes(String file, SpanBatch batch) throws IOException {
    assertThat(Messages.read(bytes(file), new SpanBatchReader())).isEqualTo(batch);
  }

  /** The writer counts pairs, which the batches above lack. */
  @Test
  void theseBytesHavePairsOfSampledSpans() throws IOException {
    SpanBatchWriter writer = new SpanBatchWriter();
    writer.begin();
    writer.application(writer.intern("shop".getBytes(US_ASCII), 0, 4));
    for (int span = 0; span < 3; span++) {
      writer.startGroupedSpan(0, 3, 0, 1, 5);
      writer.endSpan();
      writer.traceOfGrouped(7, 1);
    }
    int length = writer.finish(1, 2, 3, 4);

    assertThat(lines(Arrays.copyOf(writer.buffer(), length)))
        .isEqualTo(golden("span_batch_pairs.hex"));
    SpanBatchReader reader = new SpanBatchReader();
    assertThat(reader.wrap(bytes("span_batch_pairs.hex"), 0, length)).isEqualTo(Rejection.NONE);
    assertThat(reader.next()).isFalse();
    assertThat(reader.nextGroup()).isTrue();
    assertThat(reader.groupPairs()).isEqualTo(6);
  }

  static byte[] bytes(String file) throws IOException {
    return HexFormat.of().parseHex(golden(file).replace("\n", ""));
  }

  static String golden(String file) throws IOException {
    try (InputStream in = GoldenBytesTest.class.getResourceAsStream(file)) {
      return new String(in.readAllBytes(), US_ASCII);
    }
  }

  static String lines(byte[] message) {
    return HexFormat.of().formatHex(message).replaceAll("(.{1,64})", "$1\n");
  }
}
