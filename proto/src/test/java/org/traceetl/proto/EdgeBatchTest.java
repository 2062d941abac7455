package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.thrift.TDeserializer;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TCompactProtocol;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.proto.thrift.EdgeBatch;

/** Writer, reader and the generated classes agree on batches of half-edges. */
final class EdgeBatchTest {
  private static final String GOLDEN = "edge_batch_3.hex";
  private static final int[] NO_DIMENSIONS = {};

  private final EdgeBatchWriter writer = new EdgeBatchWriter();
  private final EdgeBatchReader reader = new EdgeBatchReader();

  @Test
  void writerMakesTheGoldenBytes() throws IOException {
    assertThat(GoldenBytesTest.lines(EdgeBatches.written(EdgeBatches.fixed(), writer)))
        .isEqualTo(GoldenBytesTest.golden(GOLDEN));
  }

  @Test
  void readerReadsTheGoldenBytes() throws IOException {
    assertThat(EdgeBatches.read(GoldenBytesTest.bytes(GOLDEN), reader))
        .isEqualTo(EdgeBatches.fixed());
  }

  @Property(tries = 300)
  void writerMakesTheBytesOfTheGeneratedClass(@ForAll("batches") EdgeBatch batch) {
    EdgeBatch canonical = EdgeBatches.canonical(batch);
    assertThat(EdgeBatches.written(batch, writer)).isEqualTo(EdgeBatches.generated(canonical));
  }

  @Property(tries = 300)
  void readerReadsWhatTheWriterWrote(@ForAll("batches") EdgeBatch batch) {
    byte[] written = EdgeBatches.written(batch, writer);
    assertThat(EdgeBatches.read(written, reader)).isEqualTo(EdgeBatches.canonical(batch));
  }

  @Property(tries = 300)
  void generatedClassReadsWhatTheWriterWrote(@ForAll("batches") EdgeBatch batch) throws TException {
    EdgeBatch read = new EdgeBatch();
    new TDeserializer(new TCompactProtocol.Factory())
        .deserialize(read, EdgeBatches.written(batch, writer));
    assertThat(read).isEqualTo(EdgeBatches.canonical(batch));
  }

  @Property(tries = 300)
  void fieldsMayBeInAnyOrderAmongUnknownOnes(
      @ForAll("batches") EdgeBatch batch, @ForAll("groupFields") List<Short> groupFields) {
    byte[] message =
        Messages.permuted(batch, Messages.shorts(3001, 5, 3, 6, 1, 2, 4, 10), groupFields);
    assertThat(EdgeBatches.read(message, reader)).isEqualTo(EdgeBatches.canonical(batch));
    message = Messages.permuted(batch, EdgeBatches.FIELDS, groupFields);
    assertThat(EdgeBatches.read(message, reader)).isEqualTo(EdgeBatches.canonical(batch));
  }

  @Provide
  Arbitrary<EdgeBatch> batches() {
    return EdgeBatches.any();
  }

  @Provide
  Arbitrary<List<Short>> groupFields() {
    return Arbitraries.shuffle(EdgeBatches.GROUP_FIELDS);
  }

  @Test
  void readersOfSpansRefuseHalfEdges() {
    byte[] message = EdgeBatches.written(EdgeBatches.fixed(), writer);
    SpanBatchReader spans = new SpanBatchReader();

    assertThat(ReadToTheEnd.of(spans, message, 0, message.length))
        .isEqualTo(Rejection.UNSUPPORTED_VERSION);
    assertThat(spans.application()).isEqualTo(-1);
    assertThat(spans.spanCount()).isEqualTo(25);
    assertThat(spans.sequence()).isEqualTo(300);
    assertThat(new OzheraSpanReader().read(message, 0, message.length))
        .isNotEqualTo(Rejection.NONE);
    assertThat(BundleReader.begins(message, 0, message.length)).isFalse();
    assertThat(Heartbeat.begins(message)).isFalse();
  }

  @Test
  void readersOfHalfEdgesRefuseSpansAndOtherMessages() {
    for (var batch : List.of(Batches.fixed(), Batches.fixedWithSizes())) {
      assertThat(outcome(Messages.generated(batch))).isEqualTo(Rejection.UNSUPPORTED_VERSION);
      assertThat(reader.halfCount()).isEqualTo(batch.getSpan_count());
    }
    assertThat(outcome(new Heartbeat(1, 2, 3, false, "host").encode()))
        .isEqualTo(Rejection.MISSING_FIELD);
    BundleWriter bundle = new BundleWriter();
    bundle.begin();
    byte[] message = EdgeBatches.written(EdgeBatches.fixed(), writer);
    bundle.add(message);
    bundle.add(message);
    assertThat(outcome(bundle.finish())).isEqualTo(Rejection.MISSING_FIELD);
  }

  private Rejection outcome(byte[] message) {
    return EdgeBatches.outcome(reader, message, 0, message.length);
  }

  @Test
  void halvesOfEqualHeadsShareOne() {
    writer.begin();
    int application = intern("checkout");
    int peer = intern("inventory");
    for (int i = 0; i < 100; i++) {
      int[] dimensions = {application, peer, peer, i % 2};
      writer.head(application, -1, 1, i % 5 == 0, 0, peer, 0, dimensions, 1);
      writer.waiting(i, i, i, 0);
    }
    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
    assertThat(reader.nextHead()).isTrue();
    assertThat(reader.isFailed()).isTrue();
    for (int i = 0; i < 100; i += 5) {
      assertThat(reader.next()).isTrue();
      assertThat(reader.key()).isEqualTo(i);
    }
    assertThat(reader.next()).isFalse();
    assertThat(reader.nextHead()).isTrue();
    assertThat(reader.isFailed()).isFalse();
    assertThat(reader.nextHead()).as("without the 80 halves of the last head").isFalse();
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
  }

  @Test
  void headsThatDifferInOneFieldAreApart() {
    writer.begin();
    int[] names = {intern("checkout"), intern("inventory")};
    int heads = 2 * 2 * 2 * 2 * 3 * 4;
    for (int i = 0; i < 3 * heads; i++) {
      int head = i % heads;
      writer.head(
          names[head & 1],
          (head >> 1 & 1) - 1,
          head / 16 / 3 + 1,
          (head >> 2 & 1) == 1,
          head / 16 % 3,
          (head >> 3 & 1) - 1,
          0,
          NO_DIMENSIONS,
          0);
      writer.waiting(head, 0, 0, 0);
    }
    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
    for (int head = 0; head < heads; head++) {
      assertThat(reader.nextHead()).isTrue();
      assertThat(reader.application()).isEqualTo(head & 1);
      assertThat(reader.namespace()).isEqualTo((head >> 1 & 1) - 1);
      assertThat(reader.side()).isEqualTo(head / 16 / 3 + 1);
      assertThat(reader.isFailed()).isEqualTo((head >> 2 & 1) == 1);
      assertThat(reader.connectionType()).isEqualTo(head / 16 % 3);
      assertThat(reader.peer()).isEqualTo((head >> 3 & 1) - 1);
      for (int i = 0; i < 3; i++) {
        assertThat(reader.next()).isTrue();
        assertThat(reader.key()).isEqualTo(head);
      }
      assertThat(reader.next()).isFalse();
    }
    assertThat(reader.nextHead()).isFalse();
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
  }

  @Test
  void headOfTheLastHalfIsKept() {
    writer.begin();
    head();
    writer.waiting(-1L, 0xffff, 5, 0);
    writer.immediate(6);
    writer.waiting(1, 0, 7, 0);
    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
    assertThat(reader.nextHead()).isTrue();
    assertNextHalf(true, -1, 0xffff, 5);
    assertNextHalf(true, 1, 0, 7);
    assertNextHalf(false, 0, 0, 6);
    assertThat(reader.nextHead()).isFalse();
  }

  private void assertNextHalf(boolean waiting, long key, int check, long durationNanos) {
    assertThat(reader.next()).isTrue();
    assertThat(reader.isWaiting()).isEqualTo(waiting);
    assertThat(reader.key()).isEqualTo(key);
    assertThat(reader.check()).isEqualTo(check);
    assertThat(reader.durationNanos()).isEqualTo(durationNanos);
  }

  @Test
  void headWithoutHalvesIsNotWritten() {
    writer.begin();
    head();
    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
    assertThat(reader.halfCount()).isZero();
    assertThat(reader.nextHead()).isFalse();
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
  }

  @Test
  void batchMayBeFinishedAgainUnderAnotherName() {
    byte[] first = EdgeBatches.written(EdgeBatches.fixed(), writer);
    int length = writer.finish(1, 2, 3, Long.MAX_VALUE);
    reader.wrap(writer.buffer(), 0, length);
    assertThat(reader.agentLow()).isEqualTo(2);
    assertThat(reader.sequence()).isEqualTo(Long.MAX_VALUE);
    assertThat(EdgeBatches.written(EdgeBatches.fixed(), writer)).isEqualTo(first);
  }

  @Test
  void argumentsOutOfRangeAreRefused() {
    writer.begin();
    assertThatIllegalStateException().isThrownBy(() -> writer.immediate(0));
    int index = intern("service");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> head(1, -1, 1, 0, -1, 0))
        .withMessage("index 1 is outside the dictionary of 1 entries");
    assertThatIllegalArgumentException().isThrownBy(() -> head(-1, -1, 1, 0, -1, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> head(index, 1, 1, 0, -1, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> head(index, -2, 1, 0, -1, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> head(index, -1, 1, 0, 1, 0));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> head(index, -1, 0, 0, -1, 0))
        .withMessage("side = 0 is not in 1 to 4");
    assertThatIllegalArgumentException().isThrownBy(() -> head(index, -1, 5, 0, -1, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> head(index, -1, 1, 3, -1, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> head(index, -1, 1, -1, -1, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> head(index, -1, 1, 0, -1, 1L << 56));
    assertThatIllegalArgumentException().isThrownBy(() -> head(index, -1, 1, 0, -1, -1));
    int[] dimensions = new int[2 * Limits.MAX_EDGE_DIMENSIONS + 2];
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> writer.head(0, -1, 1, false, 0, -1, 0, dimensions, dimensions.length / 2));
    dimensions[3] = 1;
    assertThatIllegalArgumentException()
        .isThrownBy(() -> writer.head(0, -1, 1, false, 0, -1, 0, dimensions, 2));

    head(index, -1, 1, 0, -1, 0);
    assertThatIllegalArgumentException().isThrownBy(() -> writer.waiting(1, 0x10000, 0, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> writer.waiting(1, -1, 0, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> writer.waiting(1, 0, -1, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> writer.waiting(1, 0, 0, 1));
    head(index, -1, 3, 0, -1, 0);
    assertThatIllegalArgumentException().isThrownBy(() -> writer.waiting(1, 0, 0, -1));
    long late = Limits.MAX_MESSAGE_MICROS + 1;
    assertThatIllegalArgumentException().isThrownBy(() -> writer.waiting(1, 0, 0, late));
    assertThatIllegalArgumentException().isThrownBy(() -> writer.immediate(-1));
    assertThatIllegalArgumentException().isThrownBy(() -> writer.finish(1, 2, 3, -1));
    assertThat(writer.halfCount()).isZero();
    assertThat(finishAndWrap()).isEqualTo(Rejection.NONE);
  }

  @Test
  void largestHeadAndMostHalvesAreRead() {
    writer.begin();
    int last = 0;
    for (int i = 0; i < 9_000; i++) {
      last = intern("string " + i);
    }
    int[] dimensions = new int[2 * Limits.MAX_EDGE_DIMENSIONS];
    Arrays.fill(dimensions, last);
    writer.head(
        last, last, 4, true, 2, last, (1L << 56) - 1, dimensions, Limits.MAX_EDGE_DIMENSIONS);
    for (int i = 0; i < Limits.MAX_HALF_EDGES; i++) {
      writer.waiting(~i, i, Long.MAX_VALUE, i % 2 * Limits.MAX_MESSAGE_MICROS);
    }
    assertThatIllegalStateException().isThrownBy(() -> writer.waiting(1, 2, 3, 0));
    assertThatIllegalStateException().isThrownBy(() -> writer.immediate(3));
    int bound = writer.sizeBytes();
    int length = writer.finish(-1, -1, Long.MIN_VALUE, Long.MAX_VALUE);
    assertThat(length).isLessThanOrEqualTo(bound);

    assertThat(reader.wrap(writer.buffer(), 0, length)).isEqualTo(Rejection.NONE);
    assertThat(reader.nextHead()).isTrue();
    assertThat(reader.dimensionCount()).isEqualTo(Limits.MAX_EDGE_DIMENSIONS);
    assertThat(reader.dimensions()).isEqualTo(dimensions);
    assertThat(reader.samplingThreshold()).isEqualTo((1L << 56) - 1);
    for (int i = 0; i < Limits.MAX_HALF_EDGES; i++) {
      assertNextHalf(true, ~i, i, Long.MAX_VALUE);
    }
    assertThat(reader.nextHead()).isFalse();
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
  }

  @Test
  void batchOfTooManyBytesIsRefused() {
    writer.begin();
    byte[] text = new byte[Limits.MAX_STRING_BYTES];
    for (int i = 0; i < 60; i++) {
      text[0] = (byte) i;
      writer.intern(text, 0, text.length);
    }
    for (int i = 0; i < 8_000; i++) {
      int[] dimensions = new int[2 * Limits.MAX_EDGE_DIMENSIONS];
      dimensions[0] = i % 60;
      dimensions[1] = i / 60 % 60;
      dimensions[2] = i / 3600;
      writer.head(0, -1, 1, false, 0, -1, 0, dimensions, Limits.MAX_EDGE_DIMENSIONS);
      writer.immediate(i);
    }
    assertThatIllegalStateException().isThrownBy(() -> writer.finish(1, 2, 3, 4));
  }

  /** Heads as those of a host: each application is called, and calls some peers. */
  @ParameterizedTest
  @CsvSource({"256, 2, 2, 16.0", "1024, 5, 3, 15.5", "8192, 10, 5, 15.0"})
  void waitingHalfHasFewBytes(int halves, int applications, int peers, double most) {
    Random random = new Random(1);
    writer.begin();
    for (int i = 0; i < halves; i++) {
      int application = random.nextInt(applications);
      int peer = random.nextInt(2 * peers) - peers;
      writer.head(
          intern("checkout-service-" + application),
          intern("shop"),
          peer < 0 ? 2 : 1,
          random.nextInt(100) == 0,
          0,
          peer < 0 ? -1 : intern("service-" + application + "-" + peer + ".shop.svc"),
          0,
          NO_DIMENSIONS,
          0);
      // Half of them take less than 10 ms, and one of 40 more than 100 ms.
      long durationNanos = (long) (10_000_000 * Math.exp(1.2 * random.nextGaussian()));
      writer.waiting(random.nextLong(), random.nextInt(1 << 16), durationNanos, 0);
    }
    double bytes = (double) writer.finish(1, 2, 1_795_000_000_000L, 1_000_000) / halves;
    assertThat(bytes).isLessThanOrEqualTo(most);
  }

  private void head() {
    head(intern("service"), -1, 1, 0, -1, 0);
  }

  private void head(
      int application, int namespace, int side, int connectionType, int peer, long threshold) {
    writer.head(
        application, namespace, side, false, connectionType, peer, threshold, NO_DIMENSIONS, 0);
  }

  private int intern(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    return writer.intern(bytes, 0, bytes.length);
  }

  private Rejection finishAndWrap() {
    int length = writer.finish(1, 2, 3, 4);
    return reader.wrap(writer.buffer(), 0, length);
  }
}
