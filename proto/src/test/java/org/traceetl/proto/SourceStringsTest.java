package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A batch is the same whether strings of its source are recognized by place or by content. */
final class SourceStringsTest {
  private static final int BATCHES = 5;
  private static final int SPANS = 2_000;
  private static final int SOURCE_BYTES = 3_000;

  private final SpanBatchWriter byPlace = new SpanBatchWriter();
  private final SpanBatchWriter byContent = new SpanBatchWriter();

  // Three slices of an array: name, key and value.
  private byte[] array;
  private final int[] offsets = new int[3];
  private final int[] lengths = new int[3];

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void messagesAreEqual(long seed) {
    Random random = new Random(seed);
    for (int batch = 0; batch < BATCHES; batch++) {
      begin(byPlace);
      begin(byContent);
      byte[] source = source(random);
      int joined = 0;
      for (int i = 0; i < SPANS; i++) {
        if (random.nextInt(500) == 0) {
          source = source(random);
        }
        draw(random, source);
        byPlace.source(random.nextInt(10) == 0 ? null : source);
        if (i > 0 && joins(byPlace, byPlace.lastGroup())) {
          joined++;
        } else {
          write(byPlace);
        }
        write(byContent);
        assertThat(byPlace.lastGroup()).isEqualTo(byContent.lastGroup());
        assertThat(byPlace.dictionarySize()).isEqualTo(byContent.dictionarySize());
      }
      assertThat(joined).isPositive();
      assertThat(message(byPlace)).isEqualTo(message(byContent));
    }
  }

  private static void begin(SpanBatchWriter writer) {
    writer.begin();
    byte[] name = "service".getBytes(UTF_8);
    writer.application(writer.intern(name, 0, name.length));
  }

  /** Returns bytes of two values, so that many places have equal strings. */
  private static byte[] source(Random random) {
    byte[] source = new byte[SOURCE_BYTES];
    for (int i = 0; i < source.length; i++) {
      source[i] = (byte) ('a' + random.nextInt(2));
    }
    return source;
  }

  /** Draws slices of the source, or of a copy of it; often those of the last span. */
  private void draw(Random random, byte[] source) {
    array = random.nextInt(10) == 0 ? source.clone() : source;
    if (random.nextInt(3) > 0) {
      return;
    }
    for (int i = 0; i < offsets.length; i++) {
      lengths[i] = random.nextInt(14);
      offsets[i] = random.nextInt(SOURCE_BYTES - lengths[i]);
    }
  }

  private boolean joins(SpanBatchWriter writer, int group) {
    return writer.isOfGroup(group, array, offsets[0], lengths[0], 1, 0)
        && writer.isNextOfGroup(array, offsets[1], lengths[1], array, offsets[2], lengths[2])
        && writer.addToGroup(7, 0, 0);
  }

  private void write(SpanBatchWriter writer) {
    writer.startGroupedSpan(writer.intern(array, offsets[0], lengths[0]), 1, 0, 7, 0);
    writer.attribute(array, offsets[1], lengths[1], array, offsets[2], lengths[2]);
    writer.endSpan();
  }

  private static byte[] message(SpanBatchWriter writer) {
    int length = writer.finish(1, 2, 3, 4);
    return Arrays.copyOf(writer.buffer(), length);
  }
}
