package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A span that joins a group by a comparison gives the same message as one that is written. */
final class GroupComparisonTest {
  private static final int SPANS = 3_000;

  /** Strings before those of the spans, so that indexes have one, two and three bytes. */
  private static final int STRINGS = 8_150;

  private final SpanBatchWriter comparing = new SpanBatchWriter();
  private final SpanBatchWriter writing = new SpanBatchWriter();

  /** Of the next span: name, then keys and values. */
  private byte[][] texts;

  private int kind;
  private int status;
  private long threshold;
  private boolean hasEvent;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void messagesAreEqual(long seed) {
    Random random = new Random(seed);
    begin(comparing);
    begin(writing);
    int joined = 0;
    for (int i = 0; i < SPANS; i++) {
      draw(random);
      boolean added = !hasEvent && joinsAny(random, i);
      if (added) {
        joined++;
      } else {
        write(comparing, i);
      }
      write(writing, i);
      assertThat(comparing.lastGroup()).isEqualTo(writing.lastGroup());
    }
    assertThat(joined).isGreaterThan(SPANS / 3);
    assertThat(message(comparing)).isEqualTo(message(writing));
  }

  private static void begin(SpanBatchWriter writer) {
    writer.begin();
    writer.keepSizes();
    writer.application(intern(writer, text("service")));
    for (int i = 0; i < STRINGS; i++) {
      intern(writer, text("string " + i));
    }
  }

  private static byte[] text(String text) {
    return text.getBytes(UTF_8);
  }

  private static int intern(SpanBatchWriter writer, byte[] text) {
    return writer.intern(text, 0, text.length);
  }

  private void draw(Random random) {
    // At times more than the 14 numbers that a list's header of one byte can have.
    int attributes = random.nextInt(10) == 0 ? 7 + random.nextInt(3) : random.nextInt(3);
    texts = new byte[1 + 2 * attributes][];
    texts[0] = text(random.nextInt(10) == 0 ? "string 1" : "GET /name " + random.nextInt(2));
    for (int i = 1; i < texts.length; i += 2) {
      texts[i] = text("k" + (attributes > 2 ? i : random.nextInt(2)));
      texts[i + 1] = text(attributes > 2 ? "" : "string " + (62 + random.nextInt(3)));
    }
    kind = random.nextInt(2);
    status = random.nextInt(2);
    threshold = random.nextInt(3) == 0 ? 1L << random.nextInt(2) * 40 : 0;
    hasEvent = random.nextInt(4) == 0;
  }

  /** Compares the next span with all groups, and with numbers that no group has. */
  private boolean joinsAny(Random random, long durationNanos) {
    int numbers = comparing.groupCount() + 2;
    int first = random.nextInt(numbers);
    for (int i = 0; i < numbers; i++) {
      if (joins((first + i) % numbers, durationNanos)) {
        return true;
      }
    }
    return false;
  }

  private boolean joins(int group, long durationNanos) {
    byte[] name = texts[0];
    if (!comparing.isOfGroup(group, name, 0, name.length, kind, status)) {
      return false;
    }
    for (int i = 1; i < texts.length; i += 2) {
      byte[] key = texts[i];
      byte[] value = texts[i + 1];
      if (!comparing.isNextOfGroup(key, 0, key.length, value, 0, value.length)) {
        return false;
      }
    }
    return comparing.addToGroup(durationNanos, threshold, size(durationNanos));
  }

  private void write(SpanBatchWriter writer, long durationNanos) {
    writer.startGroupedSpan(intern(writer, texts[0]), kind, status, durationNanos, threshold);
    for (int i = 1; i < texts.length; i += 2) {
      writer.attribute(intern(writer, texts[i]), intern(writer, texts[i + 1]));
    }
    if (hasEvent) {
      writer.event(0);
    }
    writer.size(size(durationNanos));
    writer.endSpan();
  }

  private static long size(long durationNanos) {
    return durationNanos * 31 % 1_000;
  }

  private static byte[] message(SpanBatchWriter writer) {
    int length = writer.finish(1, 2, 3, 4);
    return Arrays.copyOf(writer.buffer(), length);
  }
}
