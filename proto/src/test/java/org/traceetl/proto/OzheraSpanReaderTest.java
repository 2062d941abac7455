package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.thrift.TBase;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.thrift.SpanBatch;
import org.traceetl.proto.thrift.ozhera.TAttributeKey;
import org.traceetl.proto.thrift.ozhera.TAttributes;
import org.traceetl.proto.thrift.ozhera.TExtra;
import org.traceetl.proto.thrift.ozhera.TSpanData;
import org.traceetl.proto.thrift.ozhera.TValue;

/** The reader says of bytes what OzHera's generated class says, whatever the bytes are. */
final class OzheraSpanReaderTest {
  /** More than any rejection needs, less than any hostile count asks for. */
  private static final long SMALL_BYTES = 64 * 1024;

  // Kept from try to try: nothing of one span may show in the next.
  private static final OzheraSpanReader READER = new OzheraSpanReader();

  /** What {@link #READER} must agree with. */
  private static final OzheraSpanReader GENERAL = new OzheraSpanReader(false);

  @Property(tries = 500)
  void aSpanIsReadAsTheGeneratedClassWroteIt(@ForAll("spans") TSpanData span) {
    byte[] message = Messages.generated(span);
    assertThat(OzheraSpans.read(message, READER)).isEqualTo(OzheraSpans.expected(span));
    assertThat(outcome(message)).isEqualTo(Rejection.NONE);
  }

  @Property(tries = 300)
  void fieldsMayStandInAnyOrderAmongUnknownOnes(
      @ForAll("spans") TSpanData span, @ForAll long seed) {
    Random random = new Random(seed);
    byte[] message = Messages.permuted(span, order(20, random), order(8, random));
    assertThat(OzheraSpans.read(message, READER)).isEqualTo(OzheraSpans.expected(span));
    assertThat(outcome(message)).isEqualTo(Rejection.NONE);
  }

  @Property(tries = 500)
  void aDamagedSpanIsReadAlikeWithoutTheFastPath(
      @ForAll("spans") TSpanData span, @ForAll long seed) {
    Random random = new Random(seed);
    byte[] message = Messages.generated(span);
    for (int i = random.nextInt(4); i >= 0; i--) {
      message[random.nextInt(message.length)] = (byte) random.nextInt();
    }
    outcome(message);
  }

  @Test
  void whatOzHeraWritesIsReadByTheFastPath() {
    TAttributes usual =
        OzheraSpans.attributes(
            "k".repeat(127),
            "v".repeat(16_383),
            "b",
            true,
            "c",
            false,
            "d",
            Long.MIN_VALUE >> 8,
            "e",
            0.5,
            "",
            "");
    assertThat(usualKeys(usual)).isEqualTo(6);
    assertThat(usualValues(usual)).isEqualTo(6);
    // The one in the middle is left to the general path.
    assertThat(usualKeys(OzheraSpans.attributes("a", 1L, "k".repeat(128), 1L, "c", 1L)))
        .isEqualTo(1);
    assertThat(usualValues(OzheraSpans.attributes("a", 1L, "b", Long.MAX_VALUE, "c", 1L)))
        .isEqualTo(1);
    assertThat(usualValues(OzheraSpans.attributes("a", 1L, "b", "v".repeat(16_384), "c", 1L)))
        .isEqualTo(1);
  }

  private static int usualKeys(TAttributes attributes) {
    return new OzheraAttributes(true)
        .readUsualKeys(structs(attributes.getKeys()), 0, attributes.getKeysSize());
  }

  private static int usualValues(TAttributes attributes) {
    return new OzheraAttributes(true)
        .readUsualValues(structs(attributes.getValues()), 0, attributes.getValuesSize());
  }

  /** As elements of a list, with something behind them. */
  private static CompactInput structs(List<? extends TBase<?, ?>> structs) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    structs.forEach(struct -> bytes.writeBytes(Messages.generated(struct)));
    bytes.writeBytes(new byte[10]);
    CompactInput input = new CompactInput();
    input.wrap(bytes.toByteArray(), 0, bytes.size());
    return input;
  }

  private static List<Short> order(int fields, Random random) {
    List<Short> order =
        new ArrayList<>(IntStream.rangeClosed(1, fields).mapToObj(id -> (short) id).toList());
    order.add(Messages.UNKNOWN);
    Collections.shuffle(order, random);
    return order;
  }

  @Provide
  Arbitrary<TSpanData> spans() {
    return OzheraSpans.any();
  }

  @Test
  void theReaderReadsTheseBytes() throws IOException {
    TSpanData span = OzheraSpans.fixed();
    byte[] golden = HexFormat.of().parseHex(golden().replace("\n", ""));
    assertThat(HexFormat.of().formatHex(Messages.generated(span)).replaceAll("(.{1,64})", "$1\n"))
        .isEqualTo(golden());
    assertThat(OzheraSpans.read(golden, READER)).isEqualTo(OzheraSpans.expected(span));
    assertThat(READER.durationNanos()).isEqualTo(12_345_678);
    assertThat(READER.attributes().count()).isEqualTo(7);
  }

  private static String golden() throws IOException {
    try (InputStream in = OzheraSpanReaderTest.class.getResourceAsStream("ozhera_span.hex")) {
      return new String(in.readAllBytes(), US_ASCII);
    }
  }

  @Test
  void aSpanOfNothingHasNothing() {
    OzheraSpans.Read read = OzheraSpans.read(new byte[1], READER);
    assertThat(read).isEqualTo(OzheraSpans.expected(new TSpanData()));
    assertThat(READER.durationNanos()).isZero();
  }

  @Test
  void noDurationIsNegative() {
    TSpanData span = new TSpanData().setStartEpochNanos(2).setEndEpochNanos(1);
    OzheraSpans.read(Messages.generated(span), READER);
    assertThat(READER.durationNanos()).isZero();
    span.setStartEpochNanos(Long.MIN_VALUE).setEndEpochNanos(Long.MAX_VALUE);
    OzheraSpans.read(Messages.generated(span), READER);
    assertThat(READER.durationNanos()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void numbersThatAreNoKindOrStatusAreNone() throws IOException {
    // kind = 6, then status = 4
    byte[] message = {(byte) 0x95, 12, 0x55, 8, 0};
    assertThat(READER.read(message, 0, message.length)).isEqualTo(Rejection.NONE);
    assertThat(READER.kind()).isZero();
    assertThat(READER.status()).isZero();
  }

  @Test
  void listsOfDifferentLengthAreNoAttributes() {
    TAttributes uneven = OzheraSpans.attributes("a", "b", "c", "d");
    uneven.getValues().removeLast();
    OzheraSpans.Read read =
        OzheraSpans.read(Messages.generated(new TSpanData().setAttributes(uneven)), READER);
    assertThat(read.attributes()).isEmpty();
  }

  @Test
  void aLongTextIsCut() {
    TSpanData span =
        new TSpanData()
            .setName("n".repeat(100_000))
            .setAttributes(OzheraSpans.attributes("key", "v".repeat(100_000), "next", 1L));
    byte[] message = Messages.generated(span);
    assertThat(READER.read(message, 0, message.length)).isEqualTo(Rejection.NONE);
    assertThat(READER.nameLength()).isEqualTo(Limits.MAX_STRING_BYTES);
    assertThat(READER.attributes().textLength(0)).isEqualTo(Limits.MAX_STRING_BYTES);
    assertThat(READER.attributes().longValue(1)).isEqualTo(1);
  }

  @Test
  void theNumberOfAttributesIsBounded() {
    TAttributes most =
        new TAttributes()
            .setKeys(Collections.nCopies(Limits.MAX_ATTRIBUTES, new TAttributeKey().setValue("k")))
            .setValues(Collections.nCopies(Limits.MAX_ATTRIBUTES, new TValue().setLongValue(1)));
    byte[] good = Messages.generated(new TSpanData().setAttributes(most));
    assertThat(READER.read(good, 0, good.length)).isEqualTo(Rejection.NONE);
    assertThat(READER.attributes().count()).isEqualTo(Limits.MAX_ATTRIBUTES);
    most.setKeys(Collections.nCopies(Limits.MAX_ATTRIBUTES + 1, new TAttributeKey().setValue("k")));
    byte[] bad = Messages.generated(new TSpanData().setAttributes(most));
    assertThat(READER.read(bad, 0, bad.length)).isEqualTo(Rejection.BAD_LENGTH);
  }

  @Test
  void everyTruncationIsRefused() {
    byte[] message = Messages.generated(OzheraSpans.fixed());
    for (int length = 0; length < message.length; length++) {
      // Cut where the array ends, and where it goes on.
      assertThat(outcome(Arrays.copyOf(message, length))).isNotEqualTo(Rejection.NONE);
      assertThat(READER.read(message, 0, length)).isNotEqualTo(Rejection.NONE);
    }
    assertThat(outcome(message)).isEqualTo(Rejection.NONE);
    assertThat(outcome(Arrays.copyOf(message, message.length + 1))).isEqualTo(Rejection.MALFORMED);
  }

  @Test
  void everyFlippedBitIsReadOrRefused() {
    byte[] message = Messages.generated(OzheraSpans.fixed());
    for (int bit = 0; bit < 8 * message.length; bit++) {
      message[bit >> 3] ^= (byte) (1 << (bit & 7));
      outcome(message);
      message[bit >> 3] ^= (byte) (1 << (bit & 7));
    }
    assertThat(outcome(message)).isEqualTo(Rejection.NONE);
  }

  @Property(tries = 2000)
  void noiseIsReadOrRefused(@ForAll byte[] noise) {
    outcome(noise);
  }

  @Test
  void aFieldOfAnotherTypeOrTwiceIsRefused() throws IOException {
    // The name, field 8, as a number; then twice as an empty text.
    assertThat(outcome(new byte[] {(byte) 0x85, 2, 0})).isEqualTo(Rejection.MALFORMED);
    assertThat(outcome(new byte[] {(byte) 0x88, 0, 0x08, 16, 0, 0})).isEqualTo(Rejection.MALFORMED);
    // extra, field 20, with an address that says to be of 2 GiB
    ByteArrayOutputStream huge = new ByteArrayOutputStream();
    huge.write(new byte[] {0x0c, 40, 0x18, -1, -1, -1, -1, 0x07, 0, 0});
    assertThat(outcome(huge.toByteArray())).isEqualTo(Rejection.BAD_LENGTH);
  }

  @Test
  void aMessageOfMoreThanTheLargestSizeIsRefused() {
    byte[] message = new byte[Limits.MAX_MESSAGE_BYTES + 1];
    assertThat(READER.read(message, 0, message.length)).isEqualTo(Rejection.TOO_LARGE);
  }

  /** A topic may have both kinds, so readers must distinguish them. */
  @Property(tries = 300)
  void noMessageIsBothABatchAndASpan(@ForAll("batches") SpanBatch batch, @ForAll long seed) {
    byte[] message = Messages.generated(batch);
    assertThat(message[0]).isEqualTo((byte) 0x15);
    assertThat(READER.read(message, 0, message.length)).isNotEqualTo(Rejection.NONE);
    Random random = new Random(seed);
    byte[] permuted =
        Messages.permuted(Batches.extended(batch), order(11, random), order(9, random));
    assertThat(READER.read(permuted, 0, permuted.length)).isNotEqualTo(Rejection.NONE);
  }

  @Property(tries = 300)
  void noSpanIsABatch(@ForAll("spans") TSpanData span) {
    byte[] message = Messages.generated(span);
    assertThat(message[0]).isNotEqualTo((byte) 0x15);
    assertThat(new SpanBatchReader().wrap(message, 0, message.length)).isNotEqualTo(Rejection.NONE);
  }

  @Provide
  Arbitrary<SpanBatch> batches() {
    return Batches.any();
  }

  /**
   * Reads a message that is in an array of its own; all that is found lies inside it, and is what
   * the general path finds.
   */
  static Rejection outcome(byte[] message) {
    long allocated =
        AllocatedBytes.by(() -> {
          if (READER.read(message, 0, message.length) == Rejection.NONE) {
            checkInside(message, READER.nameOffset(), READER.nameLength());
            checkInside(message, READER.ipOffset(), READER.ipLength());
            checkInside(message, READER.hostnameOffset(), READER.hostnameLength());
            checkInside(message, READER.serviceNameOffset(), READER.serviceNameLength());
            check(message, READER.attributes());
            check(message, READER.resourceAttributes());
            if (READER.kind() < 0 || READER.kind() > 5 || READER.durationNanos() < 0) {
              throw new AssertionError(READER.kind() + " " + READER.durationNanos());
            }
            READER.traceIdHigh();
            READER.traceIdLow();
            READER.spanId();
          }
        });
    assertThat(allocated).isLessThan(SMALL_BYTES);
    Rejection rejection = READER.read(message, 0, message.length);
    assertThat(GENERAL.read(message, 0, message.length)).isEqualTo(rejection);
    if (rejection == Rejection.NONE) {
      assertThat(OzheraSpans.read(message, READER)).isEqualTo(OzheraSpans.read(message, GENERAL));
    }
    return rejection;
  }

  private static void check(byte[] message, OzheraAttributes attributes) {
    for (int i = 0; i < attributes.count(); i++) {
      checkInside(message, attributes.keyOffset(i), attributes.keyLength(i));
      if (attributes.type(i) == OzheraAttributes.TEXT) {
        checkInside(message, attributes.textOffset(i), attributes.textLength(i));
      }
    }
  }

  private static void checkInside(byte[] message, int offset, int length) {
    if (offset < 0 || length < 0 || offset + length > message.length) {
      throw new AssertionError(offset + " + " + length + " of " + message.length);
    }
  }

  @Test
  void anEmptyServiceNameIsNone() {
    TSpanData span = new TSpanData().setExtra(new TExtra().setServiceName(""));
    OzheraSpans.read(Messages.generated(span), READER);
    assertThat(READER.serviceNameLength()).isZero();
  }
}
