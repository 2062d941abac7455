package org.traceetl.proto.ring;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The golden file with anything changed in it. In the usual run it goes through random changes and
 * the seeds in {@code RingFuzzTestInputs}; with {@code JAZZER_FUZZ=1} in the environment it looks
 * for more: {@code JAZZER_FUZZ=1 mvn -pl proto test -Dtest=RingFuzzTest}.
 */
final class RingFuzzTest {
  private static final int FILE_BYTES = 4_096 + 4_096 + 65_536;
  private static final int MOST = 65_536;

  private static final byte[] GOLDEN = golden();

  /** Offsets of numbers on which other numbers depend. */
  private static final int[] FIELDS = {8, 12, 16, 24, 64, 68, 128, 256, 264, 384, 392};

  @FuzzTest(maxDuration = "3m")
  void everyRingIsReadOrRefused(byte[] changes) {
    byte[] file = GOLDEN.clone();
    for (int i = 0; i + 4 <= changes.length; i += 4) {
      // Three bytes say where and one what.
      int at = (changes[i] & 0xff) << 16 | (changes[i + 1] & 0xff) << 8 | changes[i + 2] & 0xff;
      file[at % FILE_BYTES] = changes[i + 3];
    }
    read(file);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void randomChangesAreReadOrRefused(int seed) {
    Random random = new Random(seed);
    for (int run = 0; run < 3_000; run++) {
      byte[] file = GOLDEN.clone();
      for (int change = random.nextInt(8); change >= 0; change--) {
        int at =
            switch (random.nextInt(4)) {
              case 0 -> FIELDS[random.nextInt(FIELDS.length)];
              case 1 -> 1_024 + random.nextInt(48);
              case 2 -> 4_096 + random.nextInt(192);
              default -> 8_192 + random.nextInt(480);
            };
        long value =
            switch (random.nextInt(4)) {
              case 0 -> random.nextLong();
              case 1 -> random.nextInt(300);
              case 2 -> -random.nextInt(300);
              default -> 1L << random.nextInt(64);
            };
        for (int i = 0; i < 1 << random.nextInt(4); i++) {
          file[at + i] = (byte) (value >>> 8 * i);
        }
      }
      read(file);
    }
  }

  /** As the reader of a dead writer's ring does it: nothing may be thrown but what says so. */
  private static void read(byte[] bytes) {
    MemorySegment file = MemorySegment.ofArray(new long[FILE_BYTES / Long.BYTES]);
    MemorySegment.copy(bytes, 0, file, ValueLayout.JAVA_BYTE, 0, FILE_BYTES);
    try {
      RingHeader header = RingHeader.read(ByteBuffer.wrap(bytes));
      if (header.fileBytes() != FILE_BYTES) {
        return;
      }
      RingCursor ring = new RingCursor(file, header);
      RingDictionary dictionary = new RingDictionary();
      dictionary.update(ring, MOST);
      RingSpanReader span = new RingSpanReader();
      span.resource(
          bytes,
          RingLayout.RESOURCE_OFFSET,
          RingLayout.RESOURCE_OFFSET + header.resourceBytes(),
          header.resourceAttributes(),
          dictionary.strings());
      while (span.nextAttribute()) {
        check(span.key);
      }
      readRecords(ring, dictionary, span);
    } catch (MalformedRingException e) {
      assertThat(e.getMessage()).isNotEmpty();
    }
  }

  private static void readRecords(RingCursor ring, RingDictionary dictionary, RingSpanReader span)
      throws MalformedRingException {
    byte[] records = new byte[MOST];
    long head = ring.head();
    long tail = ring.tail(head, head);
    long at = head;
    int steps = 0;
    while (at < tail) {
      assertThat(++steps).isLessThanOrEqualTo(FILE_BYTES / RingLayout.ALIGNMENT);
      long end = ring.wholeUntil(at, tail, MOST);
      if (end == at) {
        end = ring.passOver(at, tail, MOST);
      } else {
        RingRecords walk = new RingRecords();
        assertThat(walk.wrap(records, ring.copy(at, end, records))).isTrue();
        while (walk.next()) {
          read(span, records, walk, dictionary.strings());
        }
      }
      assertThat(end).isGreaterThan(at).isLessThanOrEqualTo(tail);
      at = end;
    }
    ring.consume(head, tail);
  }

  private static void read(
      RingSpanReader span, byte[] records, RingRecords walk, RingDictionary.Strings strings) {
    if (!span.span(records, walk.bodyOffset(), walk.bodyEnd(), strings)) {
      return;
    }
    check(span.name);
    check(span.statusMessage);
    int at = span.end();
    for (int link = 0; link < span.links; link++) {
      assertThat(span.linkTraceIdHigh(link)).isEqualTo(LittleEndian.getLong(records, at));
      assertThat(span.linkTraceIdLow(link)).isEqualTo(LittleEndian.getLong(records, at + 8));
      assertThat(span.linkSpanId(link)).isEqualTo(LittleEndian.getLong(records, at + 16));
      at += RingLayout.LINK_BYTES;
    }
    assertThat(at).isEqualTo(walk.bodyEnd());
    while (span.nextAttribute()) {
      check(span.key);
      check(span.text);
    }
    while (span.nextEvent()) {
      check(span.eventName);
      while (span.nextAttribute()) {
        check(span.key);
      }
    }
  }

  private static void check(RingSpanReader.Slice slice) {
    assertThat(slice.offset).isNotNegative();
    assertThat(slice.length).isBetween(0, slice.bytes.length - slice.offset);
  }

  private static byte[] golden() {
    byte[] file = new byte[FILE_BYTES];
    try (InputStream in = RingFuzzTest.class.getResourceAsStream("ring_1.hex")) {
      new String(in.readAllBytes(), StandardCharsets.US_ASCII)
          .lines()
          .map(line -> line.split(" "))
          .forEach(line -> {
            byte[] bytes = HexFormat.of().parseHex(line[1]);
            System.arraycopy(bytes, 0, file, Integer.parseInt(line[0], 16), bytes.length);
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return file;
  }
}
