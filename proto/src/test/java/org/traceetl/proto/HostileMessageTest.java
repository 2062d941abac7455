package org.traceetl.proto;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.traceetl.proto.extended.Span;
import org.traceetl.proto.extended.SpanBatch;
import org.traceetl.proto.extended.SpanGroup;

/** Any bytes are read or refused, without an exception and without a large allocation. */
final class HostileMessageTest {
  /** More than a rejection allocates, and less than a hostile count would. */
  private static final long SMALL_BYTES = 64 * 1024;

  private final SpanBatchReader reader = new SpanBatchReader();

  private static List<byte[]> goodMessages() {
    return List.of(
        Messages.generated(Batches.fixed()),
        Messages.generated(Batches.fixedWithEvents()),
        Messages.generated(Batches.withUnknownFields(Batches.fixedWithEvents())),
        Messages.generated(Batches.fixedWithDemand()),
        Messages.generated(Batches.fixedWithSample()),
        Messages.generated(Batches.fixedWithSizes()));
  }

  @Test
  void everyTruncationIsRefused() {
    for (byte[] message : goodMessages()) {
      for (int length = 0; length < message.length; length++) {
        // Cut where the array ends, and where it goes on.
        assertThat(outcome(Arrays.copyOf(message, length), 0, length))
            .as("the first %d bytes", length)
            .isNotEqualTo(Rejection.NONE);
        assertThat(outcome(message, 0, length)).isNotEqualTo(Rejection.NONE);
      }
      assertThat(outcome(message, 0, message.length)).isEqualTo(Rejection.NONE);
    }
  }

  @Test
  void bytesAfterTheEndAreRefused() {
    byte[] message = Messages.generated(Batches.fixed());
    assertThat(outcome(Arrays.copyOf(message, message.length + 1))).isEqualTo(Rejection.MALFORMED);
  }

  @Test
  void everyFlippedBitIsReadOrRefused() {
    for (byte[] message : goodMessages()) {
      for (int bit = 0; bit < 8 * message.length; bit++) {
        message[bit >> 3] ^= (byte) (1 << (bit & 7));
        outcome(message);
        message[bit >> 3] ^= (byte) (1 << (bit & 7));
      }
      assertThat(outcome(message)).isEqualTo(Rejection.NONE);
    }
  }

  @Property(tries = 2000)
  void severalChangedBytesAreReadOrRefused(@ForAll("seeds") long seed) {
    byte[] message = Messages.generated(Batches.withUnknownFields(Batches.fixedWithEvents()));
    Random random = new Random(seed);
    for (int i = random.nextInt(8); i >= 0; i--) {
      message[random.nextInt(message.length)] = (byte) random.nextInt();
    }
    outcome(message);
  }

  @Property(tries = 2000)
  void noiseIsRefused(@ForAll byte[] noise) {
    assertThat(outcome(noise)).isNotEqualTo(Rejection.NONE);
  }

  @Provide
  Arbitrary<Long> seeds() {
    return Arbitraries.longs();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("badBatches")
  void invalidBatchIsRefusedWithReason(String what, Rejection reason, Consumer<SpanBatch> damage) {
    SpanBatch batch = Batches.extended(Batches.fixedWithGroups());
    damage.accept(batch);
    assertThat(outcome(Messages.generated(batch))).as(what).isEqualTo(reason);
    // The reader is good for the next message.
    assertThat(outcome(Messages.generated(Batches.fixed()))).isEqualTo(Rejection.NONE);
  }

  @Test
  void refusedVersionStillShowsApplicationAndSpanCount() {
    SpanBatch batch = Batches.extended(Batches.fixedWithGroups());
    byte[] known = Messages.generated(batch);
    byte[] unknown = Messages.generated(batch.setVersion(3));
    assertThat(reader.wrap(known, 0, known.length)).isEqualTo(Rejection.NONE);
    int spans = reader.spanCount();
    int application = reader.application();
    int dictionary = reader.dictionarySize();
    long sequence = reader.sequence();

    assertThat(reader.wrap(unknown, 0, unknown.length)).isEqualTo(Rejection.UNSUPPORTED_VERSION);
    assertThat(reader.spanCount()).isEqualTo(spans).isPositive();
    assertThat(reader.application()).isEqualTo(application);
    assertThat(reader.dictionarySize()).isEqualTo(dictionary);
    assertThat(reader.sequence()).isEqualTo(sequence);
    assertThat(reader.next()).isFalse();
    assertThat(reader.nextGroup()).isFalse();
  }

  static Stream<Arguments> badBatches() {
    return Stream.of(
        bad("no version", Rejection.MISSING_FIELD, SpanBatch::unsetVersion),
        bad("no agent", Rejection.MISSING_FIELD, SpanBatch::unsetAgent),
        bad("no epoch", Rejection.MISSING_FIELD, SpanBatch::unsetEpoch),
        bad("no sequence", Rejection.MISSING_FIELD, SpanBatch::unsetSequence),
        bad("no span count", Rejection.MISSING_FIELD, SpanBatch::unsetSpan_count),
        bad("no application", Rejection.MISSING_FIELD, SpanBatch::unsetApplication),
        bad("no base", Rejection.MISSING_FIELD, SpanBatch::unsetBase_unix_nanos),
        bad("no spans", Rejection.MISSING_FIELD, SpanBatch::unsetSpans),
        bad("no dictionary", Rejection.BAD_INDEX, SpanBatch::unsetDictionary),
        bad("version 0", Rejection.UNSUPPORTED_VERSION, b -> b.setVersion(0)),
        bad("version 3", Rejection.UNSUPPORTED_VERSION, b -> b.setVersion(3)),
        bad("short agent", Rejection.BAD_VALUE, b -> b.setAgent(new byte[15])),
        bad("long agent", Rejection.BAD_VALUE, b -> b.setAgent(new byte[17])),
        bad("negative sequence", Rejection.BAD_VALUE, b -> b.setSequence(-1)),
        bad("less than the spans", Rejection.BAD_LENGTH, b -> b.setSpan_count(2)),
        bad("too low a count", Rejection.BAD_LENGTH, b -> b.setSpan_count(27)),
        bad("too high a count", Rejection.BAD_LENGTH, b -> b.setSpan_count(29)),
        bad("groups that are not there", Rejection.BAD_LENGTH, SpanBatch::unsetGroups),
        bad("no group", Rejection.BAD_LENGTH, b -> b.setGroups(List.of())),
        bad("groups not declared", Rejection.BAD_LENGTH, b -> b.setSpan_count(3)),
        bad("negative count", Rejection.BAD_LENGTH, b -> b.setSpan_count(-1)),
        bad("huge count", Rejection.BAD_LENGTH, b -> b.setSpan_count(Integer.MAX_VALUE)),
        bad("application outside", Rejection.BAD_INDEX, b -> b.setApplication(70)),
        bad("application negative", Rejection.BAD_INDEX, b -> b.setApplication(-1)),
        bad("resource outside", Rejection.BAD_INDEX, b -> b.setResource(List.of(0, 70))),
        bad("half a pair in the resource", Rejection.BAD_LENGTH, b -> b.setResource(List.of(0))),
        bad("negative demand", Rejection.BAD_VALUE, b -> b.setDemand(-1)),
        bad("group key outside", Rejection.BAD_INDEX, b -> b.setGroup_keys(List.of(0, 70))),
        bad("group key negative", Rejection.BAD_INDEX, b -> b.setGroup_keys(List.of(-1))),
        bad(
            "too many group keys",
            Rejection.BAD_LENGTH,
            b -> b.setGroup_keys(Collections.nCopies(Limits.MAX_ATTRIBUTES + 1, 0))),
        bad("negative sample threshold", Rejection.BAD_VALUE, b -> b.setSample_threshold(-1)),
        bad("sample threshold 2^56", Rejection.BAD_VALUE, b -> b.setSample_threshold(1L << 56)),
        bad("member outside", Rejection.BAD_INDEX, b -> b.setSampled(List.of(0, 3))),
        bad("member negative", Rejection.BAD_INDEX, b -> b.setSampled(List.of(-1))),
        bad("members not ascending", Rejection.BAD_INDEX, b -> b.setSampled(List.of(1, 1))),
        bad(
            "too many members",
            Rejection.BAD_LENGTH,
            b -> b.setSampled(Collections.nCopies(Limits.MAX_SPANS + 1, 0))),
        bad("no sizes", Rejection.MALFORMED, b -> b.setSizes(List.of())),
        bad("a size missing", Rejection.MALFORMED, b -> b.setSizes(List.of(1L, 2L, 3L, 4L))),
        bad("sizes of spans only", Rejection.MALFORMED, b -> b.setSizes(List.of(1L, 2L, 3L))),
        bad("a size more", Rejection.MALFORMED, b -> b.setSizes(Collections.nCopies(6, 1L))),
        bad("sizes without groups", Rejection.MALFORMED, HostileMessageTest::sizesWithoutGroups),
        bad("negative size", Rejection.MALFORMED, b -> b.setSizes(List.of(1L, 2L, -1L, 4L, 5L))),
        bad("least size", Rejection.MALFORMED, b -> b.setSizes(sizes(Long.MIN_VALUE))),
        bad(
            "size above that of all spans",
            Rejection.MALFORMED,
            b -> b.setSizes(sizes(b.getSpan_count() * Limits.MAX_SPAN_BYTES - 3))),
        bad(
            "size above that of a span",
            Rejection.MALFORMED,
            b -> b.setSizes(List.of(1L, Limits.MAX_SPAN_BYTES + 1, 3L, 4L, 5L))),
        bad("greatest size", Rejection.MALFORMED, b -> b.setSizes(sizes(Long.MAX_VALUE))),
        bad(
            "too many sizes",
            Rejection.BAD_LENGTH,
            b -> b.setSizes(Collections.nCopies(Limits.MAX_SPANS + 1, 0L))),
        badSample("no name", Rejection.MISSING_FIELD, Span::unsetName),
        badSample("no duration", Rejection.MISSING_FIELD, Span::unsetDuration_nanos),
        badSample("name outside", Rejection.BAD_INDEX, s -> s.setName(70)),
        badSample("kind 6", Rejection.BAD_VALUE, s -> s.setKind((byte) 6)),
        badSample("attribute outside", Rejection.BAD_INDEX, s -> s.setAttributes(List.of(0, 70))),
        badSample("half a pair", Rejection.BAD_LENGTH, s -> s.setAttributes(List.of(0))),
        badSample("threshold 2^56", Rejection.BAD_VALUE, s -> s.setSampling_threshold(1L << 56)),
        badSample("event cut off", Rejection.BAD_LENGTH, s -> s.setEvents(List.of(0, 1, 0))),
        badSpan("no IDs", Rejection.MISSING_FIELD, Span::unsetIds),
        badSpan("no name", Rejection.MISSING_FIELD, Span::unsetName),
        badSpan("no kind", Rejection.MISSING_FIELD, Span::unsetKind),
        badSpan("no status", Rejection.MISSING_FIELD, Span::unsetStatus),
        badSpan("no start", Rejection.MISSING_FIELD, Span::unsetStart_delta_nanos),
        badSpan("no duration", Rejection.MISSING_FIELD, Span::unsetDuration_nanos),
        badSpan("short IDs", Rejection.BAD_VALUE, s -> s.setIds(new byte[23])),
        badSpan("IDs between", Rejection.BAD_VALUE, s -> s.setIds(new byte[28])),
        badSpan("long IDs", Rejection.BAD_VALUE, s -> s.setIds(new byte[33])),
        badSpan("name outside", Rejection.BAD_INDEX, s -> s.setName(70)),
        badSpan("name negative", Rejection.BAD_INDEX, s -> s.setName(-1)),
        badSpan("kind 6", Rejection.BAD_VALUE, s -> s.setKind((byte) 6)),
        badSpan("kind negative", Rejection.BAD_VALUE, s -> s.setKind((byte) -1)),
        badSpan("status 3", Rejection.BAD_VALUE, s -> s.setStatus((byte) 3)),
        badSpan("negative duration", Rejection.BAD_VALUE, s -> s.setDuration_nanos(-1)),
        badSpan("attribute outside", Rejection.BAD_INDEX, s -> s.setAttributes(List.of(0, 70))),
        badSpan("attribute negative", Rejection.BAD_INDEX, s -> s.setAttributes(List.of(-1, 0))),
        badSpan("half a pair", Rejection.BAD_LENGTH, s -> s.setAttributes(List.of(0, 0, 0))),
        badSpan(
            "too many attributes",
            Rejection.BAD_LENGTH,
            s -> s.setAttributes(java.util.Collections.nCopies(2050, 0))),
        badSpan("threshold 2^56", Rejection.BAD_VALUE, s -> s.setSampling_threshold(1L << 56)),
        badSpan("threshold negative", Rejection.BAD_VALUE, s -> s.setSampling_threshold(-1)),
        badSpan("message outside", Rejection.BAD_INDEX, s -> s.setStatus_message(70)),
        badSpan("event outside", Rejection.BAD_INDEX, s -> s.setEvents(List.of(70, 0))),
        badSpan("event without a count", Rejection.BAD_LENGTH, s -> s.setEvents(List.of(0))),
        badSpan("event negative count", Rejection.BAD_LENGTH, s -> s.setEvents(List.of(0, -1))),
        badSpan("event cut off", Rejection.BAD_LENGTH, s -> s.setEvents(List.of(0, 1, 0))),
        badSpan(
            "event of a huge count",
            Rejection.BAD_LENGTH,
            s -> s.setEvents(List.of(0, 1 << 30, 0, 0))),
        badSpan("its key outside", Rejection.BAD_INDEX, s -> s.setEvents(List.of(0, 1, 70, 0))),
        badSpan(
            "too many events",
            Rejection.BAD_LENGTH,
            s -> s.setEvents(Collections.nCopies(2 * (Limits.MAX_SPAN_EVENTS + 1), 0))),
        badSpan(
            "too many numbers of events",
            Rejection.BAD_LENGTH,
            s -> s.setEvents(Collections.nCopies(Limits.MAX_EVENT_NUMBERS + 2, 0))),
        badGroup("event outside", Rejection.BAD_INDEX, g -> g.setEvents(List.of(70, 0))),
        badGroup("no name", Rejection.MISSING_FIELD, SpanGroup::unsetName),
        badGroup("no kind", Rejection.MISSING_FIELD, SpanGroup::unsetKind),
        badGroup("no status", Rejection.MISSING_FIELD, SpanGroup::unsetStatus),
        badGroup("no durations", Rejection.MISSING_FIELD, SpanGroup::unsetDurations_nanos),
        badGroup("no duration", Rejection.BAD_LENGTH, g -> g.setDurations_nanos(List.of())),
        badGroup("one missing", Rejection.BAD_LENGTH, g -> g.getDurations_nanos().removeLast()),
        badGroup("one more", Rejection.BAD_LENGTH, g -> g.addToDurations_nanos(0)),
        badGroup("negative", Rejection.BAD_VALUE, g -> g.getDurations_nanos().set(3, -1L)),
        badGroup("name outside", Rejection.BAD_INDEX, g -> g.setName(70)),
        badGroup("kind 6", Rejection.BAD_VALUE, g -> g.setKind((byte) 6)),
        badGroup("status 3", Rejection.BAD_VALUE, g -> g.setStatus((byte) 3)),
        badGroup("attribute outside", Rejection.BAD_INDEX, g -> g.setAttributes(List.of(0, 70))),
        badGroup("half a pair", Rejection.BAD_LENGTH, g -> g.setAttributes(List.of(0))),
        badGroup("threshold 2^56", Rejection.BAD_VALUE, g -> g.setSampling_threshold(1L << 56)),
        badGroup("threshold negative", Rejection.BAD_VALUE, g -> g.setSampling_threshold(-1)));
  }

  private static List<Long> sizes(long all) {
    return Collections.nCopies(5, all);
  }

  private static void sizesWithoutGroups(SpanBatch batch) {
    batch.unsetGroups();
    batch.setSpan_count(3);
    batch.setSizes(sizes(1));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("badBytes")
  void invalidBytesAreRefusedWithReason(String what, Rejection reason, String hex) {
    byte[] message = HexFormat.of().parseHex(hex.replace(" ", ""));
    outcome(Messages.generated(Batches.fixed()));
    // The first rejection of its kind may load classes; the second may not allocate.
    outcome(message);
    long allocated =
        AllocatedBytes.by(() -> {
          reader.wrap(message, 0, message.length);
          reader.next();
          reader.nextGroup();
        });
    assertThat(reader.rejection()).as(what).isEqualTo(reason);
    assertThat(allocated).isLessThan(SMALL_BYTES);
  }

  static Stream<Arguments> badBytes() {
    // Version 1, a name of zeros, one span.
    String head = "1502 1810" + "00".repeat(16) + "1600 1600 1502";
    String dictionary = head + "19 18 01 61" + "15 00 19 05 16 00";
    // No spans; and one group, up to its durations.
    String none = dictionary + "19 0c";
    String group = none + "19 1c 15 00 13 02 13 00";
    return Stream.of(
        bytes("nothing", Rejection.TRUNCATED, ""),
        bytes("only a stop", Rejection.MISSING_FIELD, "00"),
        bytes("a varint of six bytes", Rejection.MALFORMED, "15 8080808080 01"),
        bytes("a varint of 33 bits", Rejection.MALFORMED, "15 808080801f"),
        bytes("a long varint of eleven bytes", Rejection.MALFORMED, "36" + "80".repeat(10) + "01"),
        bytes("a varint that does not end", Rejection.TRUNCATED, "15 80"),
        bytes("another type", Rejection.MALFORMED, "16 02"),
        bytes("no such type", Rejection.MALFORMED, "fe 02"),
        bytes("type 0 with a delta", Rejection.MALFORMED, "f0 02"),
        bytes("a field ID beyond 16 bits", Rejection.MALFORMED, "05 808080 01 00"),
        bytes("a field twice", Rejection.MALFORMED, "1502 05 02 02"),
        bytes("application before the dictionary", Rejection.BAD_INDEX, head + "25 00"),
        bytes("2^31 - 1 strings", Rejection.BAD_LENGTH, head + "19 f8 ffffffff07"),
        bytes("2^32 - 1 strings", Rejection.BAD_LENGTH, head + "19 f8 ffffffff0f"),
        bytes("more strings than bytes", Rejection.BAD_LENGTH, head + "19 f8 80 08"),
        bytes("strings of numbers", Rejection.MALFORMED, head + "19 15 00"),
        bytes("a string of 2^31 - 1", Rejection.BAD_LENGTH, head + "19 18 ffffffff07 61"),
        bytes("a string of 2^32 - 1", Rejection.BAD_LENGTH, head + "19 18 ffffffff0f 61"),
        bytes("a string past the end", Rejection.BAD_LENGTH, head + "19 18 02 61"),
        bytes("an agent of 2^31 - 1", Rejection.BAD_LENGTH, "1502 18 ffffffff07"),
        bytes("2^31 - 1 spans", Rejection.BAD_LENGTH, dictionary + "19 fc ffffffff07"),
        bytes("one span, no bytes", Rejection.BAD_LENGTH, dictionary + "19 1c"),
        bytes("spans of numbers", Rejection.MALFORMED, dictionary + "19 15" + "00".repeat(40)),
        bytes("2^31 - 1 groups", Rejection.BAD_LENGTH, none + "19 fc ffffffff07"),
        bytes("one group, no bytes", Rejection.BAD_LENGTH, none + "19 1c"),
        bytes("groups of numbers", Rejection.MALFORMED, none + "19 15" + "00".repeat(10)),
        bytes("groups twice", Rejection.MALFORMED, none + "19 0c 09 16 0c"),
        bytes("group keys before the dictionary", Rejection.BAD_INDEX, head + "89 15 00"),
        bytes("2^31 - 1 group keys", Rejection.BAD_LENGTH, dictionary + "49 f5 ffffffff07"),
        bytes("group keys of another type", Rejection.MALFORMED, dictionary + "49 16 00 00"),
        bytes("group keys twice", Rejection.MALFORMED, dictionary + "49 05 09 1a 05"),
        bytes("a demand twice", Rejection.MALFORMED, dictionary + "36 02 06 18 02"),
        bytes("a demand of another type", Rejection.MALFORMED, dictionary + "35 02"),
        bytes("2^31 - 1 samples", Rejection.BAD_LENGTH, none + "59 fc ffffffff07"),
        bytes("one sample, no bytes", Rejection.BAD_LENGTH, none + "59 1c"),
        bytes("samples of numbers", Rejection.MALFORMED, none + "59 15" + "00".repeat(40)),
        bytes("samples twice", Rejection.MALFORMED, none + "59 0c 09 1e 0c"),
        bytes("2^31 - 1 members", Rejection.BAD_LENGTH, none + "69 f5 ffffffff07"),
        bytes("members of another type", Rejection.MALFORMED, none + "69 16 00"),
        bytes("members twice", Rejection.MALFORMED, none + "69 05 09 20 05"),
        bytes("a sample threshold of another type", Rejection.MALFORMED, none + "75 02"),
        bytes("2^31 - 1 sizes", Rejection.BAD_LENGTH, none + "89 f6 ffffffff07"),
        bytes("sizes of another type", Rejection.MALFORMED, none + "89 15 00"),
        bytes("sizes twice", Rejection.MALFORMED, none + "89 06 09 24 06"),
        bytes("a size that does not end", Rejection.BAD_LENGTH, none + "89 26 80"),
        bytes("a size of 70 bits", Rejection.MALFORMED, none + "89 16" + "ff".repeat(10)),
        bytes("2^31 - 1 durations", Rejection.BAD_LENGTH, group + "39 f6 ffffffff07"),
        bytes("durations of another type", Rejection.MALFORMED, group + "39 15 00 00 00 00"),
        bytes("a duration that does not end", Rejection.TRUNCATED, group + "39 16 80 80 80"),
        bytes("a duration of 70 bits", Rejection.MALFORMED, group + "39 16" + "ff".repeat(10)),
        bytes("pairs of one span", Rejection.BAD_VALUE, group + "39 16 00 26 04 00 00"),
        bytes("negative pairs", Rejection.BAD_VALUE, group + "39 16 00 26 01 00 00"),
        bytes("an unknown string of 2^31 - 1", Rejection.TRUNCATED, "08 c601 ffffffff07 00"),
        bytes("an unknown string of 2^32 - 1", Rejection.BAD_LENGTH, "08 c601 ffffffff0f 00"),
        bytes("an unknown list of 2^31 - 1", Rejection.BAD_LENGTH, "09 c601 f5 ffffffff07 00"),
        bytes("a list of no type", Rejection.MALFORMED, "09 c601 f0 01 00"),
        bytes("an empty list of no such type", Rejection.MALFORMED, "09 c601 0e 00"),
        bytes("a map of no such type", Rejection.MALFORMED, "0b c601 01 5e 00 00"),
        bytes("an unknown map of 2^31 - 1", Rejection.BAD_LENGTH, "0b c601 ffffffff07 55 00"),
        bytes("an unknown map of 2^32 - 1", Rejection.BAD_LENGTH, "0b c601 ffffffff0f 55 00"),
        bytes("structs in structs", Rejection.MALFORMED, "0c c601" + "1c".repeat(100_000)),
        bytes("lists in lists", Rejection.MALFORMED, "09 c601" + "19".repeat(100_000)),
        bytes("sets in lists", Rejection.MALFORMED, "09 c601" + "1a".repeat(100_000)),
        bytes("maps in maps", Rejection.MALFORMED, "0b c601" + "01bb".repeat(100_000)));
  }

  @ParameterizedTest
  @CsvSource({
    "12, 13 10 11 12",
    "13, 12 10 11 13",
    "both between, 10 12 13 11",
    "both, 10 11 12 13",
  })
  void demandThatReadersWouldKnowTooLateIsRefused(String late, String order) {
    List<Short> fields =
        Stream.of(("6 1 2 3 4 5 7 8 9 " + order).split(" ")).map(Short::valueOf).toList();
    byte[] message = Messages.permuted(Batches.fixedWithDemand(), fields, List.of());

    assertThat(outcome(message)).as(late).isEqualTo(Rejection.MALFORMED);
  }

  @Test
  void tooLargeMessageIsRefused() {
    byte[] message = new byte[Limits.MAX_MESSAGE_BYTES + 1];
    assertThat(outcome(message)).isEqualTo(Rejection.TOO_LARGE);
  }

  @Test
  void largestSizesAreRead() {
    SpanBatch batch = Batches.extended(Batches.fixedWithGroups());
    long largest = batch.getSpan_count() * Limits.MAX_SPAN_BYTES;
    batch.setSizes(List.of(0L, 0L, 0L, 0L, largest));
    assertThat(outcome(Messages.generated(batch))).isEqualTo(Rejection.NONE);
    assertThat(reader.size(4)).isEqualTo(largest);
  }

  @Test
  void tooLongStringIsRefused() {
    var batch = Batches.fixed();
    batch.getDictionary().set(69, java.nio.ByteBuffer.allocate(Limits.MAX_STRING_BYTES));
    assertThat(outcome(Messages.generated(batch))).isEqualTo(Rejection.NONE);
    batch.getDictionary().set(69, java.nio.ByteBuffer.allocate(Limits.MAX_STRING_BYTES + 1));
    assertThat(outcome(Messages.generated(batch))).isEqualTo(Rejection.BAD_LENGTH);
  }

  @Test
  void nestedUnknownFieldsTakeLinearTime() {
    // 16 levels of lists of as many lists as one byte can say: each element still has its byte.
    ByteArrayOutputStream bomb = new ByteArrayOutputStream();
    bomb.write(0xf9);
    while (bomb.size() < Limits.MAX_MESSAGE_BYTES) {
      bomb.write(0xe9);
    }
    assertThat(outcome(bomb.toByteArray())).isNotEqualTo(Rejection.NONE);
  }

  @Test
  void valuesReadBeforeTheRejectionStay() {
    SpanBatch batch = Batches.extended(Batches.fixed());
    batch.getSpans().get(1).unsetName();
    byte[] message = Messages.generated(batch);
    assertThat(reader.wrap(message, 0, message.length)).isEqualTo(Rejection.NONE);
    assertThat(reader.next()).isTrue();
    assertThat(reader.next()).isFalse();
    assertThat(reader.rejection()).isEqualTo(Rejection.MISSING_FIELD);
    assertThat(reader.next()).isFalse();
    assertThat(reader.spanCount()).isEqualTo(3);
    assertThat(reader.application()).isZero();
    assertThat(reader.attributeCount()).isZero();

    for (int length = 0; length < message.length; length++) {
      outcome(message, 0, length);
      assertThat(reader.sequence()).as("read whole or not at all").isIn(0L, 300L);
      assertThat(reader.spanCount()).isIn(0, 3);
    }

    outcome(new byte[1]);
    assertThat(reader.spanCount()).isZero();
    assertThat(reader.application()).isEqualTo(-1);
    assertThat(reader.dictionarySize()).isZero();
  }

  private static Arguments bad(String what, Rejection reason, Consumer<SpanBatch> damage) {
    return Arguments.of(what, reason, damage);
  }

  private static Arguments badSpan(String what, Rejection reason, Consumer<Span> damage) {
    return bad(what, reason, batch -> damage.accept(batch.getSpans().getFirst()));
  }

  private static Arguments badSample(String what, Rejection reason, Consumer<Span> damage) {
    return bad(
        "sample: " + what,
        reason,
        batch -> {
          Span sample = new Span(batch.getSpans().getFirst());
          damage.accept(sample);
          batch.setSamples(List.of(batch.getSpans().getFirst(), sample));
        });
  }

  private static Arguments badGroup(String what, Rejection reason, Consumer<SpanGroup> damage) {
    return bad(
        "group: " + what,
        reason,
        batch -> {
          SpanGroup group = batch.getGroups().getFirst();
          group.setDurations_nanos(new ArrayList<>(group.getDurations_nanos()));
          damage.accept(group);
        });
  }

  private static Arguments bytes(String what, Rejection reason, String hex) {
    return Arguments.of(what, reason, hex);
  }

  private Rejection outcome(byte[] message) {
    return outcome(message, 0, message.length);
  }

  private Rejection outcome(byte[] message, int offset, int length) {
    return ReadToTheEnd.of(reader, message, offset, length);
  }
}
