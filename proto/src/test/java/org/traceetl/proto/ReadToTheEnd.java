package org.traceetl.proto;

import static org.assertj.core.api.Assertions.assertThat;

/** Reads a message whole and checks what holds for every message, good or bad. */
final class ReadToTheEnd {
  private ReadToTheEnd() {}

  static Rejection of(SpanBatchReader reader, byte[] message, int offset, int length) {
    Rejection first = reader.wrap(message, offset, length);
    assertThat(first).isEqualTo(reader.rejection());
    int dictionary = reader.dictionarySize();
    for (int i = 0; i < dictionary; i++) {
      check(reader.dictionaryOffset(i) >= offset);
      check(reader.dictionaryLength(i) >= 0);
      check(reader.dictionaryOffset(i) + reader.dictionaryLength(i) <= offset + length);
    }
    check(reader.application() >= -1 && reader.application() < dictionary);
    for (int i = 0; i < reader.resourceAttributeCount(); i++) {
      checkIndex(reader.resourceAttributeKey(i), dictionary);
      checkIndex(reader.resourceAttributeValue(i), dictionary);
    }
    check(reader.spanCount() >= 0 && reader.spanCount() <= Limits.MAX_SPANS);

    int spans = 0;
    while (reader.next()) {
      check(first == Rejection.NONE && reader.rejection() == Rejection.NONE);
      spans++;
      checkSpan(reader, dictionary);
    }
    int whole = spans;
    int groups = 0;
    check(reader.attributeCount() == 0 && reader.eventNumbers() == 0);
    while (reader.nextGroup()) {
      check(first == Rejection.NONE && reader.rejection() == Rejection.NONE);
      checkIndex(reader.name(), dictionary);
      check(reader.kind() >= 0 && reader.kind() <= 5);
      check(reader.status() >= 0 && reader.status() <= 2);
      check(reader.samplingThreshold() >= 0 && reader.samplingThreshold() < 1L << 56);
      for (int i = 0; i < 2 * reader.attributeCount(); i++) {
        checkIndex(reader.attributes()[i], dictionary);
      }
      checkEvents(reader, dictionary);
      check(reader.groupSize() > 0);
      for (int i = 0; i < reader.groupSize(); i++) {
        check(reader.groupDurationsNanos()[i] >= 0);
      }
      spans += reader.groupSize();
      groups++;
    }
    check(reader.attributeCount() == 0 && reader.groupSize() == 0 && reader.eventNumbers() == 0);
    readSample(reader, dictionary, whole);
    check(reader.rejection() == Rejection.NONE || !reader.hasSizes());
    if (reader.rejection() == Rejection.NONE) {
      check(spans == reader.spanCount());
      checkSizes(reader, whole + groups);
    } else {
      check(spans <= reader.spanCount());
    }
    return reader.rejection();
  }

  private static void checkSpan(SpanBatchReader reader, int dictionary) {
    checkIndex(reader.name(), dictionary);
    check(reader.kind() >= 0 && reader.kind() <= 5);
    check(reader.status() >= 0 && reader.status() <= 2);
    check(reader.durationNanos() >= 0);
    check(reader.samplingThreshold() >= 0 && reader.samplingThreshold() < 1L << 56);
    check(reader.statusMessage() >= -1 && reader.statusMessage() < dictionary);
    for (int i = 0; i < 2 * reader.attributeCount(); i++) {
      checkIndex(reader.attributes()[i], dictionary);
    }
    checkEvents(reader, dictionary);
  }

  private static void readSample(SpanBatchReader reader, int dictionary, int whole) {
    check(reader.sampleThreshold() >= 0 && reader.sampleThreshold() < 1L << 56);
    while (reader.nextSample()) {
      checkSpan(reader, dictionary);
    }
    check(reader.attributeCount() == 0 && reader.eventNumbers() == 0);
    int last = -1;
    while (reader.nextSampled()) {
      check(reader.sampledSpan() > last && reader.sampledSpan() < whole);
      last = reader.sampledSpan();
    }
  }

  private static void checkSizes(SpanBatchReader reader, int entries) {
    long sum = 0;
    for (int i = 0; reader.hasSizes() && i < entries; i++) {
      check(reader.size(i) >= 0 && reader.size(i) <= Limits.MAX_SPANS * Limits.MAX_SPAN_BYTES);
      sum += reader.size(i);
      check(sum >= 0);
    }
  }

  private static void checkEvents(SpanBatchReader reader, int dictionary) {
    int at = 0;
    while (at < reader.eventNumbers()) {
      checkIndex(reader.events()[at], dictionary);
      int end = at + 2 + 2 * reader.events()[at + 1];
      check(end > at && end <= reader.eventNumbers());
      for (at += 2; at < end; at++) {
        checkIndex(reader.events()[at], dictionary);
      }
    }
  }

  private static void checkIndex(int index, int dictionary) {
    check(index >= 0 && index < dictionary);
  }

  private static void check(boolean condition) {
    if (!condition) {
      throw new AssertionError();
    }
  }
}
