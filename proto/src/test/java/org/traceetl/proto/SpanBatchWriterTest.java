package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class SpanBatchWriterTest {
  private final SpanBatchWriter writer = new SpanBatchWriter();
  private final SpanBatchReader reader = new SpanBatchReader();

  @BeforeEach
  void begin() {
    writer.begin();
  }

  @Test
  void aStringStandsOnceInTheDictionary() {
    byte[] text = "xxcheckoutxx".getBytes(UTF_8);
    assertThat(writer.intern(text, 2, 8)).isZero();
    assertThat(intern("checkout")).isZero();
    assertThat(intern("checkout2")).isEqualTo(1);
    assertThat(intern("")).isEqualTo(2);
    assertThat(writer.intern(text, 5, 0)).isEqualTo(2);
    assertThat(writer.dictionarySize()).isEqualTo(3);
  }

  @Test
  void manyStringsAreToldApart() {
    int count = 50_000;
    for (int i = 0; i < count; i++) {
      assertThat(intern("string number " + i)).isEqualTo(i);
    }
    for (int i = 0; i < count; i++) {
      assertThat(intern("string number " + i)).isEqualTo(i);
    }
    writer.begin();
    assertThat(writer.dictionarySize()).isZero();
    assertThat(intern("string number 40000")).isZero();
  }

  @Test
  void indexesOfEveryLengthAreReadBack() {
    writer.application(intern("service"));
    int last = 0;
    for (int i = 0; i < 9_000; i++) {
      last = intern("string " + i);
    }
    int[] indexes = {0, 63, 64, 8191, 8192, last};
    for (int index : indexes) {
      span(index);
      for (int other : indexes) {
        writer.attribute(index, other);
      }
      writer.statusMessage(index);
      writer.endSpan();
    }
    int length = writer.finish(1, 2, 3, 4);
    assertThat(reader.wrap(writer.buffer(), 0, length)).isEqualTo(Rejection.NONE);
    for (int index : indexes) {
      assertThat(reader.next()).isTrue();
      assertThat(reader.name()).isEqualTo(index);
      assertThat(reader.statusMessage()).isEqualTo(index);
      for (int i = 0; i < indexes.length; i++) {
        assertThat(reader.attributes()[2 * i]).isEqualTo(index);
        assertThat(reader.attributes()[2 * i + 1]).isEqualTo(indexes[i]);
      }
    }
    assertThat(reader.next()).isFalse();
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
  }

  @Test
  void eventsBeyondTheLimitsAreLeftOut() {
    writer.application(intern("service"));
    span(0);
    for (int i = 0; i < Limits.MAX_SPAN_EVENTS; i++) {
      assertThat(writer.event(0)).isTrue();
    }
    assertThat(writer.event(0)).isFalse();
    writer.endSpan();
    span(0);
    writer.event(0);
    for (int i = 0; i < Limits.MAX_EVENT_NUMBERS; i++) {
      writer.eventAttribute(0, 0);
    }
    assertThat(writer.event(0)).isFalse();
    writer.endSpan();
    int spans = 2;
    for (; writer.eventCount() < Limits.MAX_EVENTS; spans++) {
      span(0);
      for (int i = 0; i < Limits.MAX_SPAN_EVENTS && writer.event(0); i++) {}
      writer.endSpan();
    }
    int length = writer.finish(1, 2, 3, 4);
    assertThat(reader.wrap(writer.buffer(), 0, length)).isEqualTo(Rejection.NONE);
    int events = 0;
    for (int i = 0; i < spans; i++) {
      assertThat(reader.next()).isTrue();
      events += i == 1 ? 1 : reader.eventNumbers() / 2;
      assertThat(reader.eventNumbers()).isLessThanOrEqualTo(Limits.MAX_EVENT_NUMBERS);
    }
    assertThat(reader.next()).isFalse();
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
    assertThat(events).isEqualTo(Limits.MAX_EVENTS);
  }

  @Test
  void aLongStringIsCutBetweenCharacters() {
    String head = "x".repeat(Limits.MAX_STRING_BYTES - 2);
    assertThat(kept(head + "yyy")).isEqualTo(head + "yy");
    assertThat(kept(head + "€")).isEqualTo(head);
    assertThat(kept(head + "é€")).isEqualTo(head + "é");
    assertThat(kept(head + "x😀")).isEqualTo(head + "x");
    // Not UTF-8 at all: cut all the same.
    byte[] continuations = new byte[Limits.MAX_STRING_BYTES + 9];
    java.util.Arrays.fill(continuations, (byte) 0x80);
    writer.begin();
    writer.intern(continuations, 0, continuations.length);
    writer.application(0);
    finishAndWrap();
    assertThat(reader.dictionaryLength(0)).isEqualTo(Limits.MAX_STRING_BYTES - 3);
  }

  @Test
  void attributesAboveTheLimitAreLeftOut() {
    writer.application(intern("service"));
    span(0);
    for (int i = 0; i < Limits.MAX_ATTRIBUTES + 5; i++) {
      writer.attribute(0, 0);
      writer.resourceAttribute(0, 0);
    }
    writer.endSpan();
    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
    assertThat(reader.resourceAttributeCount()).isEqualTo(Limits.MAX_ATTRIBUTES);
    assertThat(reader.next()).isTrue();
    assertThat(reader.attributeCount()).isEqualTo(Limits.MAX_ATTRIBUTES);
  }

  @Test
  void aSpanNotEndedIsForgotten() {
    writer.application(intern("service"));
    span(0);
    writer.attribute(0, 0);
    writer.statusMessage(0);
    span(0);
    writer.endSpan();
    span(0);
    assertThat(writer.spanCount()).isEqualTo(1);
    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
    assertThat(reader.next()).isTrue();
    assertThat(reader.attributeCount()).isZero();
    assertThat(reader.statusMessage()).isEqualTo(-1);
    assertThat(reader.next()).isFalse();
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
  }

  @Test
  void aBatchMayBeFinishedAgainUnderAnotherName() {
    writer.application(intern("service"));
    span(0);
    writer.endSpan();
    writer.finish(1, 2, 3, 4);
    int length = writer.finish(1, 2, 3, Long.MAX_VALUE);
    reader.wrap(writer.buffer(), 0, length);
    assertThat(reader.sequence()).isEqualTo(Long.MAX_VALUE);
    assertThat(reader.next()).isTrue();
  }

  @Test
  void startTimesFarApartAreKept() {
    writer.application(intern("service"));
    long[] starts = {Long.MIN_VALUE, Long.MAX_VALUE, 0, -1};
    for (long start : starts) {
      writer.startSpan(1, 2, 3, 0, 0, 0, 0, start, 0, 0);
      writer.endSpan();
    }
    finishAndWrap();
    for (long start : starts) {
      assertThat(reader.next()).isTrue();
      assertThat(reader.startUnixNanos()).isEqualTo(start);
    }
  }

  @Test
  void argumentsOutOfRangeAreRefused() {
    intern("service");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> writer.application(1))
        .withMessage("index 1 is outside the dictionary of 1 entries");
    assertThatIllegalArgumentException().isThrownBy(() -> writer.attribute(0, -1));
    assertThatIllegalArgumentException().isThrownBy(() -> writer.resourceAttribute(2, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> writer.statusMessage(1));
    assertThatIllegalArgumentException().isThrownBy(() -> span(1));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> writer.startSpan(1, 2, 3, 0, 0, 6, 0, 0, 0, 0))
        .withMessage("kind = 6 is not in 0 to 5");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> writer.startSpan(1, 2, 3, 0, 0, 0, 3, 0, 0, 0));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> writer.startSpan(1, 2, 3, 0, 0, 0, 0, 0, -1, 0));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> writer.startSpan(1, 2, 3, 0, 0, 0, 0, 0, 0, 1L << 56));
    assertThatIllegalArgumentException().isThrownBy(() -> writer.startGroupedSpan(1, 0, 0, 0, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> writer.startGroupedSpan(0, 6, 0, 0, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> writer.startGroupedSpan(0, 0, 3, 0, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> writer.startGroupedSpan(0, 0, 0, -1, 0));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> writer.startGroupedSpan(0, 0, 0, 0, 1L << 56));
    assertThatIllegalArgumentException().isThrownBy(() -> writer.finish(1, 2, 3, -1));
  }

  @Test
  void callsOutOfOrderAreRefused() {
    assertThatIllegalStateException().isThrownBy(writer::endSpan);
    assertThatIllegalStateException()
        .isThrownBy(() -> writer.finish(1, 2, 3, 4))
        .withMessage("the batch has no application");
  }

  @Test
  void aFullDictionaryIsSaid() {
    byte[] number = new byte[Integer.BYTES];
    for (int i = 0; i < Limits.MAX_DICTIONARY_ENTRIES; i++) {
      writer.intern(ByteBuffer.wrap(number).putInt(i).array(), 0, number.length);
    }
    assertThat(writer.intern(number, 0, number.length))
        .as("known strings are still found")
        .isEqualTo(Limits.MAX_DICTIONARY_ENTRIES - 1);
    assertThatIllegalStateException().isThrownBy(() -> intern("one more"));
    writer.application(Limits.MAX_DICTIONARY_ENTRIES - 1);
    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
    assertThat(reader.dictionarySize()).isEqualTo(Limits.MAX_DICTIONARY_ENTRIES);
  }

  @Test
  void theMessageDoesNotOutgrowItsLimit() {
    byte[] large = new byte[Limits.MAX_STRING_BYTES];
    assertThatIllegalStateException()
        .isThrownBy(() -> {
          for (int i = 0; ; i++) {
            ByteBuffer.wrap(large).putInt(i);
            writer.intern(large, 0, large.length);
          }
        })
        .withMessageContaining("the dictionary is full");
    assertThat(writer.sizeBytes()).isLessThan(Limits.MAX_MESSAGE_BYTES + 1024);

    writer.application(0);
    for (int i = 0; i < 40; i++) {
      span(0);
      for (int a = 0; a < Limits.MAX_ATTRIBUTES; a++) {
        writer.attribute(0, 0);
      }
      writer.endSpan();
    }
    assertThatIllegalStateException()
        .isThrownBy(() -> writer.finish(1, 2, 3, 4))
        .withMessageContaining("more than 4194304");
  }

  @Test
  void spansDoNotOutgrowTheLimit() {
    writer.application(intern("service"));
    assertThatIllegalStateException()
        .isThrownBy(() -> {
          for (int i = 0; ; i++) {
            span(0);
            for (int a = 0; a < Limits.MAX_ATTRIBUTES; a++) {
              writer.attribute(0, 0);
            }
            writer.endSpan();
          }
        })
        .withMessageContaining("the spans have");
    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
  }

  @Test
  void tooManySpansAreRefused() {
    writer.application(intern("service"));
    for (int i = 0; i < Limits.MAX_SPANS; i++) {
      span(0);
      writer.endSpan();
    }
    assertThatIllegalStateException().isThrownBy(() -> span(0));
    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
    int spans = 0;
    while (reader.next()) {
      spans++;
    }
    assertThat(spans).isEqualTo(Limits.MAX_SPANS);
  }

  @Test
  void spansInGroupsCountAgainstTheLimitToo() {
    writer.application(intern("service"));
    for (int i = 0; i < Limits.MAX_SPANS - 1; i++) {
      writer.startGroupedSpan(0, 3, 0, i, 0);
      writer.endSpan();
    }
    span(0);
    writer.endSpan();
    assertThat(writer.spanCount()).isEqualTo(Limits.MAX_SPANS);
    assertThatIllegalStateException().isThrownBy(() -> span(0));
    assertThatIllegalStateException().isThrownBy(() -> writer.startGroupedSpan(0, 3, 0, 0, 0));
    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
    assertThat(reader.next()).isTrue();
    assertThat(reader.next()).isFalse();
    assertThat(reader.nextGroup()).isTrue();
    assertThat(reader.groupSize()).isEqualTo(Limits.MAX_SPANS - 1);
    assertThat(reader.groupDurationsNanos()[Limits.MAX_SPANS - 2]).isEqualTo(Limits.MAX_SPANS - 2);
    assertThat(reader.nextGroup()).isFalse();
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
  }

  @Test
  void asManyGroupsAsSpansMayBe() {
    writer.application(intern("service"));
    for (int i = 0; i < Limits.MAX_SPANS; i++) {
      writer.startGroupedSpan(0, 3, 0, i, i);
      writer.endSpan();
    }
    assertThat(writer.groupCount()).isEqualTo(Limits.MAX_SPANS);
    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
    assertThat(reader.next()).isFalse();
    for (int i = 0; i < Limits.MAX_SPANS; i++) {
      assertThat(reader.nextGroup()).isTrue();
      assertThat(reader.samplingThreshold()).isEqualTo(i);
    }
    assertThat(reader.nextGroup()).isFalse();
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
  }

  @Test
  void groupsDoNotOutgrowTheLimit() {
    writer.application(intern("service"));
    assertThatIllegalStateException()
        .isThrownBy(() -> {
          for (int i = 0; ; i++) {
            writer.startGroupedSpan(0, 3, 0, 0, i);
            for (int a = 0; a < Limits.MAX_ATTRIBUTES; a++) {
              writer.attribute(0, 0);
            }
            writer.endSpan();
          }
        })
        .withMessageContaining("is full");
    assertThat(writer.groupCount()).isEqualTo(writer.groupedSpanCount());
    assertThat(writer.sizeBytes()).isLessThan(Limits.MAX_MESSAGE_BYTES + 64 * 1024);
  }

  @Test
  void aGroupedSpanNotEndedIsForgotten() {
    writer.application(intern("service"));
    writer.startGroupedSpan(0, 3, 0, 1, 0);
    writer.attribute(0, 0);
    writer.startGroupedSpan(0, 3, 0, 2, 0);
    writer.statusMessage(0);
    writer.endSpan();
    writer.startGroupedSpan(0, 3, 0, 3, 0);
    span(0);
    writer.endSpan();
    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
    assertThat(reader.next()).isTrue();
    assertThatIllegalStateException()
        .isThrownBy(() -> {
          finishAndWrap();
          reader.nextGroup();
        });
    assertThat(reader.next()).isTrue();
    assertThat(reader.next()).isFalse();
    assertThat(reader.nextGroup()).isTrue();
    assertThat(reader.attributeCount()).isZero();
    assertThat(reader.statusMessage()).isEqualTo(-1);
    assertThat(reader.groupSize()).isEqualTo(1);
    assertThat(reader.groupDurationsNanos()[0]).isEqualTo(2);
    assertThat(reader.nextGroup()).isFalse();
  }

  @Test
  void onlyANewGroupIsAnnounced() {
    writer.application(intern("service"));
    writer.startGroupedSpan(0, 3, 0, 1, 0);
    writer.attribute(0, 0);
    assertThat(writer.startsGroup()).isTrue();
    assertThat(writer.startsGroup()).as("asking changes nothing").isTrue();
    writer.endSpan();

    writer.startGroupedSpan(0, 3, 0, 2, 0);
    assertThat(writer.startsGroup()).as("an attribute less").isTrue();
    writer.attribute(0, 0);
    assertThat(writer.startsGroup()).as("only the duration differs").isFalse();
    writer.event(0);
    assertThat(writer.startsGroup()).as("an event more").isTrue();
    writer.endSpan();

    writer.startGroupedSpan(0, 3, 0, 3, 1);
    writer.attribute(0, 0);
    assertThat(writer.startsGroup()).as("another threshold").isTrue();
    span(0);
    writer.attribute(0, 0);
    writer.endSpan();
    assertThat(writer.groupCount()).as("a span that goes alone makes no group").isEqualTo(2);
    assertThat(writer.groupedSpanCount()).isEqualTo(2);

    writer.begin();
    intern("service");
    writer.startGroupedSpan(0, 3, 0, 1, 0);
    writer.attribute(0, 0);
    assertThat(writer.startsGroup()).as("the next batch has no groups").isTrue();
  }

  @Test
  void pairsOfATraceAreCountedInEachGroup() {
    writer.application(intern("service"));
    intern("other");
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < 1_000; i++) {
        writer.startGroupedSpan(0, 3, 0, 1, 5);
        writer.attribute(0, i % 2);
        if (i % 2 == 1) {
          writer.event(0);
        }
        writer.endSpan();
        writer.traceOfGrouped(7, 1 + i / 8);
      }
      // No trace of its own.
      writer.startGroupedSpan(0, 3, 0, 1, 6);
      writer.endSpan();
      writer.traceOfGrouped(0, 0);
      int length = writer.finish(1, 2, 3, 4);
      assertThat(length).isLessThanOrEqualTo(writer.sizeBytes());
      assertThat(reader.wrap(writer.buffer(), 0, length)).isEqualTo(Rejection.NONE);
      assertThat(reader.next()).isFalse();
      for (int group = 0; group < 2; group++) {
        assertThat(reader.nextGroup()).isTrue();
        // 125 traces of four spans each.
        assertThat(reader.groupPairs()).isEqualTo(125L * 4 * 3);
      }
      assertThat(reader.nextGroup()).isTrue();
      assertThat(reader.groupPairs()).isZero();
      assertThat(reader.nextGroup()).isFalse();
      assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
      writer.begin();
      intern("service");
      intern("other");
      writer.application(0);
    }
  }

  @Test
  void askingForAGroupNeedsASpanOfAGroup() {
    writer.application(intern("service"));
    assertThatIllegalStateException().isThrownBy(() -> writer.startsGroup());
    span(0);
    assertThatIllegalStateException().isThrownBy(() -> writer.startsGroup());
    writer.startGroupedSpan(0, 3, 0, 1, 0);
    writer.endSpan();
    assertThatIllegalStateException().isThrownBy(() -> writer.startsGroup());
  }

  @Test
  void batchWithoutGroupsOrWithoutDemandHasNoTraceOfIt() {
    byte[] alone = bytes(() -> {}, false);
    byte[] grouped = bytes(() -> {}, true);

    assertThat(bytes(() -> demand(7), false)).as("no group").isEqualTo(alone);
    assertThat(bytes(() -> demand(0), true)).as("no demand").isEqualTo(grouped);
    assertThat(bytes(() -> demand(7), true)).isNotEqualTo(grouped);
    assertThat(reader.demand()).isEqualTo(7);
    assertThat(reader.groupKeyCount()).isEqualTo(1);
    assertThat(reader.groupKey(0)).isZero();
    assertThat(bytes(() -> {}, true)).as("a batch's demand is its own").isEqualTo(grouped);
    assertThat(reader.demand()).isZero();
    assertThat(reader.groupKeyCount()).isZero();
  }

  @Test
  void demandOutOfRangeIsRefused() {
    writer.application(intern("service"));
    assertThatIllegalArgumentException().isThrownBy(() -> writer.demand(-1));
    assertThatIllegalArgumentException().isThrownBy(() -> writer.groupKey(1));
    assertThatIllegalArgumentException().isThrownBy(() -> writer.groupKey(-1));
    for (int i = 0; i < Limits.MAX_ATTRIBUTES; i++) {
      writer.groupKey(0);
    }
    assertThatIllegalStateException().isThrownBy(() -> writer.groupKey(0));
    writer.demand(Long.MAX_VALUE);
    writer.startGroupedSpan(0, 3, 0, 1, 0);
    writer.endSpan();
    int bound = writer.sizeBytes();
    assertThat(writer.finish(1, 2, Long.MIN_VALUE, Long.MAX_VALUE)).isLessThanOrEqualTo(bound);
    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
    assertThat(reader.demand()).isEqualTo(Long.MAX_VALUE);
    assertThat(reader.groupKeyCount()).isEqualTo(Limits.MAX_ATTRIBUTES);
  }

  @Test
  void samplesAreNotCounted() {
    beginByDemand();
    grouped();
    writer.startSample(1, 2, 3, 4, 0, 2, 0, 2_000, 5, 7);
    writer.attribute(0, 0);
    assertThat(writer.event(0)).isTrue();
    writer.endSpan();
    span(0);
    writer.sampled();
    writer.endSpan();

    assertThat(writer.spanCount()).isEqualTo(2);
    assertThat(writer.eventCount()).isZero();
    assertThat(writer.sampleCount()).isEqualTo(1);
    assertThat(writer.sampleEventCount()).isEqualTo(1);
    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
    assertThat(reader.spanCount()).isEqualTo(2);
    assertThat(reader.next()).isTrue();
    assertThat(reader.startUnixNanos()).isEqualTo(1_000);
    assertThat(reader.next()).isFalse();
    assertThat(reader.nextGroup()).isTrue();
    assertThat(reader.nextGroup()).isFalse();
    assertThat(reader.sampleThreshold()).isEqualTo(7);
    assertThat(reader.nextSample()).isTrue();
    assertThat(reader.startUnixNanos()).isEqualTo(2_000);
    assertThat(reader.samplingThreshold()).isEqualTo(7);
    assertThat(reader.nextSample()).isFalse();
    assertThat(reader.nextSampled()).isTrue();
    assertThat(reader.sampledSpan()).isZero();
    assertThat(reader.nextSampled()).isFalse();
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
  }

  @Test
  void batchWithoutSampleHasNoTraceOfIt() {
    byte[] alone = bytes(() -> demand(7), true);

    assertThat(
            bytes(
                () -> {
                  demand(7);
                  writer.sampleThreshold(7);
                },
                true))
        .as("no sample")
        .isEqualTo(alone);
    beginByDemand();
    grouped();
    sample();
    assertThat(bytes(() -> demand(7), true)).as("a sample of the last batch").isEqualTo(alone);
    byte[] grouped = bytes(() -> {}, true);
    beginByDemand();
    writer.demand(0);
    grouped();
    span(0);
    writer.sampled();
    writer.endSpan();
    sample();
    assertThat(Arrays.copyOf(writer.buffer(), writer.finish(1, 2, 3, 4)))
        .as("no demand")
        .isEqualTo(grouped);
  }

  @Test
  void sampleIsReadOnlyAfterTheGroups() {
    beginByDemand();
    grouped();
    sample();
    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
    assertThatIllegalStateException().isThrownBy(reader::nextSample);
    assertThat(reader.next()).isFalse();
    assertThatIllegalStateException().isThrownBy(reader::nextSampled);
    assertThat(reader.nextGroup()).isTrue();
    assertThatIllegalStateException().isThrownBy(reader::nextSample);
    assertThat(reader.nextGroup()).isFalse();
    assertThat(reader.nextSample()).isTrue();
  }

  @Test
  void onlyWholeSpansAreMarkedAsMembers() {
    beginByDemand();
    assertThatIllegalStateException().isThrownBy(writer::sampled);
    writer.startGroupedSpan(0, 3, 0, 1, 0);
    assertThatIllegalStateException().isThrownBy(writer::sampled);
    writer.startSample(1, 2, 3, 4, 0, 2, 0, 2_000, 5, 7);
    assertThatIllegalStateException().isThrownBy(writer::sampled);
    assertThatIllegalArgumentException().isThrownBy(() -> writer.sampleThreshold(1L << 56));
  }

  @Test
  void samplesHaveTheirOwnLimits() {
    beginByDemand();
    for (int i = 0; i < Limits.MAX_SPANS; i++) {
      grouped();
    }
    sample();
    for (int i = 1; i < Limits.MAX_SPANS; i++) {
      writer.startSample(1, 2, 3, 0, 0, 2, 0, 1_000, 5, 7);
      writer.endSpan();
    }
    assertThatIllegalStateException().isThrownBy(this::sample);
    assertThat(writer.sizeBytes()).isGreaterThanOrEqualTo(writer.finish(1, 2, 3, 4));
    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
  }

  @Test
  void sizesAreThoseOfSpansThenOfGroups() {
    writer.application(intern("service"));
    writer.keepSizes();
    group(3, 100);
    span(0);
    writer.size(Limits.MAX_SPAN_BYTES + 1);
    writer.endSpan();
    group(1, 7);
    group(3, 20);
    span(0);
    writer.endSpan();
    group(2, Limits.MAX_SPAN_BYTES);
    group(2, Limits.MAX_SPAN_BYTES + 1);
    group(2, Long.MAX_VALUE);
    int bound = writer.sizeBytes();
    assertThat(writer.finish(1, 2, 3, 4)).isLessThanOrEqualTo(bound);

    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
    assertThat(sizesAtTheEnd(5))
        .containsExactly(Limits.MAX_SPAN_BYTES, 0, 120, 7, 3 * Limits.MAX_SPAN_BYTES);
  }

  private void group(int kind, long bytes) {
    writer.startGroupedSpan(0, kind, 0, 1, 0);
    writer.size(bytes);
    writer.endSpan();
  }

  private long[] sizesAtTheEnd(int entries) {
    readSpansAndGroups();
    assertThat(reader.hasSizes()).isTrue();
    return LongStream.range(0, entries).map(i -> reader.size((int) i)).toArray();
  }

  private void readSpansAndGroups() {
    while (reader.next()) {
      assertThatIllegalStateException().isThrownBy(reader::hasSizes);
    }
    while (reader.nextGroup()) {
      assertThat(reader.groupSize()).isPositive();
    }
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
  }

  @Test
  void largestSizesFitIntoALongAndIntoTheBound() {
    writer.application(intern("service"));
    writer.keepSizes();
    for (int i = 0; i < Limits.MAX_SPANS; i++) {
      group(3, Limits.MAX_SPAN_BYTES);
    }
    int bound = writer.sizeBytes();
    assertThat(writer.finish(1, 2, 3, 4)).isLessThanOrEqualTo(bound);

    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
    assertThat(sizesAtTheEnd(1)).containsExactly(Limits.MAX_SPANS * Limits.MAX_SPAN_BYTES);
  }

  @Test
  void batchThatKeepsNoSizesHasNoTraceOfThem() {
    byte[] alone = bytes(() -> {}, true);
    byte[] sized = bytes(() -> group(3, 9), true);
    readSpansAndGroups();
    assertThat(reader.hasSizes()).isFalse();
    writer.begin();
    writer.keepSizes();
    writer.application(intern("service"));
    span(0);
    writer.size(9);
    writer.endSpan();
    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);

    assertThat(bytes(() -> {}, true)).as("sizes of the last batch").isEqualTo(alone);
    assertThat(sized).isEqualTo(bytes(() -> group(3, 0), true));
    assertThat(bytes(writer::keepSizes, true)).hasSize(alone.length + 4);
  }

  @Test
  void emptyBatchHasNoSizes() {
    writer.application(intern("service"));
    writer.keepSizes();
    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
    readSpansAndGroups();
    assertThat(reader.hasSizes()).isFalse();
  }

  @Test
  void sizeIsOfTheSpanThatWasStartedLast() {
    writer.application(intern("service"));
    writer.keepSizes();
    span(0);
    writer.size(9);
    span(0);
    writer.endSpan();
    writer.startGroupedSpan(0, 3, 0, 1, 0);
    writer.size(9);
    assertThat(writer.startsGroup()).isTrue();
    writer.size(5);
    writer.endSpan();

    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
    assertThat(sizesAtTheEnd(2)).containsExactly(0, 5);
  }

  @Test
  void samplesHaveNoSize() {
    beginByDemand();
    writer.keepSizes();
    group(3, 9);
    writer.startSample(1, 2, 3, 4, 0, 2, 0, 2_000, 5, 7);
    writer.size(9);
    writer.endSpan();
    span(0);
    writer.size(8);
    writer.endSpan();

    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
    assertThat(sizesAtTheEnd(2)).containsExactly(8, 9);
    assertThat(reader.nextSample()).isTrue();
    assertThat(reader.nextSample()).isFalse();
    assertThat(reader.size(0)).isEqualTo(8);
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
  }

  @Test
  void sampleBytesAreThoseOfTheSampleAlone() {
    int[] bytes = new int[2];
    for (int sizes = 0; sizes < 2; sizes++) {
      beginByDemand();
      if (sizes == 1) {
        writer.keepSizes();
      }
      group(3, 9);
      sample();
      assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
      bytes[sizes] = writer.sampleFieldBytes();
    }
    assertThat(bytes[1]).isEqualTo(bytes[0]).isPositive();
  }

  @Test
  void negativeOrLateSizesAreRefused() {
    writer.application(intern("service"));
    span(0);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> writer.size(-1))
        .withMessage("bytes = -1 is not in 0 to 9223372036854775807");
    grouped();
    assertThat(writer.isOfGroup(0, "service".getBytes(UTF_8), 0, 7, 3, 0)).isTrue();
    assertThatIllegalArgumentException().isThrownBy(() -> writer.addToGroup(1, 0, -1));
    assertThatIllegalStateException()
        .isThrownBy(writer::keepSizes)
        .withMessage("the batch has 1 spans without sizes");
  }

  private void beginByDemand() {
    writer.begin();
    writer.application(intern("service"));
    demand(7);
    writer.sampleThreshold(7);
  }

  private void grouped() {
    writer.startGroupedSpan(0, 3, 0, 1, 0);
    writer.endSpan();
  }

  private void sample() {
    writer.startSample(1, 2, 3, 4, 0, 2, 0, 2_000, 5, 7);
    writer.endSpan();
  }

  private void demand(long version) {
    writer.demand(version);
    writer.groupKey(0);
  }

  private byte[] bytes(Runnable more, boolean grouped) {
    writer.begin();
    writer.application(intern("service"));
    more.run();
    if (grouped) {
      writer.startGroupedSpan(0, 3, 0, 1, 0);
      writer.endSpan();
    }
    span(0);
    writer.endSpan();
    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
    return Arrays.copyOf(writer.buffer(), writer.finish(1, 2, 3, 4));
  }

  private Rejection finishAndWrap() {
    int length = writer.finish(1, 2, 3, 4);
    return reader.wrap(writer.buffer(), 0, length);
  }

  private String kept(String string) {
    writer.begin();
    writer.application(intern(string));
    finishAndWrap();
    return new String(
        reader.buffer(), reader.dictionaryOffset(0), reader.dictionaryLength(0), UTF_8);
  }

  private void span(int name) {
    writer.startSpan(1, 2, 3, 4, name, 2, 0, 1_000, 5, 0);
  }

  private int intern(String string) {
    byte[] bytes = string.getBytes(UTF_8);
    return writer.intern(bytes, 0, bytes.length);
  }
}
