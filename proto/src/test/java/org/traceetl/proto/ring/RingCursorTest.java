package org.traceetl.proto.ring;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RingCursorTest {
  private static final int RING_BYTES = 65_536;
  private static final int MOST = 1 << 20;

  @TempDir private Path directory;

  private final byte[] bytes = new byte[MOST];
  private RingWriter writer;
  private RingCursor ring;

  @BeforeEach
  void open() throws Exception {
    writer =
        RingWriter.create(
            directory, "1-0123456789abcdef.ring", RingWriter.Shape.smallest("checkout"));
    ring = new RingCursor(writer.file(), header());
  }

  @AfterEach
  void close() throws IOException {
    writer.close();
  }

  private RingHeader header() throws MalformedRingException {
    return RingHeader.read(
        ByteBuffer.wrap(writer.file().asSlice(0, 4_096).toArray(ValueLayout.JAVA_BYTE)));
  }

  @Test
  void theHeaderIsReadAsItWasWritten() throws Exception {
    assertThat(header()).isEqualTo(new RingHeader(4_096, 4_096, RING_BYTES, 7, 0, 23, 1));
    assertThat(header().fileBytes()).isEqualTo(4_096 + 4_096 + RING_BYTES);
  }

  @Test
  void recordsAreWholeUpToTheFirstClaim() throws Exception {
    record(100);
    record(9);
    long claim = writer.claim(50);
    record(24);

    assertThat(ring.wholeUntil(0, ring.tail(0, 0), MOST)).isEqualTo(104 + 16).isEqualTo(claim);
    writer.begin(claim, 50);
    assertThat(ring.wholeUntil(0, ring.tail(0, 0), MOST)).isEqualTo(claim);
    writer.commit(claim, RingLayout.TYPE_SPAN, new byte[42]);
    assertThat(ring.wholeUntil(0, ring.tail(0, 0), MOST)).isEqualTo(ring.tail()).isEqualTo(200);
  }

  @Test
  void noMoreIsTakenThanIsAskedFor() throws Exception {
    record(16_000);
    record(16_000);

    assertThat(ring.wholeUntil(0, ring.tail(0, 0), 32_000)).isEqualTo(ring.tail());
    assertThat(ring.wholeUntil(0, ring.tail(0, 0), 31_999)).isEqualTo(16_000);
  }

  @Test
  void whatIsConsumedIsZeroAndFreeAgain() throws Exception {
    while (writer.claim(1_000) >= 0) {
      // Until it is full.
    }
    long tail = ring.tail(0, 0);
    writer.begin(0, 1_000);
    ring.consume(0, 4_000);

    assertThat(writer.file().asSlice(8_192, 4_000).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    assertThat(ring.head()).isEqualTo(4_000);
    assertThat(writer.claim(1_000)).isGreaterThanOrEqualTo(tail);
  }

  @Test
  void aRecordAcrossTheEndIsPrecededByPadding() throws Exception {
    long head = 0;
    List<Integer> lengths = new ArrayList<>();
    RingRecords records = new RingRecords();
    for (int i = 0; i < 500; i++) {
      record(8 + 56 + i);
      if (i % 7 == 6) {
        long tail = ring.tail(head, head);
        long end = ring.wholeUntil(head, tail, MOST);
        assertThat(end).isEqualTo(tail);
        assertThat(records.wrap(bytes, ring.copy(head, end, bytes))).isTrue();
        while (records.next()) {
          lengths.add(records.bodyEnd() - records.bodyOffset());
        }
        ring.consume(head, end);
        head = end;
      }
    }
    assertThat(head).isGreaterThan(RING_BYTES);
    assertThat(lengths).hasSize(497);
    for (int i = 0; i < lengths.size(); i++) {
      assertThat(lengths.get(i)).isEqualTo(56 + i);
    }
  }

  @Test
  void claimsOfTheDeadArePassedOver() throws Exception {
    long begun = writer.claim(100);
    writer.begin(begun, 100);
    writer.claim(48);
    long record = writer.claim(16);
    writer.begin(record, 16);
    writer.commit(record, RingLayout.TYPE_SPAN, new byte[8]);
    writer.claim(64);
    long tail = ring.tail(0, 0);

    assertThat(ring.isBegun(0)).isTrue();
    assertThat(ring.passOver(0, tail, MOST)).isEqualTo(104);
    assertThat(ring.isBegun(104)).isFalse();
    assertThat(ring.passOver(104, tail, 16)).isEqualTo(120);
    assertThat(ring.passOver(104, tail, MOST)).isEqualTo(record);
    assertThat(ring.wholeUntil(record, tail, MOST)).isEqualTo(record + 16);
    assertThat(ring.passOver(record + 16, tail, MOST)).isEqualTo(tail);
  }

  @Test
  void aTailThatCannotBeIsRefused() {
    for (long tail : new long[] {-8, 4, RING_BYTES + 8L, Long.MIN_VALUE}) {
      writer.file().set(ValueLayout.JAVA_LONG, RingLayout.TAIL_OFFSET, tail);
      assertThatThrownBy(() -> ring.tail(0, 0)).isInstanceOf(MalformedRingException.class);
    }
  }

  @Test
  void lengthsThatCannotBeAreRefused() throws Exception {
    record(100);
    long tail = ring.tail(0, 0);
    for (int length : new int[] {1, 7, 105, 16_385, Integer.MAX_VALUE}) {
      writer.file().set(ValueLayout.JAVA_INT, 8_192, length);
      assertThatThrownBy(() -> ring.wholeUntil(0, tail, MOST))
          .isInstanceOf(MalformedRingException.class);
      writer.file().set(ValueLayout.JAVA_INT, 8_192, -length);
      assertThatThrownBy(() -> ring.passOver(0, tail, MOST))
          .isInstanceOf(MalformedRingException.class);
    }
    writer.file().set(ValueLayout.JAVA_INT, 8_192, Integer.MIN_VALUE);
    assertThatThrownBy(() -> ring.passOver(0, tail, MOST))
        .isInstanceOf(MalformedRingException.class);
  }

  @Test
  void aDictionaryIsReadAsItGrowsAndRepaired() throws Exception {
    RingDictionary dictionary = new RingDictionary();
    writer.entry(new byte[] {1, 'a'});
    dictionary.update(ring, MOST);
    RingDictionary.Strings before = dictionary.strings();
    writer.entry(new byte[] {2, 'b', (byte) 0xff});
    byte[] longOne = new byte[303];
    longOne[0] = (byte) (300 & 0x7f | 0x80);
    longOne[1] = (byte) (300 >> 7);
    writer.entry(Arrays.copyOf(longOne, 302));
    dictionary.update(ring, MOST);

    RingDictionary.Strings strings = dictionary.strings();
    assertThat(before.size()).isEqualTo(1);
    assertThat(strings.size()).isEqualTo(3);
    assertThat(text(strings, 0)).isEqualTo("a");
    assertThat(text(strings, 1)).isEqualTo("b\ufffd");
    assertThat(strings.length(2)).isEqualTo(300);
  }

  @Test
  void aDictionaryThatIsNoneOrTooLargeIsRefused() {
    for (byte[] entry :
        new byte[][] {
          {0}, {2, 'a'}, {(byte) 0x80}, {-1, -1, -1, 1}, {-1, -1, 4}, new byte[] {-1, -1, -1}
        }) {
      RingDictionary dictionary = new RingDictionary();
      writer.file().set(ValueLayout.JAVA_LONG, RingLayout.DICTIONARY_END_OFFSET, entry.length);
      for (int i = 0; i < entry.length; i++) {
        writer.file().set(ValueLayout.JAVA_BYTE, 4_096 + i, entry[i]);
      }
      assertThatThrownBy(() -> dictionary.update(ring, MOST))
          .isInstanceOf(MalformedRingException.class);
    }
    writer.file().set(ValueLayout.JAVA_BYTE, 4_096, (byte) 2);
    writer.file().set(ValueLayout.JAVA_LONG, RingLayout.DICTIONARY_END_OFFSET, 3);
    assertThatThrownBy(() -> new RingDictionary().update(ring, 10))
        .isInstanceOf(MalformedRingException.class)
        .hasMessageContaining("too large");
  }

  /** Many threads write, one reads: each span once, whole, in its thread's order. */
  @Test
  void whatManyThreadsWriteIsReadOnceAndInOrder() throws Exception {
    int threads = 4;
    int spansOfEach = 20_000;
    AtomicInteger running = new AtomicInteger(threads);
    List<Thread> started = new ArrayList<>();
    for (int thread = 0; thread < threads; thread++) {
      long base = (thread + 1L) << 32;
      started.add(
          Thread.ofPlatform()
              .start(() -> {
                for (int i = 1; i <= spansOfEach; i++) {
                  RingSpan span = RingSpan.numbered(base + i);
                  while (!writer.write(span)) {
                    Thread.onSpinWait();
                  }
                }
                running.decrementAndGet();
              }));
    }
    long[] last = new long[threads];
    RingDictionary dictionary = new RingDictionary();
    RingRecords records = new RingRecords();
    RingSpanReader span = new RingSpanReader();
    long head = 0;
    int read = 0;
    while (read < threads * spansOfEach) {
      long end = ring.wholeUntil(head, ring.tail(head, head), MOST);
      assertThat(records.wrap(bytes, ring.copy(head, end, bytes))).isTrue();
      dictionary.update(ring, MOST);
      while (records.next()) {
        assertThat(span.span(bytes, records.bodyOffset(), records.bodyEnd(), dictionary.strings()))
            .isTrue();
        int thread = (int) (span.spanId >>> 32) - 1;
        long number = span.spanId & 0xffff_ffffL;
        assertThat(number).isEqualTo(++last[thread]);
        assertThat(span.durationNanos).isEqualTo(1_000 + span.spanId);
        assertThat(span.nextAttribute()).isTrue();
        assertThat(span.integer).isEqualTo(200);
        assertThat(span.nextAttribute()).isFalse();
        assertThat(span.isBroken()).isFalse();
        read++;
      }
      ring.consume(head, end);
      head = end;
    }
    for (Thread thread : started) {
      thread.join();
    }
    assertThat(running).hasValue(0);
    assertThat(ring.tail()).isEqualTo(head);
  }

  private void record(int length) {
    long at = writer.claim(length);
    assertThat(at).isNotNegative();
    writer.begin(at, length);
    writer.commit(at, RingLayout.TYPE_SPAN, new byte[length - 8]);
  }

  private static String text(RingDictionary.Strings strings, int entry) {
    return new String(strings.bytes(), strings.offset(entry), strings.length(entry), UTF_8);
  }
}
